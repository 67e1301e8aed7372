// The way from a specification to an artifact: the compiler library, and the cache of what it made.
#include "runtime/device/Cpu.h"
#include "tools/compiler/CommandLine.h"
#include "tools/compiler/Interface.h"
#include "tools/tenon/Cache.h"
#include "tools/tenon/KeptSources.h"
#include "tools/tenon/Report.h"
#include "tools/tenon/Say.h"
#include "tools/tenon/ScratchFolder.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::driver {

namespace fs = std::filesystem;

namespace {

constexpr const char *kLibrary = "libtenon-compiler.so";

/// Beside the program (build tree and installation), or where $TENON_COMPILER says. Empty if there is none.
std::string findCompiler() {
  std::error_code ignored;
  if (const char *given = getenv("TENON_COMPILER"); given && *given)
    return given;
  fs::path program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const char *place : {TENON_LIBRARY_FOLDER, "../lib"})
    if (fs::path path = program / place / kLibrary; fs::exists(path, ignored))
      return path.lexically_normal().string();
  return {};
}

Expected<void *> openCompiler() {
  std::string path = findCompiler();
  if (path.empty())
    return inputError("this needs the compiler, and ", kLibrary, " is not installed; TENON_COMPILER can name it");
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library && dlsym(library, "tn_compiler_main"))
    return library;
  const std::string reason = dlerror();
  // The loader says it so where its memory is not enough.
  bool isMemory = reason.find("annot allocate memory") != std::string::npos ||
                  reason.find("failed to map segment") != std::string::npos || reason.find("cannot create") != std::string::npos;
  return Status(isMemory ? runtime::ErrorKind::Resource : runtime::ErrorKind::Input,
                concat("cannot open the compiler: ", reason));
}

bool isForHost(const ModelOptions &options) { return options.target.empty() || options.target == compiler::kHostTarget; }

/// Only the tier that will run is compiled, which takes a third of the time: the one that is asked for, as the runtime has it
/// (HostDevice.cpp), or the best of this machine. All: empty.
std::string tierOf(const ModelOptions &options) {
  const char *forced = isForHost(options) ? getenv("TENON_TIER") : nullptr; // which names tiers of its device alone
  const std::string name = options.tier.empty() && forced ? forced : options.tier;
  return !name.empty() ? name : options.everyTier ? "" : std::string(runtime::kBestTier);
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
  add("--numerics", options.numerics);
  add("--name", options.name);
  add("--tier", tierOf(options));
  for (const auto &[option, values] :
       {std::pair("--set", &options.set), std::pair(options.bindRecipe ? "--bind-recipe" : "--bind", &options.bind),
        std::pair("--bind-recipe", &options.recipeBind), std::pair("--entry", &options.entries),
        std::pair("--model-root", &options.roots)})
    for (const std::string &value : *values)
      add(option, value);
  if (options.doublePrecision)
    result.push_back("--f64");
  if (options.gradient)
    result.push_back("--grad");
  if (options.decomposed)
    result.push_back("--decomposed");
  if (options.simpleKernels)
    result.push_back("--simple-kernels");
  if (options.attentionMaps)
    result.push_back("--attention-maps");
  if (const char *quick = getenv("TENON_QUICK"); quick && *quick)
    result.push_back("--quick");
  if (options.recipe.empty())
    result.push_back(options.defaultRecipe ? "--default-recipe" : "--no-recipe");
  return result;
}

/// What a command asks of which compiler. What that reads is not part of it: only the compiler knows.
std::string keyOf(const ModelOptions &options) {
  std::error_code ignored;
  std::vector<std::string> parts = compileArguments(options, "");
  parts.push_back(fs::absolute(options.source, ignored).string());
  const char *models = getenv("TENON_MODELS");
  parts.push_back(models && *models ? fs::absolute(models, ignored).string() : "");
  parts.emplace_back(TENON_VERSION);
  parts.emplace_back(runtime::nameOf(runtime::machineTier())); // a folder of several machines
  // Place, size and time of the compiler stand for its version: a rebuilt compiler makes new artifacts.
  struct stat info;
  if (std::string path = findCompiler(); !path.empty() && stat(path.c_str(), &info) == 0)
    parts.push_back(concat(path, ":", static_cast<int64_t>(info.st_size), ":", static_cast<int64_t>(info.st_mtim.tv_sec), ":",
                           static_cast<int64_t>(info.st_mtim.tv_nsec)));
  return hashOf(parts);
}

} // namespace

namespace {

/// What the compiler has read for the artifact that it made last.
struct ReadByCompiler {
  std::vector<KeptText> texts;
  std::vector<std::string> absent, roots; // as in CacheRecord
};

ReadByCompiler readByCompiler(void *library) {
  ReadByCompiler read;
  auto ask = reinterpret_cast<TnCompilerSources *>(dlsym(library, "tn_compiler_sources"));
  const TnCompilerSource *sources = nullptr;
  for (int i = 0, count = ask ? ask(&sources) : 0; i < count; ++i)
    if (sources[i].text)
      read.texts.push_back({sources[i].path, std::string(sources[i].text, sources[i].bytes)});
    else
      read.absent.emplace_back(sources[i].path);
  auto askRoots = reinterpret_cast<TnCompilerRoots *>(dlsym(library, "tn_compiler_roots"));
  const char *const *roots = nullptr;
  for (int i = 0, count = askRoots ? askRoots(&roots) : 0; i < count; ++i)
    read.roots.emplace_back(roots[i]);
  return read;
}

} // namespace

int runCompiler(const std::vector<std::string> &arguments, bool forUser) {
  auto library = openCompiler();
  if (!library.ok())
    return report(library.status());
  auto compilerMain = reinterpret_cast<TnCompilerMain *>(dlsym(*library, "tn_compiler_main"));
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  pointers.push_back(nullptr);
  int code = compilerMain(static_cast<int>(arguments.size()), pointers.data());
  if (code != 0 || !forUser)
    return code;
  if (const ReadByCompiler read = readByCompiler(*library); !read.texts.empty())
    if (Status status = keepCompiled(arguments, read.texts, read.roots); status.failed())
      return report(status.in("the artifact is made, but its specification is not kept"));
  auto artifact = reinterpret_cast<TnCompilerArtifact *>(dlsym(*library, "tn_compiler_artifact"));
  int json = 0;
  const char *manifest = artifact ? artifact(&json) : nullptr;
  return manifest ? report(printCompiled(manifest, json != 0)) : code;
}

namespace {

CacheRecord recordOfCompilation() {
  CacheRecord record;
  auto library = openCompiler();
  if (!library.ok())
    return record;
  ReadByCompiler read = readByCompiler(*library);
  for (const KeptText &file : read.texts)
    record.read.push_back({file.path, file.text.size(), hashOf(file.text)});
  record.absent = std::move(read.absent);
  record.roots = std::move(read.roots);
  return record;
}

/// Compiles into a folder of its own, which takes its place in the cache when it is whole.
Status compileTo(const ModelOptions &options, const std::string &root, const std::string &key) {
  removeLeftovers(root);
  auto folder = ScratchFolder::create(root + "/" + key);
  if (folder.failed())
    return folder.status();
  int code = runCompiler(compileArguments(options, folder->path()), false);
  if (code != 0) // its messages are out already
    return Status(static_cast<runtime::ErrorKind>(code), "");
  CacheRecord record = recordOfCompilation();
  if (record.read.empty())
    return runtime::bugError("the compiler does not say what it read");
  std::vector<std::string> sources;
  for (const CacheRecord::File &file : record.read)
    sources.insert(sources.end(), {file.path, file.hash});
  sources.insert(sources.end(), record.absent.begin(), record.absent.end());
  auto made = filesOf(folder->path());
  if (!made.ok())
    return made.status();
  record.made = made.take();
  if (Status status = runtime::replaceFile(folder->path() + "/" + kRecordName, record.print()); status.failed())
    return status;
  const std::string directory = concat(root, "/", key, "-", hashOf(sources));
  std::error_code failed, ignored;
  fs::rename(folder->path(), directory, failed); // fails if another process was faster: then theirs is as good
  return fs::exists(directory, ignored) ? Status() : runtime::fileError("create", directory, failed.value());
}

} // namespace

Expected<CachedModel> compileIntoCache(const ModelOptions &options) {
  auto root = openCache();
  if (!root.ok())
    return root.status();
  const std::string key = keyOf(options);
  if (auto known = findInCache(*root, key))
    return std::move(*known);
  if (isatty(STDERR_FILENO)) // who waits wants to know for what
    note("compiling " + options.source + " ..");
  if (Status status = compileTo(options, *root, key); status.failed())
    return status;
  auto made = findInCache(*root, key);
  if (!made)
    return inputError("the compiled model has disappeared from ", *root, ", or what it was made from has changed meanwhile");
  pruneCache(*root);
  return std::move(*made);
}

/// Those of files that the user makes, whatever the cache has.
static void giveUsualModes(const fs::path &folder, std::error_code &failed) {
  const mode_t hidden = umask(0);
  umask(hidden);
  for (auto entry = fs::recursive_directory_iterator(folder, failed); !failed && entry != fs::recursive_directory_iterator();
       entry.increment(failed)) {
    const bool opens = entry->is_directory() || (entry->status().permissions() & fs::perms::owner_exec) != fs::perms::none;
    fs::permissions(entry->path(), fs::perms((opens ? 0777 : 0666) & ~hidden), failed);
  }
}

Status copyArtifact(const runtime::Artifact &artifact, const std::string &directory,
                    const std::function<Status(const std::string &)> &more) {
  std::error_code failed;
  const std::string &from = artifact.directory(), temporary = directory + ".tmp";
  fs::remove_all(temporary, failed);
  fs::create_directories(temporary, failed);
  for (auto file = failed ? fs::directory_iterator() : fs::directory_iterator(from, failed);
       !failed && file != fs::directory_iterator(); file.increment(failed))
    if (file->is_regular_file(failed) && file->path().filename() != kRecordName) // which is of the cache
      fs::copy_file(file->path(), fs::path(temporary) / file->path().filename(), failed);
  std::error_code ignored;
  if (const std::string sources = sourcesOf(artifact); !failed && !sources.empty())
    fs::copy(sources, fs::path(temporary) / kSourcesName, fs::copy_options::recursive, failed);
  Status status = failed ? Status() : runtime::writeLibraryHash(temporary);
  if (!failed)
    giveUsualModes(temporary, failed);
  if (status.ok() && !failed && more)
    status = more(temporary);
  if (status.failed()) {
    fs::remove_all(temporary, ignored);
    return status;
  }
  // In one step where that can be done: a reader beside this finds the earlier model or this one.
  if (!failed && ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, directory.c_str(), RENAME_EXCHANGE) == 0) {
    fs::remove_all(temporary, ignored);
    return {};
  }
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
