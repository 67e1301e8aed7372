#include "test/gpu/KernelFaults.h"
#include "test/gpu-emu/Retarget.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ModuleSlotTracker.h"

namespace tenon::test {

using namespace llvm;

/// An asynchronous product whose first operand is in registers.
static bool isOfFragment(const CallBase &call) {
  return call.isInlineAsm() && call.arg_size() > 4 && call.getArgOperand(0)->getType()->isIntegerTy(32);
}
static bool isMma(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  return call && (isOfFragment(*call) ||
                  (call->getCalledFunction() && call->getCalledFunction()->getName().starts_with("llvm.nvvm.mma.")));
}

/// "Less", of whole numbers that are not known before: of sizes. (With a constant it is the number of a thread, or of a loop that
/// LLVM made.)
static bool isEdge(const Instruction &instruction) {
  auto *compare = dyn_cast<ICmpInst>(&instruction);
  return compare && compare->isRelational() && !isa<Constant>(compare->getOperand(0)) && !isa<Constant>(compare->getOperand(1));
}

/// Of a sum what lies in global memory (address space 1), in the kernel that adds slices.
static std::vector<unsigned> partsOf(const Instruction &instruction) {
  std::vector<unsigned> parts;
  if (instruction.getOpcode() == Instruction::FAdd && instruction.getFunction()->getName().contains("gemm_sums"))
    for (unsigned operand : {0, 1})
      if (auto *load = dyn_cast<LoadInst>(instruction.getOperand(operand)); load && load->getPointerAddressSpace() == 1)
        parts.push_back(operand);
  return parts;
}

/// Each operand of a wait at an mbarrier, of what such a barrier expects, or of an asynchronous product that a fault is made in,
/// as a place of its own: a product has two.
static std::vector<unsigned> asynchronousOperands(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  if (!call)
    return {};
  if (call->isInlineAsm() && cast<InlineAsm>(call->getCalledOperand())->getAsmString().empty())
    return {}; // no statement
  if (call->isInlineAsm())
    return isOfFragment(*call)                                ? std::vector<unsigned>{4}
           : call->getArgOperand(0)->getType()->isIntegerTy() ? std::vector<unsigned>{0, 1}
                                                              : std::vector<unsigned>();
  const StringRef name = call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
  const bool isNumber = name.contains("mbarrier.try.wait.parity") || name.contains("mbarrier.arrive.expect.tx");
  return isNumber ? std::vector<unsigned>{1} : std::vector<unsigned>();
}

struct FaultPlace {
  Instruction *instruction;
  unsigned operand;
};

static std::vector<FaultPlace> placesOf(Function &kernel, KernelFault::Kind kind) {
  std::vector<FaultPlace> found;
  for (Instruction &instruction : instructions(kernel))
    if (kind == KernelFault::Kind::Asynchronous || kind == KernelFault::Kind::Part)
      for (unsigned operand : kind == KernelFault::Kind::Part ? partsOf(instruction) : asynchronousOperands(instruction))
        found.push_back({&instruction, operand});
    else if (kind == KernelFault::Kind::Edge ? isEdge(instruction) : isMma(instruction))
      found.push_back({&instruction, 0});
  return found;
}

constexpr auto kKinds = {KernelFault::Kind::Edge, KernelFault::Kind::Fragments, KernelFault::Kind::Asynchronous,
                         KernelFault::Kind::Part};

std::vector<KernelFault> faultsOf(Module &module, StringRef kernels) {
  std::vector<KernelFault> faults;
  ModuleSlotTracker slots(&module);
  for (Function &function : module) {
    if (!emu::isKernel(function) || !function.getName().contains(kernels))
      continue;
    slots.incorporateFunction(function);
    const std::string name = function.getName().str();
    for (auto kind : kKinds)
      for (const FaultPlace &place : placesOf(function, kind))
        faults.push_back({kind, name, emu::textOf(*place.instruction, slots)});
    for (const std::string &text : emu::listMutants(module, name))
      faults.push_back({KernelFault::Kind::Call, name, text});
  }
  return faults;
}

/// What an asynchronous operation has in place of its operand.
static Value *wrongNumber(const FaultPlace &place, IRBuilder<> &builder) {
  Value *right = place.instruction->getOperand(place.operand);
  auto *call = cast<CallBase>(place.instruction);
  const Function *callee = call->getCalledFunction();
  if (callee && callee->getName().contains("parity"))
    return builder.CreateXor(right, ConstantInt::get(right->getType(), 1));
  return builder.CreateAdd(right, ConstantInt::get(right->getType(), call->isInlineAsm() ? 128 >> 4 : 16));
}

static void plant(const FaultPlace &place, KernelFault::Kind kind, Value *made, IRBuilder<> &builder) {
  Instruction *at = place.instruction;
  const auto replace = [&](unsigned operand, Value *wrong) {
    at->setOperand(operand, builder.CreateSelect(made, wrong, at->getOperand(operand)));
  };
  if (kind == KernelFault::Kind::Asynchronous) {
    replace(place.operand, wrongNumber(place, builder));
  } else if (kind == KernelFault::Kind::Part) {
    replace(place.operand, ConstantFP::getZero(at->getType()));
  } else if (auto *compare = dyn_cast<ICmpInst>(at)) {
    auto *wrong = cast<ICmpInst>(compare->clone());
    wrong->setPredicate(compare->isStrictPredicate() ? compare->getNonStrictPredicate() : compare->getStrictPredicate());
    wrong->setSameSign(false);
    wrong->insertAfter(compare->getIterator());
    builder.SetInsertPoint(wrong->getNextNode());
    auto *chosen = builder.CreateSelect(made, wrong, compare);
    compare->replaceUsesWithIf(chosen, [&](Use &use) { return use.getUser() != chosen; });
  } else {
    const unsigned one = isOfFragment(*cast<CallBase>(at)) ? 1 : 4; // of the first operand, else of the second one
    Value *first = at->getOperand(one), *second = at->getOperand(one + 1);
    replace(one, second);
    at->setOperand(one + 1, builder.CreateSelect(made, first, second));
  }
}

void plant(Module &module, ArrayRef<KernelFault> faults) {
  const FunctionCallee states = emu::faultState(module);
  for (unsigned next = 0; next < faults.size();) {
    const std::string name = faults[next].kernel;
    Function &kernel = *module.getFunction(name);
    std::vector<std::pair<FaultPlace, KernelFault::Kind>> places; // found before any is planted
    for (auto kind : kKinds)
      for (const FaultPlace &place : placesOf(kernel, kind))
        places.push_back({place, kind});
    for (const auto &[place, kind] : places) {
      IRBuilder<> builder(place.instruction);
      Value *state = builder.CreateCall(states, builder.getInt32(next++));
      plant(place, kind, builder.CreateIsNotNull(state), builder);
    }
    next += emu::makeDeletable(module, name, next);
  }
}

} // namespace tenon::test
