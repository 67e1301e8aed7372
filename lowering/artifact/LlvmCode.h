// What the back ends of LLVM are asked for, whatever the processor.
#pragma once
#include "lowering/target/Target.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"

namespace llvm {
class TargetMachine;
}

namespace tenon {

/// Runs what `passesOf` makes of a builder for this machine.
void runPasses(llvm::Module &module, llvm::TargetMachine &machine, const llvm::PipelineTuningOptions &tuning,
               llvm::function_ref<llvm::ModulePassManager(llvm::PassBuilder &)> passesOf);
/// The machine's code for the module; an error where it has no files of this type.
CodeResult machineCode(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type);

} // namespace tenon
