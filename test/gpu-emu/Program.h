// A module of kernels, compiled for the host.
#pragma once
#include "Retarget.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace tenon::emu {

class Program {
public:
  /// Of LLVM IR, as text or bitcode. Takes some tens of milliseconds per kernel.
  static llvm::Expected<std::unique_ptr<Program>> load(llvm::MemoryBufferRef file, const Mode &mode);
  ~Program();
  /// Null if there is none of this name.
  const Kernel *find(llvm::StringRef name) const;
  const std::vector<Kernel> &kernels() const { return parts.kernels; }

private:
  Program() = default;
  Retargeted parts;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace tenon::emu
