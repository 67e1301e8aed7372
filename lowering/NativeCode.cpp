#include "lowering/NativeCode.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <mutex>

namespace tenon {

static std::unique_ptr<llvm::TargetMachine> targetMachine(cpu::Tier tier, std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  llvm::Triple triple("x86_64-pc-linux-gnu");
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options; // no contraction of a multiplication with an addition: bits are the same on all tiers
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.MCOptions.AsmVerbose = true; // --emit=asm names spills
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu::tierCpu(tier), "", options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

NativeResult compileModule(llvm::Module &module, cpu::Tier tier, NativeForm form) {
  NativeResult result;
  auto machine = targetMachine(tier, result.error);
  if (!machine)
    return result;
  module.setTargetTriple(machine->getTargetTriple());
  module.setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", cpu::tierCpu(tier));
    function.addFnAttr("prefer-vector-width", std::to_string(cpu::tierVectorBits(tier)));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  llvm::raw_string_ostream errors(result.error);
  if (llvm::verifyModule(module, &errors))
    return result;
  optimise(module, *machine);
  if (form == NativeForm::Llvm) {
    llvm::raw_string_ostream(result.data) << module;
    return result;
  }
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto type = form == NativeForm::Assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
    result.error = "the target cannot emit this kind of file";
    return result;
  }
  passes.run(module);
  result.data.assign(bytes.data(), bytes.size());
  return result;
}

std::string linkLibrary(const std::vector<std::string> &objects, const std::string &library) {
  auto linker = llvm::sys::findProgramByName("ld.lld-22");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker)
    return "ld.lld-22 was not found in PATH: install lld";
  std::vector<std::string> arguments{*linker, "-shared", "-o", library, "-soname", llvm::sys::path::filename(library).str()};
  for (const char *flag : {"--hash-style=gnu", "-z", "now", "-z", "relro", "--gc-sections", "--no-undefined", "--as-needed"})
    arguments.push_back(flag);
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  for (const char *folder : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"})
    if (llvm::sys::fs::is_directory(folder))
      arguments.push_back(std::string("-L") + folder);
  arguments.push_back("-l:libc.so.6");
  arguments.push_back("-l:libm.so.6");
  const std::string log = library + ".log";
  std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log), llvm::StringRef(log)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*linker, views, std::nullopt, redirects, 0, 0, &message);
  std::string output;
  if (auto buffer = llvm::MemoryBuffer::getFile(log))
    output = (*buffer)->getBuffer().str();
  llvm::sys::fs::remove(log);
  if (status == 0)
    return "";
  return "linking " + library + " failed: " + message + output;
}

} // namespace tenon
