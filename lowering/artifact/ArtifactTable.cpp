#include "lowering/artifact/ArtifactTable.h"
#include "lowering/cpu/EmitTier.h"
#include "runtime/include/tenon/artifact.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tenon {

void addArtifactTable(llvm::Module &module, llvm::ArrayRef<ScheduledEntry> planned, llvm::ArrayRef<cpu::Tier> tiers,
                      const std::string &manifest, const std::string &buildId) {
  llvm::LLVMContext &context = module.getContext();
  auto *address = llvm::PointerType::get(context, 0);
  auto *i32 = llvm::Type::getInt32Ty(context);
  auto *null = llvm::ConstantPointerNull::get(address);
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
  auto *runs = llvm::ArrayType::get(address, std::size(cpu::kTiers));
  auto *entryType = llvm::StructType::get(context, {address, address, runs, i32, i32, i32, i32, i32});
  llvm::SmallVector<llvm::Constant *> entries;
  for (const ScheduledEntry &entry : planned) {
    func::FuncOp source = entry.function;
    llvm::SmallVector<llvm::Constant *> run(std::size(cpu::kTiers), null);
    for (cpu::Tier tier : tiers) {
      auto *function = llvm::Function::Create(llvm::FunctionType::get(i32, {address}, false), llvm::GlobalValue::ExternalLinkage,
                                              cpu::runSymbol(source.getName(), tier), module);
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
      run[int(tier)] = function;
    }
    entries.push_back(llvm::ConstantStruct::get(
        entryType, {text(source.getName().str(), "entry_name"), module.getFunction(cpu::bindSymbol(source.getName())),
                    llvm::ConstantArray::get(runs, run), number(entry.offsets()), number(entry.dims), number(entry.inputs),
                    number(entry.outputs), number(int32_t(entry.arenas.stateCount()))}));
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
