#include "lowering/gpu/GpuTarget.h"
#include "dialect/Refusal.h"
#include "lowering/gpu/Generators.h"
#include "lowering/gpu/Launch.h"
#include "lowering/gpu/ScalarCode.h"
#include "lowering/target/Choice.h"
#include "lowering/target/Rows.h"
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

bool takesRowSteps(KernelOpInterface kernel) {
  auto generated = dyn_cast<GpuKernelOpInterface>(kernel.getOperation());
  return generated && generated.takesRowSteps();
}

/// Tensor cores read operands by 16 bytes, from rows that begin at multiples of as much, and long rows of a product's sums are
/// written so. Where the tensor is written over by another one it lies as that does.
static int64_t usefulRowStep(OpResult result, DenseMap<Value, int64_t> &known) {
  auto [place, isNew] = known.try_emplace(result, 0);
  if (!isNew)
    return place->second;
  constexpr int64_t least = 64; // elements of a row, so that at most a ninth of the memory stands between rows
  if (!mayBeApart(result, takesRowSteps))
    return 0;
  auto type = cast<RankedTensorType>(result.getType());
  const int64_t size = type.getShape().back(), bytes = elementBytes(type.getElementType()), ofChunk = kRowBytes / bytes;
  if ((bytes != 2 && !type.getElementType().isF32()) || size < least || size % ofChunk == 0)
    return 0;
  constexpr int64_t longRow = 1024; // whose few last elements, which are no vectors, count for nothing
  auto maker = dyn_cast<GpuKernelOpInterface>(result.getOwner());
  const bool isProduct = bytes == 4 && size >= longRow && maker && maker.storesSums();
  const bool isFactor = bytes == 2 && llvm::any_of(result.getUsers(), [&](Operation *user) {
                          auto reader = dyn_cast<GpuKernelOpInterface>(user);
                          return reader && llvm::is_contained(reader.factors(), result);
                        });
  const bool isUseful =
      isFactor || isProduct || llvm::any_of(successorsOf(result), [&](OpResult successor) {
        return successor.getOwner()->hasAttr(kChosen) ? rowStepOf(successor) != 0 : usefulRowStep(successor, known) != 0;
      });
  return known[result] = isUseful ? int64_t(llvm::alignTo(uint64_t(size), uint64_t(ofChunk))) : 0;
}

DictionaryAttr GpuTarget::choose(KernelOpInterface kernel) const {
  auto generated = dyn_cast<GpuKernelOpInterface>(kernel.getOperation());
  if (!generated || generated.refusal())
    return {};
  NamedAttrList all;
  DenseMap<Value, int64_t> known;
  const SmallVector<int64_t> steps =
      llvm::map_to_vector(kernel->getResults(), [&](OpResult result) { return usefulRowStep(result, known); });
  if (llvm::any_of(steps, [](int64_t step) { return step != 0; })) {
    all.set(kRowSteps, DenseI64ArrayAttr::get(kernel.getContext(), steps));
    kernel->setAttr(kRowSteps, all.get(kRowSteps)); // by which its code is chosen
  }
  if (DictionaryAttr choice = generated.choose(chip)) {
    NamedAttrList numbers(choice);
    if (mayApproximate(kernel)) {
      numbers.set(kApproximate, IntegerAttr::get(IntegerType::get(kernel.getContext(), 64), 1));
      const ChoiceList tanhs = listBesideOne(kernel);
      if (!tanhs.numbers.empty())
        numbers.set(kBesideOne, DenseI64ArrayAttr::get(
                                    kernel.getContext(),
                                    llvm::map_to_vector(tanhs.numbers, [](const ChoiceNumber &number) { return number.most; })));
    }
    all.set(chip.name, numbers.getDictionary(kernel.getContext()));
  }
  return all.empty() ? DictionaryAttr() : all.getDictionary(kernel.getContext());
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
  constexpr int64_t giga = 1'000'000'000;
  static const GpuTarget ampere(
      {"sm_80", "+ptx70", false, "NVIDIA GPUs from that chip on", {"an A100", 19'500 * giga, 1'555 * giga}});
  static const GpuTarget hopper({"sm_90a", "+ptx80", true, "NVIDIA H100 and H200", {"an H100", 66'900 * giga, 3'350 * giga}});
  static const Target *const all[] = {&ampere, &hopper};
  return all;
}

} // namespace tenon::gpu
