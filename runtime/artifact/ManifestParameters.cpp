// The parameters of a manifest: public names, initial values, their places in the arena.
#include "runtime/artifact/ManifestParts.h"
#include "runtime/base/Checked.h"
#include "runtime/base/Shapes.h"
#include <algorithm>
#include <functional>
#include <set>

namespace tenon::runtime {

std::vector<std::string> readTexts(const ManifestReader &reader) {
  std::vector<std::string> texts;
  reader.each([&](const ManifestReader &item) { texts.push_back(item.text()); });
  return texts;
}

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

PublicNameInfo readPublicName(const ManifestReader &reader) {
  using Transform = PublicNameInfo::Transform;
  PublicNameInfo info;
  if (reader.json().isString()) {
    info.name = reader.text();
    return info;
  }
  info.name = reader.member("name").text();
  if (reader.has("transform")) {
    static const Transform transforms[] = {Transform::None, Transform::Part, Transform::Stacked, Transform::Transpose,
                                           Transform::Flatten};
    info.transform = transforms[reader.member("transform").oneOf({"", "part", "stacked", "transpose", "flatten"})];
  }
  if (reader.has("parts"))
    info.parts = reader.member("parts").integer(1, 1 << 20);
  if (reader.has("part"))
    info.part = reader.member("part").integer(0, info.parts - 1);
  if (reader.has("copy"))
    info.copy = reader.member("copy").truth();
  if (reader.has("also"))
    info.also = readTexts(reader.member("also"));
  if (info.transform == Transform::Stacked && info.name.find('#') == std::string::npos)
    reader.fail("a stacked name needs '#' for the index");
  return info;
}

namespace {

/// Where the arena of parameters is half as long, what is not of 16 bits takes twice its bytes in the others.
uint64_t elementInArenas(const ParameterInfo &info, const Manifest &manifest) {
  const uint64_t part = byteSize(manifest.type) / byteSize(manifest.split.value_or(manifest.parameterType));
  return info.split ? byteSize(info.type) : std::max(byteSize(info.type), byteSize(info.stored) * part);
}

/// Within an arena of `all` bytes, in which an element has `element` bytes.
void checkPlace(const ManifestReader &reader, const ParameterInfo &info, uint64_t all, uint64_t element) {
  auto bytes = checkedMultiply(static_cast<uint64_t>(info.elements), element);
  if (info.stackElements == 0 || !bytes || *bytes == 0)
    return;
  auto gap = checkedMultiply(info.stride, static_cast<uint64_t>(info.stackElements - 1));
  auto start = gap ? checkedAdd(info.offset, *gap) : std::nullopt;
  auto end = start ? checkedAdd(*start, *bytes) : std::nullopt;
  if (!end || *end > all)
    reader.fail(concat("'", info.name, "' leaves the ", all, " bytes of the arena"));
  if (info.offset % element != 0 || info.stride % element != 0)
    reader.fail(concat("'", info.name, "' is not aligned to its elements"));
  if (info.stackElements > 1 && info.stride < *bytes)
    reader.fail(concat("stride ", info.stride, " is less than the ", *bytes, " bytes of one element of the stack"));
}

void readTable(const ManifestReader &reader, const std::vector<int64_t> &shape, InitializerInfo &init) {
  reader.member("values").each([&](const ManifestReader &item) { init.table.push_back(item.number()); });
  std::vector<bool> along;
  reader.member("along").each([&](const ManifestReader &item) { along.push_back(item.truth()); });
  if (along.size() != shape.size())
    reader.fail(concat("expected ", shape.size(), " truth values in along, one per axis"));
  init.strides.assign(along.size(), 0);
  int64_t elements = 1;
  for (size_t axis = std::min(along.size(), shape.size()); axis-- > 0;)
    if (along[axis]) {
      init.strides[axis] = elements;
      elements *= shape[axis];
    }
  if (static_cast<int64_t>(init.table.size()) != elements)
    reader.fail(concat("expected ", elements, " values of the table, found ", init.table.size()));
}

/// What the manifest says of all, or the parameter of itself: then it lies in that type, whole, and has no copy.
void readElementType(const ManifestReader &reader, ParameterInfo &info, const Manifest &manifest) {
  if (reader.has("dtype")) {
    info.type = info.stored = readType(reader.member("dtype"), isComputedReal);
    return;
  }
  info.type = manifest.type;
  info.stored = manifest.parameterType;
  info.split = manifest.split.has_value();
  info.copied = manifest.copies.has_value();
}

/// Panels cut the sizes without rest.
PanelInfo readLayout(const ManifestReader &reader, const ParameterInfo &info) {
  PanelInfo panels;
  reader.member("form").oneOf({"panels"});
  const int64_t leading = reader.member("leading").integer(1, std::max<int64_t>(int64_t(info.shape.size()) - 1, 1));
  panels.width = static_cast<uint64_t>(reader.member("width").integer(1, 1 << 16));
  panels.steps = static_cast<uint64_t>(reader.member("steps").integer(1, 1 << 16));
  panels.transposed = reader.member("transposed").truth();
  if (!reader.good())
    return panels;
  uint64_t rows = 1, others = 1; // no more than all elements, whose number is checked
  for (size_t axis = 0; axis < info.shape.size(); ++axis)
    (static_cast<int64_t>(axis) < leading ? rows : others) *= static_cast<uint64_t>(info.shape[axis]);
  panels.lines = panels.transposed ? others : rows;
  panels.columns = panels.transposed ? rows : others;
  if (info.shape.size() < 2 || panels.columns % panels.width != 0 || panels.lines % panels.steps != 0)
    reader.fail("panels that do not cut the parameter without rest");
  if (info.copied)
    reader.fail("panels of a parameter that has a copy");
  return panels;
}

} // namespace

InitializerInfo readInitializer(const ManifestReader &reader, const std::vector<int64_t> &shape, int64_t stackElements) {
  using Kind = InitializerInfo::Kind;
  static const Kind kinds[] = {Kind::Normal,        Kind::TruncatedNormal, Kind::Uniform,  Kind::XavierUniform,
                               Kind::KaimingNormal, Kind::Orthogonal,      Kind::Constant, Kind::Table};
  InitializerInfo init;
  init.kind = kinds[reader.member("kind").oneOf(
      {"normal", "trunc_normal", "uniform", "xavier_uniform", "kaiming_normal", "orthogonal", "constant", "table"})];
  if (init.kind == Kind::Table) {
    readTable(reader, shape, init);
  } else if (const JsonValue *a = reader.json().find("a"); a && a->isArray()) {
    reader.member("a").each([&](const ManifestReader &item) { init.perElement.push_back(item.number()); });
    if (static_cast<int64_t>(init.perElement.size()) != stackElements)
      reader.fail(concat("expected ", stackElements, " values of a, one per stack element"));
  } else {
    init.a = reader.member("a").number();
  }
  if (reader.has("then"))
    reader.member("then").each([&](const ManifestReader &item) {
      using Step = InitializerInfo::Step;
      static const Step::Kind steps[] = {Step::Kind::Add, Step::Kind::Times, Step::Kind::Exp, Step::Kind::Log};
      init.then.push_back({steps[item.member("kind").oneOf({"add", "times", "exp", "log"})], item.member("number").number()});
    });
  return init;
}

void readInitial(const ManifestReader &reader, const std::vector<int64_t> &sizes, int64_t elements, StateInfo &info) {
  if (!reader.json().isObject()) {
    info.init.a = reader.number();
    return;
  }
  const std::vector<int64_t> shape(sizes.begin() + static_cast<std::ptrdiff_t>(info.stack.size()), sizes.end());
  info.init = readInitializer(reader, shape, elements);
  if (reader.has("as"))
    info.as = reader.member("as").text();
  if (!info.ofModel || isWhole(info.type))
    reader.fail("a state that is not of the model, or of no reals, starts from a number");
  if (!info.as.empty() && static_cast<size_t>(std::count(info.as.begin(), info.as.end(), '*')) != info.stack.size())
    reader.fail(concat("the name '", info.as, "' needs one * per size of its stack"));
}

static void readPresent(const ManifestReader &reader, ParameterInfo &info) {
  if (!reader.has("present"))
    return;
  reader.member("present").each([&](const ManifestReader &item) { info.present.push_back(item.truth()); });
  if (static_cast<int64_t>(info.present.size()) != info.stackElements)
    reader.member("present").fail(concat("expected ", info.stackElements, " truth values, one per stack element"));
}

/// Name, stack, axes and place of a tensor of an arena; its element type is `typed`'s.
static ParameterInfo readPlaced(const ManifestReader &reader, const std::function<void(ParameterInfo &)> &typed) {
  ParameterInfo info;
  info.name = reader.member("name").text();
  info.stack = readSizes(reader.member("stack"), 0);
  info.axes = readTexts(reader.member("axes"));
  info.shape = readSizes(reader.member("shape"), 0);
  info.stackElements = productOf(reader, info.stack);
  readPresent(reader, info);
  info.elements = productOf(reader, info.shape);
  typed(info);
  info.offset = static_cast<uint64_t>(reader.member("offset").integer(0, largest));
  info.stride = static_cast<uint64_t>(reader.member("stride").integer(0, largest));
  if (info.axes.size() != info.shape.size())
    reader.fail("axes and shape differ in length");
  if (static_cast<size_t>(std::count(info.name.begin(), info.name.end(), '*')) != info.stack.size())
    reader.fail(concat("the name '", info.name, "' needs one * per size of its stack"));
  return info;
}

ParameterInfo readMean(const ManifestReader &reader, const Manifest &manifest) {
  ParameterInfo info = readPlaced(reader, [&](ParameterInfo &each) {
    each.type = each.stored = reader.has("dtype") ? readType(reader.member("dtype"), isComputedReal) : manifest.type;
  });
  info.published = info.shape;
  if (reader.good())
    checkPlace(reader, info, manifest.meanBytes, byteSize(info.type));
  return info;
}

ParameterInfo readParameter(const ManifestReader &reader, const Manifest &manifest) {
  ParameterInfo info = readPlaced(reader, [&](ParameterInfo &each) { readElementType(reader, each, manifest); });
  info.published = reader.has("published") ? readSizes(reader.member("published"), 0) : info.shape;
  if (!mergesTo({info.shape.begin(), info.shape.end()}, {info.published.begin(), info.published.end()}))
    reader.fail("published is not the shape with neighbouring axes joined");
  info.init = readInitializer(reader.member("init"), info.shape, info.stackElements);
  if (reader.has("names"))
    reader.member("names").eachMember([&](const std::string &scheme, const ManifestReader &list) {
      auto &names = info.names[scheme];
      list.each([&](const ManifestReader &item) { names.push_back(readPublicName(item)); });
      if (static_cast<int64_t>(names.size()) != info.stackElements)
        list.fail(concat("expected ", info.stackElements, " names, one per stack element, got ", names.size()));
    });
  if (reader.has("frozen"))
    info.frozen = reader.member("frozen").truth();
  if (reader.has("layout") && reader.good())
    info.panels = readLayout(reader.member("layout"), info);
  if (reader.good())
    checkPlace(reader, info, manifest.parameterBytes, elementInArenas(info, manifest));
  return info;
}

} // namespace tenon::runtime
