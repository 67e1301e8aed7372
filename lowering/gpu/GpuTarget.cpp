#include "lowering/gpu/GpuTarget.h"
#include "dialect/Refusal.h"
#include "lowering/gpu/Generators.h"
#include "lowering/gpu/Launch.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace tenon::gpu {

void GpuTarget::registerDialects(DialectRegistry &registry) const {
  registry.insert<TenonDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect>();
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertToLLVMDependentDialectLoading(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerKernelGenerators(registry);
}

void GpuTarget::registerPasses() const { registerGpuPasses(); }

std::optional<std::string> GpuTarget::refuses(KernelOpInterface kernel) const {
  auto generated = dyn_cast<GpuKernelOpInterface>(kernel.getOperation());
  return generated ? generated.refusal() : "the GPU has no kernel for " + kernel->getName().getStringRef().str();
}

DictionaryAttr GpuTarget::choose(KernelOpInterface kernel) const {
  auto generated = dyn_cast<GpuKernelOpInterface>(kernel.getOperation());
  DictionaryAttr choice = generated && !generated.refusal() ? generated.choose(chip) : DictionaryAttr();
  if (!choice)
    return {};
  return DictionaryAttr::get(kernel.getContext(), NamedAttribute(StringAttr::get(kernel.getContext(), chip.name), choice));
}

FailureOr<KernelNeeds> GpuTarget::needsOf(KernelOpInterface kernel) const {
  auto generated = dyn_cast<GpuKernelOpInterface>(kernel.getOperation());
  if (!generated)
    return notSupported(kernel) << kernel->getName() << " on a GPU";
  if (std::optional<std::string> reason = generated.refusal())
    return notSupported(kernel) << *reason;
  KernelNeeds needs;
  LaunchSequence sequence(kernel->getParentOfType<func::FuncOp>(), needs, chip);
  if (failed(generated.generate(sequence)))
    return failure();
  return needs;
}

ArrayRef<const Target *> gpuTargets() {
  static const GpuTarget ampere({"sm_80", "+ptx70", false}), hopper({"sm_90a", "+ptx80", true});
  static const Target *const all[] = {&ampere, &hopper};
  return all;
}

} // namespace tenon::gpu
