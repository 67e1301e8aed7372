// Launches as files that a GPU can run (test/gpu/hardware.py): the PTX, what memory held before each launch, and what the kernel
// wrote there on the emulator, with the types that it wrote.
//
// FOLDER has kernels.ptx, data.bin, the code that the emulator executes, and launches.json: `tolerance` and `launches` in their
// order, each with its `kernel`, `grid`, `block`, `shared` bytes, `arguments` ([buffer, offset] or a number of 64 bits),
// `buffers` that are there (number: bytes), `set` (buffer, offset, bytes, where in the data: what differs from before; a new
// buffer holds 0xff) and `written` (the same with a type).
#pragma once
#include "Launch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <map>

namespace tenon::emu {

class Recorder {
public:
  /// `ptx`: with the kernels of all launches.
  Recorder(std::string folder, llvm::StringRef ptx, double tolerance)
      : folder(std::move(folder)), ptx(ptx), tolerance(tolerance) {}
  /// Around a launch, in checked mode; the memory of the device is open.
  void before();
  void after(const std::string &kernel, Dim3 grid, Dim3 block, uint32_t dynamicShared, llvm::ArrayRef<uint64_t> arguments);
  /// `code`: what the emulator executes; the PTX names it.
  llvm::Error write(llvm::MemoryBufferRef code);
  /// By a thread of a kernel, which may be one that is recorded.
  static void noteWrite(const Site &site, uint64_t address, uint64_t bytes) {
    if (current)
      current->note(site, address, bytes);
  }

private:
  struct Known {
    int64_t number;
    std::string bytes, types; // `types`: of what the launch wrote, a letter per byte, else 0
  };
  void note(const Site &site, uint64_t address, uint64_t bytes);
  int64_t keep(llvm::StringRef bytes);

  static Recorder *current; // between `before` and `after`
  const std::string folder, ptx;
  const double tolerance;
  std::map<uint64_t, Known> known; // by the begin of a buffer
  int64_t buffers = 0;
  std::string data;
  llvm::json::Array launches, set;
};

} // namespace tenon::emu
