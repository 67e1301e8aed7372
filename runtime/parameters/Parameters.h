// The parameter arenas of one model, shared by its contexts, and everything that speaks of parameters by name.
// Names are those of one stack element, `blocks.3.wq.weight`; values are dense row-major in the declared axis order, whatever the
// layout.
#pragma once
#include "runtime/artifact/Artifact.h"
#include "runtime/device/Memory.h"
#include <functional>
#include <set>
#include <unordered_map>

namespace tenon::runtime {

class SafetensorsFile;

inline constexpr const char *kVocabularyNote = "tenon.vocabulary";

enum class ParameterArena {
  Values = 0,
  Gradients = 1,
  Moment1 = 2,
  Moment2 = 3,
  Sums = 4,
  Copies = 5,
  Slices = 6,
  LossScale = 7,
  Remainders = 8
}; // TN_ARENA_PARAMS .. TN_ARENA_MOMENT2, TN_ARENA_SUMS, TN_ARENA_COPIES, TN_ARENA_SLICES, TN_ARENA_LOSS_SCALE,
   // TN_ARENA_REMAINDERS

/// A state tensor that belongs to the model (no run-time axis). All stack elements, dense.
struct ModelState {
  StateInfo info;
  DeviceMemory memory;
  DeviceView element(int64_t stackIndex) const;
  bool given = true; // false: it starts from draws or as a parameter, and nobody has brought values yet
};

struct LoadOptions {
  std::string scheme;              // empty: Tenon's own names
  bool allowMissing = false;       // keep the present value of what the file lacks
  bool allowExtra = false;         // ignore tensors that no parameter takes
  bool allowOther = false;         // keep the present value where the file has another shape
  std::string remedy = {};         // said where some have another shape
  std::string remedyMissing = {};  // said where some are missing
  std::set<std::string> grow = {}; // Tenon's names of parameters that may have more rows than the file, which keep their values
  std::vector<uint64_t> rows = {}; // or start as these rows of the file, the first again behind the last
};
struct LoadReport {
  std::vector<std::string> loaded, missing, extra; // `loaded`, `missing`: Tenon's names; `extra`: the file's
  struct Stayed {
    std::string name, reason; // Tenon's name; "FILE lacks it", or both shapes
  };
  std::vector<Stayed> stayed;                          // what keeps its value: the missing ones and those of another shape
  std::vector<std::pair<std::string, uint64_t>> grown; // Tenon's names, and the rows that the file has
};

/// Not thread-safe; a context reads and writes the arenas only inside Context::run.
class Parameters {
public:
  /// Zero-filled values. Gradients and moments appear by `ensure`.
  static Expected<std::shared_ptr<Parameters>> create(std::shared_ptr<const Artifact> artifact);

  const Manifest &manifest() const { return artifact->manifest(); }
  const std::shared_ptr<const Artifact> &owner() const { return artifact; }
  /// Allocates (zero-filled) what is not there yet.
  Status ensure(ParameterArena arena);
  /// Gradients, their sums where a step takes several batches or slices of one, and the moments that the optimizer has.
  Status ensureTraining();
  DeviceView arena(ParameterArena arena) const; // nothing if it is not there
  Device &device() const { return artifact->device(); }

  /// What the loss of the next update is multiplied by, and how many good updates it has had; nothing where there is none, or
  /// nothing trains.
  Expected<std::optional<TnLossScale>> lossScale() const;
  Status setLossScale(double scale, int64_t good); // where there is one; of f32

  /// Every parameter from its initializer: a function of (seed, name, logical element index) only. Model states too, and the loss
  /// scale.
  Status initialize(uint64_t seed);

  struct Place {
    const ParameterInfo *info;
    int64_t stackIndex;
  };
  /// What lies in an arena: the parameters, or what replaces them there: means of squares by rows and columns have names of
  /// their own, "blocks.3.wq.weight.rows", or the parameter's where they are not taken apart.
  const std::vector<ParameterInfo> &tensorsIn(ParameterArena arena) const;
  /// All own names in manifest order.
  std::vector<std::string> names(ParameterArena arena = ParameterArena::Values) const;
  Expected<Place> find(const std::string &name, ParameterArena arena = ParameterArena::Values) const;
  /// `values` are of ParameterInfo::type, `bytes` elements * byteSize of it: what parameters of 16 bits hold is widened, and what
  /// is set is rounded. A number that these cannot hold is refused. Parameters in two halves are joined and split: all bits stay.
  Status get(const std::string &name, void *values, uint64_t bytes, ParameterArena arena = ParameterArena::Values) const;
  Status set(const std::string &name, const void *values, uint64_t bytes, ParameterArena arena = ParameterArena::Values);
  Status getAt(const Place &place, void *values, ParameterArena arena = ParameterArena::Values) const;
  Status setAt(const Place &place, const void *values, ParameterArena arena = ParameterArena::Values);
  /// Of its elements in files, and in memory unless they are split.
  DataType typeOf(const ParameterInfo &info, ParameterArena arena) const;
  /// Elements of one element of a stack, of typeOf(info, arena), by visit(bytes, count of bytes), in one or several pieces.
  Status visitAt(const Place &place, ParameterArena arena, uint64_t first, uint64_t count,
                 const std::function<Status(const char *, uint64_t)> &visit) const;
  /// Usage error that names the first parameter whose values nobody has given: neither initialized, loaded nor set, so all zero.
  Status checkGiven() const;

  /// Loads values and model states from what SafetensorsFile::open takes. Nothing is changed when it fails.
  /// All problems are named in the error.
  Expected<LoadReport> load(const std::string &path, const LoadOptions &options);
  /// The same for one arena from an open file under own names; used by checkpoints. `checkArena` says beforehand what would be
  /// wrong with the file, for several files of which all or none shall be read.
  Status checkArena(const SafetensorsFile &file, ParameterArena arena) const;
  Status loadArena(const SafetensorsFile &file, ParameterArena arena);
  /// Writes one arena as safetensors, under own names or a scheme's. Model states go along with Values.
  Status save(const std::string &path, ParameterArena arena = ParameterArena::Values, const std::string &scheme = {},
              class FileBatch *batch = nullptr) const;
  /// Writes the values into FOLDER, which is made if need be, in files of at most `shardBytes` (a larger tensor has one of its
  /// own): model.safetensors if one is enough, else model-00001-of-00003.safetensors, .. and model.safetensors.index.json, as
  /// Hugging Face names them. All or nothing.
  Status saveShards(const std::string &folder, uint64_t shardBytes, const std::string &scheme = {}) const;
  /// As `save`, into a sink; `fileBytes` tells the exact size beforehand.
  Status saveTo(class ByteSink &sink, ParameterArena arena = ParameterArena::Values) const;
  uint64_t fileBytes(ParameterArena arena = ParameterArena::Values) const;
  /// XXH3-128 of names, axes, sizes and the model's element type, hexadecimal.
  std::string signature() const;
  /// Whether it is the signature of weights that fit: of the same model in f32 or f64, whose files load into each other.
  bool isSignature(const std::string &text) const;

  /// What goes into the metadata of weights files beside the values (checkpoints, save, saveShards), and comes from the file that
  /// was loaded last: under kVocabularyNote what the numbers of symbols and classes mean (data::Vocabulary::note).
  std::map<std::string, std::string> notes;

  /// Model states. `version` changes with every change of a value, so that contexts know when to copy.
  std::map<std::string, ModelState> &modelStates() { return states; }
  const std::map<std::string, ModelState> &modelStates() const { return states; }
  uint64_t modelStateVersion() const { return stateVersion; }
  void touchModelStates() { ++stateVersion; }

private:
  Parameters() = default;
  Status resetLossScale();
  std::string signatureIn(DataType type) const;
  std::shared_ptr<const Artifact> artifact;
  static bool isSplit(const Place &place, ParameterArena arena) { return arena == ParameterArena::Values && place.info->split; }
  bool isOfMeans(ParameterArena arena) const;
  DataType typeInMemory(const ParameterInfo &info, ParameterArena arena) const;
  DataType typeOfArena(ParameterArena arena) const;
  Status readStored(const Place &place, ParameterArena arena, uint64_t first, uint64_t count, char *values) const;
  Status writeStored(const Place &place, ParameterArena arena, const char *values);
  DeviceView stored(const Place &place, ParameterArena arena) const;
  template <typename Half> Status writeBits(const Place &place, ParameterArena arena, const float *values, Half half);
  Status writeShort(const Place &place, ParameterArena arena, const float *values);
  Status writeHalves(const Place &place, const float *values);
  Status readHalves(const Place &place, uint64_t first, uint64_t count, float *values) const;
  /// Those that start as others behind these, which start as no state.
  std::vector<ModelState *> statesInOrder();
  /// A stack element of a state that starts from no number: as the parameter or state that it names, else drawn.
  Status writeInitial(ModelState &state, int64_t stackIndex, uint64_t seed);
  /// False where it starts as no parameter or state of this artifact.
  Expected<bool> copySource(ModelState &state, int64_t stackIndex);
  Status readState(const SafetensorsFile &file, const std::set<std::string> &unfit, const std::string &scheme, ModelState &state);
  DeviceMemory arenas[9];
  bool present[9] = {};
  std::unordered_map<std::string, Place> places, placesOfMeans;
  std::set<std::pair<const ParameterInfo *, int64_t>> given; // places whose values came from somewhere
  std::map<std::string, ModelState> states;                  // by StateInfo::name
  uint64_t stateVersion = 1;
};

} // namespace tenon::runtime
