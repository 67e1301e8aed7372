// The way from a specification to an artifact: the compiler library, and the cache of what it made.
#include "tools/tenon/Cache.h"
#include "tools/tenon/Command.h"
#include "tools/tenon/Report.h"
#include "tools/tenon/ScratchFolder.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::driver {

namespace fs = std::filesystem;

namespace {

using CompilerMain = int (*)(int, const char **);
constexpr const char *kLibrary = "libtenon-compiler.so";

/// Beside the program (build tree and installation), or where $TENON_COMPILER says. Empty if there is none.
std::string findCompiler() {
  std::error_code ignored;
  if (const char *given = getenv("TENON_COMPILER"); given && *given)
    return given;
  fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char *place : {"../lib", "."})
    if (fs::path path = program / place / kLibrary; fs::exists(path, ignored))
      return path.lexically_normal().string();
  return {};
}

void *openCompiler() {
  std::string path = findCompiler();
  if (path.empty()) {
    fprintf(stderr, "tenon: error: this needs the compiler, and %s is not installed; TENON_COMPILER can name it\n", kLibrary);
    return nullptr;
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library || !dlsym(library, "tn_compiler_main")) {
    fprintf(stderr, "tenon: error: cannot open the compiler: %s\n", dlerror());
    return nullptr;
  }
  return library;
}

class Hash {
public:
  Hash() : state(XXH3_createState()) { XXH3_128bits_reset(state); }
  ~Hash() { XXH3_freeState(state); }
  Hash(const Hash &) = delete;
  Hash &operator=(const Hash &) = delete;
  void add(std::string_view text) {
    uint64_t size = text.size(); // keeps "ab","c" apart from "a","bc"
    XXH3_128bits_update(state, &size, sizeof size);
    XXH3_128bits_update(state, text.data(), text.size());
  }
  std::string hex() const {
    XXH128_hash_t value = XXH3_128bits_digest(state);
    char text[33];
    snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(value.high64),
             static_cast<unsigned long long>(value.low64));
    return text;
  }

private:
  XXH3_state_t *state;
};

/// The texts of a specification and of what it imports, found beside it. Imports that are not there are the compiler's to report.
Status addTexts(const fs::path &path, std::set<std::string> &seen, Hash &hash) {
  if (!seen.insert(path.string()).second || seen.size() > 1000)
    return {};
  auto text = runtime::readWholeFile(path.string(), 16 << 20);
  if (text.failed())
    return seen.size() == 1 ? text.status() : Status();
  hash.add(path.filename().string());
  hash.add(*text);
  for (size_t at = 0; (at = text->find("import", at)) != std::string::npos; at += 6) {
    size_t open = text->find_first_not_of(" \t\r\n", at + 6);
    size_t close = open != std::string::npos && (*text)[open] == '"' ? text->find('"', open + 1) : std::string::npos;
    if (close != std::string::npos)
      if (Status status = addTexts(path.parent_path() / text->substr(open + 1, close - open - 1), seen, hash); status.failed())
        return status;
  }
  return {};
}

std::vector<std::string> compileArguments(const ModelOptions &options, const std::string &directory) {
  std::vector<std::string> result = {"tenon", "compile", options.source, "-o", directory};
  auto add = [&](const char *option, const std::string &value) {
    if (!value.empty())
      result.insert(result.end(), {option, value});
  };
  add("--model", options.model);
  add("--recipe", options.recipe);
  add("--target", options.target);
  for (const auto &[option, values] : {std::pair("--set", &options.set), std::pair(options.bindRecipe ? "--bind-recipe" : "--bind", &options.bind), std::pair("--entry", &options.entries)})
    for (const std::string &value : *values)
      add(option, value);
  if (options.doublePrecision)
    result.push_back("--f64");
  if (options.gradient)
    result.push_back("--grad");
  if (options.decomposed)
    result.push_back("--decomposed");
  if (options.defaultRecipe && options.recipe.empty())
    result.push_back("--default-recipe");
  return result;
}

/// Size and time of the compiler stand for its version: a rebuilt compiler makes new artifacts.
void addCompiler(Hash &hash) {
  hash.add(TENON_VERSION);
  struct stat info;
  if (std::string path = findCompiler(); !path.empty() && stat(path.c_str(), &info) == 0)
    hash.add(concat(static_cast<int64_t>(info.st_size), ":", static_cast<int64_t>(info.st_mtim.tv_sec), ":",
                    static_cast<int64_t>(info.st_mtim.tv_nsec)));
}

} // namespace

int runCompiler(const std::vector<std::string> &arguments, bool show) {
  void *library = openCompiler();
  if (!library)
    return 3;
  auto compilerMain = reinterpret_cast<CompilerMain>(dlsym(library, "tn_compiler_main"));
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  pointers.push_back(nullptr);
  int code = compilerMain(static_cast<int>(arguments.size()), pointers.data());
  auto artifact = reinterpret_cast<const char *(*)(int *)>(dlsym(library, "tn_compiler_artifact"));
  int json = 0;
  const char *manifest = code == 0 && show && artifact ? artifact(&json) : nullptr;
  return manifest ? report(printCompiled(manifest, json != 0)) : code;
}

namespace {

/// Compiles into a folder of its own, which takes its place in the cache when it is whole.
Status compileTo(const ModelOptions &options, const std::string &root, const std::string &directory) {
  std::error_code failed;
  fs::create_directories(root, failed);
  if (failed)
    return runtime::fileError("create", root, failed.value());
  removeLeftovers(root);
  auto folder = ScratchFolder::create(directory);
  if (folder.failed())
    return folder.status();
  int code = runCompiler(compileArguments(options, folder->path()), false);
  if (code != 0) // its messages are out already
    return Status(static_cast<runtime::ErrorKind>(code), "");
  fs::rename(folder->path(), directory, failed); // fails if another process was faster: then theirs is as good
  std::error_code ignored;
  return fs::exists(directory, ignored) ? Status() : runtime::fileError("create", directory, failed.value());
}

} // namespace

Expected<CachedModel> compileIntoCache(const ModelOptions &options) {
  Hash hash;
  std::set<std::string> seen;
  if (Status status = addTexts(options.source, seen, hash); status.failed())
    return status;
  for (const std::string &argument : compileArguments(options, ""))
    hash.add(argument);
  addCompiler(hash);
  const std::string root = cacheDirectory(), name = hash.hex();
  if (root.empty())
    return inputError("there is no place for compiled models: set TENON_CACHE to a directory");
  if (auto known = findInCache(root, name))
    return std::move(*known);
  if (Status status = compileTo(options, root, root + "/" + name); status.failed())
    return status;
  auto made = findInCache(root, name);
  if (!made)
    return inputError("the compiled model has disappeared from ", root);
  pruneCache(root);
  return std::move(*made);
}

Status copyArtifact(const std::string &from, const std::string &directory) {
  std::error_code failed;
  std::string temporary = directory + ".tmp";
  fs::remove_all(temporary, failed);
  fs::create_directories(temporary, failed);
  for (auto file = failed ? fs::directory_iterator() : fs::directory_iterator(from, failed); !failed && file != fs::directory_iterator();
       file.increment(failed))
    if (file->is_regular_file(failed))
      fs::copy_file(file->path(), fs::path(temporary) / file->path().filename(), failed);
  std::error_code ignored;
  if (!failed) {
    fs::remove_all(directory, ignored);
    fs::rename(temporary, directory, failed);
  }
  if (!failed)
    return {};
  fs::remove_all(temporary, ignored);
  return runtime::fileError("copy the model to", directory, failed.value());
}

} // namespace tenon::driver
