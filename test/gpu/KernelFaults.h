// Kernels with a fault, as a generator may make it: what tests have to notice.
#pragma once
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace tenon::test {

struct KernelFault {
  enum class Kind { Edge, Fragments, Call } kind;
  std::string kernel;
  unsigned number;  // among those of its kind in the kernel
  std::string text; // the instruction
};

/// Every comparison of sizes, off by one; every mma.sync, whose parts of B are exchanged; every call that synchronises, deleted.
std::vector<KernelFault> faultsOf(llvm::Module &module);
void apply(llvm::Module &module, const KernelFault &fault);

} // namespace tenon::test
