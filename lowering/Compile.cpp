#include "lowering/Compile.h"
#include "dialect/ElementModel.h"
#include "dialect/OptimizeSettings.h"
#include "dialect/TenonDialect.h"
#include "frontend/Characters.h"
#include "frontend/ElementTypes.h"
#include "frontend/graph/Print.h"
#include "frontend/mlirgen/MlirGen.h"
#include "frontend/recipes/RecipeSchema.h"
#include "frontend/recipes/Recipes.h"
#include "lowering/ArtifactFolder.h"
#include "lowering/GradEntry.h"
#include "lowering/OptimizerSettings.h"
#include "lowering/PassFlags.h"
#include "lowering/PassMessages.h"
#include "lowering/Passes.h"
#include "lowering/Pipelines.h"
#include "lowering/Rounding.h"
#include "lowering/SavingAll.h"
#include "lowering/Targets.h"
#include "lowering/artifact/Emit.h"
#include "lowering/artifact/Header.h"
#include "lowering/artifact/Manifest.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon {
namespace {

/// `tenon grad` in f16, where no training has found a loss scale: divides the gradients again.
constexpr double kGradientScale = 1024;
constexpr int kUsageError = 2, kOutputError = 3, kResourceError = 5, kCompilerError = 70;

class Compilation {
public:
  Compilation(const CompileRequest &request, SourceFiles &sources, Diagnostics &diagnostics)
      : request(request), sources(sources), diagnostics(diagnostics) {}
  int run();

private:
  ModuleTypes typesOfModule() const;
  int runStages();
  ast::Range specification() const;
  bool emits(StringRef stage) const { return llvm::is_contained(request.emit, stage); }
  bool onlyText() const { return !request.emit.empty() && !emits("lib") && !emits("obj"); }
  std::string lossesHash();
  void describeRecipe();
  bool findTargetOfRequest();
  NumericsPolicy policy() const;
  bool roundsFactors() const { return !isWideReal(request.dtype) && policy().compute == schema::kRoundedFactors; }
  void setOptions(FormOptions &options) const;
  LogicalResult runStage(const Stage &stage);
  void printStage(StringRef stage);
  int outputFailure(std::error_code failure);
  int emit();
  int write(const EmitOptions &options);

  const CompileRequest &request;
  SourceFiles &sources;
  Diagnostics &diagnostics;
  std::optional<Program> program;
  const CheckedRecipe *recipe = nullptr;
  const Target *target = nullptr;
  std::unique_ptr<PassFlags> flags;
  DialectRegistry registry;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::vector<ScheduledEntry> entries;
  OwningOpRef<ModuleOp> savingAll; // entries that compute blocks again, as if they did not
  std::vector<ScheduledEntry> entriesSavingAll;
};

/// Of the graph of the recipe's losses, without what a going run may change: sizes, dropout, recipe, the text of the
/// specification. Two models with the same parameters are told apart by it.
std::string Compilation::lossesHash() {
  if (!recipe)
    return {};
  CheckOptions options = request.check;
  options.lossesOnly = true;
  options.bind.clear();
  options.recipeBind.clear();
  options.entries.clear();
  SourceFiles texts;
  Diagnostics mistakes;
  std::optional<Program> open = check(options, texts, mistakes);
  llvm::SHA256 hash;
  if (open && !mistakes.hasErrors())
    for (const Entry &entry : open->entries)
      hash.update(print(*open, entry));
  else // a specification that is right at the sizes of its recipe alone
    for (const Entry &entry : program->entries)
      if (entry.kind == Entry::Kind::Eval)
        hash.update(print(*program, entry));
  return llvm::toHex(hash.final(), true);
}

/// What the recipe says goes into the module: from here on it is all that the passes read.
void Compilation::describeRecipe() {
  for (auto function : module->getOps<func::FuncOp>()) {
    if (!recipe || function->getAttrOfType<StringAttr>("tenon.kind").getValue() != "train")
      continue;
    if (!request.grad)
      describeOptimizer(function, *recipe, sources, diagnostics);
    else if (recipe->find("tasks")) // tenon-differentiate finds which parameters are whose
      function->setAttr(kTrained, Builder(context.get()).getArrayAttr({}));
    if (const Setting *save = recipe->find("save")) {
      function->setAttr("tenon.save", StringAttr::get(context.get(), save->text));
      if (const Setting *steps = keywordOf(save, "steps"))
        function->setAttr("tenon.save_steps", Builder(context.get()).getI64IntegerAttr(steps->integer));
    }
  }
}

/// And the variants that are asked of it. False after a message.
bool Compilation::findTargetOfRequest() {
  registerTargets(registry);
  target = findTarget(request.target);
  if (!target) {
    std::vector<std::string> names;
    for (const Target *known : knownTargets())
      names.push_back(known->name().str());
    complain("not supported yet: target " + request.target + "; " + alternatives(names) + " is");
    return false;
  }
  std::vector<std::string> known = target->variants();
  known.push_back(kBestVariant.str());
  for (const std::string &wanted : request.variants)
    if (!llvm::is_contained(known, wanted)) {
      complain("unknown tier '" + wanted + "': expected " + alternatives(known));
      return false;
    }
  return true;
}

/// Which function the passes are at.
struct WatchEntry : PassInstrumentation {
  explicit WatchEntry(std::string &entry) : entry(entry) {}
  void runBeforePass(Pass *, Operation *op) override {
    if (auto function = dyn_cast<func::FuncOp>(op))
      entry = function.getSymName().str();
  }
  std::string &entry;
};

void Compilation::setOptions(FormOptions &options) const {
  options.decomposed = request.decomposed;
  options.simpleKernels = request.simpleKernels;
  options.target = request.target;
}

LogicalResult Compilation::runStage(const Stage &stage) {
  std::string entry;
  StageWarnings warnings(*context, sources, diagnostics, entry);
  PassManager manager(context.get());
  manager.addInstrumentation(std::make_unique<WatchEntry>(entry));
  FormOptions options;
  setOptions(options);
  stage.build(manager, options);
  return flags->run(manager, *module, stage.pipeline.str());
}

void Compilation::printStage(StringRef stage) {
  if (!emits(stage))
    return;
  module->print(llvm::outs());
  llvm::outs().flush();
}

int Compilation::emit() {
  llvm::SHA256 hash;
  for (const SourceFiles::Source &source : sources.files)
    hash.update(source.text);
  ManifestFacts facts{request.name,
                      elementModel(typesOfModule().real).name().str(),
                      request.check.recipe,
                      {},
                      llvm::toHex(hash.final(), true),
                      lossesHash(),
                      parameterBytes(*module),
                      target,
                      target->chooseVariants(*module, request.variants, request.machineVariant),
                      typesOfModule().exceptions ? program->computeOf : std::map<std::string, std::string>(),
                      entriesSavingAll};
  for (auto &[name, value] : request.check.set)
    hash.update(name + "=" + value);
  for (auto &[name, value] : request.check.bind)
    hash.update(name + "=" + std::to_string(value));
  for (auto &[name, value] : request.check.recipeBind)
    hash.update("recipe " + name + "=" + std::to_string(value));
  hash.update(request.check.recipe + request.dtype + request.numerics + request.target + (request.grad ? "grad" : "") +
              (request.decomposed ? "decomposed" : "") + (request.simpleKernels ? "simple" : "") +
              (request.quick ? "quick" : ""));
  for (const std::string &variant : facts.variants)
    hash.update(variant);
  facts.buildId = llvm::toHex(hash.final(), true).substr(0, 32);
  for (auto function : module->getOps<func::FuncOp>())
    if (FailureOr<ScheduledEntry> entry = ScheduledEntry::of(function); succeeded(entry))
      entries.push_back(std::move(*entry));
    else
      return kCompilerError;
  EmitOptions options;
  options.code = {facts.variants, flags.get(), request.kernelDirectory, kernelLibraryOf(*target)};
  options.name = request.name;
  options.manifest = [&](ArrayRef<ScheduledEntry> planned) { return writeManifest(*program, *module, facts, planned); };
  options.header = writeHeader;
  options.buildId = facts.buildId;
  if (emits("llvm"))
    options.kind = EmitOptions::Kind::Llvm;
  else if (emits("asm"))
    options.kind = EmitOptions::Kind::Assembly;
  else if (emits("obj"))
    options.kind = EmitOptions::Kind::Object;
  if (onlyText())
    return failed(emitEntries(*module, entries, *target, options, llvm::outs())) ? kCompilerError : 0;
  return write(options);
}

int Compilation::outputFailure(std::error_code failure) {
  complain("cannot write the artifact " + request.outputDirectory + ": " + failure.message());
  return failure == std::errc::no_space_on_device || failure == std::errc::file_too_large ? kResourceError : kOutputError;
}

int Compilation::write(const EmitOptions &options) {
  std::error_code failure;
  std::string lacking;
  bool made = false;
  std::error_code folderFailure = replaceFiles(request.outputDirectory, [&](StringRef folder) {
    EmitOptions inFolder = options;
    inFolder.directory = folder.str();
    inFolder.fileFailure = &failure;
    inFolder.machineFailure = &lacking;
    made = succeeded(emitEntries(*module, entries, *target, inFolder, llvm::outs()));
    return made && !failure;
  });
  if (failure || folderFailure)
    return outputFailure(failure ? failure : folderFailure);
  if (!lacking.empty()) {
    complain(lacking);
    return kResourceError;
  }
  return made ? 0 : kCompilerError;
}

int Compilation::run() {
  CheckOptions options = request.check;
  options.gradient = request.grad;
  program = check(options, sources, diagnostics);
  if (!program || diagnostics.hasErrors())
    return 1;
  registerTenonLoweringPasses(); // MLIR's flags name passes
  registerCSEPass();
  std::string mistake;
  flags = PassFlags::parse(request.mlirFlags, mistake);
  if (!flags) {
    complain(mistake);
    return kUsageError;
  }
  flags->quick = request.quick;
  if (request.grad && !makeGradEntry(*program, request.check))
    return kUsageError;
  if (program->entries.empty()) {
    complain(program->model + " has no loss, so it has no gradient");
    return kUsageError;
  }
  for (const CheckedRecipe &candidate : program->recipes)
    if (candidate.kind == "train" && candidate.name == request.check.recipe)
      recipe = &candidate;
  if (!findTargetOfRequest())
    return kUsageError;
  const Setting *given = request.numerics.empty() && recipe ? recipe->find("numerics") : nullptr;
  if (roundsFactors() && !checkRounding(*program, given, given ? given->range : specification(), *target, diagnostics))
    return 1;
  registry.insert<TenonDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  int code = 0;
  {
    PassMessages messages(*context, sources, diagnostics, specification());
    code = runStages();
  }
  return diagnostics.hasErrors() ? 1 : code;
}

/// What a message is about that names no place: the recipe, else the file.
ast::Range Compilation::specification() const {
  if (recipe)
    return recipe->range;
  ast::Range range;
  for (size_t file = 0; file < sources.files.size(); ++file)
    if (sources.files[file].path == request.check.path)
      range.file = uint32_t(file);
  return range;
}

/// What the command line says, else the recipe's, which it takes the place of as a whole.
NumericsPolicy Compilation::policy() const {
  NumericsPolicy policy = numericsOf(request.numerics.empty() ? recipe : nullptr);
  if (!request.numerics.empty())
    policy.compute = request.numerics;
  return policy;
}

/// Doubles are doubles everywhere.
ModuleTypes Compilation::typesOfModule() const {
  const NumericsPolicy policy = this->policy();
  auto named = [&](const std::string &name) { return elementNamed(name, context.get()); };
  ModuleTypes types{named(policy.isDouble() ? policy.params : request.dtype), {}, {}, request.numerics.empty()};
  if (!types.obeysWritten()) {
    types.exceptions = false;
    return types;
  }
  auto unlessReal = [&](const std::string &name) { return named(name) == types.real ? Type() : named(name); };
  types.compute = isShortReal(policy.compute) ? named(policy.compute) : Type(); // f64: by the mark of each contraction
  types.reduce = unlessReal(policy.reduce);
  types.parameters = unlessReal(policy.params);
  if (!types.parameters && types.compute &&
      isUpperHalf(types.compute)) { // f32 in two halves, of which contractions read the first
    types.parameters = types.compute;
    types.remainders = true;
  }
  return types;
}

int Compilation::runStages() {
  Builder builder(context.get());
  const ModuleTypes types = typesOfModule();
  module = generateModule(*program, sources, types, diagnostics);
  if (!module)
    return diagnostics.hasErrors() ? 1 : kCompilerError;
  if (roundsFactors())
    (*module)->setAttr(kRoundsFactors, builder.getUnitAttr());
  if (types.compute && needsScale(types.compute) && request.grad)
    for (auto function : module->getOps<func::FuncOp>())
      function->setAttr("tenon.gradient_scale", builder.getF64FloatAttr(kGradientScale));
  describeRecipe();
  if (diagnostics.hasErrors())
    return 1;
  printStage("tenon");
  if (failed(verify(*module)))
    return kCompilerError;
  for (const Stage &stage : stages()) {
    if (stage.result == "kernel" && !onlyText()) {
      FormOptions options;
      setOptions(options);
      entriesSavingAll = planSavingAll(*module, options, savingAll);
    }
    if (failed(runStage(stage)))
      return kCompilerError;
    printStage(stage.result);
  }
  if (onlyText() && !emits("llvm") && !emits("asm"))
    return 0;
  return emit();
}

} // namespace

std::string targetsText() {
  DialectRegistry registry;
  registerTargets(registry);
  std::vector<std::string> texts;
  for (const Target *known : knownTargets())
    texts.push_back((known->name() + " (" + known->machines() + ")").str());
  return alternatives(texts);
}

int compile(const CompileRequest &request, SourceFiles &sources, Diagnostics &diagnostics) {
  int code = Compilation(request, sources, diagnostics).run();
  // LLVM's streams end the process when they are destroyed with an error that nobody has seen.
  llvm::outs().flush();
  if (std::error_code failure = llvm::outs().error()) {
    llvm::outs().clear_error();
    complain("cannot write to the standard output: " + failure.message());
    code = kResourceError;
  }
  llvm::errs().clear_error();
  return code;
}

} // namespace tenon
