#include "lowering/schedule/KernelReport.h"
#include "dialect/ElementModel.h"
#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tenon {
namespace {

std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    place = (llvm::sys::path::filename(file.getFilename().getValue()) + ":" + Twine(file.getLine()) + ":" + Twine(file.getColumn())).str();
    return WalkResult::interrupt();
  });
  return place;
}

/// The parameter whose gradient it makes, else the first one that it reads.
std::string subjectOf(KernelOpInterface kernel) {
  for (Operation *user : kernel->getUsers())
    if (auto write = dyn_cast<WriteGradientOp>(user))
      return ("gradient of " + write.getParameter()).str();
  for (Value tensor : kernel.tensorsRead())
    if (auto read = tensor.getDefiningOp<ReadParameterOp>())
      return read.getParameter().str();
  return {};
}

void report(Block &block, int64_t calls, FormulaSpace &space, std::vector<KernelRow> &rows) {
  for (Operation &op : block) {
    if (auto stack = dyn_cast<StackOp>(op))
      report(stack.getBody().front(), calls * int64_t(stack.getCount()), space, rows);
    else if (auto kernel = dyn_cast<KernelOpInterface>(op))
      rows.push_back({subjectOf(kernel), op.getName().stripDialect().str(), placeOf(op.getLoc()), calls, kernel.countFlops(space) * calls, kernel.countBytes(space) * calls});
  }
}

} // namespace

std::vector<KernelRow> reportKernels(func::FuncOp function, FormulaSpace &space) {
  std::vector<KernelRow> rows;
  report(function.getBody().front(), 1, space, rows);
  return rows;
}

MemoryReport reportMemory(const PlannedEntry &entry, FormulaSpace &space) {
  MemoryReport report;
  for (auto [i, bytes] : llvm::enumerate(entry.plan.stateBytes)) {
    bool inPlace = i < entry.plan.inPlace.size() && entry.plan.inPlace[i];
    (inPlace ? report.kept : report.states) += space.aligned(space.of(bytes));
  }
  std::vector<Maximum> ends;
  auto place = [&](const MemoryPlan::Slot &slot) {
    Polynomial bytes = space.aligned(space.of(slot.bytes));
    Maximum end;
    end.add(space, bytes);
    for (unsigned below : slot.after)
      end.add(space, ends[below], bytes);
    report.workspace.add(space, end, 0);
    ends.push_back(std::move(end));
    if (slot.saved)
      report.saved += bytes;
  };
  for (const MemoryPlan::Slot &slot : entry.plan.slots)
    place(slot);
  report.scratchPerWorker = (entry.plan.scratchBytes + 63) / 64 * 64;
  func::FuncOp function = entry.function;
  auto bytes = [&](Type type) { // each input and output starts on a cache line
    return space.aligned(space.of(tensorBytes(cast<RankedTensorType>(type))));
  };
  for (Type type : function.getArgumentTypes())
    if (isa<RankedTensorType>(type))
      report.inputs += bytes(type);
  for (OutputOp output : function.getBody().front().getOps<OutputOp>())
    report.outputs += bytes(output.getValue().getType());
  return report;
}

} // namespace tenon
