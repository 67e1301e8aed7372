// What the back ends of LLVM are asked for, whatever the processor.
#pragma once
#include "lowering/target/Target.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include <mutex>

namespace llvm {
class TargetMachine;
}

namespace tenon {

/// Of the list of back ends, which LLVM does not guard: whoever adds one or looks one up holds it. Parts of an artifact are
/// compiled at the same time, for the host and for a GPU.
std::mutex &backEnds();
/// Runs what `passesOf` makes of a builder for this machine.
void runPasses(llvm::Module &module, llvm::TargetMachine &machine, const llvm::PipelineTuningOptions &tuning,
               llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> passesOf);
/// Of quick code, of every machine: as much as makes less code for the quickest code generation than it costs.
constexpr llvm::StringLiteral kQuickPipeline = "function(sroa,early-cse),inline,function(sroa,early-cse,simplifycfg),globaldce";
/// The machine's code for the module; an error where it has no files of this type.
CodeResult machineCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type);

} // namespace tenon
