// tenon inspect: what an artifact holds, from its manifest.
#include "tools/tenon/Command.h"
#include <algorithm>
#include <cstdio>

namespace tenon::driver {

namespace {

using runtime::EntryInfo;
using runtime::JsonValue;
using runtime::Manifest;
using runtime::ParameterInfo;

struct Options {
  ModelOptions model;
  std::vector<std::string> entries;
  bool json = false;
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

const char *initializerName(runtime::InitializerInfo::Kind kind) {
  static constexpr const char *names[] = {"normal",        "trunc_normal", "uniform", "xavier_uniform", "kaiming_normal",
                                          "orthogonal",    "constant"};
  return names[static_cast<int>(kind)];
}

void printParameters(const Manifest &manifest) {
  uint64_t total = 0, stored = 0;
  printf("\nparameters\n");
  for (const ParameterInfo &parameter : manifest.parameters) {
    uint64_t existing = static_cast<uint64_t>(parameter.stackElements);
    if (!parameter.present.empty())
      existing = static_cast<uint64_t>(std::count(parameter.present.begin(), parameter.present.end(), true));
    uint64_t count = static_cast<uint64_t>(parameter.elements) * existing;
    total += count;
    stored += parameter.storedElements * static_cast<uint64_t>(parameter.stackElements);
    std::vector<std::string> sizes;
    for (int64_t size : parameter.shape)
      sizes.push_back(std::to_string(size));
    std::string name = parameter.name;
    if (parameter.stackElements > 1)
      name += concat("  x", existing);
    printf("  %-40s %-28s %14s  %s(%g)%s\n", name.c_str(), listText(parameter.axes, sizes).c_str(), grouped(count).c_str(),
           initializerName(parameter.init.kind), parameter.init.a, parameter.frozen ? "  frozen" : "");
  }
  printf("  %s parameters; %.1f MiB in an arena (padding %.2f %%)\n", grouped(total).c_str(),
         static_cast<double>(manifest.parameterBytes) / 1048576.0,
         total ? 100.0 * (static_cast<double>(stored) / static_cast<double>(total) - 1.0) : 0.0);
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

/// A kernel's flops or bytes: a size form at dims of 1 where a dim is open, or text as it stands.
std::optional<double> numberOf(const JsonValue &value, const EntryInfo &entry, const std::map<std::string, int64_t> &bind) {
  if (value.isNumber())
    return value.real;
  const JsonValue *constant = value.find("const"), *terms = value.find("terms");
  if (!value.isObject() || !constant || !constant->isNumber())
    return std::nullopt;
  double result = constant->real;
  for (size_t i = 0; terms && i < terms->members.size(); ++i) {
    const auto &[name, factor] = terms->members[i];
    auto found = bind.find(name);
    if (found == bind.end() || entry.dimIndex(name) < 0)
      return std::nullopt;
    result += factor.real * static_cast<double>(found->second);
  }
  return result;
}

void printKernels(const EntryInfo &entry, const std::map<std::string, int64_t> &bind) {
  double total = 0;
  bool complete = true;
  std::vector<std::pair<std::optional<double>, std::optional<double>>> work;
  for (const runtime::KernelInfo &kernel : entry.kernels) {
    work.emplace_back(numberOf(kernel.flops, entry, bind), numberOf(kernel.bytes, entry, bind));
    complete &= work.back().first.has_value();
    total += work.back().first.value_or(0);
  }
  printf("  kernels: %zu\n", entry.kernels.size());
  for (size_t i = 0; i < work.size(); ++i) {
    const runtime::KernelInfo &kernel = entry.kernels[i];
    auto cell = [](const std::optional<double> &value, const JsonValue &text) {
      char number[32];
      snprintf(number, sizeof number, "%.4g", value.value_or(0));
      return value ? std::string(number) : text.isString() ? text.text : text.print();
    };
    std::string share = complete && total > 0 ? concat(static_cast<int64_t>(100.0 * *work[i].first / total + 0.5), " %") : "";
    printf("    %-44s %-12s %14s flops %14s bytes  %s\n", kernel.name.c_str(), kernel.kind.c_str(), cell(work[i].first, kernel.flops).c_str(),
           cell(work[i].second, kernel.bytes).c_str(), share.c_str());
  }
  if (!complete)
    printf("    (--bind the open dims to see numbers and shares)\n");
}

void printEntry(const EntryInfo &entry, const std::map<std::string, int64_t> &bind) {
  static constexpr const char *kinds[] = {"out", "eval", "train", "grad"};
  printf("\nentry %s (%s)%s\n", entry.name.c_str(), kinds[static_cast<int>(entry.kind)],
         entry.walk.empty() ? "" : (", walks " + entry.walk).c_str());
  for (const runtime::DimInfo &dim : entry.dims)
    printf("  dim %s%s\n", dim.name.c_str(), dim.max >= 0 ? concat(" <= ", dim.max).c_str() : "");
  for (const runtime::TensorInfo &input : entry.inputs)
    printf("  in  %s\n", tensorText(entry, input).c_str());
  for (const runtime::TensorInfo &output : entry.outputs)
    printf("  out %s\n", tensorText(entry, output).c_str());
  for (const runtime::StateInfo &state : entry.states) {
    runtime::TensorInfo shown{state.name, state.type, state.axes, state.shape, std::nullopt};
    std::string stack;
    for (int64_t count : state.stack)
      stack += concat("  x", count);
    printf("  state %s%s%s\n", tensorText(entry, shown).c_str(), stack.c_str(), state.ofModel ? " (of the model)" : "");
  }
  if (entry.memory.isObject())
    for (const auto &[name, formula] : entry.memory.members)
      printf("  %s bytes: %s\n", name.c_str(), formula.isString() ? formula.text.c_str() : formula.print().c_str());
  if (!entry.kernels.empty())
    printKernels(entry, bind);
}

Status run(Options &options) {
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  if (options.json) {
    std::string_view text = model->artifact->manifestText();
    fwrite(text.data(), 1, text.size(), stdout);
    if (text.empty() || text.back() != '\n')
      putchar('\n');
    return {};
  }
  const Manifest &manifest = model->artifact->manifest();
  printf("%s: model %s, %s, made by %s for %s\n", manifest.name.c_str(), manifest.model.c_str(), std::string(nameOf(manifest.type)).c_str(),
         manifest.tool.c_str(), manifest.triple.c_str());
  printf("tier in use: %s\n", std::string(runtime::nameOf(model->artifact->tier())).c_str());
  if (!manifest.optimizer.empty())
    printf("optimizer: %s, %d moments\n", manifest.optimizer.c_str(), manifest.moments);
  printParameters(manifest);
  for (const std::string &name : options.entries)
    if (!manifest.findEntry(name))
      return inputError("the artifact has no entry '", name, "'");
  for (const EntryInfo &entry : manifest.entries)
    if (options.entries.empty() || std::find(options.entries.begin(), options.entries.end(), entry.name) != options.entries.end())
      printEntry(entry, model->bind);
  return {};
}

} // namespace

void addInspect(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("inspect", "parameters, memory and kernels of a compiled model");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model);
  command->add_option("--entry", options->entries, "only this entry");
  command->add_flag("--json", options->json, "the whole manifest");
  command->footer("Example: tenon inspect gpt2.tn --bind B=4 --bind T=64");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
