#include "runtime/data/PieceLibrary.h"
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

#ifndef TENON_LIBRARY_FOLDER // from the folder of an installed command
#define TENON_LIBRARY_FOLDER "../lib"
#endif

namespace tenon::data {

namespace {

namespace fs = std::filesystem;

/// What this code is part of: a library, or the program.
fs::path ownFile() {
  Dl_info place{};
  std::error_code ignored;
  static const int here = 0;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!dladdr(&here, &place) || !place.dli_fname)
    return program;
  const fs::path file = fs::canonical(place.dli_fname, ignored); // of the program it may be the name that it was called by
  return ignored || fs::equivalent(file, program, ignored) ? program : file;
}

std::vector<std::string> candidates() {
  if (const char *given = getenv("TENON_SENTENCEPIECE"); given && *given)
    return {given};
  const fs::path folder = ownFile().parent_path();
  std::vector<std::string> files;
  for (const char *place : {".", "../lib", TENON_LIBRARY_FOLDER})
    if (std::error_code ignored; fs::exists(folder / place / PieceLibrary::kFile, ignored))
      files.push_back((folder / place / PieceLibrary::kFile).lexically_normal().string());
  files.emplace_back(PieceLibrary::kFile); // where the loader looks
  return files;
}

Status openLibrary(const PieceLibrary *&library) {
  std::string reason;
  for (const std::string &file : candidates()) {
    void *opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
      reason = dlerror();
      continue;
    }
    library = static_cast<const PieceLibrary *>(dlsym(opened, PieceLibrary::kSymbol));
    if (library && library->version == PieceLibrary::kVersion)
      return {};
    library = nullptr;
    return inputError(file, " is of another build of Tenon");
  }
  return inputError("pieces of sentencepiece need ", PieceLibrary::kFile,
                    ", which Tenon installs, and libsentencepiece (Debian: ", "libsentencepiece0): ", reason);
}

} // namespace

Status PieceLibrary::find(const PieceLibrary *&library) {
  static const PieceLibrary *found = nullptr;
  static const Status status = openLibrary(found);
  library = found;
  return status;
}

} // namespace tenon::data
