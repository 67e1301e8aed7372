// An LLVM module for NVPTX, made to run on the host: calls of intrinsics become calls of models, address spaces vanish, and in
// checked mode every access of memory asks the shadow first.
#pragma once
#include "Launch.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Module.h"
#include <deque>

namespace llvm {
class ModuleSlotTracker;
}

namespace tenon::emu {

struct Retargeted {
  std::deque<Site> sites;      // generated code points to them
  std::vector<Kernel> kernels; // without entries; each is the function NAME.entry of the module
};

/// Changes the module in place. Errors name what the emulator does not know.
llvm::Error retarget(llvm::Module &module, const Mode &mode, Retargeted &result);

/// "tenon.fault", of a module before it is retargeted: `i8 tenon.fault(i32 number)` is that fault's state in the launch that
/// runs. So a module is compiled once for all its faults.
llvm::FunctionCallee faultState(llvm::Module &module);
/// Makes the calls of a kernel that synchronise faults, of the numbers from `first` on; returns how many there are.
unsigned makeDeletable(llvm::Module &module, llvm::StringRef kernel, unsigned first);
/// The calls of a kernel's function that synchronise, in order, as LLVM prints them: what a mutant can lack.
std::vector<std::string> listMutants(llvm::Module &module, llvm::StringRef kernel);

/// The letter of the numbers of a type, as Site has it.
char elementOf(llvm::Type *type);
/// That of a value that is stored: numbers that are put together bit by bit (a sign) are stored as integers.
char elementOfStored(const llvm::Value &value);
bool isKernel(const llvm::Function &function);
/// The function and all defined ones that it calls.
llvm::SetVector<llvm::Function *> reachedFrom(llvm::Function &function);
/// An instruction as LLVM prints it, without metadata.
std::string textOf(const llvm::Instruction &instruction, llvm::ModuleSlotTracker &slots);

} // namespace tenon::emu
