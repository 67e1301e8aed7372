#include "lowering/artifact/Emit.h"
#include "dialect/TenonDialect.h"
#include "lowering/PassFlags.h"
#include "lowering/Pipelines.h"
#include "lowering/artifact/ArtifactTable.h"
#include "lowering/artifact/NativeCode.h"
#include "lowering/cpu/EmitTier.h"
#include "lowering/cpu/SharedTiers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <pthread.h>

using namespace mlir;

namespace tenon {

namespace {

/// A module on its way to an object file. LLVM contexts are not shared, so that tiers compile in parallel.
struct Unit {
  std::string name;
  cpu::Tier tier;
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = nullptr;
  NativeResult result = {};
};

LogicalResult toLlvmDialect(ModuleOp module, const std::string &name, PassFlags *flags) {
  PassManager passes(module.getContext());
  buildLlvmPipeline(passes);
  return flags ? flags->run(passes, module, name + " code to LLVM") : passes.run(module);
}

/// `isVisible`: names that the other units may use, or that it uses of them.
LogicalResult translate(ModuleOp module, Unit &unit, PassFlags *flags, llvm::function_ref<bool(llvm::StringRef)> isVisible) {
  if (failed(toLlvmDialect(module, unit.name, flags)))
    return failure();
  unit.module = translateModuleToLLVMIR(module, *unit.context, unit.name);
  if (!unit.module)
    return failure(); // the translation has said why
  // Two tiers must never merge a helper of the same name: everything but the entries, and what is shared on purpose, is internal.
  for (llvm::Function &function : *unit.module)
    if (isVisible(function.getName())) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
    } else if (!function.isDeclaration()) {
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  return success();
}

LogicalResult emitTables(ModuleOp module, ArrayRef<ScheduledEntry> entries, const EmitOptions &options,
                         const std::string &manifest, Unit &unit) {
  OwningOpRef<ModuleOp> target = ModuleOp::create(module.getLoc());
  for (const ScheduledEntry &entry : entries)
    cpu::emitBind(*target, entry);
  if (failed(translate(*target, unit, options.flags, [](llvm::StringRef) { return false; })))
    return failure();
  addArtifactTable(*unit.module, entries, options.tiers, manifest, options.buildId);
  return success();
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

/// The code of each tier, as LLVM's.
LogicalResult emitTiers(ModuleOp module, ArrayRef<ScheduledEntry> entries, const EmitOptions &options, std::vector<Unit> &units) {
  llvm::StringSet<> shared;
  auto isVisible = [&](llvm::StringRef name) { return name.starts_with("tn_run_") || shared.contains(name); };
  auto finish = [&](ModuleOp target, Unit &unit) {
    if (failed(translate(target, unit, options.flags, isVisible)))
      return failure();
    if (options.edit)
      options.edit(*unit.module, unit.tier);
    return success();
  };
  OwningOpRef<ModuleOp> base; // of x86-64-v4, which waits for the tiers that use its kernels
  size_t baseUnit = 0;
  for (cpu::Tier tier : options.tiers) {
    units.push_back({cpu::tierName(tier).str(), tier});
    OwningOpRef<ModuleOp> target = ModuleOp::create(module.getLoc());
    if (failed(cpu::emitTier(*target, entries, module, tier)))
      return failure();
    if (tier == cpu::Tier::Avx512) {
      base = std::move(target);
      baseUnit = units.size() - 1;
      continue;
    }
    if (base && cpu::isOnlyForBf16(tier))
      cpu::shareCode(*target, *base, shared);
    if (failed(finish(*target, units.back())))
      return failure();
  }
  return base ? finish(*base, units[baseUnit]) : success();
}

} // namespace

LogicalResult emitEntries(ModuleOp module, ArrayRef<ScheduledEntry> entries, const EmitOptions &options,
                          llvm::raw_ostream &text) {
  std::vector<Unit> units;
  if (failed(emitTiers(module, entries, options, units)))
    return failure();
  std::string manifest;
  if (options.kind == EmitOptions::Kind::Library || options.kind == EmitOptions::Kind::Object) {
    manifest = options.manifest(entries);
    units.push_back({"tables", cpu::Tier::Portable});
    if (failed(emitTables(module, entries, options, manifest, units.back())))
      return failure();
  }
  const NativeForm form = options.kind == EmitOptions::Kind::Llvm       ? NativeForm::Llvm
                          : options.kind == EmitOptions::Kind::Assembly ? NativeForm::Assembly
                                                                        : NativeForm::Object;
  inThreads(units.size(), [&](size_t i) { units[i].result = compileModule(*units[i].module, units[i].tier, form); });
  std::vector<std::string> objects;
  for (Unit &unit : units) {
    if (!unit.result.error.empty())
      return module.emitError(unit.name + ": " + unit.result.error);
    if (form != NativeForm::Object) {
      text << unit.result.data;
      continue;
    }
    std::string object = options.name + "." + unit.name + ".o";
    objects.push_back(options.directory + "/" + object);
    if (failed(writeFile(options, object, unit.result.data)))
      return failure();
  }
  if (options.kind != EmitOptions::Kind::Library)
    return success();
  LinkResult linked = linkLibrary(objects, options.directory, "lib" + options.name + ".so");
  for (const std::string &object : objects)
    ::remove(object.c_str());
  if (linked.kind != LinkResult::Kind::Linked)
    return linkFailure(module, options, linked);
  if (options.header && failed(writeFile(options, options.name + ".h", options.header(manifest))))
    return failure();
  return writeFile(options, options.name + ".json", manifest);
}

} // namespace tenon
