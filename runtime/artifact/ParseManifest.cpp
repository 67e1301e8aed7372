// The text of a manifest to its typed form; every field is checked here.
#include "runtime/artifact/Formula.h"
#include "runtime/artifact/Manifest.h"
#include "runtime/artifact/ManifestParts.h"
#include "runtime/base/Checked.h"
#include "tenon/artifact.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tenon::runtime {

namespace {

std::vector<SizeForm> readShape(const ManifestReader &reader, const std::vector<DimInfo> &dims, size_t axes) {
  std::vector<SizeForm> shape;
  reader.each([&](const ManifestReader &item) { shape.push_back(readSizeForm(item, dims)); });
  if (shape.size() != axes)
    reader.fail(concat("expected ", axes, " sizes, one per axis, got ", shape.size()));
  return shape;
}

TensorInfo readTensor(const ManifestReader &reader, const std::vector<DimInfo> &dims) {
  TensorInfo info;
  info.name = reader.member("name").text();
  info.type = readType(reader.member("dtype"), isInCode);
  info.axes = readTexts(reader.member("axes"));
  info.shape = readShape(reader.member("shape"), dims, info.axes.size());
  if (reader.has("nats"))
    info.nats = reader.member("nats").truth();
  if (reader.has("metric"))
    info.metric = reader.member("metric").truth();
  for (auto [key, axis] : {std::pair("rows", &info.rows), std::pair("places", &info.places)})
    if (reader.has(key))
      *axis = static_cast<int>(reader.member(key).integer(0, static_cast<int64_t>(info.axes.size()) - 1));
  if (reader.has("shift"))
    info.shift = reader.member("shift").integer(0, std::numeric_limits<int32_t>::max());
  if (reader.has("bound")) {
    info.bound = readSizeForm(reader.member("bound"), dims);
    if (!isWhole(info.type))
      reader.fail("only integers have a bound");
  }
  if (reader.has("of_sizes"))
    info.ofSizes = reader.member("of_sizes").truth();
  return info;
}

StateInfo readState(const ManifestReader &reader, const std::vector<DimInfo> &dims) {
  StateInfo info;
  info.name = reader.member("name").text();
  info.stack = readSizes(reader.member("stack"), 0);
  info.type = readType(reader.member("dtype"), isInCode);
  info.axes = readTexts(reader.member("axes"));
  info.shape = readShape(reader.member("shape"), dims, info.axes.size());
  if (reader.has("bound"))
    info.bound = readSizeForm(reader.member("bound"), dims);
  if (info.bound && !isWhole(info.type))
    reader.fail("only integers have a bound");
  if (reader.has("of_model"))
    info.ofModel = reader.member("of_model").truth();
  if (reader.has("names"))
    reader.member("names").eachMember([&](const std::string &scheme, const ManifestReader &list) {
      std::vector<PublicNameInfo> &names = info.names[scheme];
      list.each([&](const ManifestReader &item) {
        names.push_back(readPublicName(item));
        if (names.back().transform != PublicNameInfo::Transform::None)
          item.fail("a state of the model is a whole tensor");
      });
    });
  if (reader.has("in_place"))
    info.inPlace = reader.member("in_place").truth();
  if (info.inPlace && !info.shape.empty() && reader.has("places"))
    info.places = static_cast<int>(reader.member("places").integer(0, static_cast<int64_t>(info.shape.size()) - 1));
  if (reader.has("of_last_place"))
    info.ofLastPlace = reader.member("of_last_place").truth();
  if (info.ofLastPlace && (info.inPlace || info.ofModel))
    reader.fail("a state of the last place is set anew by each call, and belongs to no model");
  if (info.inPlace && info.ofModel)
    reader.fail("a state that is kept in place belongs to no model");
  if (static_cast<size_t>(std::count(info.name.begin(), info.name.end(), '*')) != info.stack.size())
    reader.fail(concat("the name '", info.name, "' needs one * per size of its stack"));
  std::vector<int64_t> sizes = info.stack;
  for (const SizeForm &size : info.shape) {
    if (info.ofModel && !size.terms.empty())
      reader.fail("a state of the model cannot depend on a run-time dim");
    sizes.push_back(size.terms.empty() ? size.constant : 1);
  }
  productOf(reader, sizes);
  const int64_t elements = productOf(reader, info.stack);
  readInitial(reader.member("initial"), sizes, elements, info);
  for (const auto &[scheme, names] : info.names)
    if (!info.ofModel || static_cast<int64_t>(names.size()) != elements)
      reader.fail(concat("names '", scheme, "' need one for each of ", elements, " elements of a state of the model"));
  return info;
}

/// A formula that can be evaluated for the dims of the entry.
std::string readFormula(const ManifestReader &reader, const std::map<std::string, int64_t, std::less<>> &dims) {
  if (reader.json().isInteger())
    return std::to_string(reader.integer(0, largest));
  if (Status status = reader.json().isString() ? evaluateFormula(reader.json().text, dims).status() : Status(); status.failed())
    reader.fail(status.message());
  return reader.text();
}

void readChoices(const ManifestReader &reader, KernelInfo &kernel) {
  reader.eachMember([&](std::string_view variant, const ManifestReader &choice) {
    auto &numbers = kernel.chosen[std::string(variant)];
    numbers.emplace_back("form", choice.member("form").text());
    choice.eachMember([&](std::string_view name, const ManifestReader &number) {
      if (name == "form")
        return;
      std::string text;
      if (number.json().isArray())
        number.each(
            [&](const ManifestReader &one) { text += (text.empty() ? "" : " ") + std::to_string(one.integer(0, largest)); });
      else
        text = std::to_string(number.integer(0, largest));
      numbers.emplace_back(name, text);
    });
  });
}

void readReports(const ManifestReader &reader, EntryInfo &info) {
  std::map<std::string, int64_t, std::less<>> dims;
  for (const DimInfo &dim : info.dims)
    dims[dim.name] = 1;
  if (reader.has("memory")) {
    ManifestReader memory = reader.member("memory");
    for (auto [key, formula] : {std::pair("workspace", &info.memory.workspace), std::pair("saved", &info.memory.saved),
                                std::pair("states", &info.memory.states), std::pair("kept_states", &info.memory.keptStates),
                                std::pair("inputs", &info.memory.inputs), std::pair("outputs", &info.memory.outputs)})
      *formula = memory.has(key) ? readFormula(memory.member(key), dims) : "0";
    if (memory.has("workspace_saving_all"))
      info.memory.workspaceSavingAll = readFormula(memory.member("workspace_saving_all"), dims);
    info.memory.scratchPerWorker = memory.has("scratch_per_worker") ? memory.member("scratch_per_worker").integer(0, largest) : 0;
  }
  if (reader.has("kernels"))
    reader.member("kernels").each([&](const ManifestReader &item) {
      KernelInfo kernel;
      kernel.name = item.member("name").text();
      kernel.kind = item.member("kind").text();
      kernel.place = item.member("place").text();
      kernel.storage = item.has("storage") ? item.member("storage").text() : "";
      if (item.has("launches"))
        item.member("launches").each([&](const ManifestReader &name) { kernel.launches.push_back(name.text()); });
      kernel.calls = readFormula(item.member("calls"), dims);
      kernel.flops = readFormula(item.member("flops"), dims);
      kernel.bytes = readFormula(item.member("bytes"), dims);
      if (item.has("domain"))
        item.member("domain").each([&](const ManifestReader &size) { kernel.domain.push_back(readFormula(size, dims)); });
      if (item.has("chosen"))
        readChoices(item.member("chosen"), kernel);
      info.kernels.push_back(std::move(kernel));
    });
}

void readWalk(const ManifestReader &reader, EntryInfo &info) {
  info.walk = reader.member("walk").text();
  info.capacity = readSizeForm(reader.member("capacity"), info.dims);
  std::string position = reader.member("position").text();
  for (size_t i = 0; i < info.states.size(); ++i)
    if (info.states[i].name == position)
      info.positionState = static_cast<int>(i);
  if (info.positionState < 0)
    return reader.fail(concat("there is no state '", position, "' for the position"));
  const StateInfo &state = info.states[static_cast<size_t>(info.positionState)];
  if (state.type != DataType::I32 || !state.shape.empty() || !state.stack.empty() || state.inPlace)
    reader.fail("the position must be one i32");
}

/// Every group and element that the loops come to is checked: users index by them.
GradientInfo readGradient(const ManifestReader &reader, const Manifest &manifest, int64_t groups) {
  constexpr int64_t most = int64_t(1) << 31; // so that no product of two overflows
  GradientInfo info;
  const std::string name = reader.member("parameter").text();
  auto found = std::find_if(manifest.parameters.begin(), manifest.parameters.end(),
                            [&](const ParameterInfo &parameter) { return parameter.name == name; });
  if (reader.good() && found == manifest.parameters.end())
    reader.fail(concat("there is no parameter '", name, "'"));
  info.group = reader.member("group").integer(0, most);
  info.element = reader.member("element").integer(0, most);
  if (!reader.good())
    return info;
  info.parameter = static_cast<size_t>(found - manifest.parameters.begin());
  int64_t last = info.group, low = info.element, high = info.element, runs = 1;
  if (reader.has("loops"))
    reader.member("loops").each([&](const ManifestReader &item) {
      GradientInfo::Loop loop;
      loop.count = item.member("count").integer(1, most);
      loop.groups = item.member("groups").integer(1, most);
      loop.elements = item.member("elements").integer(-most, most);
      if (!item.good() || last > most || low < -most || high > most || runs > most)
        return item.fail("it leaves the groups or the stack of its parameter");
      last += (loop.count - 1) * loop.groups;
      (loop.elements < 0 ? low : high) += (loop.count - 1) * loop.elements;
      runs *= loop.count;
      info.loops.push_back(loop);
    });
  if (reader.good() && (last >= groups || low < 0 || high >= found->stackElements || runs > found->stackElements))
    reader.fail("it leaves the groups or the stack of its parameter");
  return info;
}

EntryInfo readEntry(const ManifestReader &reader, const Manifest &manifest) {
  using Kind = EntryInfo::Kind;
  EntryInfo info;
  info.name = reader.member("name").text();
  static const Kind kinds[] = {Kind::Out, Kind::Eval, Kind::Train, Kind::Grad};
  info.kind = kinds[reader.member("kind").oneOf({"out", "eval", "train", "grad"})];
  std::set<std::string> dimNames;
  reader.member("dims").each([&](const ManifestReader &item) {
    DimInfo dim;
    dim.name = item.member("name").text();
    dim.max = item.member("max").integer(-1, largestAxis);
    if (item.has("min"))
      dim.min = item.member("min").integer(1, largestAxis);
    if (!dimNames.insert(dim.name).second)
      item.fail(concat("the dim '", dim.name, "' occurs twice"));
    info.dims.push_back(std::move(dim));
  });
  readRequirements(reader, info);
  reader.member("inputs").each([&](const ManifestReader &item) { info.inputs.push_back(readTensor(item, info.dims)); });
  reader.member("outputs").each([&](const ManifestReader &item) { info.outputs.push_back(readTensor(item, info.dims)); });
  size_t number = 0;
  reader.member("outputs").each([&](const ManifestReader &item) {
    if (item.has("average"))
      info.outputs[number].average = readAverage(item.member("average"), info);
    info.outputs[number].perBatch = item.has("per_batch");
    ++number;
  });
  reader.member("states").each([&](const ManifestReader &item) { info.states.push_back(readState(item, info.dims)); });
  info.draws = reader.has("draws");
  if (reader.has("left_out"))
    reader.member("left_out").each([&](const ManifestReader &item) {
      info.leftOut.emplace_back(item.member("name").text(), item.member("why").text());
    });
  if (reader.has("walk"))
    readWalk(reader, info);
  if (reader.has("walk") && reader.has("prepare"))
    info.prepare = reader.member("prepare").text();
  if (reader.has("groups")) {
    ManifestReader groups = reader.member("groups");
    info.groups = groups.member("count").integer(0, int64_t(1) << 31);
    groups.member("gradients").each([&](const ManifestReader &item) {
      info.gradients.push_back(readGradient(item, manifest, info.groups));
    });
  }
  if (reader.has("slices")) {
    info.slices = reader.member("slices").member("count").integer(1, 1 << 20);
    info.sliceAxis = reader.member("slices").member("axis").text();
    if (reader.member("slices").has("totals")) {
      info.totalsEntry = reader.member("slices").member("totals").text();
      info.totalPasses = reader.member("slices").member("passes").integer(1, 1 << 20);
    }
  }
  if (reader.has("totals"))
    reader.member("totals").each([&](const ManifestReader &item) { info.totals.push_back(readTensor(item, info.dims)); });
  if (reader.good())
    readReports(reader, info);
  return info;
}

LossScaleInfo readLossScale(const ManifestReader &reader) {
  LossScaleInfo scale{reader.member("initial").number(), reader.member("growth").number(), reader.member("backoff").number(),
                      reader.member("every").integer(1, largest)};
  const float initial = static_cast<float>(scale.initial);
  if (!(initial > 0 && std::isfinite(initial) && scale.growth >= 1 && scale.backoff > 0 && scale.backoff <= 1))
    reader.fail("a loss scale is a number above 0, grows by 1 or more and backs off by up to 1");
  return scale;
}

void readOptimizer(const ManifestReader &reader, Manifest &manifest) {
  manifest.optimizer = reader.member("kind").text();
  manifest.moments = static_cast<int>(reader.member("moments").integer(0, 2));
  if (reader.has("means")) {
    const ManifestReader means = reader.member("means");
    manifest.meanBytes = static_cast<uint64_t>(means.member("bytes").integer(0, largest));
    means.member("tensors").each([&](const ManifestReader &item) { manifest.means.push_back(readMean(item, manifest)); });
    if (manifest.moments == 0)
      means.fail("an optimizer without moments keeps no means");
  }
  if (reader.has("accumulate"))
    manifest.accumulate = reader.member("accumulate").integer(1, 1 << 20);
  if (reader.has("loss_scale"))
    manifest.lossScale = readLossScale(reader.member("loss_scale"));
  if (reader.has("epochs"))
    manifest.epochs = reader.member("epochs").number();
}

void readHead(const ManifestReader &reader, Manifest &manifest) {
  if (int64_t format = reader.member("format").integer(0, largest); reader.good() && format != 1)
    reader.fail(concat("format ", format, " is not known, this runtime reads format 1"));
  if (int64_t abi = reader.member("abi").integer(0, largest); reader.good() && abi != TN_ABI_VERSION)
    reader.fail(concat("the artifact has ABI version ", abi, ", this runtime has ", TN_ABI_VERSION));
  manifest.tool = reader.member("tool").text();
  manifest.name = reader.member("name").text();
  manifest.model = reader.member("model").text();
  if (reader.has("dims"))
    manifest.dims = readTexts(reader.member("dims"));
  manifest.buildId = reader.member("build_id").text();
  manifest.specHash = reader.member("spec_sha256").text();
  manifest.device = reader.member("target").member("device").text();
  const ManifestReader roofline = reader.member("target").member("roofline");
  manifest.roofline = {roofline.member("machine").text(), roofline.member("flops_per_second").integer(1, largest),
                       roofline.member("bytes_per_second").integer(1, largest)};
  manifest.triple = reader.member("target").member("triple").text();
  manifest.tiers = readTexts(reader.member("target").member("tiers"));
  manifest.type = readType(reader.member("dtype"), isComputedReal);
  auto shortType = [&](const char *key) {
    return reader.has(key) ? std::optional(readType(reader.member(key), isStoredReal)) : std::nullopt;
  };
  const std::optional<DataType> stored = shortType("param_dtype");
  manifest.parameterType = stored.value_or(manifest.type);
  manifest.compute = shortType("compute");
  manifest.copies = shortType("copies");
  if (reader.has("split"))
    manifest.split = readType(reader.member("split"), isUpperHalf);
  for (const std::optional<DataType> &narrow : {manifest.copies, stored, manifest.split})
    if (narrow && rowOf(*narrow).computed != manifest.type)
      reader.fail(concat("parameters, halves and copies of 16 bits are of a model of ", nameOf(rowOf(*narrow).computed)));
  if (manifest.copies && stored)
    reader.fail("parameters of 16 bits have no copies");
  if (manifest.split && (manifest.copies || stored))
    reader.fail("parameters in two halves have no copies and no `param_dtype`");
  if (reader.has("reduce"))
    manifest.reduce = readType(reader.member("reduce"), isWideReal);
  if (reader.has("computed_in"))
    for (const auto &[path, type] : reader.member("computed_in").json().members)
      manifest.exceptions[path] =
          readType(reader.member("computed_in").member(path), [](DataType of) { return isComputedReal(of) || isUpperHalf(of); });
  manifest.parameterBytes = static_cast<uint64_t>(reader.member("param_bytes").integer(0, largest));
  if (reader.has("optimizer"))
    readOptimizer(reader.member("optimizer"), manifest);
  if (reader.has("recipe"))
    manifest.recipe = reader.member("recipe").json();
  manifest.generate.kind = JsonValue::Kind::Array;
  if (reader.has("generate"))
    manifest.generate = reader.member("generate").json();
}

} // namespace

Expected<Manifest> parseManifest(std::string_view text) {
  auto json = parseJson(text);
  if (!json.ok())
    return json.status().in("manifest");
  Status status;
  ManifestReader reader(*json, "", status);
  if (!json->isObject())
    return inputError("manifest: expected an object");
  Manifest manifest;
  readHead(reader, manifest);
  std::set<std::string> names;
  int64_t tensors = 0;
  reader.member("params").each([&](const ManifestReader &item) {
    manifest.parameters.push_back(readParameter(item, manifest));
    if (!names.insert(manifest.parameters.back().name).second)
      item.fail(concat("the parameter '", manifest.parameters.back().name, "' occurs twice"));
    if ((tensors += manifest.parameters.back().stackElements) > 10'000'000)
      item.fail("more than 10,000,000 parameter tensors");
  });
  std::set<std::string> entryNames;
  reader.member("entries").each([&](const ManifestReader &item) {
    manifest.entries.push_back(readEntry(item, manifest));
    if (!entryNames.insert(manifest.entries.back().name).second)
      item.fail(concat("the entry '", manifest.entries.back().name, "' occurs twice"));
  });
  if (status.ok())
    joinPrepared(reader.member("entries"), manifest);
  if (status.ok())
    joinTotals(reader.member("entries"), manifest);
  if (status.failed())
    return status;
  return manifest;
}

} // namespace tenon::runtime
