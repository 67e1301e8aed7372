#include "lowering/Tables.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/Scalars.h"
#include "runtime/include/tenon/artifact.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace tenon {

std::string runSymbol(llvm::StringRef entry, cpu::Tier tier) { return ("tn_run_" + entry + "_" + cpu::tierName(tier)).str(); }
std::string bindSymbol(llvm::StringRef entry) { return ("tn_bind_" + entry).str(); }

void emitBind(ModuleOp module, const PlannedEntry &entry) {
  ImplicitLocOpBuilder builder(module.getLoc(), module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  func::FuncOp source = entry.function;
  Type address = cpu::pointer(builder), i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {address, address, address});
  auto function = LLVM::LLVMFuncOp::create(builder, bindSymbol(source.getName()), type);
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  auto element = [&](int argument, int64_t index) {
    return cpu::elementAddress(builder, block->getArgument(argument), i64, cpu::constant(builder, index));
  };
  SmallVector<Value> dims;
  for (int32_t i = 0; i < entry.dims; ++i)
    dims.push_back(LLVM::LoadOp::create(builder, i64, element(0, i), 8));
  auto aligned = [&](Value bytes) {
    return cpu::multiply(builder, cpu::ceilDivide(builder, bytes, cpu::constant(builder, 64)), cpu::constant(builder, 64));
  };
  Value zero = cpu::constant(builder, 0), stateEnd = zero, keptEnd = zero, workspaceEnd = zero;
  for (auto [i, bytes] : llvm::enumerate(entry.plan.stateBytes)) {
    bool inPlace = i < entry.plan.inPlace.size() && entry.plan.inPlace[i];
    Value &end = inPlace ? keptEnd : stateEnd;
    LLVM::StoreOp::create(builder, end, element(1, i), 8);
    end = cpu::add(builder, end, aligned(cpu::evaluateSize(builder, bytes, dims)));
  }
  SmallVector<Value> ends; // of the slots before this one
  auto emitSlot = [&](const MemoryPlan::Slot &slot) {
    Value offset = zero;
    for (unsigned below : slot.after)
      offset = cpu::maximum(builder, offset, ends[below]);
    LLVM::StoreOp::create(builder, offset, element(1, entry.plan.stateCount + ends.size()), 8);
    ends.push_back(cpu::add(builder, offset, aligned(cpu::evaluateSize(builder, slot.bytes, dims))));
    workspaceEnd = cpu::maximum(builder, workspaceEnd, ends.back());
  };
  for (const MemoryPlan::Slot &slot : entry.plan.slots)
    emitSlot(slot);
  LLVM::StoreOp::create(builder, stateEnd, element(2, 0), 8);
  LLVM::StoreOp::create(builder, workspaceEnd, element(2, 1), 8);
  LLVM::StoreOp::create(builder, aligned(cpu::constant(builder, entry.plan.scratchBytes)), element(2, 2), 8);
  LLVM::StoreOp::create(builder, keptEnd, element(2, 3), 8);
  LLVM::ReturnOp::create(builder, ValueRange());
}

void addArtifactTable(llvm::Module &module, llvm::ArrayRef<PlannedEntry> planned, llvm::ArrayRef<cpu::Tier> tiers, const std::string &manifest,
                      const std::string &buildId) {
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
  auto *runs = llvm::ArrayType::get(address, 3);
  auto *entryType = llvm::StructType::get(context, {address, address, runs, i32, i32, i32, i32, i32});
  llvm::SmallVector<llvm::Constant *> entries;
  for (const PlannedEntry &entry : planned) {
    func::FuncOp source = entry.function;
    llvm::Constant *run[3] = {null, null, null};
    for (cpu::Tier tier : tiers) {
      auto *function = llvm::Function::Create(llvm::FunctionType::get(i32, {address}, false), llvm::GlobalValue::ExternalLinkage,
                                              runSymbol(source.getName(), tier), module);
      function->setVisibility(llvm::GlobalValue::HiddenVisibility);
      run[int(tier)] = function;
    }
    entries.push_back(llvm::ConstantStruct::get(
        entryType, {text(source.getName().str(), "entry_name"), module.getFunction(bindSymbol(source.getName())),
                    llvm::ConstantArray::get(runs, run), number(entry.offsets()), number(entry.dims), number(entry.inputs),
                    number(entry.outputs), number(entry.plan.stateCount)}));
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
