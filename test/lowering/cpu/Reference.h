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

struct Machine {
  std::vector<int64_t> dims;
  std::vector<Numbers> inputs, states, nextStates;
  std::map<int64_t, Numbers> outputs;
  std::map<std::string, Numbers> parameters, gradients, firstMoments, secondMoments; // by name, stacks included
  uint64_t seed = 0, step = 0;
};

/// Runs the function. Aborts with a message on an op it does not know: this is a test.
void evaluate(mlir::func::FuncOp function, Machine &machine);
int64_t elementCount(mlir::RankedTensorType type, const std::vector<int64_t> &dims);

} // namespace tenon::test
