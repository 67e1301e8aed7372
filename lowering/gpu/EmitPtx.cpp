// The code of a program for a GPU: GpuTarget::emit. Kernels become one module of PTX, entries code of the host.
#include "lowering/artifact/HostCode.h"
#include "lowering/artifact/LlvmCode.h"
#include "lowering/gpu/AssemblerDefects.h"
#include "lowering/gpu/GpuTarget.h"
#include "lowering/gpu/Launch.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

std::unique_ptr<llvm::TargetMachine> machineOf(const Chip &chip, bool quick, std::string &error) {
  llvm::Triple triple("nvptx64-nvidia-cuda");
  const llvm::Target *target = nullptr;
  {
    const std::lock_guard lock(backEnds());
    [[maybe_unused]] static const bool isThere = [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
      return true;
    }();
    target = llvm::TargetRegistry::lookupTarget(triple, error);
  }
  if (!target)
    return nullptr;
  llvm::TargetOptions options; // as on the CPU, a multiplication and an addition are contracted where the program says so alone
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, chip.name, chip.ptxFeature, options, std::nullopt, std::nullopt,
                                  quick ? llvm::CodeGenOptLevel::None : llvm::CodeGenOptLevel::Aggressive));
}

void optimise(llvm::Module &module, llvm::TargetMachine &machine, bool quick) {
  llvm::PipelineTuningOptions tuning; // threads are the vectors
  tuning.LoopVectorization = tuning.SLPVectorization = false;
  runPasses(module, machine, tuning, [quick](llvm::PassBuilder &builder) {
    if (!quick)
      return builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
    llvm::ModulePassManager passes;
    llvm::cantFail(builder.parsePassPipeline(passes, kQuickPipeline));
    return passes;
  });
}

/// What MLIR has no way to say: maps of tensors stay in the memory of parameters; assembly is not moved to where other threads of
/// the warp do not come.
void finishKernels(llvm::Module &module) {
  for (llvm::Function &function : module) {
    for (llvm::Argument &argument : function.args())
      if (argument.hasByValAttr())
        function.addParamAttr(argument.getArgNo(), llvm::Attribute::get(module.getContext(), "nvvm.grid_constant"));
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm())
        call->addFnAttr(llvm::Attribute::Convergent);
  }
}

/// Quotients of f32 are those of div.full, within 2 units in the last place: a correctly rounded one is a function of some 20
/// instructions with a branch, and stands in tanh, the gradient of GELU, softmax. (div.approx gives 0 beyond 2^126.)
void divideByInstructions(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &op : llvm::make_early_inc_range(llvm::instructions(function)))
      if (op.getOpcode() == llvm::Instruction::FDiv && op.getType()->isFloatTy()) {
        llvm::IRBuilder<> builder(&op);
        op.replaceAllUsesWith(builder.CreateIntrinsic(llvm::Intrinsic::nvvm_div_full, {op.getOperand(0), op.getOperand(1)}));
        op.eraseFromParent();
      }
}

/// By the bytes of its bitcode, as whoever runs that in the place of the PTX finds it (test/gpu-emu).
std::string hashOf(llvm::StringRef bitcode) {
  const auto hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(bitcode.bytes_begin(), bitcode.bytes_end()));
  return llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64);
}

CodeResult ptxOf(HostModule &code, const Chip &chip, const std::string &kernelDirectory, CodeForm form) {
  CodeResult result;
  llvm::Module &module = *code.code;
  std::unique_ptr<llvm::TargetMachine> machine = machineOf(chip, code.quick, result.error);
  if (!machine)
    return result;
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : module) {
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  finishKernels(module);
  llvm::raw_string_ostream errors(result.error);
  if (llvm::verifyModule(module, &errors))
    return result;
  optimise(module, *machine, code.quick);
  divideByInstructions(module);
  if (form == CodeForm::Llvm) {
    llvm::raw_string_ostream(result.data) << module;
    return result;
  }
  std::string bitcode;
  llvm::raw_string_ostream bits(bitcode);
  llvm::WriteBitcodeToFile(module, bits);
  const std::string hash = hashOf(bitcode);
  if (!kernelDirectory.empty()) {
    std::error_code failure;
    llvm::raw_fd_ostream file(kernelDirectory + "/" + hash + ".bc", failure);
    if (!failure) {
      file << bitcode;
      file.close();
      failure = file.error();
      file.clear_error();
    }
    if (failure) {
      result.error = "cannot write " + kernelDirectory + "/" + hash + ".bc: " + failure.message();
      return result;
    }
  }
  result = machineCode(module, *machine, llvm::CodeGenFileType::AssemblyFile);
  if (result.error.empty())
    result.data = "// tenon-ir: " + hash + "\n" + withoutAssemblerDefects(result.data);
  return result;
}

/// An object of the host that holds the PTX: the TnModule of this symbol.
CodeResult tableOf(const std::string &symbol, llvm::StringRef variant, const std::vector<KernelName> &kernels,
                   const std::string &ptx) {
  HostModule table;
  table.context = std::make_unique<llvm::LLVMContext>();
  table.code = std::make_unique<llvm::Module>(symbol, *table.context);
  llvm::LLVMContext &context = *table.context;
  auto *address = llvm::PointerType::get(context, 0);
  auto global = [&](llvm::Constant *value, bool isVisible, const std::string &name) -> llvm::Constant * {
    auto *made = new llvm::GlobalVariable(*table.code, value->getType(), true,
                                          isVisible ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
                                          value, name);
    if (isVisible)
      made->setVisibility(llvm::GlobalValue::HiddenVisibility);
    made->setAlignment(llvm::Align(16));
    return made;
  };
  auto text = [&](llvm::StringRef value) { return global(llvm::ConstantDataArray::getString(context, value), false, "text"); };
  auto list = [&](std::string KernelName::*part) {
    llvm::SmallVector<llvm::Constant *> texts;
    for (const KernelName &kernel : kernels)
      texts.push_back(text(kernel.*part));
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(address, texts.size()), texts), false, "list");
  };
  auto *i32 = llvm::Type::getInt32Ty(context);
  auto *type = llvm::StructType::get(context, {address, address, address, address, i32});
  global(llvm::ConstantStruct::get(type, {text(variant), text(ptx), list(&KernelName::symbol), list(&KernelName::place),
                                          llvm::ConstantInt::get(i32, kernels.size())}),
         true, symbol);
  return compileForHost(table, HostMachine(cpu::hostPlatform()), CodeForm::Object);
}

std::string symbolOf(llvm::StringRef prefix, llvm::StringRef name) { return (prefix + name).str(); }

} // namespace

LogicalResult GpuTarget::emit(ModuleOp module, ArrayRef<ScheduledEntry> entries, const CodeOptions &options,
                              ArtifactParts &parts) const {
  if (options.variants.empty())
    return success();
  OwningOpRef<ModuleOp> host = ModuleOp::create(module.getLoc()), device = ModuleOp::create(module.getLoc());
  const ParameterTable parameters = parametersOf(module);
  std::vector<KernelName> kernels;
  ArtifactParts::Variant variant{chip.name.str(), {}};
  for (const ScheduledEntry &entry : entries) {
    variant.runs.push_back(symbolOf("tn_run_", func::FuncOp(entry.function).getName()) + "_" + chip.name.str());
    LaunchSequence sequence(*host, *device, kernels, entry, parameters, chip);
    if (failed(sequence.emit(variant.runs.back())))
      return failure();
  }
  auto isKernel = [](llvm::StringRef) { return true; };
  std::shared_ptr<HostModule> code = translateForHost(*device, chip.name.str(), options.flags, isKernel);
  std::shared_ptr<HostModule> runs = translateForHost(*host, chip.name.str() + " host", options.flags,
                                                      [](llvm::StringRef name) { return name.starts_with("tn_run_"); });
  if (!code || !runs)
    return failure();
  if (options.edit)
    options.edit(*code->code, chip.name);
  const std::string symbol = symbolOf("tn_module_", chip.name);
  parts.variants.push_back(variant);
  parts.modules.push_back(symbol);
  parts.code.push_back(
      {chip.name.str(), [code, kernels, symbol, chip = chip, directory = options.kernelDirectory](CodeForm form) {
         CodeResult ptx = ptxOf(*code, chip, directory, form);
         const bool isText = form != CodeForm::Object || !ptx.error.empty();
         return isText ? ptx : tableOf(symbol, chip.name, kernels, ptx.data);
       }});
  // The text of a stage is that of the kernels.
  parts.code.push_back({chip.name.str() + ".host", [runs](CodeForm form) {
                          return form == CodeForm::Object ? compileForHost(*runs, HostMachine(cpu::hostPlatform()), form)
                                                          : CodeResult();
                        }});
  return success();
}

} // namespace tenon::gpu
