// Evaluates a function of the kernel form element by element in f64: what the generated code is compared with.
#pragma once
#include "dialect/TenonDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <string>
#include <vector>

namespace tenon::test {

using Numbers = std::vector<double>; // of every element type, row-major
using Tensors = llvm::DenseMap<mlir::Value, Numbers>;

/// One element: integers and truth values in `whole`, reals in `real`.
struct Scalar {
  double real = 0;
  int64_t whole = 0;
};

struct Machine {
  std::vector<int64_t> dims;
  std::vector<Numbers> inputs, states, nextStates;
  std::map<int64_t, Numbers> outputs;
  std::map<std::string, Numbers> parameters, gradients, firstMoments, secondMoments; // by name, stacks included
  uint64_t seed = 0, step = 0;
  double lossScale = 8, goodUpdates = 4; // before the step; after it what tenon.optimize makes of them
};

/// Runs the function. Aborts with a message on an op it does not know: this is a test.
void evaluate(mlir::func::FuncOp function, Machine &machine);
/// Says what is wrong with the op and ends the process.
[[noreturn]] void fail(mlir::Operation *op, const char *what);
int64_t evaluateExpression(mlir::AffineExpr expression, const std::vector<int64_t> &dims);
/// Whether dropout keeps element number `element`: Philox 4x32-10 as in Salmon et al. 2011; which bits an element has: the
/// description of tenon.random_keep.
bool survives(const Machine &machine, uint64_t element, int64_t site, int64_t depth, int64_t threshold);
/// 32 bits of an element, as the description of tenon.random_bits says.
uint32_t randomBits(const Machine &machine, uint64_t element, int64_t site, int64_t depth);
/// An op of arith or math on one element; `get` gives its operands.
Scalar evaluateArithmetic(mlir::Operation &op, llvm::function_ref<Scalar(mlir::Value)> get);
void evaluateOptimize(OptimizeOp op, Machine &machine, Tensors &tensors);
void evaluateAttention(AttentionOp op, int64_t depth, const Machine &machine, Tensors &tensors);
void evaluateAttentionGrad(AttentionGradOp op, int64_t depth, const Machine &machine, Tensors &tensors);
/// To nearest even among the numbers of a type of reals.
double rounded(mlir::Type element, double value);
/// Depths of the stack from 0 to its last one; their product over nested stacks.
int64_t depthCount(mlir::Value depth);
int64_t copies(mlir::ValueRange depths);
int64_t elementCount(mlir::RankedTensorType type, const std::vector<int64_t> &dims);

} // namespace tenon::test
