#include "lowering/schedule/PlannedEntry.h"

using namespace mlir;

namespace tenon {

FailureOr<PlannedEntry> planEntry(func::FuncOp function, const Target &target) {
  FailureOr<MemoryPlan> plan = planMemory(function, target);
  if (failed(plan))
    return failure();
  PlannedEntry entry{function, std::move(*plan)};
  entry.dims = llvm::count_if(function.getArgumentTypes(), [](Type type) { return type.isIndex(); });
  entry.inputs = int32_t(function.getNumArguments()) - entry.dims;
  entry.outputs = llvm::range_size(function.getBody().front().getOps<OutputOp>());
  return entry;
}

} // namespace tenon
