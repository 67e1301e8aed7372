// The text of a manifest to its typed form; every field is checked here.
#include "runtime/Manifest.h"
#include "runtime/Checked.h"
#include "runtime/Formula.h"
#include "runtime/ParseManifest.h"
#include "runtime/PublicNames.h"
#include "tenon/artifact.h"
#include <algorithm>
#include <set>

namespace tenon::runtime {

constexpr int64_t largest = INT64_MAX;
constexpr int64_t largestAxis = int64_t(1) << 48;

std::vector<std::string> readTexts(const ManifestReader &reader) {
  std::vector<std::string> texts;
  reader.each([&](const ManifestReader &item) { texts.push_back(item.text()); });
  return texts;
}

SizeForm readSizeForm(const ManifestReader &reader, const std::vector<DimInfo> &dims) {
  SizeForm form;
  if (reader.json().isInteger()) {
    form.constant = reader.integer(0, largestAxis);
    return form;
  }
  if (!reader.json().isObject()) {
    reader.fail("expected a size: a number or {\"const\": c, \"terms\": {...}}");
    return form;
  }
  form.constant = reader.member("const").integer(-largestAxis, largestAxis);
  reader.member("terms").eachMember([&](const std::string &name, const ManifestReader &factor) {
    for (uint32_t i = 0; i < dims.size(); ++i)
      if (dims[i].name == name) {
        form.terms.emplace_back(i, factor.integer(-largestAxis, largestAxis));
        return;
      }
    factor.fail(concat("'", name, "' is not a dim of this entry"));
  });
  return form;
}

namespace {

std::vector<int64_t> readSizes(const ManifestReader &reader, int64_t smallest) {
  std::vector<int64_t> sizes;
  reader.each([&](const ManifestReader &item) { sizes.push_back(item.integer(smallest, largestAxis)); });
  return sizes;
}

int64_t productOf(const ManifestReader &reader, const std::vector<int64_t> &sizes) {
  auto product = checkedProduct(std::span<const int64_t>(sizes));
  if (!product || *product > largestAxis)
    reader.fail("the product of the sizes is too large");
  return product.value_or(0);
}

DataType readType(const ManifestReader &reader, std::initializer_list<DataType> allowed) {
  auto type = dataTypeFromName(reader.text());
  for (DataType candidate : allowed)
    if (type == candidate)
      return candidate;
  reader.fail(concat("element type '", reader.json().text, "' is not supported here"));
  return DataType::F32;
}

std::vector<SizeForm> readShape(const ManifestReader &reader, const std::vector<DimInfo> &dims, size_t axes) {
  std::vector<SizeForm> shape;
  reader.each([&](const ManifestReader &item) { shape.push_back(readSizeForm(item, dims)); });
  if (shape.size() != axes)
    reader.fail(concat("expected ", axes, " sizes, one per axis, got ", shape.size()));
  return shape;
}

PublicNameInfo readPublicName(const ManifestReader &reader) {
  using Transform = PublicNameInfo::Transform;
  PublicNameInfo info;
  info.name = reader.member("name").text();
  if (reader.has("transform")) {
    static const Transform transforms[] = {Transform::None, Transform::Part, Transform::Stacked, Transform::Transpose};
    info.transform = transforms[reader.member("transform").oneOf({"", "part", "stacked", "transpose"})];
  }
  if (reader.has("parts"))
    info.parts = reader.member("parts").integer(1, 1 << 20);
  if (reader.has("part"))
    info.part = reader.member("part").integer(0, info.parts - 1);
  if (reader.has("also"))
    info.also = readTexts(reader.member("also"));
  if (info.transform == Transform::Stacked && info.name.find('#') == std::string::npos)
    reader.fail("a stacked name needs '#' for the index");
  return info;
}

/// Matrices in panels: which axes are the rows of the stored panels, and how many elements that takes.
void readPanels(const ManifestReader &reader, ParameterInfo &info) {
  ManifestReader panel = reader.member("panel");
  info.panelSplit = static_cast<uint32_t>(panel.member("split").integer(1, std::max<int64_t>(1, int64_t(info.shape.size()) - 1)));
  info.panelOutputFirst = panel.member("output").oneOf({"first", "last"}) == 0;
  if (info.shape.size() < 2)
    return reader.fail("the layout panel16 needs at least two axes");
  int64_t first = 1, last = 1;
  for (size_t i = 0; i < info.shape.size(); ++i)
    (i < info.panelSplit ? first : last) *= info.shape[i]; // product checked before
  int64_t output = info.panelOutputFirst ? first : last, input = info.panelOutputFirst ? last : first;
  auto stored = checkedMultiply<uint64_t>((static_cast<uint64_t>(output) + 15) / 16 * 16, static_cast<uint64_t>(input));
  if (!stored)
    reader.fail("the panels are too large");
  info.storedElements = stored.value_or(0);
}

void checkPlace(const ManifestReader &reader, const ParameterInfo &info, const Manifest &manifest) {
  uint64_t element = byteSize(manifest.type);
  auto bytes = checkedMultiply(info.storedElements, element);
  if (info.stackElements == 0 || !bytes || *bytes == 0)
    return;
  auto gap = checkedMultiply(info.stride, static_cast<uint64_t>(info.stackElements - 1));
  auto start = gap ? checkedAdd(info.offset, *gap) : std::nullopt;
  auto end = start ? checkedAdd(*start, *bytes) : std::nullopt;
  if (!end || *end > manifest.parameterBytes)
    reader.fail(concat("'", info.name, "' leaves the ", manifest.parameterBytes, " bytes of the arena"));
  if (info.offset % element != 0 || info.stride % element != 0)
    reader.fail(concat("'", info.name, "' is not aligned to its elements"));
  if (info.stackElements > 1 && info.stride < *bytes)
    reader.fail(concat("stride ", info.stride, " is less than the ", *bytes, " bytes of one element of the stack"));
}

/// Rows, or panels.
void readLayout(const ManifestReader &reader, ParameterInfo &info) {
  if (reader.member("layout").oneOf({"row", "panel16"}) == 0)
    return;
  info.layout = ParameterInfo::Layout::Panel16;
  if (reader.good())
    readPanels(reader, info);
}

void readInitializer(const ManifestReader &reader, ParameterInfo &info) {
  using Kind = InitializerInfo::Kind;
  static const Kind kinds[] = {Kind::Normal,        Kind::TruncatedNormal, Kind::Uniform, Kind::XavierUniform,
                               Kind::KaimingNormal, Kind::Orthogonal,      Kind::Constant};
  info.init.kind = kinds[reader.member("kind").oneOf(
      {"normal", "trunc_normal", "uniform", "xavier_uniform", "kaiming_normal", "orthogonal", "constant"})];
  if (const JsonValue *a = reader.json().find("a"); a && a->isArray()) {
    reader.member("a").each([&](const ManifestReader &item) { info.init.perElement.push_back(item.number()); });
    if (static_cast<int64_t>(info.init.perElement.size()) != info.stackElements)
      reader.fail(concat("expected ", info.stackElements, " values of a, one per stack element"));
  } else {
    info.init.a = reader.member("a").number();
  }
}

ParameterInfo readParameter(const ManifestReader &reader, const Manifest &manifest) {
  ParameterInfo info;
  info.name = reader.member("name").text();
  info.stack = readSizes(reader.member("stack"), 0);
  info.axes = readTexts(reader.member("axes"));
  info.shape = readSizes(reader.member("shape"), 0);
  info.stackElements = productOf(reader, info.stack);
  if (reader.has("present")) {
    reader.member("present").each([&](const ManifestReader &item) { info.present.push_back(item.truth()); });
    if (static_cast<int64_t>(info.present.size()) != info.stackElements)
      reader.member("present").fail(concat("expected ", info.stackElements, " truth values, one per stack element"));
  }
  info.elements = productOf(reader, info.shape);
  info.storedElements = static_cast<uint64_t>(info.elements);
  info.offset = static_cast<uint64_t>(reader.member("offset").integer(0, largest));
  info.stride = static_cast<uint64_t>(reader.member("stride").integer(0, largest));
  if (info.axes.size() != info.shape.size())
    reader.fail("axes and shape differ in length");
  if (static_cast<size_t>(std::count(info.name.begin(), info.name.end(), '*')) != info.stack.size())
    reader.fail(concat("the name '", info.name, "' needs one * per size of its stack"));
  info.published = reader.has("published") ? readSizes(reader.member("published"), 0) : info.shape;
  if (!mergesTo({info.shape.begin(), info.shape.end()}, {info.published.begin(), info.published.end()}))
    reader.fail("published is not the shape with neighbouring axes joined");
  readLayout(reader, info);
  readInitializer(reader.member("init"), info);
  if (reader.has("names"))
    reader.member("names").eachMember([&](const std::string &scheme, const ManifestReader &list) {
      auto &names = info.names[scheme];
      list.each([&](const ManifestReader &item) { names.push_back(readPublicName(item)); });
      if (static_cast<int64_t>(names.size()) != info.stackElements)
        list.fail(concat("expected ", info.stackElements, " names, one per stack element, got ", names.size()));
    });
  if (reader.has("frozen"))
    info.frozen = reader.member("frozen").truth();
  if (reader.good())
    checkPlace(reader, info, manifest);
  return info;
}

TensorInfo readTensor(const ManifestReader &reader, const std::vector<DimInfo> &dims) {
  TensorInfo info;
  info.name = reader.member("name").text();
  info.type = readType(reader.member("dtype"), {DataType::F32, DataType::F64, DataType::I32, DataType::I64, DataType::Bool});
  info.axes = readTexts(reader.member("axes"));
  info.shape = readShape(reader.member("shape"), dims, info.axes.size());
  if (reader.has("nats"))
    info.nats = reader.member("nats").truth();
  if (reader.has("metric"))
    info.metric = reader.member("metric").truth();
  for (auto [key, axis] : {std::pair("rows", &info.rows), std::pair("places", &info.places)})
    if (reader.has(key))
      *axis = static_cast<int>(reader.member(key).integer(0, static_cast<int64_t>(info.axes.size()) - 1));
  if (reader.has("bound")) {
    info.bound = readSizeForm(reader.member("bound"), dims);
    if (info.type != DataType::I32 && info.type != DataType::I64)
      reader.fail("only integers have a bound");
  }
  return info;
}

StateInfo readState(const ManifestReader &reader, const std::vector<DimInfo> &dims) {
  StateInfo info;
  info.name = reader.member("name").text();
  info.stack = readSizes(reader.member("stack"), 0);
  info.type = readType(reader.member("dtype"), {DataType::F32, DataType::F64, DataType::I32, DataType::I64, DataType::Bool});
  info.axes = readTexts(reader.member("axes"));
  info.shape = readShape(reader.member("shape"), dims, info.axes.size());
  info.initial = reader.member("initial").number();
  if (reader.has("bound"))
    info.bound = readSizeForm(reader.member("bound"), dims);
  if (info.bound && info.type != DataType::I32 && info.type != DataType::I64)
    reader.fail("only integers have a bound");
  if (reader.has("of_model"))
    info.ofModel = reader.member("of_model").truth();
  if (reader.has("in_place"))
    info.inPlace = reader.member("in_place").truth();
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
    info.memory.scratchPerWorker = memory.has("scratch_per_worker") ? memory.member("scratch_per_worker").integer(0, largest) : 0;
  }
  if (reader.has("kernels"))
    reader.member("kernels").each([&](const ManifestReader &item) {
      KernelInfo kernel;
      kernel.name = item.member("name").text();
      kernel.kind = item.member("kind").text();
      kernel.place = item.member("place").text();
      kernel.calls = item.member("calls").integer(0, largest); // in a stack of no layers: 0
      kernel.flops = readFormula(item.member("flops"), dims);
      kernel.bytes = readFormula(item.member("bytes"), dims);
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

EntryInfo readEntry(const ManifestReader &reader) {
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
  if (reader.has("walk"))
    readWalk(reader, info);
  if (reader.good())
    readReports(reader, info);
  return info;
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
  manifest.triple = reader.member("target").member("triple").text();
  manifest.tiers = readTexts(reader.member("target").member("tiers"));
  manifest.type = readType(reader.member("dtype"), {DataType::F32, DataType::F64});
  manifest.parameterBytes = static_cast<uint64_t>(reader.member("param_bytes").integer(0, largest));
  if (reader.has("optimizer")) {
    manifest.optimizer = reader.member("optimizer").member("kind").text();
    manifest.moments = static_cast<int>(reader.member("optimizer").member("moments").integer(0, 2));
    if (reader.member("optimizer").has("accumulate"))
      manifest.accumulate = reader.member("optimizer").member("accumulate").integer(1, 1 << 20);
    if (reader.member("optimizer").has("epochs"))
      manifest.epochs = reader.member("optimizer").member("epochs").number();
  }
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
    manifest.entries.push_back(readEntry(item));
    if (!entryNames.insert(manifest.entries.back().name).second)
      item.fail(concat("the entry '", manifest.entries.back().name, "' occurs twice"));
  });
  if (status.failed())
    return status;
  return manifest;
}

} // namespace tenon::runtime
