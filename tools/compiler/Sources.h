// What a compilation has read, for the command's cache.
#pragma once
#include "frontend/Diagnostics.h"
#include "tools/compiler/Interface.h"

namespace tenon::compiler {

/// Where models and std.tn may lie, whether there is such a folder or not: $TENON_MODELS, then those of the installation, or in a
/// build folder those of the source tree.
std::vector<std::string> possibleRoots();
/// Those that exist.
std::vector<std::string> modelRoots();

/// The texts of a compilation, and the places where a new file would take the place of one of them.
class ReadSources {
public:
  void clear();
  /// `searched`: the roots of this compilation.
  void take(const SourceFiles &sources, const std::vector<std::string> &searched);
  const std::vector<TnCompilerSource> &list() const { return interface; }
  const std::vector<const char *> &roots() const { return rootInterface; }

private:
  struct Text {
    std::string path, text;
    bool absent;
  };
  std::vector<Text> texts;
  std::vector<std::string> folders;        // absolute
  std::vector<const char *> rootInterface; // views of `folders`
  std::vector<TnCompilerSource> interface; // views of `texts`
};

} // namespace tenon::compiler
