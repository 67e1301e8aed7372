// Form 1, the checked program: what Sema proves and MlirGen translates. Names are resolved, sizes are linear forms over the
// symbolic dims, index ranges are proved, layers are instantiated per use (a stack body once), fns are inlined. Values are nodes
// of a graph with *named axes*; equal nodes are one node (hash-consing), so shared projections are shared. No MLIR.
#pragma once
#include "frontend/Ast.h"
#include "frontend/Requirement.h"
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tenon {

using AxisId = uint32_t; // index into Entry::axes; two axes are the same axis iff their ids are equal
struct Axis {
  std::string name;
  Size size;
};

enum class Element { Real, Int, Bool }; // Real: dtype of the numerics policy; Int: i32 storage unless `wide`; Bool
struct ValueType {
  Element element = Element::Real;
  std::vector<AxisId> axes; // order = storage order where the value is stored or handed over
  std::string pinned;       // "f64", "f32", "bf16" or "f16" where the text says the element type of a real, else empty
  bool operator==(const ValueType &o) const { return element == o.element && axes == o.axes && pinned == o.pinned; }
};

using NodeId = uint32_t;
constexpr NodeId kNoNode = ~0u;

enum class Op : uint8_t {
  // leaves
  Constant,     // number: f64 in `number` (Real), `integer` (Int, Bool)
  SizeValue,    // the linear form `size` as a scalar Int
  Iota,         // 0 .. size-1 along `axis`; axes = [axis]
  Input,        // `index` into Program::inputs
  Param,        // `index` into Program::params; inside stack bodies the slice of this depth
  State,        // `index` into Program::states; the old value
  Depth,        // scalar Int: the iteration of the enclosing stack or loop
  BodyArgument, // `index`-th carry or argument of the enclosing stack body
  Sinusoid,     // axes = [position, feature]; sinusoid: start, clamp, interleaved, t2tSteps
  // elementwise; operands are broadcast over the union of their axes (already checked legal)
  Neg,
  Not,
  Exp,
  Log,
  Sqrt,
  Abs,
  Round,
  Floor,
  Ceil,
  Sin,
  Cos,
  Atan,
  Erf,
  Tanh,
  Sigmoid,
  Relu,
  LeakyRelu,
  Gelu,
  GeluTanh,
  ToReal,
  StopGradient,
  Add,
  Sub,
  Mul,
  Div,
  Mod,
  FloorDiv,
  Pow,
  Max,
  Min,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  And,
  Or,     // Greater is Less with operands swapped
  Select, // condition, then, else
  // axes
  Rename,    // axesFrom[i] becomes axesTo[i]; other axes keep
  Merge,     // axesFrom (in order, first slowest) become the one axis axesTo[0]
  Split,     // the one axis axesFrom[0] becomes axesTo (first slowest)
  Expand,    // result type has further axes
  Transpose, // same axes, other order (a declared type)
  Slice,     // axis axesFrom[0], elements low .. low + size(axesTo[0]) - 1 become axis axesTo[0]; `size` is low
  Gather,    // operands: x, index. axis axesFrom[0] of x is indexed; axes common to both are batched; result axes as in `type`
  Concat,    // operands in order; axesFrom[i] of operand i; axesTo[0] the result axis
  Flip,      // axesFrom[0]
  Window,    // axesFrom[i] -> axesTo[2i] windows, axesTo[2i+1] inside; windows[i], number = fill
  Put,       // operands x, at, value, [where]; axesFrom[0]
  // contraction, reductions, normalizers; axesFrom = the reduced axes
  Dot,
  Sum,
  ReduceMax,
  ReduceMin,
  All,
  Any,
  ArgMax,
  Cumsum,
  Softmax,
  LogSoftmax, // Mean is Sum / SizeValue
  Normalize,  // number = eps
  Top,        // axesFrom[0] -> axesTo[0]; two results through Result
  // losses: operands logits, labels, [where]; axesFrom[0] the class axis; number = spread, `index` = skip + 1 (0: none),
  // integer = 1 + the classes that do not share `number` where their count is not known (0: it is the weight of each)
  CrossEntropy,
  BinaryCrossEntropy, // operands logits, labels
  // random: `index` = site (Program::sites); number = rate; axesFrom = axes along which the mask is shared
  Dropout,
  Sample, // axesFrom[0] -> drawn index
  Noise,  // operand + draws of Gumbel's distribution
  Attend, // operands: scores..., [scale], masks..., value; see AttendInfo
  // structure
  Stack,  // `index` into Entry::stacks; operands: carries and arguments; results through Result
  Scan,   // as Stack: operands are the carries, results carries and what is collected along axesFrom[0]
  Result, // `index`-th result of operands[0] (Stack, Scan, Top); of Stack: carries, then histories of all steps (or rounds)
  // kept places of a walked entry, made by deriveStep: operands rows, position. The rows along axesFrom[0] are written into state
  // `index` from `position` on; the value is the whole state, along axesTo[0]
  Append,
};

constexpr bool isElementwise(Op op) { return op >= Op::Neg && op <= Op::Select; }

struct AttendInfo {
  AxisId key; // the axis the softmax runs over; the other binders are queries
  std::vector<AxisId> queries;
  std::vector<std::string> scoreNames; // one per score operand, "" when unnamed
  unsigned scores = 0, masks = 0;      // operands: scores, then masks, then value; the scale is a number or one more, the last
  double scale = 1;                    // compile-time scale
  bool scaleOperand = false;           // a run-time scale is the last operand
  double dropRate = 0;
  uint32_t site = 0;
  std::string path; // of the layer around it, as its states have it: "blocks.*.attention"
};

/// The layer in which a contraction stands, as its parameters have it: "blocks.*.attention".
struct LayerPath {
  std::string path;
  std::vector<int64_t> stackCounts; // one for each *
};

/// How windows lie on an axis: window i begins at stride i - padLow, its places are `dilation` apart.
struct WindowSteps {
  int64_t stride = 1, padLow = 0, padHigh = 0, dilation = 1;
};

struct Node {
  Op op;
  ValueType type;
  std::vector<NodeId> operands;
  std::vector<AxisId> axesFrom, axesTo;
  uint32_t index = 0;
  int64_t integer = 0;
  double number = 0;
  Size size;
  std::shared_ptr<AttendInfo> attend;
  std::shared_ptr<const LayerPath> layer;     // Dot, Attend; of equal nodes that of the first
  bool interleaved = false, t2tSteps = false; // Sinusoid
  int64_t clamp = 0;                          // Sinusoid; its start is `size`
  std::vector<WindowSteps> windows;           // Window: for each axis of axesFrom; `number`: what stands outside
  bool clampIndex = false;                    // Gather: in range only under a mask; clamp when evaluated outside it
  uint32_t stack = ~0u;                       // the body this node belongs to (index into Entry::stacks), ~0: the entry itself
  ast::Range range;
  ast::Range caller; // the call in the author's own file that led to it; `range` where it stands there itself
};

/// Whether it runs a body: its results are those of Result nodes.
inline bool isLoop(const Node &node) { return node.op == Op::Stack || node.op == Op::Scan; }

/// stack[N] Layer or loop[N] Layer used once: body graph over BodyArguments. Nodes of the body may refer to nodes outside it. An
/// `if depth` makes several bodies of a stack. They stand one after the other in a body of *rounds*, which runs once where
/// nothing repeats. Stacks, loops and rounds in each other that compiled code has room for (lowering/artifact/Abi.h).
inline constexpr unsigned kMostNestedStacks = 8;

struct StackInfo {
  std::string path;      // "blocks"
  uint32_t parent = ~0u; // enclosing stack
  uint32_t owner = ~0u; // the stack that it belongs to: its parameters are slices by the depths of both. Often the parent; a loop
                        // in between, or a stack that only uses it, does not multiply them
  int64_t first = 0;    // depths of this body in its first round: first .. first + count - 1 of `total`
  Size count, total;    // of rounds: `count` rounds, `total` as that of the bodies in them
  bool isRounds = false; // a body of rounds
  int64_t period = 0;    // of rounds: depths of one round, all its bodies together
  bool isScan = false;
  std::string place;           // of a scan: what its body calls the place
  bool shared = false;         // loop: one set of parameters
  NodeId until = kNoNode;      // loop: a scalar truth; no round runs from the first on at whose beginning it is true
  unsigned carries = 0;        // the first operands are carries, the rest constants along the depth
  std::vector<NodeId> results; // new carries, in the body; of rounds also what is collected round by round
  std::vector<std::pair<uint32_t, NodeId>> nextStates; // (state, new value) set by the body at each depth
  bool history = false; // blocks[N](x): results also exist as stacked histories along `historyAxis`
  AxisId historyAxis = 0;
};

/// The depths at which a body runs: first + j + period * r for j < count, r < rounds.
struct BodyDepths {
  int64_t first, count, period = 0, rounds = 1;
  int64_t last() const { return first + count - 1 + period * (rounds - 1); }
  bool contains(int64_t depth) const {
    const int64_t place = depth - first, round = rounds > 1 && place > 0 ? std::min(place / period, rounds - 1) : 0;
    return place >= 0 && place - round * period < count;
  }
  template <typename Visit> void forEach(Visit visit) const {
    for (int64_t round = 0; round < rounds; ++round)
      for (int64_t j = 0; j < count; ++j)
        visit(first + j + period * round);
  }
  bool meets(const BodyDepths &other) const {
    bool any = false;
    forEach([&](int64_t depth) { any |= other.contains(depth); });
    return any;
  }
};
/// The rounds in which a body stands; nothing if it is the only one of its stack.
inline const StackInfo *roundsOf(const std::vector<StackInfo> &stacks, uint32_t body) {
  const uint32_t parent = stacks[body].parent;
  return parent < stacks.size() && stacks[parent].isRounds ? &stacks[parent] : nullptr;
}
inline BodyDepths depthsOf(const std::vector<StackInfo> &stacks, uint32_t body) {
  const StackInfo &info = stacks[body], *rounds = roundsOf(stacks, body);
  return {info.first, info.count.constant(), rounds ? rounds->period : 0, rounds ? rounds->count.constant() : 1};
}
/// The result of the body that result `index` of its stack stands for.
inline unsigned bodyResultOf(const StackInfo &info, unsigned index) {
  return info.history && !info.isScan && index >= info.carries ? index - info.carries : index;
}
/// The body around a body's stack: rounds are a part of the stack.
inline uint32_t bodyAround(const std::vector<StackInfo> &stacks, uint32_t body) {
  const StackInfo *rounds = roundsOf(stacks, body);
  return rounds ? rounds->parent : stacks[body].parent;
}
/// Whether two bodies run at the same depths of the stacks around them: not where an `if depth` has made them of one stack.
inline bool bodiesMeet(const std::vector<StackInfo> &stacks, uint32_t a, uint32_t b) {
  for (; a < stacks.size() && b < stacks.size(); a = bodyAround(stacks, a), b = bodyAround(stacks, b))
    if (!depthsOf(stacks, a).meets(depthsOf(stacks, b)))
      return false;
  return true;
}

struct Initializer {
  std::string kind = "constant"; // constant, table, or a distribution and what is done to draws: "normal add 1" (Distributions.h)
  double a = 0; // std, bound or value; fan-based kinds are resolved: a is the bound (xavier_uniform) or std (kaiming_normal)
  std::vector<double> perElement; // where the text uses `depth`: one `a` per element of the stack (row-major), else empty
  std::vector<double> table;      // table: an expression of indices, row-major over the axes of the parameter that are `along`
  std::vector<bool> along;        // one per axis of the parameter; the values are the same along the others
  std::string as;                 // of a state of the model: path of the parameter or state whose values it starts with
};
struct PublicName {
  std::string name, transform; // "", "part", "flatten", "stacked" (then the name has '#' for the stack index), "transpose"
  int64_t part = 0, parts = 1;
  bool copy = false; // read from what another parameter writes
};
/// One parameter *symbol*: stacked parameters are one symbol with `stackCounts` leading sizes. Sizes are numbers.
struct Param {
  std::string path; // "blocks.*.wq.weight": one * per enclosing stack; published per depth as blocks.3.wq.weight
  std::vector<int64_t> stackCounts;
  std::vector<bool> present;           // elements of the stack that exist where an `if depth` leaves some out; empty: all
  std::vector<std::string> axes;       // names, for the manifest and messages
  std::vector<int64_t> shape;          // without the stack counts
  std::vector<int64_t> publishedShape; // one size per axis of the declaration: a formal that stands for a product is one
  Initializer init;
  std::map<std::string, std::vector<PublicName>> publicNames; // scheme -> one per element of the stack, in row-major order
  ast::Range range;
};
struct State {
  std::string path;
  std::vector<int64_t> stackCounts;
  std::vector<std::string> axes;
  std::vector<Size> shape; // linear forms over the entry's dims
  Element element = Element::Real;
  std::string stored;        // "f64", "bf16" or "f16": reals that lie in memory in that type; else empty
  Initializer init;          // a state that is not of the model starts from a constant
  std::optional<Size> bound; // index(bound): 0 <= value < bound
  bool ofModel = false;      // no run-time axis: saved with the weights
  bool inPlace = false;      // written by Append only: rows are added, the rest stays where it is; or by another entry
  int places = -1;           // written by Append: the axis of `shape` along which rows are added
  std::map<std::string, std::vector<PublicName>> publicNames; // of the model: as those of a parameter, each a whole tensor
  bool everyStep = false; // `stackCounts` has the steps of all loops around, too, not only depths
};
struct Input {
  std::string name;
  ValueType type;                        // axes are ids of the entry
  bool isIndex = false, ofSizes = false; // whether its bound hangs on a dim, also on one that is bound: a place or a length
  Size bound;                            // index(bound): 0 <= value < bound
  bool isTotal = false; // with slices: a sum over the whole batch, a real as f64, which no caller brings (Entry::totals)
};
struct Site {
  std::string path; // stable id text of a random place: layer path + ordinal in the text
  uint32_t id;      // hash of path, unique in the program
};

/// How a result of `eval` follows from several batches: what the formula of the text gives for all of them as one batch. Sums,
/// largest and smallest values over the batch combine, sizes of the batch count what counts of it; the formula over them may have
/// axes (a sum for each class) until it reduces them. What is no formula over such parts is a mean over batches.
struct Average {
  enum class Kind { Constant, Sum, Greatest, Least, Count, Value, Apply, Along, Rename, Expand, Slice } kind = Kind::Constant;
  double number = 0;   // Constant
  uint32_t output = 0; // position of an output: Sum, Greatest, Least, Count: the part; Value: the number or tensor of one batch
  std::vector<AxisId> axes; // Sum, Greatest, Least, Count: those that remain; Along: those that go; Rename: from; Expand: new
                            // ones; Slice: its axis
  std::vector<AxisId> to;   // Rename; Slice: the name of what remains, or none for a single place
  std::vector<Size> sizes;  // Count: their product counts a whole batch; Expand: of the axes; Slice: first, number
  Op op = Op::Add;          // Apply; Along: Sum, ReduceMax, ReduceMin, or Div for the mean
  std::vector<Average> operands; // Apply; of Along, Rename, Expand and Slice one
  bool perBatch = false;         // of a result: something in it is that of one batch, whatever is summed
};

/// One function of the artifact: infer, a named out, eval (all losses and metrics), or the train step of one recipe.
struct Entry {
  enum class Kind { Out, Eval, Train } kind;
  std::string name;
  bool training = false;
  std::vector<std::string> dims;                 // symbolic dims, in order of declaration; bound ones are numbers already
  std::vector<Size> dimUpperBound;               // T <= L; constant -1 when unbounded
  std::vector<std::vector<unsigned>> dimFactors; // of a product (B*T): its dims, ascending; empty or missing: of no product
  std::vector<Requirement> requirements;
  std::vector<Axis> axes;
  std::vector<Node> nodes; // topological order within each body
  std::vector<StackInfo> stacks;
  std::vector<Input> inputs;                               // those the entry reaches
  std::vector<std::pair<std::string, NodeId>> results;     // outs, or losses and then metrics, by name
  std::vector<std::pair<std::string, double>> lossWeights; // train, of one of several tasks; empty: Program::lossWeights
  uint32_t metrics = 0;                                    // eval: so many of the results, the last ones, are metrics
  std::vector<NodeId> parts;     // eval: outputs behind the results, for averages: of rows (and places), and values without rows
  std::vector<Average> averages; // eval: one per result
  std::vector<std::pair<std::string, std::string>> leftOut; // eval: losses and metrics that its data have no inputs of; why
  std::vector<AxisId> batchAxes;                            // eval: of rows, then of places, which parts keep
  std::map<AxisId, int64_t> placeShifts; // eval: axes that are slices of the places; their place p needs the row up to p + shift
  std::vector<std::pair<uint32_t, NodeId>> nextStates; // outside stacks
  std::vector<State> states;                           // those the entry reaches; the same path = the same state across entries
  std::string walkedAxis;                              // out step(T): "T"
  ast::Range walkedRange;                              // of its name in the out
  AxisId walked = 0;                                   // its id; meaningless if nothing has that axis
  int64_t slices = 1;         // train: it is written for one of so many slices of a batch, and run for each
  std::string batchAxis;      // with slices: the axis that is cut
  std::vector<bool> rowSums;  // with slices, per result: a sum over rows, not a mean, so that slices add up as they are
  std::string totals;         // with slices: the entry that makes the inputs `isTotal`; empty: there are none
  int64_t totalPasses = 1;    // how often it runs for a batch: totals inside of others come later
  bool makesTotals = false;   // it is one: its results are those of a slice, which add up
  bool isStep = false;        // deriveStep has been here: the size of the walked axis is the number of new places of a call
  uint32_t positionState = 0; // isStep: the number of places that earlier calls brought
  Size capacity;              // isStep: places that the states have room for
  std::string prepare;        // isStep: the entry that computes what does not depend on the walk; empty: there is none
};

using SettingValue = std::shared_ptr<struct Setting>;
/// A value of a recipe: number, text, truth, tuple, or call like adamw(lr = 1e-3, betas = (0.9, 0.95)).
struct Setting {
  enum class Kind { Int, Real, Bool, Text, Tuple, Call, Word } kind;
  int64_t integer = 0;
  double real = 0; // also for Int
  bool truth = false;
  std::string text;                   // Text, Word, Call: the callee
  std::vector<SettingValue> elements; // Tuple; Call: positional arguments
  std::vector<std::pair<std::string, SettingValue>> keywords;
  ast::Range range;
  ast::ExprPtr expression; // where `depth` is used (groups): evaluated per parameter
};
struct CheckedRecipe {
  std::string kind; // "train" or "generate"
  std::string model, name;
  std::map<std::string, int64_t> binds, greatest; // dims; of those that its entries leave open (`tokens`) the greatest sizes
  std::vector<std::pair<std::string, SettingValue>> settings;
  ast::Range range;
  const Setting *find(const std::string &key) const {
    for (auto &[name, value] : settings)
      if (name == key)
        return value.get();
    return nullptr;
  }
};
/// Per parameter element factors resolved from groups and freeze; one per element of the stack.
struct ParamPolicy {
  std::vector<double> learningRate, gradient, decay; // decay: factor replacing the optimizer's (NaN: the optimizer's own)
  std::vector<double> clip, clipGroup;               // bound of the norm of a group and its number (NaN: the recipe's bound)
  std::vector<double> frozenAt;                      // 1: this element keeps its value; empty: none does
  bool frozen = false;                               // all elements: not differentiated at all
};

/// The name of an entry's `index`-th part as an output.
inline std::string partName(size_t index) { return "part." + std::to_string(index); }

struct Program {
  std::string model;
  std::vector<std::string> dims; // what `dim` declares, bound or not: axes whose size is the run's
  std::vector<Param> params;     // in the order in which the entries reach them, shared by all entries
  std::vector<Site> sites;
  std::vector<Entry> entries;
  std::vector<CheckedRecipe> recipes;          // of this model, all kinds but names
  std::map<std::string, ParamPolicy> policies; // by Param::path, for the chosen recipe
  /// Exceptions of its numerics policy: "f64", "f32" or "bf16", by Param::path and LayerPath::path of what they name.
  std::map<std::string, std::string> computeOf;
  std::vector<std::pair<std::string, double>> lossWeights; // loss = mlm + 50 * rtd of the chosen recipe
};

} // namespace tenon
