// Fused ops to simpler ones through DecomposableOpInterface. See Passes.td.
#include "dialect/ElementModel.h"
#include "dialect/TenonDialect.h"
#include "lowering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_DECOMPOSE
#include "lowering/Passes.h.inc"

namespace {
struct Decompose : impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;
  void runOnOperation() override {
    SmallVector<DecomposableOpInterface> ops;
    getOperation().walk([&](DecomposableOpInterface op) {
      if (only.empty() || op->getName().stripDialect() == only)
        ops.push_back(op);
    });
    for (DecomposableOpInterface op : ops) {
      OpBuilder builder(op);
      KeepCompute keep(builder, op);
      for (auto [result, value] : llvm::zip(op->getResults(), op.decompose(builder)))
        if (value)
          result.replaceAllUsesWith(value);
      op->erase();
    }
  }
};
} // namespace
} // namespace tenon
