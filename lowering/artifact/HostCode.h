// Code of the host: emitted functions to LLVM, optimisation, code generation. The tables of every artifact are made by it, and
// the code of targets that the host runs.
#pragma once
#include "lowering/target/Target.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm
namespace mlir {
class OpPassManager;
}

namespace tenon {

/// tenon-llvm-pipeline: emitted functions to the LLVM dialect, by passes of MLIR alone. A new version of MLIR is checked against
/// this list.
void buildLlvmPipeline(mlir::OpPassManager &module);

/// What code may use of a host's processor: what all of that platform have, or more.
struct HostMachine {
  explicit HostMachine(const HostPlatform &platform) : platform(platform), cpu(platform.cpu), vectorBits(platform.vectorBits) {}
  HostMachine(const HostPlatform &platform, std::string cpu, std::string features, int64_t vectorBits)
      : platform(platform), cpu(std::move(cpu)), features(std::move(features)), vectorBits(vectorBits) {}
  const HostPlatform &platform;
  std::string cpu;      // LLVM's -mcpu
  std::string features; // and -mattr
  int64_t vectorBits;   // of its registers
};

/// A module on its way to an object file. LLVM contexts are not shared, so that modules compile in parallel.
struct HostModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> code;
  bool quick = false; // CompileRequest::quick
  ~HostModule();
};

/// Emitted functions as LLVM's. `isVisible`: names that other modules of the artifact may use, or that it uses of them; all
/// others are internal, for two modules must never merge helpers of the same name. `name`: of messages and timings. Null: an
/// error was reported.
std::shared_ptr<HostModule> translateForHost(mlir::ModuleOp module, const std::string &name, PassFlags *flags,
                                             llvm::function_ref<bool(llvm::StringRef)> isVisible);

/// Optimises (without LLVM's own vectorisers: the code comes as vectors) and compiles. Safe to call from
/// several threads with different modules.
CodeResult compileForHost(HostModule &module, const HostMachine &machine, CodeForm form);

} // namespace tenon
