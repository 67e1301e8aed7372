#include "ReplaceInstructions.h"
#include "DotPairs.h"
#include "Tiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace tenon::test {
namespace {

void dotPairsOf(float *sum, const uint16_t *a, const uint16_t *b) { dotPairs(sum, a, b, false); }
void configure(const void *memory) { tilesOfThread().configure(memory); }
void release() { tilesOfThread().release(); }
void clear(int8_t tile) { tilesOfThread().clear(tile); }
void load(int8_t tile, const void *memory, int64_t rowBytes) { tilesOfThread().load(tile, memory, rowBytes); }
void store(int8_t tile, void *memory, int64_t rowBytes) { tilesOfThread().store(tile, memory, rowBytes); }
void multiply(int8_t sum, int8_t a, int8_t b) { tilesOfThread().multiply(sum, a, b); }

template <typename Function> llvm::Constant *addressOf(llvm::LLVMContext &context, Function *function) {
  auto *number = llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), reinterpret_cast<uint64_t>(function));
  return llvm::ConstantExpr::getIntToPtr(number, llvm::PointerType::get(context, 0));
}

/// By way of memory: callers and definition need not agree about registers of vectors.
void replaceDotPairs(llvm::Module &module) {
  llvm::Function *instruction = module.getFunction("llvm.x86.avx512bf16.dpbf16ps.512");
  if (!instruction)
    return;
  llvm::LLVMContext &context = module.getContext();
  llvm::Type *pointer = llvm::PointerType::get(context, 0);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer}, false);
  for (llvm::User *user : llvm::make_early_inc_range(instruction->users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> places(&*call->getFunction()->getEntryBlock().begin()), builder(call);
    llvm::SmallVector<llvm::Value *> memory;
    for (llvm::Value *argument : call->args()) {
      memory.push_back(places.CreateAlloca(argument->getType()));
      builder.CreateStore(argument, memory.back());
    }
    builder.CreateCall(type, addressOf(context, dotPairsOf), memory);
    call->replaceAllUsesWith(builder.CreateLoad(call->getType(), memory.front()));
    call->eraseFromParent();
  }
  instruction->eraseFromParent();
}

template <typename Function> void replace(llvm::Module &module, const char *name, Function *definition) {
  llvm::Function *instruction = module.getFunction(name);
  if (!instruction)
    return;
  for (llvm::User *user : llvm::make_early_inc_range(instruction->users())) {
    auto *call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> builder(call);
    llvm::SmallVector<llvm::Value *> arguments;
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *argument : call->args()) {
      bool isNumber = argument->getType()->isIntegerTy(8); // C passes them in 32 bits
      arguments.push_back(isNumber ? builder.CreateSExt(argument, builder.getInt32Ty()) : argument);
      types.push_back(arguments.back()->getType());
    }
    builder.CreateCall(llvm::FunctionType::get(builder.getVoidTy(), types, false), addressOf(module.getContext(), definition),
                       arguments);
    call->eraseFromParent();
  }
  instruction->eraseFromParent();
}

} // namespace

void replaceTiles(llvm::Module &module) {
  replace(module, "llvm.x86.ldtilecfg", configure);
  replace(module, "llvm.x86.tilerelease", release);
  replace(module, "llvm.x86.tilezero", clear);
  replace(module, "llvm.x86.tileloadd64", load);
  replace(module, "llvm.x86.tilestored64", store);
  replace(module, "llvm.x86.tdpbf16ps", multiply);
}

void replaceInstructions(llvm::Module &module) {
  replaceDotPairs(module);
  replaceTiles(module);
}

} // namespace tenon::test
