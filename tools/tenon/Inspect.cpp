// tenon inspect: what an artifact holds, from its manifest, and the kernels of one for a GPU.
#include "runtime/device/Cpu.h"
#include "tools/tenon/GpuKernels.h"
#include "tools/tenon/KeptSources.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <cstdio>

namespace tenon::driver {

namespace {

using runtime::EntryInfo;
using runtime::Manifest;
using runtime::ParameterInfo;

struct Options {
  ModelOptions model;
  std::vector<std::string> entries;
  bool json = false, graph = false, ptx = false;
  std::string kernel, chip; // of the PTX; for its registers, "none": nobody asks
};

std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), "_");
  return digits;
}

std::string listText(const std::vector<std::string> &names, const std::vector<std::string> &sizes) {
  std::string text = "[";
  for (size_t i = 0; i < names.size(); ++i)
    text += concat(i ? ", " : "", names[i], "=", sizes[i]);
  return text + "]";
}

/// Why tiers of the artifact are not for this machine.
std::string lackingTiers(const Manifest &manifest) {
  std::string text;
  for (const std::string &name : manifest.tiers)
    if (auto tier = runtime::tierFromName(name); tier.ok())
      if (std::string_view feature = runtime::missingFeature(*tier); !feature.empty())
        text += concat(text.empty() ? " (" : "; ", name, " needs ", feature);
  return text.empty() ? text : text + ")";
}

const char *initializerName(runtime::InitializerInfo::Kind kind) {
  static constexpr const char *names[] = {"normal",         "trunc_normal", "uniform",  "xavier_uniform",
                                          "kaiming_normal", "orthogonal",   "constant", "table"};
  return names[static_cast<int>(kind)];
}

/// "normal(0.02), then add 1".
std::string initializerText(const runtime::InitializerInfo &init) {
  using Step = runtime::InitializerInfo::Step::Kind;
  static constexpr const char *names[] = {"add ", "times ", "exp", "log"};
  char number[32];
  std::snprintf(number, sizeof number, "(%g)", init.a);
  std::string text = std::string(initializerName(init.kind)) + number;
  for (const auto &[kind, by] : init.then) {
    std::snprintf(number, sizeof number, "%g", by);
    text += concat(", then ", names[static_cast<int>(kind)]) + (kind == Step::Add || kind == Step::Times ? number : "");
  }
  return text;
}

std::string scaleText(const runtime::LossScaleInfo &scale) {
  if (scale.isFixed())
    return concat("loss scale: ", scale.initial, ", fixed");
  return concat("loss scale: from ", scale.initial, ", times ", scale.growth, " after ", scale.every,
                " updates with finite gradients, times ", scale.backoff, " after others");
}

/// Parameters and layers that the numerics policy computes in this type, and not in that of the others.
std::string exceptionsIn(const Manifest &manifest, runtime::DataType type) {
  std::string paths;
  for (const auto &[path, its] : manifest.exceptions)
    if (its == type)
      paths += concat(paths.empty() ? "" : ", ", path);
  return paths;
}

/// How it lies in memory, where not row-major.
std::string panelsText(const ParameterInfo &parameter) {
  if (!parameter.panels)
    return {};
  const runtime::PanelInfo &panels = *parameter.panels;
  return concat("  panels of ", panels.width, panels.transposed ? " rows" : " columns", panels.steps == 2 ? ", pairs" : "");
}

void printParameters(const Manifest &manifest) {
  uint64_t total = 0, needed = 0;
  show("\nparameters\n");
  for (const ParameterInfo &parameter : manifest.parameters) {
    uint64_t existing = static_cast<uint64_t>(parameter.stackElements);
    if (!parameter.present.empty())
      existing = static_cast<uint64_t>(std::count(parameter.present.begin(), parameter.present.end(), true));
    uint64_t count = static_cast<uint64_t>(parameter.elements) * existing;
    total += count;
    needed += count * byteSize(parameter.type);
    std::vector<std::string> sizes;
    for (int64_t size : parameter.shape)
      sizes.push_back(std::to_string(size));
    std::string name = parameter.name;
    if (parameter.stackElements > 1)
      name += concat("  x", existing);
    const std::string own = parameter.stored != manifest.parameterType ? concat("  ", nameOf(parameter.stored)) : "";
    show("  %-40s %-28s %14s  %s%s%s%s\n", name.c_str(), listText(parameter.axes, sizes).c_str(), grouped(count).c_str(),
         initializerText(parameter.init).c_str(), own.c_str(), parameter.frozen ? "  frozen" : "", panelsText(parameter).c_str());
  }
  show("  %s parameters; %.1f MiB in %s (padding %.2f %%)\n", grouped(total).c_str(),
       static_cast<double>(manifest.parameterBytesIn(manifest.parameterType)) / 1048576.0,
       manifest.split ? "two arenas" : "an arena",
       needed ? 100.0 * (static_cast<double>(manifest.parameterBytes) / static_cast<double>(needed) - 1.0) : 0.0);
}

std::string tensorText(const EntryInfo &entry, const runtime::TensorInfo &tensor) {
  std::vector<std::string> dimNames, sizes;
  for (const runtime::DimInfo &dim : entry.dims)
    dimNames.push_back(dim.name);
  for (const runtime::SizeForm &size : tensor.shape)
    sizes.push_back(size.print(dimNames));
  std::string text = concat(tensor.name, ": ", runtime::nameOf(tensor.type), listText(tensor.axes, sizes));
  return tensor.bound ? text + " below " + tensor.bound->print(dimNames) : text;
}

void printEntry(const EntryReport &report, std::string_view variant) {
  const EntryInfo &entry = *report.entry;
  static constexpr const char *kinds[] = {"out", "eval", "train", "grad"};
  show("\nentry %s (%s)%s\n", entry.name.c_str(), kinds[static_cast<int>(entry.kind)],
       entry.walk.empty() ? "" : (", walks " + entry.walk).c_str());
  for (const runtime::DimInfo &dim : entry.dims)
    show("  dim %s%s\n", dim.name.c_str(),
         concat(dim.min > 1 ? concat(" >= ", dim.min) : "", dim.max >= 0 ? concat(" <= ", dim.max) : "").c_str());
  for (const runtime::RequirementInfo &required : entry.requirements)
    show("  requires %s%s\n", required.condition.c_str(), required.text.empty() ? "" : (": " + required.text).c_str());
  for (const runtime::TensorInfo &input : entry.inputs)
    show("  in  %s\n", tensorText(entry, input).c_str());
  for (const runtime::TensorInfo &output : entry.outputs)
    show("  out %s\n", tensorText(entry, output).c_str());
  for (const runtime::StateInfo &state : entry.states) {
    runtime::TensorInfo shown;
    shown.name = state.name;
    shown.type = state.type;
    shown.axes = state.axes;
    shown.shape = state.shape;
    std::string stack;
    for (int64_t count : state.stack)
      stack += concat("  x", count);
    const std::string start = state.as.empty() ? "" : concat(", starts as ", state.as);
    show("  state %s%s%s\n", tensorText(entry, shown).c_str(), stack.c_str(),
         state.ofModel ? concat(" (of the model", start, ")").c_str() : "");
  }
  if (entry.groups > 0)
    show("  gradients are ready in %lld groups\n", static_cast<long long>(entry.groups));
  if (entry.slices > 1)
    show("  runs for each of %lld slices of %s; sizes and kernels are those of one\n", static_cast<long long>(entry.slices),
         entry.sliceAxis.c_str());
  if (!entry.totalsEntry.empty())
    show("  reads %zu sums over the whole batch, which %s makes first\n", entry.totals.size(), entry.totalsEntry.c_str());
  printMemory(report);
  printKernels(report, variant);
}

/// What an artifact has for a GPU: a module per variant.
struct GpuCode {
  GpuAssembled assembled;
  std::vector<GpuReport> entries;
};

/// Registers are for the chip that is asked for, else for the one that the code was made for.
Expected<std::vector<GpuCode>> readGpu(const Options &options, const runtime::Artifact &artifact,
                                       const std::vector<EntryReport> &reports) {
  std::vector<GpuCode> all;
  const TnArtifact &table = *artifact.code().table();
  for (const TnModule *const *module = table.modules; module != table.modules + table.module_count; ++module) {
    GpuCode code;
    code.assembled.chip = options.chip.empty() ? (*module)->variant : options.chip;
    if (options.chip != "none")
      code.assembled.assembler = findAssembler();
    if (!code.assembled.assembler.empty()) {
      auto kernels = assemble(code.assembled.assembler, (*module)->text, code.assembled.chip);
      if (!kernels.ok())
        return kernels.status();
      code.assembled.kernels = kernels.take();
    }
    code.entries = reportGpu(**module, artifact, reports, code.assembled);
    all.push_back(std::move(code));
  }
  return all;
}

/// The PTX of all kernels, or of one.
Status printPtx(const Options &options, const runtime::Artifact &artifact) {
  const TnArtifact &table = *artifact.code().table();
  for (const TnModule *const *module = table.modules; module != table.modules + table.module_count; ++module) {
    std::string text = options.kernel.empty() ? std::string((*module)->text) : ptxOf((*module)->text, options.kernel);
    if (text.empty())
      return usageError("the artifact has no kernel '", options.kernel, "'; `tenon inspect` without --ptx lists them");
    std::replace(text.begin(), text.end(), '\t', ' '); // which a terminal gets escaped
    show("%s", text.c_str());
  }
  return {};
}

/// The manifest with two more members: the paths of the sources that are kept with it, and what its formulas give at the sizes.
void printJson(std::string_view manifest, const std::vector<EntryReport> &reports, const std::vector<GpuCode> &gpu,
               const std::vector<std::string> &sources) {
  std::string list, paths;
  for (size_t i = 0; i < reports.size(); ++i) {
    std::string code;
    for (const GpuCode &one : gpu)
      code += (code.empty() ? "" : ", ") + gpuJson(one.entries[i], one.assembled);
    list += (list.empty() ? "" : ",\n  ") + reportJson(reports[i], code);
  }
  for (const std::string &path : sources)
    paths += concat(paths.empty() ? "" : ", ", runtime::quoteJson(path));
  std::string_view open = manifest.substr(0, manifest.rfind('}'));
  show("%.*s, \"sources\": [%s], \"report\": [\n  %s]}\n", static_cast<int>(open.size()), open.data(), paths.c_str(),
       list.c_str());
}

/// The compiler draws: what an artifact has left are kernels.
Status drawGraph(const Options &options) {
  if (!isSpecification(options.model.source))
    return usageError("--graph draws a specification (.tn), and ", options.model.source, " is compiled already");
  const ModelOptions &model = options.model;
  if (const char *unread = !model.target.empty()     ? "--target"
                           : !model.tier.empty()     ? "--tier"
                           : model.doublePrecision   ? "--f64"
                           : !model.numerics.empty() ? "--numerics"
                                                     : nullptr)
    return usageError(unread, " has no effect on --graph, which draws the model before it is compiled");
  std::vector<std::string> arguments = {"tenon", "compile", model.source, "--emit=graph"};
  auto add = [&](const char *option, const std::string &value) {
    if (!value.empty())
      arguments.insert(arguments.end(), {option, value});
  };
  add("--model", model.model);
  add("--recipe", model.recipe);
  for (const auto &[option, values] :
       {std::pair("--set", &model.set), std::pair("--bind", &model.bind), std::pair("--entry", &options.entries)})
    for (const std::string &value : *values)
      add(option, value);
  int code = runCompiler(arguments, false);
  return code == 0 ? Status() : Status(static_cast<runtime::ErrorKind>(code), ""); // all is said
}

/// What it is, and for which machine.
void printHead(const Manifest &manifest, const runtime::Artifact &artifact) {
  std::string mixed;
  const std::string types = manifest.parameterTypes();
  const bool isMixed = types != nameOf(manifest.type);
  if (isMixed)
    mixed += concat(", parameters in ", types);
  if (manifest.split)
    mixed += concat(isMixed ? ", of which f32 in " : ", parameters in ", runtime::nameOf(*manifest.split), " and remainders");
  if (manifest.compute)
    mixed += concat(", factors and saved values in ", runtime::nameOf(*manifest.compute));
  if (manifest.reduce)
    mixed += concat(", sums in ", runtime::nameOf(*manifest.reduce));
  show("%s: model %s, %s%s, made by %s for %s\n", manifest.name.c_str(), manifest.model.c_str(),
       std::string(nameOf(manifest.type)).c_str(), mixed.c_str(), manifest.tool.c_str(), manifest.triple.c_str());
  for (const runtime::DataTypeRow &row : runtime::kDataTypes)
    if (const std::string paths = exceptionsIn(manifest, row.type); !paths.empty())
      show("factors of these in %s: %s\n", std::string(row.name).c_str(), paths.c_str());
  if (artifact.runsCode())
    show("tier in use: %s%s\n", std::string(artifact.tier()).c_str(), lackingTiers(manifest).c_str());
  else if (manifest.device == artifact.device().name())
    show("no tier in use, this machine has not what it needs%s\n", lackingTiers(manifest).c_str());
  else
    show("for the device %s: %s\n", manifest.device.c_str(), manifest.triple.c_str());
  if (!manifest.optimizer.empty())
    show("optimizer: %s, %d moments\n", manifest.optimizer.c_str(), manifest.moments);
  if (manifest.lossScale)
    show("%s\n", scaleText(*manifest.lossScale).c_str());
}

void printSources(const std::vector<std::string> &paths) {
  std::string list;
  for (const std::string &path : paths)
    list += concat(list.empty() ? "" : ", ", path);
  if (!list.empty())
    show("sources kept, for --numerics, --f64 and --target: %s\n", list.c_str());
}

Status run(Options &options) {
  if (options.graph)
    return drawGraph(options);
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  const Manifest &manifest = model->artifact->manifest();
  if (const char *option = options.ptx             ? "--ptx"
                           : !options.chip.empty() ? "--chip"
                                                   : nullptr;
      option && model->artifact->code().table()->module_count == 0)
    return usageError(option, " is for the kernels of an artifact for a GPU, and this one is for ", manifest.device);
  if (options.ptx)
    return printPtx(options, *model->artifact);
  for (const std::string &name : options.entries)
    if (!manifest.findEntry(name))
      return usageError("the artifact has no entry '", name, "'");
  std::vector<EntryReport> reports;
  for (const EntryInfo &entry : manifest.entries)
    if (options.entries.empty() ||
        std::find(options.entries.begin(), options.entries.end(), entry.name) != options.entries.end()) {
      auto report = reportEntry(manifest, entry, model->bind, model->artifact.get());
      if (!report.ok())
        return report.status();
      reports.push_back(report.take());
    }
  auto gpu = readGpu(options, *model->artifact, reports);
  if (!gpu.ok())
    return gpu.status();
  const std::vector<std::string> sources = model->sources.empty() ? std::vector<std::string>() : pathsOf(model->sources);
  if (options.json) {
    printJson(model->artifact->manifestText(), reports, *gpu, sources);
    return {};
  }
  printHead(manifest, *model->artifact);
  printSources(sources);
  printParameters(manifest);
  const bool isNamed = std::find(manifest.tiers.begin(), manifest.tiers.end(), options.model.tier) != manifest.tiers.end();
  const std::string_view variant = model->artifact->runsCode() ? model->artifact->tier()
                                   : isNamed                   ? std::string_view(options.model.tier)
                                                               : std::string_view(manifest.tiers.front());
  for (size_t i = 0; i < reports.size(); ++i) {
    printEntry(reports[i], variant);
    for (const GpuCode &code : *gpu)
      printGpu(code.entries[i], code.assembled);
  }
  return {};
}

} // namespace

void addInspect(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("inspect", "parameters, memory and kernels of a compiled model");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model, ModelUse::Look);
  command->add_option("--entry", options->entries, "only this entry");
  command->add_flag("--json", options->json, "the whole manifest, and as `report` what its formulas give at the sizes");
  command->add_flag("--graph", options->graph, "the ops of a specification with their shapes, as a text for Graphviz")
      ->excludes("--json");
  command->add_option("--ptx", options->kernel, "of an artifact for a GPU: its PTX alone, that of all kernels or of KERNEL")
      ->expected(0, 1)
      ->type_name("[KERNEL]")
      ->excludes("--json", "--graph", "--entry");
  command
      ->add_option("--chip", options->chip,
                   "of an artifact for a GPU: for which chip ptxas says registers, or none (default: that of the code)")
      ->type_name("CHIP")
      ->excludes("--ptx", "--graph");
  command->footer("Examples:\n  tenon inspect gpt2.tn --bind B=4 --bind T=64\n  tenon inspect gpt2.tn --graph --entry infer | "
                  "dot -Tsvg -o gpt2.svg");
  onRun(*command, exitCode, [options, command] {
    options->ptx = command->count("--ptx") > 0;
    return run(*options);
  });
}

} // namespace tenon::driver
