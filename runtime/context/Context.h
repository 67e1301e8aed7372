// One entry with its dims bound: buffers, states and the call itself. Several contexts may share one Parameters and one
// ThreadPool.
#pragma once
#include "runtime/device/Threads.h"
#include "runtime/parameters/Parameters.h"

namespace tenon::runtime {

/// Shape, type and place of an input, output or state of a bound context.
struct BoundTensor {
  std::string name;
  DataType type;
  std::vector<int64_t> shape; // states: stack sizes first
  uint64_t bytes;
};

/// Not thread-safe. After create() a run allocates nothing.
class Context {
public:
  /// Checks dims (>= 1, <= max), binds them and allocates workspace, scratch and states; states have their initial values.
  /// `dims` in manifest order. `prepares`: where another entry prepares this one (EntryInfo::prepare), the first run of a text
  /// calls it; else the caller sets the states that it fills.
  static Expected<std::unique_ptr<Context>> create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   std::span<const int64_t> dims, std::shared_ptr<ThreadPool> pool,
                                                   bool prepares = true);
  /// The same with dims by name; the error names missing and unknown ones.
  static Expected<std::unique_ptr<Context>> create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   const std::map<std::string, int64_t> &dims, std::shared_ptr<ThreadPool> pool,
                                                   bool prepares = true);
  /// The entry of this context at other sizes (in manifest order), in the same workspace, which then has room for the largest of
  /// them: one of the contexts that share it runs at a time. A usage error where the entry keeps states of its own, which each
  /// context would have.
  Expected<std::unique_ptr<Context>> withSizes(std::span<const int64_t> dims) const;
  ~Context();

  const EntryInfo &entry() const { return *info; }
  /// As create() was given them: of a whole batch.
  std::span<const int64_t> dims() const { return dimValues; }
  const std::vector<BoundTensor> &inputs() const { return inputTensors; }
  const std::vector<BoundTensor> &outputs() const { return outputTensors; }
  const std::vector<BoundTensor> &states() const { return stateTensors; }
  /// Where the host writes an input: the buffer in use, owned or borrowed. Owned ones are made by create(), zero-filled, 64-byte
  /// aligned. On a device with memory of its own this is an image of the input, which each run copies in.
  void *input(int index) const { return inputSide.host[static_cast<size_t>(index)]; }
  /// Where the host reads an output of the last run. On a device with memory of its own it is copied out when it is first asked
  /// for, all of them at once where they are small; an error can then be that of the run.
  Expected<const void *> output(int index) const;
  /// Whether the next run reads an input: what is prepared once per text is not read after the first place.
  bool readsInput(int index) const;
  /// Lends a buffer of at least inputs()[index].bytes, 64-byte aligned, until another is lent; null: back to the owned one.
  Status borrowInput(int index, void *buffer);
  Status borrowOutput(int index, void *buffer);
  /// Old values of a state (what the next run reads), to read. Swapped by run unless it is kept in place: ask again after each.
  /// One of the model has the model's values after a run or loadModelStates.
  DeviceView state(int index) const;
  /// Writes a state by fill(char *) -> Status, as fillView does; one of the model for all contexts.
  template <typename Fill> Status setState(int index, Fill fill) {
    const bool isOfModel = info->states[static_cast<size_t>(index)].ofModel;
    Status status = isOfModel ? loadModelStates() : Status();
    if (status.ok())
      status = fillView(state(index), fill);
    if (status.ok() && isOfModel) {
      model->modelStates().find(info->states[static_cast<size_t>(index)].name)->second.given = true;
      return storeModelStates();
    }
    return status.ok() && index == info->positionState ? readPosition() : status;
  }
  /// Brings the states of the model here up to date with what other contexts, loads and initializers have made of them.
  Status loadModelStates();

  /// Index inputs are checked against their bounds first; then one call of the entry. After success old and new states are
  /// swapped and, in a train entry, the model's states are stored back, but for those of a batch whose loss is not finite. On
  /// failure states and parameters' states are as before.
  /// An input error if the entry walks an axis and the new places do not fit behind those that are kept.
  /// A device may go on after the return; where that fails, the next thing that waits for it says so, and the states are lost.
  Status run();
  /// One half of a training step (docs/artifact.md, "The two halves of a step"): forward and backward pass, which leave losses,
  /// states and the arena of gradients; and the update by what lies in that arena, which reads no inputs.
  Status runGradients() { return call(TN_GRADIENTS_ONLY); }
  Status runUpdate() { return call(TN_UPDATE_ONLY); }
  /// Of the gradients, in the order in which a run finishes them: positions in Parameters::names().
  const std::vector<std::vector<int>> &groups() const { return groupMembers; }
  /// Is called, between kernels and on the caller's thread, when a group is finished; null: nobody is. By a device that goes on
  /// after the return of a run: when somebody waits for it.
  void onGroup(void (*ready)(void *user, int group), void *user);
  /// How many slices a batch has, and which of them gradients are computed of: all, unless setSlices names a node of their tree.
  int64_t slices() const { return info->slices; }
  Status setSlices(int64_t first, int64_t count);
  /// Entries that walk an axis: places that earlier runs brought, and how many there can be. -1 for other entries.
  int64_t position() const;
  int64_t capacity() const;
  /// Forgets all kept places but the first `count`, 0 <= count <= position(): the next run brings what follows them. A usage
  /// error where only the beginning can be gone back to (goesBackToStartOnly).
  Status rewind(int64_t count);
  /// Whether a state of the entry holds what the last place left: a recurrence, or a window over the last places.
  bool goesBackToStartOnly() const;
  /// Initial values for all states that belong to the context (not the model's). Where the device fails, the next run says so.
  void resetStates();
  /// Copies the states of another context by name; both must agree in shape.
  Status copyStatesFrom(const Context &other);

  void setSeed(uint64_t seed) { context.seed = seed; }
  void setStep(uint64_t step) { context.step = step; }
  void setFlags(uint64_t flags) { context.flags = flags; } // 1: gradients only
  /// Length of a schedule that the recipe gives in epochs; needed before `run` of a train entry with Manifest::epochs.
  void setTotalSteps(uint64_t steps) { context.total_steps = steps; }
  uint64_t step() const { return context.step; }
  /// Of all contexts that share it.
  uint64_t workspaceBytes() const { return room->workspace.size(); }
  /// Old and new values, those of a slice too.
  uint64_t stateBytes() const {
    return oldStates.size() + newStates.size() + keptStates.size() + sliceStates.size() + sliceNextStates.size();
  }
  uint64_t scratchBytes() const { return room->scratch.size(); }
  /// Of the context that prepares this one, or makes its totals, if there is one.
  uint64_t preparationBytes() const {
    const Context *const other = preparation ? preparation.get() : totals.context.get();
    return other ? other->workspaceBytes() + other->scratchBytes() + other->stateBytes() : 0;
  }
  const std::shared_ptr<Parameters> &parameters() const { return model; }

private:
  Context() = default;
  Status bind(std::span<const int64_t> dims);
  Status bindStates();
  Status bindSlices();
  Status bindTotals();
  void listGroups();
  Status call(uint64_t flags);
  Status takeArenas();
  Expected<int32_t> runCode(uint64_t flags);
  Expected<int32_t> runSlices(uint64_t flags);
  bool isPart() const { return sliceCount < info->slices; } // some slices of a batch
  Status takeSlice(int64_t slice);
  Status copyStates(int64_t slice, const DeviceView &part, const DeviceView &whole, bool out) const;
  void placeInTree(int64_t number);
  Status addSlices();
  Expected<int32_t> runTotals();
  static void groupIsReady(const TnContext *context, int64_t group);
  Status allocate();
  Status checkInputs() const;
  Status checkRoom() const;
  Status createPreparation();
  Status prepare();
  int preparedState(size_t index) const;
  Status storeModelStates();
  Status keepModelStates();
  Status fillState(size_t index);
  Status readPosition();
  Status copyInputsIn();
  Status copyOutputsOut(bool all) const;
  void swapStates();

  /// The inputs or the outputs: one block on the device, and the places where the host reads and writes.
  struct Side {
    DeviceMemory memory;
    Arena image;                   // of `memory`, where the host cannot address it
    std::vector<uint64_t> offsets; // in both
    std::vector<DeviceView> views; // as code gets them: those of lent buffers where the device shares memory
    std::vector<void *> addresses; // of `views`
    std::vector<void *> host;      // in `views`, in `image`, or lent
    bool anyLent = false;
  };
  Status allocateSide(const std::vector<BoundTensor> &tensors, const char *what, Side &side);
  void lend(Side &side, size_t index, uint64_t bytes, void *buffer);
  Device *device = nullptr;
  std::shared_ptr<Parameters> model;
  std::shared_ptr<ThreadPool> pool;
  const EntryInfo *info = nullptr;
  const TnEntry *code = nullptr;
  std::vector<int64_t> dimValues, offsets;
  std::vector<int64_t> codeDims;     // of what the code runs for: a slice of the batch
  std::vector<int64_t> stateOffsets; // of the states of a whole batch: in `offsets` are those of what the code runs for
  uint64_t stateArenaBytes = 0;
  int64_t sizes[4] = {};
  std::vector<BoundTensor> inputTensors, outputTensors, stateTensors;
  std::vector<int64_t> inputBounds, stateBounds; // -1: none
  /// Nothing in it lasts from run to run, or to an update by gradients of an earlier call.
  struct Room {
    DeviceMemory workspace, scratch;
    std::shared_ptr<Room> totals; // of the entry that makes them, with slices
  };
  static Expected<std::unique_ptr<Context>> create(std::shared_ptr<Parameters> parameters, std::string_view entryName,
                                                   std::span<const int64_t> dims, std::shared_ptr<ThreadPool> pool, bool prepares,
                                                   std::shared_ptr<Room> room);
  std::shared_ptr<Room> room;
  DeviceMemory oldStates, newStates, keptStates;
  Side inputSide;
  mutable Side outputSide;
  mutable std::vector<bool> outputIsOut; // copied out since the last run
  int64_t keptPlaces = 0;                // what position() says, where the host cannot look
  Status resetFailure;                   // of resetStates
  bool areSwapped = false;               // old states are those of newStates
  char *arenas[TN_ARENA_COUNT] = {};
  TnContext context = {};
  std::unique_ptr<Context> preparation; // of an entry that another one prepares
  uint64_t seenModelStates = 0;
  std::vector<std::vector<int>> groupMembers;
  void (*groupReady)(void *, int) = nullptr;
  void *groupUser = nullptr;
  const FloatingPointScope *computing = nullptr; // during a run
  // With slices: which are computed; of each input whether it is cut; places of the inputs of one, and of its outputs.
  int64_t firstSlice = 0, sliceCount = 1;
  std::vector<bool> isCut;
  DeviceMemory sliceStage, sliceStates, sliceNextStates, sliceOutput;
  std::vector<uint64_t> sliceOffsets;             // of inputs in sliceStage
  std::vector<void *> sliceInputs, sliceOutputs;  // behind the inputs the totals
  std::vector<double> sliceValues;                // outputs of the slices, one behind the other
  std::vector<std::vector<double>> partialValues; // their sums by level
  /// Sums over a whole batch that every slice reads, made of the rows of each before the first one runs.
  struct Totals {
    std::unique_ptr<Context> context;
    std::vector<size_t> sources;         // of its inputs: positions in sliceInputs
    std::vector<uint64_t> places;        // of its outputs, in bytes from the first one of a slice
    std::vector<void *> inputs, outputs; // outputs: those of a slice behind those of the one before
    DeviceMemory parts, values;          // of each slice; added up
    std::vector<double> numbers;         // `parts` as the host adds them
  } totals;
};

} // namespace tenon::runtime
