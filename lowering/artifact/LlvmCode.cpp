#include "lowering/artifact/LlvmCode.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace tenon {

std::mutex &backEnds() {
  static std::mutex mutex;
  return mutex;
}

void runPasses(llvm::Module &module, llvm::TargetMachine &machine, const llvm::PipelineTuningOptions &tuning,
               llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> passesOf) {
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
  passesOf(builder).run(module, modules);
}

CodeResult machineCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type) {
  CodeResult result;
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) {
    result.error = "LLVM cannot emit this kind of file for " + machine.getTargetTriple().str();
    return result;
  }
  passes.run(module);
  result.data.assign(bytes.data(), bytes.size());
  return result;
}

} // namespace tenon
