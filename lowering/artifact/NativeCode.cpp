#include "lowering/artifact/NativeCode.h"
#include "lowering/artifact/OneLaneStores.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

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
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(triple, cpu::tierCpu(tier), cpu::tierFeatures(tier),
                                                                          options, llvm::Reloc::PIC_, std::nullopt,
                                                                          llvm::CodeGenOptLevel::Aggressive));
}

/// Kernels come vectorized, tiled and unrolled where it pays; what is left to LLVM is to inline the shared bodies, to keep in
/// registers what loops do not change, and to simplify addresses. Against its O3 pipeline without vectorizers: half of the
/// compiler's time, a tenth less code, the same speed within 0.5 % (small GPT-2, Transformer-XL, XLNet; docs/measurements.md).
static constexpr const char *passPipeline =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>),"
    "inline,"
    "function(early-cse<memssa>,simplifycfg,loop-simplify,lcssa,loop-mssa(loop-rotate,licm),instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-unroll-full),sroa,gvn,loop-mssa(licm),instcombine<no-verify-fixpoint>,dse,simplifycfg),"
    "globaldce";

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes;
  llvm::cantFail(builder.parsePassPipeline(passes, passPipeline));
  passes.run(module, modules);
  storeSingleLanes(module);
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
    if (!cpu::tierFeatures(tier).empty())
      function.addFnAttr("target-features", cpu::tierFeatures(tier));
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

namespace {

/// A name for the folder without a %: the linker's own temporary file would have other characters in its place. Linux names open
/// files so.
class FolderForLinker {
public:
  explicit FolderForLinker(const std::string &folder) : name(folder) {
    if (folder.find('%') == std::string::npos)
      return;
    handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY); // which the linker inherits
    if (handle >= 0)
      name = "/proc/self/fd/" + std::to_string(handle);
  }
  ~FolderForLinker() {
    if (handle >= 0)
      ::close(handle);
  }
  FolderForLinker(const FolderForLinker &) = delete;
  FolderForLinker &operator=(const FolderForLinker &) = delete;
  const std::string &path() const { return name; }

private:
  int handle = -1;
  std::string name;
};

bool isLibrary(const std::string &path) {
  llvm::file_magic magic;
  return !llvm::identify_magic(path, magic) && magic == llvm::file_magic::elf_shared_object;
}

} // namespace

LinkResult linkLibrary(const std::vector<std::string> &objects, const std::string &directory, const std::string &name) {
  auto linker = llvm::sys::findProgramByName("ld.lld-22");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker)
    return {LinkResult::Kind::NoLibrary, "there is no linker: neither ld.lld-22 nor ld.lld is in PATH; install lld-22"};
  const std::string library = directory + "/" + name, log = library + ".log";
  FolderForLinker folder(directory);
  std::vector<std::string> arguments{*linker, "-shared", "-o", folder.path() + "/" + name, "-soname", name};
  for (const char *flag : {"--hash-style=gnu", "-z", "now", "-z", "relro", "--gc-sections", "--no-undefined", "--as-needed"})
    arguments.push_back(flag);
  arguments.insert(arguments.end(), objects.begin(), objects.end());
  for (const char *place : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"})
    if (llvm::sys::fs::is_directory(place))
      arguments.push_back(std::string("-L") + place);
  arguments.push_back("-l:libc.so.6");
  arguments.push_back("-l:libm.so.6");
  std::vector<llvm::StringRef> views(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, llvm::StringRef(log), llvm::StringRef(log)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*linker, views, std::nullopt, redirects, 0, 0, &message);
  std::string output;
  if (auto buffer = llvm::MemoryBuffer::getFile(log))
    output = (*buffer)->getBuffer().rtrim().str();
  llvm::sys::fs::remove(log);
  if (status != 0) // below zero: not started, or ended by a signal
    return {status < 0 ? LinkResult::Kind::NoLibrary : LinkResult::Kind::Refused,
            "linking " + library + " by " + *linker + " failed: " + message + output};
  if (!isLibrary(library))
    return {LinkResult::Kind::NoLibrary, "the linker " + *linker + " reports success and has written no library"};
  return {};
}

} // namespace tenon
