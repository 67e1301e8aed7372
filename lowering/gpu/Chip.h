// A generation of NVIDIA's chips, as the kernels know it.
#pragma once
#include "lowering/target/Target.h"

namespace tenon::gpu {

/// What kernels may use.
struct Chip {
  llvm::StringLiteral name;       // LLVM's -mcpu; its code runs on later chips, too, unless it ends with an a
  llvm::StringLiteral ptxFeature; // the lowest version of PTX that has what they use: drivers refuse later ones than they know
  bool hasWarpgroups;             // wgmma, copies of tensors, their barriers
  llvm::StringLiteral machines;   // that run its code
  Roofline roofline;              // of one of them, by its data sheet
};

/// Registers of a processor are those of its four quarters, between which the warps of a block are dealt: the most that each lane
/// of a quarter's warps may have together. A thread gets them in eights.
constexpr int64_t kLaneRegisters = 512;
/// Whether a block of so many threads with so many registers each can start.
constexpr bool canStart(int64_t threads, int64_t registers) {
  const int64_t warpsOfQuarter = (threads + 127) / 128;
  return warpsOfQuarter * ((registers + 7) / 8 * 8) <= kLaneRegisters;
}

} // namespace tenon::gpu
