#include "lowering/artifact/Emit.h"
#include "lowering/artifact/ArtifactTable.h"
#include "lowering/artifact/Bind.h"
#include "lowering/artifact/HostCode.h"
#include "lowering/artifact/Link.h"
#include "llvm/IR/Module.h"
#include <pthread.h>

using namespace mlir;

namespace tenon {

namespace {

/// The table with the functions that it names. Null: an error was reported.
std::shared_ptr<HostModule> emitTables(ModuleOp module, ArrayRef<ScheduledEntry> entries, const ArtifactParts &parts,
                                       const EmitOptions &options, const std::string &manifest) {
  OwningOpRef<ModuleOp> functions = ModuleOp::create(module.getLoc());
  for (const ScheduledEntry &entry : entries)
    emitBind(*functions, entry);
  std::shared_ptr<HostModule> tables =
      translateForHost(*functions, "tables", options.code.flags, [](llvm::StringRef) { return false; });
  if (tables)
    addArtifactTable(*tables->code, entries, parts, manifest, options.buildId);
  return tables;
}

LogicalResult writeFile(const EmitOptions &options, const std::string &name, llvm::StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream file(options.directory + "/" + name, error);
  if (!error) {
    file << content;
    file.close();
    error = file.error();
    file.clear_error();
  }
  if (!error)
    return success();
  assert(options.fileFailure && "whoever wants files is told why one could not be written");
  *options.fileFailure = error;
  return failure();
}

/// What the linker says about the disk or the memory is about these.
LogicalResult linkFailure(ModuleOp module, const EmitOptions &options, const LinkResult &result) {
  const llvm::StringRef message = result.message;
  for (std::errc kind : {std::errc::no_space_on_device, std::errc::file_too_large})
    if (std::error_code error = std::make_error_code(kind); options.fileFailure && message.contains(error.message())) {
      *options.fileFailure = error;
      return failure();
    }
  bool ofMemory =
      message.contains(std::make_error_code(std::errc::not_enough_memory).message()) || message.contains("out of memory");
  if (result.kind == LinkResult::Kind::Refused && !ofMemory)
    return module.emitError(message);
  assert(options.machineFailure && "whoever wants a library is told why there is none");
  *options.machineFailure = message;
  return failure();
}

/// Calls `work(i)` for every i below `count`, each in a thread of its own as far as the machine has room for threads.
void inThreads(size_t count, const std::function<void(size_t)> &work) {
  struct Call {
    const std::function<void(size_t)> *work;
    size_t index;
    pthread_t thread;
    bool started;
  };
  std::vector<Call> calls;
  for (size_t i = 0; i < count; ++i)
    calls.push_back({&work, i, {}, false});
  auto start = [](void *data) -> void * {
    auto *call = static_cast<Call *>(data);
    (*call->work)(call->index);
    return nullptr;
  };
  for (Call &call : calls)
    call.started = pthread_create(&call.thread, nullptr, start, &call) == 0; // std::thread would end the program
  for (Call &call : calls)
    if (call.started)
      pthread_join(call.thread, nullptr);
    else
      work(call.index);
}

} // namespace

LogicalResult emitEntries(ModuleOp module, ArrayRef<ScheduledEntry> entries, const Target &target, const EmitOptions &options,
                          llvm::raw_ostream &text) {
  ArtifactParts parts;
  const bool isText = options.kind == EmitOptions::Kind::Llvm || options.kind == EmitOptions::Kind::Assembly;
  CodeOptions code = options.code;
  if (isText) // of all that runs
    code.library = nullptr;
  if (failed(target.emit(module, entries, code, parts)))
    return failure();
  std::string manifest;
  if (!isText) {
    manifest = options.manifest(entries);
    std::shared_ptr<HostModule> tables = emitTables(module, entries, parts, options, manifest);
    if (!tables)
      return failure();
    parts.code.push_back(
        {"tables", [tables, &target](CodeForm form) { return compileForHost(*tables, HostMachine(target.host()), form); }});
  }
  const CodeForm form = options.kind == EmitOptions::Kind::Llvm       ? CodeForm::Llvm
                        : options.kind == EmitOptions::Kind::Assembly ? CodeForm::Assembly
                                                                      : CodeForm::Object;
  std::vector<CodeResult> results(parts.code.size());
  inThreads(results.size(), [&](size_t i) { results[i] = parts.code[i].make(form); });
  std::vector<std::string> objects;
  for (const auto &[part, result] : llvm::zip_equal(parts.code, results)) {
    if (!result.error.empty())
      return module.emitError(part.name + ": " + result.error); // as LLVM says
    if (form != CodeForm::Object) {
      text << result.data;
      continue;
    }
    std::string object = options.name + "." + part.name + ".o";
    objects.push_back(options.directory + "/" + object);
    if (failed(writeFile(options, object, result.data)))
      return failure();
  }
  if (options.kind != EmitOptions::Kind::Library)
    return success();
  LinkResult linked = linkLibrary(objects, options.directory, "lib" + options.name + ".so", target.host().folders);
  for (const std::string &object : objects)
    ::remove(object.c_str());
  if (linked.kind != LinkResult::Kind::Linked)
    return linkFailure(module, options, linked);
  if (options.header && failed(writeFile(options, options.name + ".h", options.header(manifest))))
    return failure();
  return writeFile(options, options.name + ".json", manifest);
}

} // namespace tenon
