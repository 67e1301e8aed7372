#include "lowering/artifact/HostCode.h"
#include "lowering/PassFlags.h"
#include "lowering/artifact/LlvmCode.h"
#include "lowering/artifact/LowerFlow.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace tenon {

void buildLlvmPipeline(mlir::OpPassManager &module) {
  module.addPass(createLowerFlowPass());
  mlir::ConvertToLLVMPassOptions options;
  options.allowPatternRollback = false; // no pattern fails halfway, and to be able to take steps back costs as much as the steps
  module.addPass(mlir::createConvertToLLVMPass(options));
  module.addPass(mlir::createReconcileUnrealizedCastsPass());
}

HostModule::~HostModule() {
  code.reset(); // before its context
}

std::shared_ptr<HostModule> translateForHost(mlir::ModuleOp module, const std::string &name, PassFlags *flags,
                                             llvm::function_ref<bool(llvm::StringRef)> isVisible) {
  mlir::PassManager passes(module.getContext());
  passes.enableVerifier(false); // LLVM's verifier sees the result (compileForHost)
  buildLlvmPipeline(passes);
  if (mlir::failed(flags ? flags->run(passes, module, name + " code to LLVM") : passes.run(module)))
    return nullptr;
  auto result = std::make_shared<HostModule>();
  result->quick = flags && flags->quick;
  result->context = std::make_unique<llvm::LLVMContext>();
  result->code = mlir::translateModuleToLLVMIR(module, *result->context, name);
  if (!result->code)
    return nullptr; // the translation has said why
  for (llvm::Function &function : *result->code)
    if (isVisible(function.getName())) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    } else if (!function.isDeclaration()) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  return result;
}

static std::unique_ptr<llvm::TargetMachine> targetMachine(const HostMachine &host, bool quick, std::string &error) {
  llvm::Triple triple(host.platform.triple);
  const llvm::Target *target = nullptr;
  {
    const std::lock_guard lock(backEnds());
    [[maybe_unused]] static const bool isThere = [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
      llvm::InitializeNativeTargetAsmParser();
      return true;
    }();
    target = llvm::TargetRegistry::lookupTarget(triple, error);
  }
  if (!target)
    return nullptr;
  llvm::TargetOptions options; // no contraction of a multiplication with an addition: bits are the same in all variants
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = true;     // the linker leaves out what is not called
  options.MCOptions.AsmVerbose = true; // --emit=asm names spills
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, host.cpu, host.features, options, llvm::Reloc::PIC_, std::nullopt,
                                  quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive));
}

/// Kernels come vectorized, tiled and unrolled where it pays; what is left to LLVM is to inline the shared bodies, to keep in
/// registers what loops do not change, and to simplify addresses. Against its O3 pipeline without vectorizers: half of the
/// compiler's time, a tenth less code, the same speed within 0.5 % (small GPT-2, Transformer-XL, XLNet; docs/measurements.md).
static constexpr llvm::StringLiteral passPipeline =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>),"
    "inline,"
    "function(early-cse<memssa>,simplifycfg,loop-simplify,lcssa,loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-unroll-full),sroa,gvn,loop-mssa(licm),instcombine<no-verify-fixpoint>,dse,simplifycfg),"
    "globaldce";

static void optimise(llvm::Module &module, llvm::TargetMachine &machine, const HostPlatform &platform, bool quick) {
  runPasses(module, machine, llvm::PipelineTuningOptions(), [quick](llvm::PassBuilder &builder) {
    llvm::ModulePassManager passes;
    llvm::cantFail(builder.parsePassPipeline(passes, quick ? kQuickPipeline : passPipeline));
    return passes;
  });
  if (platform.correct)
    platform.correct(module);
}

CodeResult compileForHost(HostModule &code, const HostMachine &host, CodeForm form) {
  CodeResult result;
  llvm::Module &module = *code.code;
  auto machine = targetMachine(host, code.quick, result.error);
  if (!machine)
    return result;
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", host.cpu);
    if (!host.features.empty())
      function.addFnAttr("target-features", host.features);
    function.addFnAttr("prefer-vector-width", std::to_string(host.vectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  llvm::raw_string_ostream errors(result.error);
  if (llvm::verifyModule(module, &errors))
    return result;
  optimise(module, *machine, host.platform, code.quick);
  if (form == CodeForm::Llvm) {
    llvm::raw_string_ostream(result.data) << module;
    return result;
  }
  return machineCode(module, *machine,
                     form == CodeForm::Assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile);
}

} // namespace tenon
