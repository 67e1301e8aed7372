// What an expression of a spec can denote while it is checked: numbers known at compile time (linear forms over the symbolic
// dims), tensors (nodes of the graph), layers, functions, used layers. Scopes and frames are owned by the Checker and live as
// long as it.
#pragma once
#include "frontend/Diagnostics.h"
#include "frontend/graph/Graph.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon::sema {

struct Scope;
struct Frame;
struct Instance;
struct LayerReference;
struct FunctionReference;

/// An initializer: normal(0.02), xavier_uniform() ...
struct Distribution {
  std::string kind;
  std::vector<double> arguments;
};

struct Value {
  enum class Kind { Poison, Int, Real, Bool, String, Tuple, Tensor, Layer, Function, Builtin, Distribution, Instance };
  Kind kind = Kind::Poison; // Poison: the mistake behind it has been reported; everything made of it stays silent
  Size integer;             // Int
  bool runtime = false;     // Int: made of a dim that varies at run time, also where this compilation binds it to a number
  double real = 0;          // Real
  bool truth = false;       // Bool
  std::string text;         // String; Builtin: its name
  NodeId node = kNoNode;    // Tensor
  std::shared_ptr<std::vector<Value>> elements; // Tuple
  std::shared_ptr<LayerReference> layer;
  std::shared_ptr<FunctionReference> function;
  std::shared_ptr<Distribution> distribution;
  std::shared_ptr<Instance> instance;

  static Value ofInt(Size size, bool runtime = false) {
    Value value;
    value.kind = Kind::Int;
    value.integer = size;
    value.runtime = runtime;
    return value;
  }
  static Value ofReal(double number) {
    Value value;
    value.kind = Kind::Real;
    value.real = number;
    return value;
  }
  static Value ofBool(bool truth) {
    Value value;
    value.kind = Kind::Bool;
    value.truth = truth;
    return value;
  }
  static Value ofText(Kind kind, std::string text) {
    Value value;
    value.kind = kind;
    value.text = std::move(text);
    return value;
  }
  static Value ofTensor(NodeId node) {
    Value value;
    value.kind = node == kNoNode ? Kind::Poison : Kind::Tensor;
    value.node = node;
    return value;
  }
  static Value ofTuple(std::vector<Value> elements) {
    Value value;
    value.kind = Kind::Tuple;
    value.elements = std::make_shared<std::vector<Value>>(std::move(elements));
    return value;
  }
  bool isPoison() const { return kind == Kind::Poison; }
  bool isStatic() const { return kind == Kind::Int || kind == Kind::Real || kind == Kind::Bool; }
  bool isTensor() const { return kind == Kind::Tensor; }
  /// A whole number that does not depend on a symbolic dim.
  std::optional<int64_t> number() const { return kind == Kind::Int ? integer.asConstant() : std::nullopt; }
  /// Any number that does not depend on a symbolic dim.
  std::optional<double> asReal() const {
    if (kind == Kind::Real)
      return real;
    if (kind == Kind::Bool)
      return truth ? 1.0 : 0.0;
    if (auto whole = number())
      return double(*whole);
    return std::nullopt;
  }
};

struct Keyword {
  std::string name;
  Value value;
  ast::Range range;
};
using Keywords = std::vector<Keyword>;

struct LayerReference {
  const ast::Callable *callable;
  Scope *scope; // where it was declared
  Keywords keywords;
};
struct FunctionReference {
  const ast::Callable *callable;
  Scope *scope;
};

/// A used layer: `use wq = Linear[D -> H * E](bias = false)`.
struct Instance {
  std::shared_ptr<LayerReference> layer;
  const std::vector<ast::AxisOp> *axisArguments;
  Scope *owner; // the scope of the `use`: axis arguments are looked up here, and the path continues from its frame
  ast::Stmt::Repeat repeat = ast::Stmt::Repeat::None;
  Size count;
  std::string name;
  ast::Range range;
  /// Calls already made: equal arguments under equal conditions give the same values, unless the call drew random numbers.
  struct Call {
    std::vector<NodeId> arguments, conditions;
    uint32_t body;
    AxisId history;
    Value result;
  };
  std::vector<Call> calls;
};

/// A definition that is evaluated when somebody asks for it.
struct Thunk {
  std::function<Value()> compute;
  enum class State { New, Busy, Done } state = State::New;
  Value value;
  bool saysConfig = false; // a config, or whether this is training, has a say in the value
};

struct Binding {
  std::shared_ptr<Thunk> thunk;
  ast::Range range;
  ast::Stmt::Kind kind = ast::Stmt::Kind::Let;
};

struct AxisGroup { // a formal may stand for a product of axes
  std::vector<AxisId> axes;
  ast::Range range;
};

/// One step of the path to a parameter, from the model inwards; also what `names` tables are applied to.
struct PathStep {
  std::string layer, use;
  std::optional<int64_t> count; // stack[count]
};

/// The model, or one call of a used layer: what decides the names of parameters and states.
struct Frame {
  std::vector<PathStep> steps;
  std::vector<int64_t> stackCounts;
  uint32_t parameterBody = kEntryBody; // innermost stack[] (not loop): its parameters are slices by depth
  std::map<std::string, const ast::Stmt *> states;
  const std::vector<ast::StmtPtr> *body = nullptr; // text, for the ordinals of random places
  std::map<uint32_t, unsigned> *siteUses = nullptr;
  std::shared_ptr<const LayerPath> layer() const { return std::make_shared<LayerPath>(LayerPath{path(), stackCounts}); }
  std::string path() const {
    std::string text;
    for (auto &step : steps)
      text += (text.empty() ? "" : ".") + step.use + (step.count ? ".*" : "");
    return text;
  }
};

struct Scope {
  Scope *up = nullptr;
  Frame *frame = nullptr;
  uint32_t body = kEntryBody;     // the stack body in which expressions of this scope are evaluated
  std::vector<NodeId> conditions; // Bool nodes known to hold: masks of the enclosing attend, conditions of `where`
  std::optional<Value> depth;
  std::map<std::string, Binding> names;
  std::map<std::string, AxisGroup> axes;
};

/// Whether it is made of numbers, and of configs and dims that stand above it: then what stands below it may count on it.
bool isOfSizes(const Scope *scope, const ast::Expr &expression);

/// A state's new value: needed if the state is read or if a result of the same call is.
struct NextValue {
  uint32_t state;
  NodeId value;
  uint32_t body;
  std::vector<NodeId> with;
  ast::Range range;
};

/// A state that the rounds of a loop or the places of a scan set: a carry of it behind its own. Of a stack with a value per depth
/// it is the value of its depth, which the body reads of the whole and which is collected.
struct LoopState {
  static constexpr uint32_t kRoundsRun = ~0u; // no state: how many rounds of a loop with `until` have run
  uint32_t state;
  NodeId initial, argument, next;    // around the loop; in its body; `next` is `argument` while nothing sets it
  ast::Range range;                  // of what sets it
  std::optional<AxisId> depths = {}; // with a value per depth: where `initial` has them
  bool isSet = false;
};

/// Where the values of a state stand while an entry runs: in memory in front of the outermost loop whose rounds hand them on.
struct StateHome {
  uint32_t state;
  uint32_t body;               // around that loop
  NodeId read;                 // there: with an axis for each of the stacks in the loop that have a value per depth
  std::vector<uint32_t> owned; // the bodies of all stacks that have, inner ones first
};

/// One call of a stack or loop.
struct StackCall {
  Instance &instance;
  const std::vector<ast::Range> &ranges; // of its arguments
  std::optional<AxisId> history;         // results of all steps along this axis are wanted
  Scope *caller;
  ast::Range range;
  std::vector<LoopState> states = {}; // those of the parts so far: `next` is what the last of them has left, around the loop
  int64_t total() const { return instance.count.asConstant().value_or(0); }
};

/// What a part of the depths of a call gives: the new carries, and theirs at every depth along `axis` where the call wants them.
struct Storey {
  std::vector<Value> carries, histories;
  AxisId axis = 0;
  int64_t count = 0; // of its depths; 0 after a mistake, or if there are none
  uint32_t body = kEntryBody;
  NodeId producer = kNoNode;           // its node
  size_t decisions = 0;                // those made before
  std::vector<LoopState> byDepth = {}; // states with a value per depth: `next` has those of its depths along `places`
  std::optional<AxisId> places = {};
};

/// What to write instead, where a distribution stands for a tensor.
void helpDraw(Diagnostic *mistake, const Value &value);

/// Whole numbers that a declared type made reals: of what (empty: of several), and the type that keeps them.
struct MadeReal {
  std::string name, whole;
  ast::Range range;
};

/// Bodies one after the other that may run in rounds.
struct Rounds {
  uint32_t body;               // around them
  size_t decisions, proofs;    // those made before
  std::vector<NodeId> initial; // carries of the first round
  std::vector<Storey> storeys = {};
  std::vector<LoopState> states = {}; // of any of them, as the body around has them
};

} // namespace tenon::sema
