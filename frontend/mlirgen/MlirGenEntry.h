// The translation of one entry; private to MlirGen.
#pragma once
#include "dialect/Build.h"
#include "frontend/Diagnostics.h"
#include "frontend/Program.h"
#include "frontend/mlirgen/MlirGen.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <deque>
#include <set>

namespace tenon {

class EntryGenerator {
public:
  EntryGenerator(const Program &program, const Entry &entry, const SourceFiles &sources, mlir::ModuleOp module,
                 const ModuleTypes &types, Diagnostics &diagnostics)
      : program(program), entry(entry), sources(sources), module(module), context(module.getContext()), types(types),
        real(types.real), diagnostics(diagnostics), root(context) {}
  /// False after a diagnostic.
  bool generate();

private:
  using Axes = std::vector<AxisId>;
  /// A stack whose body is being built: where its nodes go, and what its arguments stand for.
  struct OpenStack {
    uint32_t info;
    StackOp op; // null: its body runs once in a round, and stands in the body around
    const Node *node;
    mlir::OpBuilder builder;
    mlir::Value depth = {}; // at which the body runs; none in a body of rounds
  };

  // MlirGen.cpp
  void findComputeTypes();
  mlir::func::FuncOp createFunction();
  void describeStep(mlir::func::FuncOp function);
  void generateResults();
  mlir::Location locate(const ast::Range &range) const;
  // MlirGenStates.cpp
  void writeStates(const std::vector<std::pair<uint32_t, NodeId>> &next, mlir::OpBuilder &builder, uint32_t stack);
  /// Whether the body of a stack, or one in it, sets states.
  bool setsStates(uint32_t stack) const;
  void copyUnwrittenStates();
  /// The type of what a state has at one depth.
  mlir::RankedTensorType sliceOf(uint32_t state) const;
  void keepStatesBetween(uint32_t state);
  void keepStatesOfRounds(uint32_t loop, mlir::Value rounds, mlir::OpBuilder &builder);
  void keepAtDepths(uint32_t loop, uint32_t body, mlir::OpBuilder &builder, llvm::SmallVector<mlir::Value> &depths);
  // MlirGenStacks.cpp
  mlir::Value generateStack(const Node &node, NodeId id);
  mlir::Value generateInPlace(const Node &node, NodeId id);
  llvm::SmallVector<mlir::Value> generateBody(const StackInfo &info);
  llvm::SmallVector<mlir::Value> resultsOfRounds(StackOp op, const Node &node, mlir::OpBuilder &outer);
  bool generateUntil(const StackInfo &info, mlir::Block &block);
  mlir::Value firstDepthOfRound(const StackInfo *rounds, mlir::OpBuilder &builder);
  bool standsInPlace(uint32_t stack) const;
  mlir::Value depthOf(uint32_t stack);
  /// Depths of the stacks around a node, outermost first: where its parameters and states lie.
  llvm::SmallVector<mlir::Value> depthsOf(uint32_t stack);
  /// Depths of `stack` and of all loops around it, outermost first.
  llvm::SmallVector<mlir::Value> allDepthsOf(uint32_t stack);
  /// One number for them, for random draws; null outside of stacks.
  mlir::Value countedDepth(uint32_t stack);
  mlir::OpBuilder &builderOf(uint32_t stack);
  // MlirGenNodes.cpp
  mlir::Value value(NodeId id);
  mlir::Value generateWithOperands(NodeId id);
  mlir::Value generate(const Node &node, NodeId id);
  mlir::Value generateElementwise(const Node &node);
  mlir::Value generateBinary(const Node &node, mlir::Value a, mlir::Value b);
  mlir::Value generateUnary(const Node &node, mlir::Value x);
  /// The value of the node as its written type wants it: with numbers of 16 bits, widened again.
  mlir::Value asWritten(const Node &node, mlir::Value x);
  /// In which reals are computed to make the node.
  mlir::Type realOf(const Node &node, NodeId id) const;
  /// The value as the node that is being made reads it: reals in `real`.
  mlir::Value read(NodeId id);
  mlir::Value generateAppend(const Node &node);
  mlir::Value generateBodyArgument(const Node &node);
  mlir::Value generateFunction(const Node &node, NodeId id);
  mlir::Value generateSource(const Node &node);
  mlir::Value generateParameter(const Node &node);
  mlir::Value unsupported(const Node &node, const char *what);
  // MlirGenAxes.cpp
  mlir::Value generateAxes(const Node &node);
  mlir::Value generateReshape(const Node &node);
  mlir::Value gather(mlir::Value x, Axes ofX, AxisId gathered, mlir::Value index, const Axes &ofIndex, const Axes &result,
                     bool clamp);
  mlir::Value numbered(AxisId axis, const Axes &axes);
  mlir::Value generateGather(const Node &node);
  mlir::Value sliceOfScan(const Node &node);
  mlir::Value generateFlip(const Node &node);
  mlir::Value generateWindow(const Node &node);
  mlir::Value generateArgMax(const Node &node);
  mlir::Value generateTop(const Node &node, NodeId id);
  mlir::Value generateSample(const Node &node);
  mlir::Value generateNoise(const Node &node);
  mlir::Value generateCumsum(const Node &node);
  mlir::Value generatePut(const Node &node);
  mlir::Value generateConcat(const Node &node);
  // MlirGenLayers.cpp
  mlir::Value generateLayer(const Node &node, NodeId id);
  mlir::Value generateAlongLast(const Node &node);
  mlir::Value generateCrossEntropy(const Node &node);
  mlir::Value generateBinaryCrossEntropy(const Node &node);
  mlir::Value generateDropout(const Node &node);
  mlir::Value generateAttend(const Node &node, NodeId id);

  mlir::Type elementType(const ValueType &type) const;
  /// Of an input or state in memory: as it is written, else that of the policy.
  mlir::Type storedType(Element element, const std::string &written) const;
  mlir::Type storedOf(const State &state) const { return storedType(state.element, state.stored); }
  /// In which a loop hands on a result of its body.
  mlir::Type handedOn(NodeId result) const;
  mlir::RankedTensorType typeOf(const Axes &axes, mlir::Type element) const;
  mlir::RankedTensorType typeOf(const ValueType &type) const { return typeOf(type.axes, elementType(type)); }
  mlir::AffineExpr sizeOf(AxisId axis) const { return toAffine(entry.axes[axis].size, context); }
  mlir::AffineMapAttr form(const Size &size) const;
  /// `x` of axes `from`, transposed and repeated to `to`.
  mlir::Value spread(mlir::Value x, const Axes &from, const Axes &to);
  mlir::Value operand(const Node &node, unsigned index) { return read(node.operands[index]); }
  const Axes &axesOf(NodeId id) const { return entry.nodes[id].type.axes; }
  mlir::DenseI64ArrayAttr positions(const Axes &axes, const Axes &in);

  const Program &program;
  const Entry &entry;
  const SourceFiles &sources;
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  const ModuleTypes &types;
  mlir::Type real; // of the node that is being made
  Diagnostics &diagnostics;
  mlir::OpBuilder root;
  mlir::func::FuncOp function;
  std::deque<OpenStack> open; // a deque: builders inside are referred to while stacks open and close
  llvm::DenseMap<NodeId, mlir::Value> values;
  std::set<NodeId> wide;                                          // computed in f64 in a module of f32
  llvm::DenseMap<NodeId, mlir::Attribute> multiplied;             // types of contractions that are not those of the module
  llvm::DenseMap<NodeId, llvm::SmallVector<mlir::Value>> results; // of stacks, top
  std::vector<bool> written;                                      // states
  bool failed = false;
  mlir::OpBuilder *at = nullptr; // where the node being generated goes
  mlir::Location here() const { return current; }
  mlir::Location current = mlir::UnknownLoc::get(context);
};

} // namespace tenon
