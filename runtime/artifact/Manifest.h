// Typed form of the manifest (docs/artifact.md). Every field is checked when it is read; users may rely on ranges and indices.
#pragma once
#include "runtime/base/DataType.h"
#include "runtime/base/Json.h"
#include <map>
#include <span>

namespace tenon::runtime {

/// constant + sum of coefficient * dims[index] over the dims of the entry, and of products of them.
struct SizeForm {
  int64_t constant = 0;
  std::vector<std::pair<uint32_t, int64_t>> terms;
  std::vector<std::pair<std::vector<uint32_t>, int64_t>> products; // of two dims or more, ascending
  bool operator==(const SizeForm &) const = default;
  bool isConstant() const { return terms.empty() && products.empty(); }
  bool dependsOn(uint32_t dim) const;
  /// Whether it is a multiple of one dim, and a constant.
  bool isOfOneDim() const { return terms.size() == 1 && products.empty(); }
  /// Whether one dim is told by how many places there are; which it then is, nullopt where they leave a rest.
  bool tellsDim() const { return isOfOneDim() && terms[0].second >= 1; }
  std::optional<int64_t> dimOf(int64_t places) const {
    const int64_t multiple = places - constant, coefficient = terms[0].second;
    return multiple % coefficient == 0 ? std::optional(multiple / coefficient) : std::nullopt;
  }
  /// nullopt on overflow.
  std::optional<int64_t> value(std::span<const int64_t> dims) const;
  /// nullopt on overflow or a negative result.
  std::optional<int64_t> evaluate(std::span<const int64_t> dims) const;
  /// "2*T+M" style text.
  std::string print(std::span<const std::string> dimNames) const;
};

/// "blocks.*.norm.*" with the digits of a row-major index over `stack` in place of the stars.
std::string expandStars(std::string name, std::span<const int64_t> stack, int64_t index);

struct InitializerInfo {
  enum class Kind {
    Normal,
    TruncatedNormal,
    Uniform,
    XavierUniform,
    KaimingNormal,
    Orthogonal,
    Constant,
    Table
  } kind = Kind::Constant;
  double a = 0;                   // deviation, bound, gain or value
  std::vector<double> perElement; // one `a` per stack element where they differ, else empty
  std::vector<double> table;      // Table: row-major over the axes with a stride in `strides`
  std::vector<int64_t> strides;   // Table: per axis of the parameter, in elements of `table`; 0 where all values are the same
  struct Step {
    enum class Kind { Add, Times, Exp, Log } kind;
    double number; // Add, Times
  };
  std::vector<Step> then; // done to each draw, in turn
  bool isNumber() const { return kind == Kind::Constant && perElement.empty(); }
  double of(int64_t stackIndex) const { return perElement.empty() ? a : perElement[static_cast<size_t>(stackIndex)]; }
};

/// How one parameter element is called in a public file. Flatten: its first two axes are one there, [4, C, I] as [4 C, I].
struct PublicNameInfo {
  enum class Transform { None, Part, Stacked, Transpose, Flatten } transform = Transform::None;
  std::string name;              // with '#' where Stacked
  int64_t part = 0, parts = 1;   // Part: the part-th of `parts` equal slices of the public tensor's first axis
  bool copy = false;             // read only: another parameter writes the tensor
  std::vector<std::string> also; // further names of tied copies; the first that a file has is taken
};

/// Of one stack element that does not lie row-major: the matrix of its first dimensions by the others, cut into panels of `width`
/// columns (rows where it is `transposed`). Lines are those of the other direction, `steps` of which lie side by side:
/// [columns / width][lines / steps][width][steps].
struct PanelInfo {
  uint64_t lines = 0, columns = 0, width = 1, steps = 1;
  bool transposed = false;
};

struct ParameterInfo {
  std::string name; // one '*' per enclosing stack
  std::vector<int64_t> stack;
  std::vector<std::string> axes;
  std::vector<int64_t> shape;         // without the stack
  std::vector<int64_t> published;     // the same elements in the shape of public files: neighbouring axes of `shape` joined
  DataType type = DataType::F32;      // of its gradients, moments and what callers have: the manifest's, unless it says its own
  DataType stored = DataType::F32;    // in files, and in memory where it is not in halves: its type, bf16 or f16
  bool split = false, copied = false; // in memory it is two halves; it has a copy of 16 bits
  uint64_t offset = 0, stride = 0;    // bytes
  InitializerInfo init;
  std::map<std::string, std::vector<PublicNameInfo>> names; // scheme -> one per stack element
  bool frozen = false;
  std::optional<PanelInfo> panels; // how its values lie in memory where not row-major; gradients and all else are row-major
  std::vector<bool> present;       // per stack element, where some do not exist; empty: all do
  bool has(int64_t stackIndex) const { return present.empty() || present[static_cast<size_t>(stackIndex)]; }

  int64_t stackElements = 1; // product of `stack`
  int64_t elements = 1;      // product of `shape`; dense in the arenas
  /// "blocks.3.wq.weight" of one stack element.
  std::string elementName(int64_t stackIndex) const { return expandStars(name, stack, stackIndex); }
};

struct DimInfo {
  std::string name;
  int64_t max = -1; // -1: no bound
  int64_t min = 1;  // more where a mean of the entry would else run over nothing
};
/// What has to hold of dims: a `require` of the model, or a bound that is another dim.
struct RequirementInfo {
  enum class Relation { AtMost, Below, Same } relation = Relation::AtMost;
  SizeForm left, right;
  std::string condition, text, place; // as it is written; what the model says of it; where. The last two may be empty
};
/// How a number of `eval` follows from several batches: docs/artifact.md, "average".
struct AverageInfo {
  enum class Kind { Constant, Sum, Greatest, Least, Count, Mean, Apply, Along, Rename, Expand, Slice } kind = Kind::Constant;
  enum class Operation {
    Neg,
    Exp,
    Log,
    Sqrt,
    Abs,
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Max,
    Min,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Select, // Apply
    SumAlong,
    MeanAlong,
    MaxAlong,
    MinAlong // Along
  } operation = Operation::Neg;
  double number = 0; // Constant
  int output = -1;   // Sum, Greatest, Least, Count: a part; Mean: a value of one batch
  std::vector<std::string> axes,
      to; // Sum .. Count: axes that remain; Along: that go; Rename: from and to; Expand: new ones; Slice: one, to one or none
  std::vector<SizeForm> sizes; // Count; Expand; Slice: first, number
  std::vector<AverageInfo> operands;
};
struct TensorInfo {
  std::string name;
  DataType type = DataType::F32;
  std::vector<std::string> axes;
  std::vector<SizeForm> shape;
  std::optional<SizeForm> bound;      // values must be in [0, bound)
  bool ofSizes = false;               // of an input: the bound hangs on a dim, also on one that is a number here
  bool nats = false;                  // a loss: a mean of cross-entropies, so that it can be shown as bits per symbol
  bool metric = false;                // of eval: no loss
  std::optional<AverageInfo> average; // of a loss or metric of eval
  bool perBatch = false;              // something in it is that of one batch, so that the size of batches matters
  int rows = -1, places = -1; // of a part of eval: its axis that runs over the rows of a batch, and over the places of a row
  int64_t shift = 0;          // its place p needs those of the row up to p + shift
  bool prepared = false;      // of an entry that walks: read by the entry that prepares it, at the first call of a text alone
};
struct StateInfo {
  std::string name; // one '*' per enclosing stack
  std::vector<int64_t> stack;
  DataType type = DataType::F32;
  std::vector<std::string> axes;
  std::vector<SizeForm> shape;
  InitializerInfo init;          // one that is not of the model starts from a number
  std::string as;                // of the model: a parameter or state, a '*' per enclosing stack, whose initial values it has
  std::optional<SizeForm> bound; // values must be in [0, bound)
  bool ofModel = false;          // belongs to the model, saved with the weights; its shape has no dims
  std::map<std::string, std::vector<PublicNameInfo>> names; // of the model: scheme -> one per stack element, not transformed
  bool inPlace = false;                                     // runs add rows to it, or another entry fills it; it is not swapped
  int places = -1;                                          // runs add rows to it: the axis of `shape` along which they do
  bool ofLastPlace = false; // of an entry that walks: what the last place left, not rows of all of them
};
struct KernelInfo {
  std::string name, kind, place;                     // what it works on, what it is, where in the specification
  std::string storage;                               // element types that it reads and writes: "bf16 f32 -> bf16"
  std::vector<std::string> launches;                 // what is run for it, in order; empty: one kernel
  std::string calls = "1", flops = "0", bytes = "0"; // formulas over the dims; the last two of all calls together
  std::vector<std::string> domain;                   // formulas: the sizes of what is shared out; empty: unknown
  /// What was chosen for a variant of the code, by its name: the form first, then numbers.
  std::map<std::string, std::vector<std::pair<std::string, std::string>>, std::less<>> chosen;
};
/// Formulas of bytes over the dims (runtime/artifact/Formula.h); empty if the manifest does not say.
struct MemoryInfo {
  std::string workspace, saved, states, keptStates, inputs,
      outputs; // `saved` is a part of the workspace; of `states` there are two copies
  int64_t scratchPerWorker = 0;
  std::string workspaceSavingAll; // with `save = blocks`: the workspace that `save = all` would take
};
/// Gradients of one parameter: in iteration (i, j, ..) of the loops, element `element + i * loops[0].elements + ..` of its stack
/// is finished in group `group + i * loops[0].groups + ..`.
struct GradientInfo {
  size_t parameter = 0; // of Manifest::parameters
  int64_t group = 0, element = 0;
  struct Loop {
    int64_t count = 1, groups = 1, elements = 0;
  };
  std::vector<Loop> loops; // outermost first
};
struct EntryInfo {
  enum class Kind { Out, Eval, Train, Grad } kind = Kind::Out;
  std::string name;
  std::vector<DimInfo> dims;
  std::vector<RequirementInfo> requirements;
  std::vector<std::pair<std::string, SizeForm>> sizes; // of axes and stacks that dims decide, by name
  std::vector<TensorInfo> inputs, outputs;
  std::vector<StateInfo> states;
  std::string walk;   // axis of `out step(T)`, else empty
  bool draws = false; // results hang on seed and step also where nothing is dropped
  MemoryInfo memory;
  SizeForm capacity;      // with walk: places that are kept at most
  int positionState = -1; // with walk: the state that counts them
  std::string prepare;    // with walk: the entry that fills states which stay as they are while a text goes on; empty: none does
  bool prepares = false;  // it is one, or makes the totals of another; contexts of the other call it
  std::vector<KernelInfo> kernels;
  std::vector<std::pair<std::string, std::string>> leftOut; // of eval: losses and metrics that its data have no inputs of; why
  int64_t groups = 0;                                       // of gradients, in the order in which a run finishes them
  std::vector<GradientInfo> gradients;
  int64_t slices = 1;                           // a run is for one of so many slices of a batch
  std::string sliceAxis;                        // with slices: which axis of the inputs is cut
  std::string totalsEntry;                      // with slices: the entry that makes `totals`; empty: there are none
  int64_t totalPasses = 1;                      // how often it runs for each slice of a batch
  std::vector<TensorInfo> totals;               // sums over the whole batch, f64 or i32: the code reads them behind its inputs
  size_t ownInputs() const;                     // those of a caller that the code reads; behind them the prepared ones
  int inputIndex(std::string_view name) const;  // -1: none
  int outputIndex(std::string_view name) const; // -1: none
  int dimIndex(std::string_view name) const;    // -1: none
};

/// What the loss is multiplied by before its gradient is taken, and how it changes; fixed: by factors of 1.
struct LossScaleInfo {
  double initial = 1, growth = 1, backoff = 1;
  int64_t every = 1;
  bool isFixed() const { return growth == 1 && backoff == 1; }
};

/// What a machine does at most; the shares of kernels in reports are estimates for it.
struct RooflineInfo {
  std::string machine;
  int64_t flopsPerSecond = 1, bytesPerSecond = 1;
};

struct Manifest {
  std::string tool, name, model, buildId, specHash, triple;
  std::string device;            // whose code this is
  RooflineInfo roofline;         // of the target
  std::vector<std::string> dims; // all that the model declares, bound ones too
  std::vector<std::string> tiers;
  DataType type = DataType::F32; // of every real tensor that does not say its own
  uint64_t parameterBytes = 0;
  std::vector<ParameterInfo> parameters;
  std::string optimizer;                      // kind, empty without a train recipe
  DataType parameterType = DataType::F32;     // of parameters in memory and in files that say no own: `type`, bf16 or f16
  std::optional<DataType> split;              // bf16: in memory those of f32 are two halves, the first of that type
  std::optional<DataType> compute;            // bf16, f16: what contractions multiply
  std::optional<DataType> copies;             // bf16, f16: every parameter, of f32, is kept in that type, too, for contractions
  std::optional<DataType> reduce;             // f64: sums are computed in it
  std::map<std::string, DataType> exceptions; // parameters and layers whose contractions multiply in another type than the others
  int moments = 0;                            // moment arenas of the optimizer, 0..2
  std::vector<ParameterInfo> means;           // what lies in the first of them where it has not the layout of the parameters
  uint64_t meanBytes = 0;                     // of that arena then
  int64_t accumulate = 1;                     // batches of one optimizer step
  std::optional<LossScaleInfo> lossScale;
  double epochs = 0; // length of the schedule in passes over the data; 0: the compiled step knows it in steps
  std::vector<EntryInfo> entries;
  JsonValue recipe;   // Null without one
  JsonValue generate; // Array, maybe empty
  const EntryInfo *findEntry(std::string_view name) const;
  /// The types of the parameters in files: "f32", "f32 and f64".
  std::string parameterTypes() const;
  /// The partial sums that a training in slices keeps: one on each level of their tree below its root.
  uint64_t partialSumBytes() const;
  /// All moments of the optimizer.
  uint64_t momentBytes() const;
  uint64_t levelStride() const { return (parameterBytes + 63) / 64 * 64; }
  /// The bytes that as many elements as the arena of gradients has take in another type.
  uint64_t parameterBytesIn(DataType other) const { return parameterBytes / byteSize(type) * byteSize(other); }
};

/// Reads and checks a manifest. Errors name the place: `manifest: params[3].shape[0]: ...`.
Expected<Manifest> parseManifest(std::string_view text);

} // namespace tenon::runtime
