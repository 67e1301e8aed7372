#include "lowering/SavingAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tenon {

static bool savesBlocks(func::FuncOp function) {
  auto save = function->getAttrOfType<StringAttr>("tenon.save");
  return save && save.getValue() == "blocks";
}

std::vector<ScheduledEntry> planSavingAll(ModuleOp module, const FormOptions &options, OwningOpRef<ModuleOp> &copy) {
  if (llvm::none_of(module.getOps<func::FuncOp>(), savesBlocks))
    return {};
  copy = module.clone();
  for (auto function : llvm::make_early_inc_range(copy->getOps<func::FuncOp>()))
    if (savesBlocks(function))
      function->removeAttr("tenon.save");
    else
      function.erase();
  ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) { return success(); });
  PassManager manager(module.getContext());
  for (const Stage &stage : stages())
    if (stage.result == "kernel" || stage.result == "schedule")
      stage.build(manager, options);
  std::vector<ScheduledEntry> planned;
  if (failed(manager.run(*copy)))
    return planned;
  for (auto function : copy->getOps<func::FuncOp>())
    if (auto entry = ScheduledEntry::of(function); succeeded(entry))
      planned.push_back(std::move(*entry));
  return planned;
}

} // namespace tenon
