// A generation of NVIDIA's chips, as the kernels know it.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tenon::gpu {

/// What kernels may use.
struct Chip {
  llvm::StringLiteral name;       // LLVM's -mcpu; its code runs on later chips, too, unless it ends with an a
  llvm::StringLiteral ptxFeature; // the lowest version of PTX that has what they use: drivers refuse later ones than they know
  bool hasWarpgroups;             // wgmma, copies of tensors, their barriers
};

} // namespace tenon::gpu
