// LLVM: optimisation, code generation for one tier, linking.
#pragma once
#include "lowering/cpu/Tier.h"
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace tenon {

enum class NativeForm { Llvm, Assembly, Object };
struct NativeResult {
  std::string data;
  std::string error; // empty: none
};

/// Optimises (O3, without LLVM's own vectorisers: the code comes as vectors) and compiles for x86-64 Linux. Safe to call from
/// several threads with modules of different contexts.
NativeResult compileModule(llvm::Module &module, cpu::Tier tier, NativeForm form);

struct LinkResult {
  enum class Kind {
    Linked,
    NoLibrary, // there is no linker, it could not be started, was ended by a signal, or has written no library
    Refused,   // the linker says that something is wrong
  } kind = Kind::Linked;
  std::string message;
};

/// Links object files into the shared library DIRECTORY/NAME with libc and libm, by the system's ld.lld.
LinkResult linkLibrary(const std::vector<std::string> &objects, const std::string &directory, const std::string &name);

} // namespace tenon
