#include "lowering/artifact/ArtifactTable.h"
#include "lowering/cpu/EmitTier.h"
#include "runtime/include/tenon/artifact.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <map>

using namespace mlir;

namespace tenon {

void addArtifactTable(llvm::Module &module, llvm::ArrayRef<ScheduledEntry> planned, llvm::ArrayRef<cpu::Tier> tiers,
                      const std::string &manifest, const std::string &buildId) {
  llvm::LLVMContext &context = module.getContext();
  auto *address = llvm::PointerType::get(context, 0);
  auto *i32 = llvm::Type::getInt32Ty(context);
  llvm::IRBuilder<> builder(context);
  auto constantGlobal = [&](llvm::Constant *value, const char *name) -> llvm::Constant * {
    auto *global = new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::InternalLinkage, value, name);
    global->setAlignment(llvm::Align(16));
    return global;
  };
  auto text = [&](const std::string &value, const char *name) {
    return constantGlobal(llvm::ConstantDataArray::getString(context, value), name);
  };
  auto number = [&](int64_t value) -> llvm::Constant * { return llvm::ConstantInt::get(i32, value); };
  auto *variantType = llvm::StructType::get(context, {address, address});
  auto *entryType = llvm::StructType::get(context, {address, address, address, i32, i32, i32, i32, i32, i32});
  std::map<cpu::Tier, llvm::Constant *> names;
  for (cpu::Tier tier : tiers)
    names[tier] = text(cpu::tierPublicName(tier).str(), "variant_name");
  llvm::SmallVector<llvm::Constant *> entries;
  for (const ScheduledEntry &entry : planned) {
    func::FuncOp source = entry.function;
    llvm::SmallVector<llvm::Constant *> variants;
    for (cpu::Tier tier : tiers) {
      auto *function = llvm::Function::Create(llvm::FunctionType::get(i32, {address}, false), llvm::GlobalValue::ExternalLinkage,
                                              cpu::runSymbol(source.getName(), tier), module);
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
      variants.push_back(llvm::ConstantStruct::get(variantType, {names[tier], function}));
    }
    entries.push_back(llvm::ConstantStruct::get(
        entryType,
        {text(source.getName().str(), "entry_name"), module.getFunction(cpu::bindSymbol(source.getName())),
         constantGlobal(llvm::ConstantArray::get(llvm::ArrayType::get(variantType, variants.size()), variants), "variants"),
         number(variants.size()), number(entry.offsets()), number(entry.dims), number(entry.inputs), number(entry.outputs),
         number(int32_t(entry.arenas.stateCount()))}));
  }
  auto *list = constantGlobal(llvm::ConstantArray::get(llvm::ArrayType::get(entryType, entries.size()), entries), "entries");
  auto *artifactType = llvm::StructType::get(context, {i32, i32, address, address, address});
  auto *artifact =
      constantGlobal(llvm::ConstantStruct::get(artifactType, {number(TN_ABI_VERSION), number(entries.size()), list,
                                                              text(manifest, "manifest"), text(buildId, "build_id")}),
                     "artifact");
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(address, false), llvm::GlobalValue::ExternalLinkage, "tn_artifact", module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
  builder.CreateRet(artifact);
}

} // namespace tenon
