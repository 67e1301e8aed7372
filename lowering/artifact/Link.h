// Object files to the shared library.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace tenon {

struct LinkResult {
  enum class Kind {
    Linked,
    NoLibrary, // there is no linker, it could not be started, was ended by a signal, or has written no library
    Refused,   // the linker says that something is wrong
  } kind = Kind::Linked;
  std::string message;
};

/// Links object files into the shared library DIRECTORY/NAME with libc and libm, by the system's ld.lld. `folders`: where these
/// are, as far as there are such.
LinkResult linkLibrary(const std::vector<std::string> &objects, const std::string &directory, const std::string &name,
                       llvm::ArrayRef<llvm::StringLiteral> folders);

} // namespace tenon
