#include "test/gpu/KernelFaults.h"
#include "test/gpu-emu/Retarget.h"
#include "llvm/IR/IRBuilder.h"
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
  if (call->isInlineAsm())
    return isOfFragment(*call)                                ? std::vector<unsigned>{4}
           : call->getArgOperand(0)->getType()->isIntegerTy() ? std::vector<unsigned>{0, 1}
                                                              : std::vector<unsigned>(); // no product
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

std::vector<KernelFault> faultsOf(Module &module) {
  std::vector<KernelFault> faults;
  ModuleSlotTracker slots(&module);
  for (Function &function : module) {
    if (!emu::isKernel(function))
      continue;
    slots.incorporateFunction(function);
    const std::string name = function.getName().str();
    for (auto kind :
         {KernelFault::Kind::Edge, KernelFault::Kind::Fragments, KernelFault::Kind::Asynchronous, KernelFault::Kind::Part})
      for (const FaultPlace &place : placesOf(function, kind))
        faults.push_back({kind, name, 0, emu::textOf(*place.instruction, slots)});
    for (const std::string &text : emu::listMutants(module, name))
      faults.push_back({KernelFault::Kind::Call, name, 0, text});
    for (size_t i = 1; i < faults.size(); ++i)
      if (faults[i].kernel == faults[i - 1].kernel && faults[i].kind == faults[i - 1].kind)
        faults[i].number = faults[i - 1].number + 1;
  }
  return faults;
}

void apply(Module &module, const KernelFault &fault) {
  if (fault.kind == KernelFault::Kind::Call)
    return; // the emulator's own: Mode::mutant
  const FaultPlace found = placesOf(*module.getFunction(fault.kernel), fault.kind)[fault.number];
  Instruction *place = found.instruction;
  if (fault.kind == KernelFault::Kind::Asynchronous) {
    Value *right = place->getOperand(found.operand);
    const Function *callee = cast<CallBase>(place)->getCalledFunction();
    const bool isParity = callee && callee->getName().contains("parity");
    const int64_t by = isParity ? 1 : cast<CallBase>(place)->isInlineAsm() ? 128 >> 4 : 16;
    IRBuilder<> builder(place);
    Value *number = ConstantInt::get(right->getType(), uint64_t(by));
    place->setOperand(found.operand, isParity ? builder.CreateXor(right, number) : builder.CreateAdd(right, number));
    return;
  }
  if (fault.kind == KernelFault::Kind::Part) {
    place->setOperand(found.operand, ConstantFP::getZero(place->getType()));
    return;
  }
  if (auto *compare = dyn_cast<ICmpInst>(place)) {
    compare->setPredicate(compare->isStrictPredicate() ? compare->getNonStrictPredicate() : compare->getStrictPredicate());
    compare->setSameSign(false);
    return;
  }
  const unsigned one = isOfFragment(*cast<CallBase>(place)) ? 1 : 4; // of the first operand, else of the second one
  Value *first = place->getOperand(one);
  place->setOperand(one, place->getOperand(one + 1));
  place->setOperand(one + 1, first);
}

} // namespace tenon::test
