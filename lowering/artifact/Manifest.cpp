#include "lowering/artifact/Manifest.h"
#include "dialect/ElementModel.h"
#include "dialect/StoredParameter.h"
#include "frontend/ElementTypes.h"
#include "lowering/OptimizerSettings.h"
#include "lowering/artifact/Abi.h"
#include "lowering/artifact/LossFacts.h"
#include "lowering/artifact/ManifestJson.h"
#include "lowering/artifact/ManifestNumbers.h"
#include "lowering/schedule/GradientGroups.h"
#include "lowering/schedule/KernelReport.h"
#include "runtime/include/tenon/artifact.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
namespace json = llvm::json;

namespace tenon {

static_assert(kMostNestedStacks == abi::maxDepths);
namespace {

json::Value settingJson(const Setting &setting) {
  switch (setting.kind) {
  case Setting::Kind::Int:
    return setting.integer;
  case Setting::Kind::Real:
    return setting.real;
  case Setting::Kind::Bool:
    return setting.truth;
  case Setting::Kind::Text:
  case Setting::Kind::Word:
    return setting.text;
  case Setting::Kind::Tuple:
  case Setting::Kind::Call:
    break;
  }
  json::Array elements;
  for (const SettingValue &element : setting.elements)
    elements.push_back(settingJson(*element));
  if (setting.kind == Setting::Kind::Tuple)
    return elements;
  json::Object keywords;
  for (auto &[name, value] : setting.keywords)
    keywords[name] = settingJson(*value);
  return json::Object{{"call", setting.text}, {"args", std::move(elements)}, {"keywords", std::move(keywords)}};
}

json::Object settingsJson(const CheckedRecipe &recipe) {
  json::Object settings;
  for (auto &[name, value] : recipe.settings)
    settings[name] = settingJson(*value);
  return settings;
}

std::string hashOf(const std::string &text) {
  llvm::SHA256 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), true);
}

/// Of a state: a number, or an initializer as that of a parameter, with the parameter's name where it starts as one.
json::Value initialJson(const Initializer &init) {
  if (init.kind == "constant" && init.perElement.empty() && init.as.empty())
    return init.a;
  json::Object object = initializerJson(init);
  if (!init.as.empty())
    object["as"] = init.as;
  return object;
}

/// `isWhole`: of states, tensors of their own, that need no more than the name.
json::Object publicNamesJson(const std::map<std::string, std::vector<PublicName>> &schemes, bool isWhole) {
  json::Object names;
  for (const auto &[scheme, elements] : schemes) {
    json::Array &list = *(names[scheme] = json::Array()).getAsArray();
    for (const PublicName &name : elements) {
      json::Object object{{"name", name.name}, {"transform", name.transform}, {"part", name.part}, {"parts", name.parts}};
      if (name.copy)
        object["copy"] = true;
      list.push_back(isWhole && !name.copy ? json::Value(name.name) : json::Value(std::move(object)));
    }
  }
  return names;
}

/// `real`: the type of what does not say its own.
json::Array parametersJson(const Program &program, ModuleOp module, StringRef real) {
  json::Array array;
  for (const Param &param : program.params) {
    auto op = module.lookupSymbol<ParameterOp>(param.path);
    array.push_back(json::Object{{"name", param.path},
                                 {"stack", json::Array(param.stackCounts)},
                                 {"axes", stringArray(param.axes)},
                                 {"shape", json::Array(param.shape)},
                                 {"offset", int64_t(op.getOffset())},
                                 {"stride", int64_t(op.getStride())},
                                 {"init", initializerJson(param.init)},
                                 {"names", publicNamesJson(param.publicNames, false)},
                                 {"frozen", bool(op.getFrozen())}});
    if (std::optional<Panels> panels = Panels::of(op))
      array.back().getAsObject()->insert({"layout", layoutJson(*panels)});
    if (StringRef own = elementModel(op.getType().getElementType()).name(); own != real || op->hasAttr(kWhole))
      array.back().getAsObject()->insert({"dtype", own});
    if (param.publishedShape != param.shape)
      array.back().getAsObject()->insert({"published", json::Array(param.publishedShape)});
    if (!param.present.empty())
      array.back().getAsObject()->insert({"present", json::Array(param.present)});
  }
  return array;
}

/// Which gradients are finished when; docs/artifact.md, "The two halves of a step".
json::Object groupsJson(const ScheduledEntry &planned) {
  const GradientGroups groups = gradientGroups(planned);
  json::Array gradients;
  for (const GradientGroup &each : groups.gradients) {
    json::Object object{
        {"parameter", ParameterOp(each.parameter).getSymName()}, {"group", each.group}, {"element", each.element}};
    json::Array loops;
    for (const GradientGroup::Loop &loop : each.loops)
      loops.push_back(json::Object{{"count", loop.count}, {"groups", loop.groups}, {"elements", loop.elements}});
    if (!loops.empty())
      object["loops"] = std::move(loops);
    gradients.push_back(std::move(object));
  }
  return json::Object{{"count", groups.count}, {"gradients", std::move(gradients)}};
}

/// Without an update: `grad`, or grad_NAME of a task.
bool isGrad(const Entry &entry) { return entry.kind == Entry::Kind::Train && entry.name.starts_with("grad"); }

json::Object memoryJson(const ManifestFacts &facts, const ScheduledEntry &planned, FormulaSpace &space) {
  MemoryReport report = reportMemory(planned, space);
  json::Object object{{"workspace", report.workspace.text(space)},    {"saved", space.text(report.saved)},
                      {"states", space.text(report.states)},          {"kept_states", space.text(report.kept)},
                      {"inputs", space.text(report.inputs)},          {"outputs", space.text(report.outputs)},
                      {"scratch_per_worker", report.scratchPerWorker}};
  for (const ScheduledEntry &other : facts.savingAll)
    if (func::FuncOp(other.function).getSymName() == func::FuncOp(planned.function).getSymName())
      object["workspace_saving_all"] = reportMemory(other, space).workspace.text(space);
  return object;
}

/// {"sm_80": {"form": "mma", "rows": 64, ..}}, for all variants of the target.
json::Object choicesJson(DictionaryAttr chosen, const Target &target) {
  json::Object variants;
  for (const std::string &variant : target.variants()) {
    Attribute own = chosen.get(variant), found = own ? own : chosen.get(target.sharesChoiceOf(variant));
    if (!found)
      continue;
    json::Object choice;
    for (NamedAttribute one : cast<DictionaryAttr>(found))
      if (auto form = dyn_cast<StringAttr>(one.getValue()))
        choice[one.getName().getValue()] = form.getValue();
      else if (auto list = dyn_cast<DenseI64ArrayAttr>(one.getValue()))
        choice[one.getName().getValue()] = json::Array(list.asArrayRef());
      else
        choice[one.getName().getValue()] = cast<IntegerAttr>(one.getValue()).getInt();
    variants[variant] = std::move(choice);
  }
  return variants;
}

json::Array kernelsJson(const ScheduledEntry &planned, FormulaSpace &space, const Target &target) {
  json::Array array;
  for (const KernelRow &row : reportKernels(planned, space)) {
    json::Object object{{"name", row.name},
                        {"kind", row.kind},
                        {"place", row.place},
                        {"storage", row.storage},
                        {"calls", space.text(row.calls)},
                        {"flops", space.text(row.flops)},
                        {"bytes", space.text(row.bytes)}};
    if (!row.launches.empty())
      object["launches"] = json::Array(row.launches);
    json::Array domain;
    for (const Polynomial &size : row.domain)
      domain.push_back(space.text(size));
    if (!domain.empty())
      object["domain"] = std::move(domain);
    if (row.chosen)
      object["chosen"] = choicesJson(row.chosen, target);
    array.push_back(std::move(object));
  }
  return array;
}

/// What a caller gives, and `totals`, which another entry makes.
json::Array inputsJson(const Entry &entry, const ManifestFacts &facts, json::Array &totals) {
  json::Array inputs;
  for (const Input &input : entry.inputs) {
    if (input.isTotal) {
      totals.push_back(tensorJson(entry, input.name, input.type, dtypeOf(input.type.element, kWideRealWord)));
      continue;
    }
    json::Object object = tensorJson(entry, input.name, input.type, dtypeOf(input.type.element, facts.dtype, input.type.pinned));
    object["bound"] = input.isIndex ? sizeJson(input.bound, entry.dims) : json::Value(nullptr);
    if (input.ofSizes)
      object["of_sizes"] = true;
    inputs.push_back(std::move(object));
  }
  return inputs;
}

json::Array outputsJson(const Program &program, const Entry &entry, const ManifestFacts &facts) {
  json::Array outputs;
  const bool differentiated = entry.kind == Entry::Kind::Train;
  if (differentiated) {
    outputs.push_back(scalarJson("loss"));
    const auto &weights = entry.lossWeights.empty() ? program.lossWeights : entry.lossWeights;
    bool oneLoss = entry.results.size() == 1 && weights.size() == 1 && weights[0].second == 1;
    outputs.back().getAsObject()->insert({"nats", oneLoss && isNats(entry, entry.results[0].second)});
  }
  if (entry.kind == Entry::Kind::Out)
    for (auto &[name, node] : entry.results) {
      const ValueType &type = entry.nodes[node].type; // what is written in 16 bits is handed over in the policy's type
      const std::string made = dtypeOf(type.element, facts.dtype, isWideReal(type.pinned) ? type.pinned : "");
      outputs.push_back(tensorJson(entry, name, type, entry.makesTotals ? kWideRealWord : made));
    }
  else
    for (json::Value &number : numbersJson(entry, facts.dtype))
      outputs.push_back(std::move(number));
  if (differentiated && !isGrad(entry))
    for (const char *name : {"grad_norm", "learning_rate"})
      outputs.push_back(scalarJson(name));
  return outputs;
}

json::Array statesJson(const Entry &entry, const ManifestFacts &facts) {
  json::Array states;
  for (const State &state : entry.states) {
    json::Array shape;
    for (const Size &size : state.shape)
      shape.push_back(sizeJson(size, entry.dims));
    states.push_back(json::Object{{"name", state.path},
                                  {"stack", json::Array(state.stackCounts)},
                                  {"dtype", dtypeOf(state.element, facts.dtype, state.stored)},
                                  {"axes", stringArray(state.axes)},
                                  {"shape", std::move(shape)},
                                  {"initial", initialJson(state.init)},
                                  {"bound", state.bound ? sizeJson(*state.bound, entry.dims) : json::Value(nullptr)},
                                  {"of_model", state.ofModel},
                                  {"in_place", state.inPlace}});
    if (!state.publicNames.empty())
      (*states.back().getAsObject())["names"] = publicNamesJson(state.publicNames, true);
    if (state.places >= 0)
      (*states.back().getAsObject())["places"] = state.places;
    if (entry.isStep && state.everyStep && !state.inPlace)
      (*states.back().getAsObject())["of_last_place"] = true;
  }
  return states;
}

/// Whether results hang on seed and step, although nothing is left out of a training step.
bool hangsOnSeed(func::FuncOp entry) {
  auto isDrawn = [](DrawOpInterface draw) { return draw.leavesOut() ? WalkResult::advance() : WalkResult::interrupt(); };
  return entry.walk(isDrawn).wasInterrupted();
}

json::Object entryJson(const Program &program, const Entry &entry, const ManifestFacts &facts, const ScheduledEntry &planned) {
  FormulaSpace space(entry.dims);
  json::Array totals, inputs = inputsJson(entry, facts, totals);
  const char *kinds[] = {"out", "eval", "train"};
  json::Object object{{"name", entry.name},
                      {"kind", isGrad(entry) ? "grad" : kinds[int(entry.kind)]},
                      {"dims", dimsJson(entry)},
                      {"inputs", std::move(inputs)},
                      {"outputs", outputsJson(program, entry, facts)},
                      {"states", statesJson(entry, facts)},
                      {"memory", memoryJson(facts, planned, space)},
                      {"kernels", kernelsJson(planned, space, *facts.target)}};
  for (auto [key, list] : {std::pair("requirements", &requirementsJson), std::pair("sizes", &derivedSizesJson)})
    if (json::Array own = list(entry); !own.empty())
      object[key] = std::move(own);
  if (hangsOnSeed(planned.function))
    object["draws"] = true;
  json::Array leftOut;
  for (const auto &[name, why] : entry.leftOut)
    leftOut.push_back(json::Object{{"name", name}, {"why", why}});
  if (!leftOut.empty())
    object["left_out"] = std::move(leftOut);
  if (entry.kind == Entry::Kind::Train)
    object["groups"] = groupsJson(planned);
  if (entry.slices > 1) {
    json::Object slices{{"count", entry.slices}, {"axis", entry.batchAxis}};
    if (!entry.totals.empty()) {
      slices["totals"] = entry.totals;
      slices["passes"] = entry.totalPasses;
    }
    object["slices"] = std::move(slices);
  }
  if (!totals.empty())
    object["totals"] = std::move(totals);
  if (entry.isStep) {
    object["walk"] = entry.dims[entry.axes[entry.walked].size.coefficients().begin()->first];
    object["capacity"] = sizeJson(entry.capacity, entry.dims);
    object["position"] = entry.states[entry.positionState].path;
    if (!entry.prepare.empty())
      object["prepare"] = entry.prepare;
  }
  return object;
}

json::Object targetJson(const ManifestFacts &facts) {
  const Roofline roofline = facts.target->roofline();
  return json::Object{{"name", facts.target->name()},
                      {"device", facts.target->device()},
                      {"triple", facts.target->triple()},
                      {"tiers", stringArray(facts.variants)},
                      {"roofline", json::Object{{"machine", roofline.machine},
                                                {"flops_per_second", roofline.flopsPerSecond},
                                                {"bytes_per_second", roofline.bytesPerSecond}}}};
}

/// What parameters lie in, and what is computed in, where that is not the type of the manifest.
void addTypes(ModuleOp module, json::Object &root) {
  const bool isCopied = llvm::any_of(module.getOps<ParameterOp>(), copyTypeOf);
  for (auto [key, type] : {std::pair("compute", narrowType(module)), std::pair("copies", isCopied ? copyType(module) : Type()),
                           std::pair(hasRemainders(module) ? "split" : "param_dtype", parameterType(module))})
    if (type)
      root[key] = elementModel(type).name();
  if (Type reduce = reduceType(module))
    root["reduce"] = elementModel(reduce).name();
}

} // namespace

std::string writeManifest(const Program &program, ModuleOp module, const ManifestFacts &facts, ArrayRef<ScheduledEntry> planned) {
  json::Array entries, generate;
  for (auto [entry, itsPlan] : llvm::zip_equal(program.entries, planned))
    entries.push_back(entryJson(program, entry, facts, itsPlan));
  json::Object root{{"format", 1},
                    {"abi", TN_ABI_VERSION},
                    {"tool", "tenon 0.1.0"},
                    {"name", facts.name},
                    {"model", program.model},
                    {"dims", stringArray(program.dims)},
                    {"build_id", facts.buildId},
                    {"spec_sha256", facts.specHash},
                    {"target", targetJson(facts)},
                    {"dtype", facts.dtype},
                    {"param_bytes", int64_t(facts.parameterBytes)},
                    {"params", parametersJson(program, module, facts.dtype)},
                    {"entries", std::move(entries)}};
  addTypes(module, root);
  json::Object exceptions;
  for (const auto &[path, type] : facts.exceptions)
    exceptions[path] = type;
  if (!exceptions.empty())
    root["computed_in"] = std::move(exceptions);
  for (const CheckedRecipe &recipe : program.recipes) {
    if (recipe.kind == "generate")
      generate.push_back(json::Object{{"name", recipe.name}, {"settings", settingsJson(recipe)}});
    else if (recipe.name == facts.recipe) {
      json::Value settings = settingsJson(recipe);
      root["recipe"] = json::Object{{"kind", "train"},
                                    {"name", recipe.name},
                                    {"sha256", hashOf(llvm::formatv("{0}", settings).str())},
                                    {"losses_sha256", facts.lossesHash},
                                    {"settings", settings}};
      json::Object greatest;
      for (const auto &[dim, size] : recipe.greatest)
        greatest[dim] = size;
      if (!greatest.empty())
        root["recipe"].getAsObject()->insert({"sizes", std::move(greatest)});
      if (recipe.find("optimizer"))
        root["optimizer"] = optimizerJson(program, recipe, module, facts.dtype);
    }
  }
  root["generate"] = std::move(generate);
  return llvm::formatv("{0:2}", json::Value(std::move(root))).str() + "\n";
}

} // namespace tenon
