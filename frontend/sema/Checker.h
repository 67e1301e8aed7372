// Evaluates one entry of a model symbolically: every definition when somebody demands it, layers once per use, functions inlined.
// The meaning is that of docs/language.md (numbers: test/numerics/language); where a mistake is found it is reported once and a
// Poison value goes on.
#pragma once
#include "frontend/graph/Graph.h"
#include "frontend/proofs/IndexProof.h"
#include "frontend/sema/session/Session.h"
#include <deque>
#include <map>
#include <set>

namespace tenon::sema {

/// What one entry is made of.
struct EntryRequest {
  Entry::Kind kind = Entry::Kind::Out;
  std::string name;
  bool training = false;
  std::vector<std::string> losses;                        // Eval, Train: which; empty: all
  bool metrics = false;                                   // Eval: the metrics too
  std::optional<std::vector<std::string>> metricNames;    // which; nullopt: all
  std::map<std::string, int64_t> binds;                   // dims
  std::vector<std::pair<std::string, ast::ExprPtr>> sets; // configs: --set, then the recipe's bind
};

class Checker {
public:
  Checker(Session &session, const ast::Model &model, const EntryRequest &request);

  /// Evaluates the demanded values; nullopt if a mistake was found on the way.
  std::optional<Entry> run();
  /// Evaluates what no entry demands: lets that nothing mentions.
  void runUnused();

  // Facts about the model, for recipes and options; valid after construction.
  std::vector<std::string> dims, configs, losses, outs;
  Value evaluateConstant(const ast::ExprPtr &expression, std::optional<int64_t> depth);

  static bool isBuiltin(const std::string &name);
  static std::vector<std::string> builtins();

  /// Of a real number; null for other nodes.
  static double (*unaryFunction(Op op))(double);

private:
  Session &session;
  const ast::Model &model;
  EntryRequest request;
  Graph graph;
  ProofHints hints;
  Scope *root = nullptr, *top = nullptr; // callables of the files, behind them those of the library; the model
  std::deque<Scope> scopes;
  std::deque<Frame> frames;
  std::optional<int64_t> staticDepth; // while an initializer or setting is evaluated for one depth
  bool inSize = false;                // what is evaluated is the size of a dim, where products of dims are dims
  bool failed = false, usedStaticDepth = false;
  std::map<NodeId, MadeReal> madeReal; // by the node of the reals
  struct ActiveCall {                  // of a layer or function under way
    const ast::Callable *callable;
    const Scope *scope;       // where it was declared
    const Keywords *keywords; // of a layer, as given; null: none
    ast::Range range;
  };
  std::vector<ActiveCall> calls;            // outermost first
  size_t configsSaid = 0;                   // readings of configs so far, also through names made of them
  size_t randomPlaces = 0;                  // draws so far: a call that drew is not remembered
  std::map<AxisId, ast::Range> axisPlaces;  // where an axis is declared, for related ranges
  std::map<std::string, unsigned> siteUses; // random places met more than once
  std::map<std::string, uint32_t> inputIndex, stateIndex;
  std::vector<const ast::Stmt *> outStatements, nextStatements;
  std::vector<NextValue> nextValues;
  std::map<uint32_t, std::vector<LoopState>> loopStates, depthStates; // by body, while it is evaluated: carried, collected
  std::map<std::pair<uint32_t, size_t>, AxisId> stateAxes;            // of a state, by the stacks that have a value per depth
  std::set<uint32_t> openConditions; // bodies of whole loops whose condition neither a config nor numbers alone decide

  // ---- mistakes (Errors.cpp)
  Diagnostic *error(const char *code, ast::Range range, std::string message, std::string label = {});
  /// A mistake whose sentence does not say what to do instead.
  void errorWith(const char *code, ast::Range range, std::string message, std::string help);
  void needTruth(ast::Range range, std::string message); // T0303, of numbers where truth values belong
  bool spend(ast::Range place, uint64_t units);
  Value poison() const { return Value(); }
  std::string text(const Value &value) const; // "real[B, T, D = 410]"
  std::string text(NodeId node) const;
  std::string names(const std::vector<AxisId> &axes) const; // "B, T"
  std::string text(const std::vector<AxisId> &axes) const;
  std::string axisName(AxisId axis) const;
  std::string text(const Size &size) const;
  std::string sized(AxisId axis) const;                       // "D = 410"
  std::string product(const std::vector<AxisId> &axes) const; // "T * D = 8"
  void relate(Diagnostic *mistake, AxisId axis);              // adds where the axis is declared
  static std::string kindOf(const Value &value);              // "a layer", "a tensor"

  // ---- scopes and names (Scopes.cpp)
  Scope *newScope(Scope *up);
  Value lookup(Scope *scope, const ast::Name &name);
  const AxisGroup *findAxis(Scope *scope, const std::string &name, ast::Range use, bool &bad);
  /// The axes a name stands for (a formal may be a product); nullopt after an error.
  std::optional<std::vector<AxisId>> axesOf(Scope *scope, const ast::Name &name);
  std::optional<std::vector<AxisId>> axesOf(Scope *scope, const std::vector<ast::AxisTerm> &terms);
  std::optional<AxisId> oneAxis(Scope *scope, const std::vector<ast::AxisTerm> &terms, const char *what);
  /// Of [..] with one plain axis; anything more is a mistake.
  std::optional<AxisId> onlyAxis(Scope *scope, const std::vector<ast::AxisOp> &ops, const std::string &what);
  std::vector<std::string> visibleNames(Scope *scope, bool axesOnly);
  bool define(Scope *scope, const ast::Name &name, std::function<Value()> compute, ast::Stmt::Kind kind);
  void defineValue(Scope *scope, const ast::Name &name, Value value, ast::Stmt::Kind kind);
  Value force(const std::shared_ptr<Thunk> &thunk, ast::Range use);
  Size productOf(const std::vector<AxisId> &axes, bool &linear);

  // ---- types (Types.cpp)
  std::optional<std::vector<AxisId>> typeAxes(Scope *scope, const ast::Type &type);
  std::optional<Element> elementOf(const ast::Type &type);
  /// The value as type `type` wants it (order of axes, element); poison after an error. `what`: "argument x of Linear".
  Value fit(Scope *scope, const Value &value, const ast::Type &type, const std::string &what, ast::Range place);
  void noteAxes(Diagnostic &mistake, const std::vector<AxisId> &own, const std::vector<AxisId> &declared);
  bool noteMadeReal(Diagnostic *mistake, NodeId node); // which declared type made reals of whole numbers; false: none
  /// A tensor of which only the type is known, after a mistake; poison if the type itself is unknown.
  Value recovered(Scope *scope, const ast::Type &type);
  /// The real value with the element type that is written: f64, f32, bf16 or f16.
  NodeId pin(NodeId node, const std::string &element, ast::Range range);

  // ---- statements (Statements.cpp, Uses.cpp)
  struct Body { // what a list of statements leaves to its owner
    std::vector<const ast::Stmt *> requirements, next, carries;
    const ast::Stmt *until = nullptr, *result = nullptr, *yield = nullptr;
  };
  enum class Place { Model, Layer, Function, Scan };
  Body statements(Scope *scope, const std::vector<ast::StmtPtr> &list, Place place, Keywords *given, const std::string &owner);
  void nextOnce(Body &body, const ast::Stmt &statement);
  void once(const ast::Stmt *&slot, const ast::Stmt &statement, const char *word);
  void bodyStatement(Scope *scope, Body &body, const ast::Stmt &statement);
  void paramStatement(Scope *scope, const ast::Stmt &statement, Keywords *given);
  void callableStatement(Scope *scope, const ast::Callable &callable);
  void demandStatement(Scope *scope, const ast::Stmt &statement, Place place);
  void refuseKeywords(const Keywords *given, const std::vector<ast::StmtPtr> &list, const std::string &owner);
  bool allowed(const ast::Stmt &statement, Place place);
  void configStatement(Scope *scope, const ast::Stmt &statement, Keywords *given);
  void dimStatement(Scope *scope, const ast::Stmt &statement, Place place, Keywords *given);
  void symbolicDim(Scope *scope, const ast::Stmt &statement);
  void letStatement(Scope *scope, const ast::Stmt &statement);
  void useStatement(Scope *scope, const ast::Stmt &statement, Keywords *given);
  void requireStatement(Scope *scope, const ast::Stmt &statement);
  Value makeInstance(Scope *scope, const ast::Stmt &statement);
  bool useKeywords(Scope *scope, const ast::Stmt &statement, LayerReference &layer);
  std::optional<Size> repeatCount(Scope *scope, const ast::Stmt &statement);
  Value inputValue(const ast::Stmt &statement);
  bool boundState(Scope *scope, const ast::Stmt &statement, const Value &initial, double number, State &state);
  bool isAnotherShape(const std::string &path, const std::vector<AxisId> &axes) const;
  bool shapeParameter(Scope *scope, const ast::Stmt &statement, const std::vector<AxisId> &axes, Param &param);
  Value parameterValue(Scope *scope, const ast::Stmt &statement, const Keyword *given);
  Value tiedParameter(const Value &tied, const std::vector<AxisId> &axes, const ast::Stmt &statement, ast::Range range);
  std::optional<Initializer> initializer(Scope *scope, const ast::Stmt &statement, const std::vector<int64_t> &stackCounts,
                                         const std::vector<int64_t> &fan, const std::vector<AxisId> &axes);
  /// Of an expression over indices of `axes`, such as log(1 + iota[N]()); nullopt after a message.
  std::optional<Initializer> tableOf(NodeId value, const std::vector<AxisId> &axes, ast::Range range, const std::string &name);
  std::vector<int64_t> declaredSizes(Scope *scope, const ast::Type &type);
  std::optional<Initializer> initializerOf(const Value &, const std::vector<int64_t> &fan, ast::Range, const std::string &name);
  std::optional<Initializer> valuesOf(const Node &param, const ast::Stmt &, const State &, const std::vector<AxisId> &axes);
  std::optional<Initializer> initialOf(Scope *scope, const ast::Stmt &statement, State &state, const std::vector<AxisId> &axes);
  Value stateValue(Scope *scope, const ast::Stmt &statement);
  uint32_t stateOf(Scope *scope, const ast::Stmt &statement);
  std::optional<StateHome> homeOf(Scope *scope, const ast::Stmt &statement, uint32_t state);
  NodeId carriedState(uint32_t body, const StateHome &home, ast::Range range);
  LoopState *loopStateOf(uint32_t body, NodeId argument);
  bool setInLoop(uint32_t body, NodeId argument, NodeId next, ast::Range range);
  void carryStates(const std::vector<LoopState> &states, uint32_t body, std::vector<NodeId> &initial,
                   std::vector<NodeId> &results, std::vector<std::vector<AxisId>> &declared);
  NodeId bodyArgument(ValueType type, size_t place, ast::Range range, uint32_t body);
  void beginWithStates(StackCall &call, std::vector<LoopState> &states);
  std::vector<LoopState> takeCarriedOn(StackCall &call, uint32_t body, bool alone, Rounds &rounds);
  void handOn(std::vector<LoopState> &known, const std::vector<LoopState> &states, size_t carries, std::vector<Value> &made);
  void takeStates(const std::vector<LoopState> &states, uint32_t around, const std::vector<Value> &made);
  void countRoundsRun(uint32_t body, NodeId depth);
  // States of stacks with a value per depth (StackStates.cpp).
  AxisId axisOfDepths(uint32_t state, size_t level, uint32_t body);
  NodeId atDepth(NodeId whole, AxisId depths, uint32_t body, uint32_t state, ast::Range range);
  NodeId collected(const Storey &storey, NodeId value, AxisId along);
  AxisId placesOf(Storey &storey);
  void collectStates(Storey &storey, std::vector<LoopState> states);
  NodeId joinDepths(const LoopState &state, const std::vector<std::pair<NodeId, AxisId>> &parts, AxisId whole);
  void collectStatesOfRounds(Rounds &rounds, Storey &made, int64_t period);
  void joinStates(StackCall &call, std::vector<Storey> &parts);

  // ---- layers and functions (Layers.cpp, Frames.cpp, Stacks.cpp, Scans.cpp)
  struct CallFrame {
    Scope *scope = nullptr;
    std::vector<std::pair<std::vector<AxisId>, std::vector<AxisId>>> outputs; // caller's axes, the layer's own
    std::vector<std::string> outputNames;
  };
  /// What a layer declares, without a call: its axes and keywords are checked, nothing of its body is evaluated.
  std::optional<CallFrame> declare(Instance &instance, Scope *scope, ast::Range range);
  std::optional<CallFrame> frameOf(Instance &instance, Scope *caller, bool inStack, uint32_t body);
  bool takes(const ast::Callable &callable, const char *code, size_t declared, const char *word, size_t given, ast::Range range);
  bool takesAxes(const ast::Callable &callable, size_t given, ast::Range range);
  bool bindFormal(const Instance &instance, const ast::Formal &formal, const ast::AxisOp &op, CallFrame &call, bool &ok);
  std::optional<std::vector<AxisId>> furtherAxes(Scope *scope, const ast::Type &type, NodeId node);
  Value callLayer(const std::shared_ptr<Instance> &instance, std::vector<Value> arguments, const std::vector<ast::Range> &ranges,
                  std::optional<AxisId> history, Scope *caller, ast::Range range);
  Value runLayer(Instance &instance, std::vector<Value> arguments, const std::vector<ast::Range> &ranges, Scope *caller,
                 uint32_t body, bool inStack, ast::Range range);
  bool bindArguments(CallFrame &frame, const ast::Callable &callable, std::vector<Value> &arguments,
                     const std::vector<ast::Range> &ranges, ast::Range range, bool isLayer);
  Value layerResults(CallFrame &frame, const ast::Callable &callable, const Body &body, ast::Range range);
  /// The condition of a loop becomes a part of its body; one that is known and makes no sense is warned of.
  void untilStatement(const Instance &instance, const ast::Stmt &statement, Scope *scope, uint32_t body, bool inStack);
  /// Of a condition made of depths and numbers alone: false if it holds at no depth of the body, true if it does at the first.
  std::optional<bool> truthOfRounds(NodeId condition, uint32_t body) const;
  /// The same of one that sizes, indices and whole numbers decide, whatever their values.
  std::optional<bool> provedTruth(NodeId condition);
  /// Says so where no values that the carries of a loop may have let its condition hold, or fail.
  void warnOfRanges(const StackCall &call, uint32_t body, const std::vector<NodeId> &initial, const std::vector<NodeId> &results);
  Diagnostic *warnOfTruth(const Instance &instance, ast::Range range, bool truth);
  void nextStatement(Scope *scope, const ast::Stmt &statement, const Value &with);
  Value callStack(Instance &instance, std::vector<Value> arguments, const std::vector<ast::Range> &ranges,
                  std::optional<AxisId> history, Scope *caller, ast::Range range);
  StackInfo infoOf(const StackCall &call, int64_t first) const;
  /// One body for the depths from `first` on, as many as its `if depth`s leave equal.
  std::optional<std::vector<NodeId>> carriesOf(const StackCall &, uint32_t body, size_t carries, std::vector<Value> &arguments);
  std::optional<std::vector<NodeId>> carriedOn(const StackCall &call, const Value &result, const std::vector<NodeId> &initial,
                                               std::vector<std::vector<AxisId>> &declared);
  Storey callStorey(StackCall &call, std::vector<Value> arguments, int64_t first, Rounds &rounds);
  /// Bodies for the depths from `first` on until they repeat, and all rounds in which they do.
  Storey callRounds(StackCall &call, std::vector<Value> arguments, int64_t first);
  Storey stackNode(const StackCall &call, uint32_t body, const std::vector<NodeId> &initial,
                   const std::vector<std::vector<AxisId>> &declared, uint32_t around);
  Storey closeRounds(StackCall &call, Rounds &rounds);
  std::vector<NodeId> bodyArguments(const std::vector<NodeId> &initial, const std::vector<ast::Range> &ranges, uint32_t body);
  Value joinHistories(const std::vector<Storey> &parts, size_t carry, AxisId whole, ast::Range range);
  // What holds at some depths, and whether it holds at others (Depths.cpp).
  struct Decision {
    NodeId condition;
    bool truth;
    std::vector<uint32_t> bodies; // whose depths it depends on, inner ones first
  };
  struct DepthProof {
    NodeId index;
    Size limit;
    std::vector<NodeId> conditions;
  };
  std::vector<Decision> decisions;
  std::vector<DepthProof> proofs;
  bool isDecidedAlike(const Decision &decision, const std::vector<uint32_t> &moved, int64_t shift) const;
  bool repeats(const Rounds &rounds, size_t from, int64_t shift) const;
  int64_t countRounds(const Rounds &rounds, int64_t first, int64_t total);
  bool holdInRounds(const Rounds &rounds) const;
  void noteProof(NodeId index, const Size &limit, std::vector<NodeId> conditions);
  /// Reports T0415 where a call is already under way or the calls nest too deeply.
  bool goesRound(const ActiveCall &call);
  Value callFunction(const FunctionReference &function, const std::vector<ast::AxisOp> &axisOps, std::vector<Value> arguments,
                     const std::vector<ast::Range> &ranges, Scope *caller, ast::Range range);
  Value member(Scope *scope, const ast::Expr &expression);
  Value scan(Scope *scope, const ast::Expr &expression);
  struct ScanState { // one scan under way
    const ast::Expr &expression;
    Scope *outer, *inner;
    uint32_t body;                        // stack of the graph
    std::vector<NodeId> initial, results; // per carry
    std::map<std::string, size_t> carryOf;
    bool ok = true;
  };
  void scanCarry(ScanState &state, const ast::Stmt &statement);
  void scanNext(ScanState &state, const ast::Stmt &statement, const std::vector<const ast::Stmt *> &carries);
  std::vector<NodeId> scanYields(ScanState &state, const ast::Stmt &yield, AxisId axis);
  Value scanNode(ScanState &state, const std::vector<NodeId> &yields, AxisId axis);

  // ---- expressions (Expressions.cpp, Arithmetic.cpp, AxisOperations.cpp, Attend.cpp)
  Value evaluate(Scope *scope, const ast::Expr &expression);
  Value evaluateKind(Scope *scope, const ast::Expr &expression);
  Value evaluate(Scope *scope, const ast::ExprPtr &expression) { return expression ? evaluate(scope, *expression) : poison(); }
  Value conditional(Scope *scope, const ast::Expr &expression);
  Value negate(Value value, ast::Range range);
  void checkPairs(const std::string &op, NodeId left, NodeId right, const ast::Expr &expression);
  Value logicalNot(const Value &value, ast::Range range);
  Value binary(const std::string &op, const Value &left, const Value &right, const ast::Expr &expression);
  std::optional<Value> staticBinary(const std::string &op, const Value &left, const Value &right, const ast::Expr &expression);
  std::optional<Value> ofDims(const std::string &op, const Size &left, const Size &right);
  std::optional<Value> wholeBinary(const std::string &op, const Value &left, const Value &right, const ast::Expr &expression);
  Value tensorBinary(const std::string &op, NodeId left, NodeId right, const ast::Expr &expression);
  /// The truth of a condition made of depths and numbers at the depths whose bodies are under way; where it changes within them
  /// they end before that. nullopt: it is not made of those alone.
  std::optional<bool> decideByDepth(NodeId condition);
  /// A static number or tensor as a node; kNoNode after an error ("a tensor is needed").
  NodeId tensor(const Value &value, ast::Range range);
  NodeId realTensor(const Value &value, ast::Range range);
  std::optional<Size> wholeSize(const Value &value, ast::Range range, const std::string &what);
  /// An error, with an example of what `name` is then, unless a size is proved never to be negative.
  bool mayBeNegative(const Size &size, const char *code, ast::Range range, const std::string &what, const std::string &name);
  bool checkBroadcast(NodeId left, NodeId right, ast::Range range, const std::string &what, ast::Range leftRange,
                      ast::Range rightRange);
  Value axisOperations(Scope *scope, const ast::Expr &expression);
  bool indexWithoutAxis(Scope *scope, NodeId node, const ast::AxisOp &op);
  NodeId renameAxes(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, const ast::AxisOp &op);
  NodeId regroup(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range);
  NodeId reorder(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range);
  NodeId regroupPart(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, ast::Range range);
  NodeId gather(Scope *scope, NodeId node, AxisId axis, const ast::AxisOp &op);
  NodeId gatherNode(NodeId node, AxisId axis, NodeId index, bool clampIndex, ast::Range range);
  NodeId slice(Scope *scope, NodeId node, AxisId axis, const ast::AxisOp &op);
  /// Proves the range of an index, and keeps it there in 32 bits. `clamp`: whether the proof needed a condition.
  bool inRange(NodeId &index, const Size &limit, const std::vector<NodeId> &conditions, ast::Range range,
               const std::string &message, const char *code, const std::string &holder, std::optional<AxisId> axis, bool *clamp);
  bool requireAxis(NodeId node, AxisId axis, ast::Range range, const std::string &what);
  /// That the axis is not known to be empty, which `what` ("the largest of axis K = 0") would have no value over.
  bool requirePlaces(AxisId axis, ast::Range range, const std::string &what);
  Value attend(Scope *scope, const ast::Expr &expression);
  struct AttendParts {
    std::vector<NodeId> scores, masks;
    std::vector<std::string> names;
    std::vector<ast::Range> scoreRanges;
    NodeId value = kNoNode, scaleNode = kNoNode;
    double scale = 1, rate = 0;
    bool bad = false;
  };
  /// Axes of the places, whose indices are defined in `inner`; the keys' axis is the last. Empty after a mistake.
  std::vector<AxisId> attendPlaces(Scope *scope, Scope *inner, const ast::Expr &expression);
  void attendMask(Scope *inner, const ast::AttendItem &, const ast::Expr &, const std::vector<AxisId> &, AttendParts &parts);
  void refuseItem(const char *code, ast::Range range, const std::string &message, NodeId keyless, AxisId key);
  void attendItem(Scope *scope, const ast::AttendItem &item, AxisId key, AttendParts &parts);
  void checkScoreTerms(AttendParts &parts);
  Value attendNode(Scope *scope, const ast::Expr &expression, const std::vector<AxisId> &places, const AttendParts &parts);
  uint32_t randomSite(Scope *scope, ast::Range place);

  // ---- calls (Layers.cpp, Builtins.cpp, BuiltinsLoss.cpp, BuiltinsShape.cpp)
  struct Call {
    Scope *scope;
    std::string name;
    const std::vector<ast::AxisOp> *axisOps; // never null
    std::vector<Value> arguments;
    std::vector<ast::Range> ranges;
    std::vector<Keyword> keywords;
    ast::Range range, nameRange;
    const Keyword *keyword(const std::string &name) const {
      for (auto &keyword : keywords)
        if (keyword.name == name)
          return &keyword;
      return nullptr;
    }
  };
  Value call(Scope *scope, const ast::Expr &expression);
  Value layerWithKeywords(Scope *scope, Value function, const ast::Expr &expression);
  Value callBuiltin(Scope *scope, const std::string &name, const std::vector<ast::AxisOp> &axisOps, const ast::Expr &expression,
                    ast::Range nameRange);
  bool arity(const Call &call, size_t least, size_t most, std::initializer_list<const char *> keywords, int axes);
  std::optional<std::vector<AxisId>> callAxes(const Call &call);
  std::optional<double> staticReal(const Value &value, ast::Range range, const std::string &what);
  std::optional<int64_t> staticInt(const Value &value, ast::Range range, const std::string &what);
  void warnNormalized(const Call &call, const std::string &function);
  std::optional<NodeId> lossCondition(const Call &call, const std::vector<AxisId> &labels);
  std::optional<bool> sharesWithOthers(const Keyword *form);
  bool smoothedTarget(const Call &call, AxisId axis, Node &node);
  using Handler = Value (Checker::*)(const Call &);
  static const std::map<std::string, Handler> &handlers();
  Value unaryBuiltin(const Call &call);
  Value minMaxBuiltin(const Call &call);
  Value reduceBuiltin(const Call &call);
  Value dotBuiltin(const Call &call);
  Value clipBuiltin(const Call &call);
  Value whereBuiltin(const Call &call);
  Value softmaxBuiltin(const Call &call);
  Value normalizeBuiltin(const Call &call);
  Value dropoutBuiltin(const Call &call);
  Value sampleBuiltin(const Call &call);
  Value crossEntropyBuiltin(const Call &call);
  Value binaryCrossEntropyBuiltin(const Call &call);
  Value argmaxBuiltin(const Call &call);
  Value cumsumBuiltin(const Call &call);
  Value flipBuiltin(const Call &call);
  Value topBuiltin(const Call &call);
  Value putBuiltin(const Call &call);
  Value windowBuiltin(const Call &call);
  std::optional<std::vector<int64_t>> numbersOfAxes(const Call &call, const char *name, int64_t least);
  bool readFill(const Call &call, NodeId node, double &number);
  bool readPads(const Call &call, std::vector<WindowSteps> &steps);
  bool fitsWindow(ast::Range range, AxisId axis, AxisId windows, AxisId inside, const WindowSteps &steps);
  struct ConcatAxes {
    std::vector<AxisId> parts;
    AxisId whole;
  };
  std::optional<ConcatAxes> concatAxes(const Call &call); // nullopt after an error
  Value concatBuiltin(const Call &call);
  Value expandBuiltin(const Call &call);
  Value iotaBuiltin(const Call &call);
  Value sizeBuiltin(const Call &call);
  Value sinusoidBuiltin(const Call &call);
  Value distributionBuiltin(const Call &call);
  Value drawBuiltin(const Call &call, double spread);

  // ---- entries (Entries.cpp, Finish.cpp)
  std::optional<AxisId> walked; // out step(T)
  bool demandOuts();
  std::vector<ast::Range> numbers;          // the texts of losses and metrics
  void demandNumbers(ast::Stmt::Kind kind); // Loss or Metric
  void advanceStates();
  std::optional<Entry> finish();
  /// Whether a text that the entry reads goes on along the axis.
  bool walksText(const Entry &entry, AxisId axis);
  void checkWalk(const Entry &entry, AxisId axis);
};

} // namespace tenon::sema
