#include "lowering/cpu/Emitter.h"
#include "lowering/target/KernelLibrary.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tenon::cpu {

func::FuncOp getOrCreateKernel(OpBuilder &builder, Location location, llvm::StringRef name, llvm::ArrayRef<Type> arguments,
                               llvm::function_ref<void(Emitter &, ValueRange)> body) {
  auto module = builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module)
    module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto function = func::FuncOp::create(builder, location, name, builder.getFunctionType(arguments, {}));
  function.setPrivate();
  if (auto compiled = module->getAttrOfType<DictionaryAttr>(kLibraryKernels); compiled && compiled.contains(name))
    return function;
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "nounwind"}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Emitter emitter(builder, location);
  body(emitter, entry->getArguments());
  func::ReturnOp::create(builder, location);
  return function;
}

} // namespace tenon::cpu
