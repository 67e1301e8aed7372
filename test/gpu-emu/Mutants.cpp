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

/// A call that gives a value gives its own argument of that type instead, as a shuffle that exchanges nothing.
static void remove(CallBase *call) {
  if (!call->getType()->isVoidTy()) {
    Value *instead = nullptr;
    for (unsigned i = 1; i < call->arg_size(); ++i)
      if (call->getArgOperand(i)->getType() == call->getType()) {
        instead = call->getArgOperand(i);
        break;
      }
    if (!instead)
      instead = Constant::getNullValue(call->getType());
    call->replaceAllUsesWith(instead);
  }
  call->eraseFromParent();
}

Error deleteCall(Module &module, const Mode &mode) {
  if (mode.mutant.empty() || !module.getFunction(mode.mutant))
    return Error::success();
  const std::vector<CallBase *> calls = deletableCalls(module, mode.mutant);
  if (mode.mutantCall >= calls.size() || mode.mutantPartner >= calls.size())
    return createStringError("kernel " + mode.mutant + " has " + Twine(calls.size()) +
                             " calls that synchronise, and so no number " + Twine(mode.mutantCall) + " to delete");
  if (mode.mutantFaults) {
    IRBuilder<> builder(calls[mode.mutantCall]);
    builder.CreateStore(builder.getInt32(0), ConstantPointerNull::get(builder.getPtrTy(1)), /*isVolatile=*/true);
    return Error::success();
  }
  remove(calls[mode.mutantCall]);
  if (mode.mutantPartner != mode.mutantCall)
    remove(calls[mode.mutantPartner]);
  return Error::success();
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
