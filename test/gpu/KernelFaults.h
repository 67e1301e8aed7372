// Kernels with a fault, as a generator may make it: what tests have to notice.
#pragma once
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace tenon::test {

struct KernelFault {
  enum class Kind { Edge, Fragments, Call, Asynchronous, Part } kind;
  std::string kernel;
  unsigned number;  // among those of its kind in the kernel
  std::string text; // the instruction
};

/// Every comparison of sizes, off by one; every mma.sync, whose parts of B are exchanged; every call that synchronises, deleted;
/// of what runs beside the threads, the other parity of a wait, more bytes that are expected, a descriptor one row of 128 bytes
/// off; every part of a sum that the kernel of slices (gemm_sums) adds, dropped.
std::vector<KernelFault> faultsOf(llvm::Module &module);
void apply(llvm::Module &module, const KernelFault &fault);

} // namespace tenon::test
