// Kernels that lack one call that synchronises: who tests a kernel must notice.
#include "Retarget.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/ModuleSlotTracker.h"

using namespace llvm;

namespace tenon::emu {
namespace {

/// The calls that synchronise, of a kernel and of what it calls.
std::vector<CallBase *> deletableCalls(Module &module, StringRef kernel) {
  std::vector<CallBase *> calls;
  Function *function = module.getFunction(kernel);
  if (!function || !isKernel(*function))
    return calls;
  for (Function *reached : reachedFrom(*function))
    for (Instruction &instruction : instructions(*reached))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (Function *callee = call->getCalledFunction())
          if (const Model *model = findModel(callee->getName()); model && (model->traits & kDeletable))
            calls.push_back(call);
  return calls;
}

} // namespace

/// A deleted call that gives a value gives its own argument of that type instead, as a shuffle that exchanges nothing.
static Value *insteadOf(CallBase &call) {
  for (unsigned i = 1; i < call.arg_size(); ++i)
    if (call.getArgOperand(i)->getType() == call.getType())
      return call.getArgOperand(i);
  return Constant::getNullValue(call.getType());
}

static void makeDeletable(CallBase &call, Value *state) {
  IRBuilder<> builder(call.getContext());
  BasicBlock *before = call.getParent();
  BasicBlock *made = before->splitBasicBlock(&call);
  BasicBlock *rest = made->splitBasicBlock(call.getNextNode());
  if (!call.getType()->isVoidTy()) {
    builder.SetInsertPoint(rest, rest->begin());
    PHINode *value = builder.CreatePHI(call.getType(), 2);
    call.replaceAllUsesWith(value);
    value->addIncoming(&call, made);
    value->addIncoming(insteadOf(call), before);
  }
  BasicBlock *trap = BasicBlock::Create(call.getContext(), "", call.getFunction(), made);
  builder.SetInsertPoint(trap);
  builder.CreateStore(builder.getInt32(0), ConstantPointerNull::get(builder.getPtrTy(1)), /*isVolatile=*/true);
  builder.CreateBr(made);
  builder.SetInsertPoint(before->getTerminator());
  SwitchInst *choice = builder.CreateSwitch(state, made, 2);
  choice->addCase(builder.getInt8(kMade), rest);
  choice->addCase(builder.getInt8(kTraps), trap);
  before->getTerminator()->eraseFromParent();
}

FunctionCallee faultState(Module &module) {
  LLVMContext &context = module.getContext();
  return module.getOrInsertFunction("tenon.fault", Type::getInt8Ty(context), Type::getInt32Ty(context));
}

unsigned makeDeletable(Module &module, StringRef kernel, unsigned first) {
  const FunctionCallee states = faultState(module);
  const std::vector<CallBase *> calls = deletableCalls(module, kernel);
  for (CallBase *call : calls) {
    IRBuilder<> builder(call);
    makeDeletable(*call, builder.CreateCall(states, builder.getInt32(first++)));
  }
  return calls.size();
}

std::vector<std::string> listMutants(Module &module, StringRef kernel) {
  std::vector<std::string> texts;
  for (CallBase *call : deletableCalls(module, kernel)) {
    ModuleSlotTracker slots(&module, false);
    slots.incorporateFunction(*call->getFunction());
    texts.push_back(textOf(*call, slots));
  }
  return texts;
}

} // namespace tenon::emu
