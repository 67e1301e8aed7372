#include "tools/compiler/Sources.h"
#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <set>

namespace tenon::compiler {

namespace fs = std::filesystem;

std::vector<std::string> possibleRoots() {
  std::vector<std::string> roots;
  if (const char *given = getenv("TENON_MODELS"); given && *given)
    roots.emplace_back(given);
  std::error_code ignored;
  Dl_info library;
  fs::path installed;
  if (dladdr(reinterpret_cast<const void *>(&possibleRoots), &library) && library.dli_fname)
    installed = (fs::path(library.dli_fname).parent_path() / TENON_INSTALLED_MODELS).lexically_normal();
  if (!installed.empty())
    roots.push_back(installed.string());
  if (installed.empty() ||
      !fs::is_directory(installed, ignored)) // an installation does not look into the tree that it was built from
    roots.emplace_back(TENON_SOURCE_MODELS);
  return roots;
}

std::vector<std::string> modelRoots() {
  std::vector<std::string> roots = possibleRoots();
  std::error_code ignored;
  std::erase_if(roots, [&](const std::string &root) { return !fs::is_directory(root, ignored); });
  return roots;
}

void ReadSources::clear() {
  interface.clear();
  texts.clear();
  rootInterface.clear();
  folders.clear();
}

void ReadSources::take(const SourceFiles &sources, const std::vector<std::string> &searched) {
  clear();
  std::error_code ignored;
  auto absolute = [&](const fs::path &path) { return fs::absolute(path, ignored).string(); };
  std::vector<std::string> roots = possibleRoots();
  roots.insert(roots.end(), searched.begin(), searched.end());
  for (const std::string &root : searched)
    folders.push_back(absolute(root));
  std::set<std::string> looked, names = {"std.tn"}; // names: relative to a root
  for (const std::string &root : roots)
    looked.insert(absolute(root));
  for (const SourceFiles::Source &source : sources.files) {
    if (source.path.starts_with("--")) // the text of an option
      continue;
    texts.push_back({absolute(source.path), source.text, false});
    looked.insert(fs::path(texts.back().path).parent_path().string());
    for (const std::string &root : roots)
      if (source.path.starts_with(root + "/"))
        names.insert(source.path.substr(root.size() + 1));
  }
  // More than were looked at, perhaps: then a new file of such a name costs a compilation that was not needed.
  for (const std::string &folder : looked)
    for (const std::string &name : names)
      if (std::string path = (fs::path(folder) / name).string(); !fs::exists(path, ignored))
        texts.push_back({path, "", true});
  for (const Text &text : texts)
    interface.push_back({text.path.c_str(), text.absent ? nullptr : text.text.data(), text.text.size()});
  for (const std::string &folder : folders)
    rootInterface.push_back(folder.c_str());
}

} // namespace tenon::compiler
