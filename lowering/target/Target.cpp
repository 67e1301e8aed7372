#include "lowering/target/Target.h"
#include "dialect/Packs.h"
#include "dialect/StoredParameter.h"
#include "mlir/IR/TypeUtilities.h"

namespace tenon {

static llvm::SmallVector<const Target *> &targets() {
  static llvm::SmallVector<const Target *> all;
  return all;
}

const Target *findTarget(llvm::StringRef name) {
  for (const Target *target : targets())
    if (target->name() == name)
      return target;
  return nullptr;
}

void registerTarget(const Target &target) {
  if (!findTarget(target.name()))
    targets().push_back(&target);
}

llvm::ArrayRef<const Target *> knownTargets() { return targets(); }

mlir::LogicalResult Target::verifyPanels(mlir::ModuleOp module) const {
  for (auto parameter : module.getOps<ParameterOp>()) {
    const std::optional<Panels> panels = Panels::of(parameter);
    if (!panels)
      continue;
    const mlir::Type element = storedType(parameter);
    const std::optional<PanelForm> form = panelsOf(element);
    if (!form)
      return parameter.emitOpError("expects no tenon.panels: the target ") // S12
             << name() << " reads " << element << " row-major";
    const int64_t lines = panels->linesOf(parameter.getType().getShape().drop_front(parameter.depthCount()));
    if (panels->width != form->width || panels->steps != form->steps || lines % form->lines != 0)
      return parameter.emitOpError("expects tenon.panels as the target ") // S12
             << name() << " reads " << element << ", of width " << form->width << " and " << form->steps
             << " lines side by side of a multiple of " << form->lines << ", got width " << panels->width << " and "
             << panels->steps << " of " << lines;
  }
  mlir::WalkResult found = module.walk([&](KernelOpInterface kernel) {
    for (mlir::Value result : kernel->getResults()) {
      const std::optional<Panels> panels = packedPanels(result);
      const std::optional<PanelForm> form = panels ? panelsOf(mlir::getElementTypeOrSelf(result.getType())) : std::nullopt;
      if (!panels || (form && panels->width == form->width && panels->steps == form->steps))
        continue;
      kernel->emitOpError("expects to pack into panels in which contractions of the target ") << name() << " read"; // S12
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(found.wasInterrupted());
}

std::vector<std::string> Target::chooseVariants(mlir::ModuleOp module, llvm::ArrayRef<std::string> wanted,
                                                llvm::StringRef machineBest) const {
  const std::vector<std::string> own = variantsOf(module);
  if (wanted.empty())
    return own;
  auto best = own.begin(); // variants are in the order of what they demand
  for (auto variant = own.begin(); variant != own.end() && *best != machineBest; ++variant)
    best = variant;
  std::vector<std::string> chosen = variants();
  std::erase_if(chosen, [&](const std::string &variant) {
    const bool isBest = best != own.end() && variant == *best;
    return !llvm::is_contained(wanted, variant) && !(isBest && llvm::is_contained(wanted, kBestVariant));
  });
  return chosen;
}

std::string alternatives(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

} // namespace tenon
