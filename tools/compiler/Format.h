// tenon fmt.
#pragma once
#include <string>
#include <vector>

namespace tenon::compiler {

/// Formats each file, or the standard input ("-") to the standard output. `checkOnly`: writes nothing and lists what would
/// change. A file with mistakes is left alone, its mistakes are said, and the others go on. Exit code: 0; 1 for mistakes, and
/// with `checkOnly` for changes; 3 and 5 for what cannot be read or written; of several the largest.
int runFormat(const std::vector<std::string> &paths, bool checkOnly);

} // namespace tenon::compiler
