// The C interface of libtenon-compiler.so, which the command opens at run time.
#pragma once
#include <cstdint>

extern "C" {

/// A file of a compilation, by its absolute path. `text` is what was read; null for a file that did not exist where it was looked
/// for before another was taken: if it exists one day, it is read instead.
struct TnCompilerSource {
  const char *path, *text;
  uint64_t bytes;
};

/// `tenon check|compile|explain|fmt ..` with the arguments of main; gives the exit code.
using TnCompilerMain = int(int argc, const char **argv);
/// The manifest of the artifact that the last call of tn_compiler_main has written, or null; `json` tells whether its report was
/// asked for as JSON.
using TnCompilerArtifact = const char *(int *json);
/// What the last artifact was made from; owned by the library, until its next call. Gives the number.
using TnCompilerSources = int(const TnCompilerSource **sources);
/// The folders in which it looked for std.tn and imports, absolute, in this order. The same holds.
using TnCompilerRoots = int(const char *const **roots);
}
