// Takes the address spaces out of a module: every pointer becomes one of the host's.
#pragma once
#include "llvm/IR/Module.h"

namespace tenon::emu {

/// `kernels` are replaced by the new functions of the same names. There are no casts of address spaces any more.
llvm::Error flattenAddressSpaces(llvm::Module &module, std::vector<llvm::Function *> &kernels);

} // namespace tenon::emu
