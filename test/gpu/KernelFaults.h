// Kernels with a fault, as a generator may make it: what tests have to notice.
#pragma once
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace tenon::test {

struct KernelFault {
  enum class Kind { Edge, Fragments, Call, Asynchronous, Part } kind;
  std::string kernel;
  std::string text; // the instruction
};

/// Every comparison of sizes, off by one; every mma.sync, whose parts of B are exchanged; every call that synchronises, deleted;
/// of what runs beside the threads, the other parity of a wait, more bytes that are expected, a descriptor one row of 128 bytes
/// off; every part of a sum that the kernel of slices (gemm_sums) adds, dropped. Of the kernels with `kernels` in their names.
std::vector<KernelFault> faultsOf(llvm::Module &module, llvm::StringRef kernels);
/// Puts them all into the module that they were found in, each under its number in the list: none is made unless Mode::faults of
/// the emulator names it.
void plant(llvm::Module &module, llvm::ArrayRef<KernelFault> faults);

} // namespace tenon::test
