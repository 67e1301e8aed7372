#include "lowering/artifact/ArtifactTable.h"
#include "lowering/artifact/Bind.h"
#include "runtime/include/tenon/artifact.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tenon {

void addArtifactTable(llvm::Module &module, llvm::ArrayRef<ScheduledEntry> planned, const ArtifactParts &parts,
                      const std::string &manifest, const std::string &buildId) {
  llvm::ArrayRef<ArtifactParts::Variant> variants = parts.variants;
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
  llvm::SmallVector<llvm::Constant *> names;
  for (const ArtifactParts::Variant &variant : variants)
    names.push_back(text(variant.name, "variant_name"));
  llvm::SmallVector<llvm::Constant *> entries;
  for (auto [index, entry] : llvm::enumerate(planned)) {
    const std::string name = func::FuncOp(entry.function).getName().str();
    llvm::SmallVector<llvm::Constant *> runs;
    for (auto [variant, variantName] : llvm::zip_equal(variants, names)) {
      auto *function = llvm::Function::Create(llvm::FunctionType::get(i32, {address}, false), llvm::GlobalValue::ExternalLinkage,
                                              variant.runs[index], module);
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
      runs.push_back(llvm::ConstantStruct::get(variantType, {variantName, function}));
    }
    auto *table = constantGlobal(llvm::ConstantArray::get(llvm::ArrayType::get(variantType, runs.size()), runs), "variants");
    entries.push_back(llvm::ConstantStruct::get(entryType, {text(name, "entry_name"), module.getFunction(bindSymbol(name)), table,
                                                            number(runs.size()), number(entry.offsets()),
                                                            number(givenDims(entry.function)), number(entry.inputs),
                                                            number(entry.outputs), number(int32_t(entry.arenas.stateCount()))}));
  }
  auto *list = constantGlobal(llvm::ConstantArray::get(llvm::ArrayType::get(entryType, entries.size()), entries), "entries");
  llvm::SmallVector<llvm::Constant *> modules;
  for (const std::string &symbol : parts.modules) {
    auto *other = new llvm::GlobalVariable(module, address, true, llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
    other->setVisibility(llvm::GlobalValue::HiddenVisibility);
    modules.push_back(other);
  }
  auto *moduleList = constantGlobal(llvm::ConstantArray::get(llvm::ArrayType::get(address, modules.size()), modules), "modules");
  auto *artifactType = llvm::StructType::get(context, {i32, i32, address, address, address, address, i32});
  auto *artifact = constantGlobal(
      llvm::ConstantStruct::get(artifactType, {number(TN_ABI_VERSION), number(entries.size()), list, text(manifest, "manifest"),
                                               text(buildId, "build_id"), moduleList, number(modules.size())}),
      "artifact");
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(address, false), llvm::GlobalValue::ExternalLinkage, "tn_artifact", module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
  builder.CreateRet(artifact);
}

} // namespace tenon
