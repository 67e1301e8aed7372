#include "LaunchFile.h"
#include "Models.h"
#include "runtime/files/Npy.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <optional>
#include <random>

using namespace llvm;

namespace tenon::emu {

unsigned bytesOf(Element type) {
  switch (type) {
  case Element::F64:
  case Element::I64:
    return 8;
  case Element::F32:
  case Element::I32:
    return 4;
  case Element::F16:
  case Element::Bf16:
    return 2;
  case Element::U8:
    return 1;
  }
  return 0;
}

namespace {

template <typename T> void put(void *to, uint64_t i, T value) { memcpy(static_cast<T *>(to) + i, &value, sizeof value); }
template <typename T> T get(const void *from, uint64_t i) {
  T value;
  memcpy(&value, static_cast<const T *>(from) + i, sizeof value);
  return value;
}

std::optional<Element> elementNamed(StringRef name) {
  return StringSwitch<std::optional<Element>>(name)
      .Case("f32", Element::F32)
      .Case("f64", Element::F64)
      .Case("f16", Element::F16)
      .Case("bf16", Element::Bf16)
      .Case("i32", Element::I32)
      .Case("i64", Element::I64)
      .Case("u8", Element::U8)
      .Default(std::nullopt);
}

class Reader {
public:
  explicit Reader(StringRef path) : folder(sys::path::parent_path(path).str()), path(path.str()) {}

  Expected<LaunchFile> read(const json::Value &value) {
    const json::Object *object = value.getAsObject();
    if (!object)
      return error("is no object");
    LaunchFile file;
    for (const auto &[key, each] : *object)
      if (Error failed = field(file, StringRef(key), each))
        return failed;
    if (file.kernel.empty())
      return error("names no kernel");
    return file;
  }

private:
  Error error(const Twine &text) { return createStringError(path + " " + text); }

  Error field(LaunchFile &file, StringRef key, const json::Value &value) {
    if (key == "kernel" && value.getAsString()) {
      file.kernel = value.getAsString()->str();
      return Error::success();
    }
    if (key == "grid" || key == "block")
      return shape(value, key, key == "grid" ? file.grid : file.block);
    if (key == "shared" && value.getAsUINT64() && *value.getAsUINT64() < (1u << 20)) {
      file.dynamicShared = *value.getAsUINT64();
      return Error::success();
    }
    if (key == "arguments" && value.getAsArray()) {
      for (const json::Value &each : *value.getAsArray())
        if (Error failed = argument(file, each.getAsObject()))
          return failed;
      return Error::success();
    }
    return error("has '" + key + "', which is no field of a launch or holds the wrong kind of value");
  }

  Error shape(const json::Value &value, StringRef key, Dim3 &dims) {
    const json::Array *sizes = value.getAsArray();
    uint32_t *to[] = {&dims.x, &dims.y, &dims.z};
    if (!sizes || sizes->empty() || sizes->size() > 3)
      return error("has a " + key + " that is no list of one to three sizes");
    for (size_t i = 0; i < sizes->size(); ++i) {
      const auto size = (*sizes)[i].getAsUINT64();
      if (!size || *size == 0 || *size > 0x7fffffff)
        return error("has a size in " + key + " that is no positive number");
      *to[i] = *size;
    }
    return Error::success();
  }

  /// {"i32": 5}, or {"buffer": "x", "type": "f32", "values": .., "count": .., "expected": .., "tolerance": ..}.
  Error argument(LaunchFile &file, const json::Object *object) {
    if (!object)
      return error("has an argument that is no object");
    LaunchArgument argument;
    if (const auto name = object->getString("buffer")) {
      argument.buffer = true;
      argument.name = name->str();
      const auto type = elementNamed(object->getString("type").value_or("f32"));
      if (!type)
        return error("has a buffer " + *name + " of a type that is none of f32, f64, f16, bf16, i32, i64, u8");
      argument.type = *type;
      argument.count = object->getInteger("count").value_or(0);
      argument.tolerance = object->getNumber("tolerance").value_or(0);
      if (const json::Value *values = object->get("values"))
        if (Error failed = numbers(*values, argument, argument.values))
          return failed;
      if (const json::Value *values = object->get("expected"))
        if (Error failed = numbers(*values, argument, argument.expected))
          return failed;
      argument.count = std::max<uint64_t>({argument.count, argument.values.size(), argument.expected.size()});
      if (argument.count == 0)
        return error("has a buffer " + *name + " without a count or values");
    } else {
      for (const auto &[key, value] : *object) {
        const auto type = elementNamed(StringRef(key));
        if (!type || !value.getAsNumber() || object->size() != 1)
          return error("has an argument that is neither a buffer nor one number with its type");
        storeValues(*type, {*value.getAsNumber()}, &argument.bits);
      }
    }
    file.arguments.push_back(std::move(argument));
    return Error::success();
  }

  /// [1, 2], "file.npy", {"random": SEED, "count": N}: uniform in -1 to 1, {"fill": V, "count": N}.
  Error numbers(const json::Value &value, const LaunchArgument &argument, std::vector<double> &to) {
    if (const json::Array *list = value.getAsArray()) {
      for (const json::Value &each : *list)
        to.push_back(each.getAsNumber().value_or(0));
      return Error::success();
    }
    if (const auto name = value.getAsString()) {
      SmallString<128> file(folder);
      sys::path::append(file, *name);
      auto array = runtime::readNpy(file.str().str());
      if (array.failed())
        return createStringError(array.status().message());
      for (uint64_t i = 0; i < array->elements(); ++i)
        to.push_back(element(*array, i));
      return Error::success();
    }
    const json::Object *rule = value.getAsObject();
    const uint64_t count = rule && rule->getInteger("count") ? *rule->getInteger("count") : argument.count;
    if (!rule || count == 0)
      return error("has values that are no list, no .npy file and no rule with a count");
    std::mt19937_64 random(rule->getInteger("random").value_or(0));
    for (uint64_t i = 0; i < count; ++i)
      to.push_back(rule->getNumber("fill") ? *rule->getNumber("fill") : double(random() >> 11) * 0x1p-52 - 1);
    return Error::success();
  }

  static double element(const runtime::NpyArray &array, uint64_t i) {
    switch (array.type) {
    case runtime::DataType::F32:
      return get<float>(array.data.data(), i);
    case runtime::DataType::F64:
      return get<double>(array.data.data(), i);
    case runtime::DataType::I32:
      return get<int32_t>(array.data.data(), i);
    case runtime::DataType::I64:
      return get<int64_t>(array.data.data(), i);
    default:
      return get<uint8_t>(array.data.data(), i);
    }
  }

  std::string folder, path;
};

} // namespace

Expected<LaunchFile> readLaunchFile(const std::string &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  auto value = json::parse((*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  return Reader(path).read(*value);
}

void storeValues(Element type, const std::vector<double> &values, void *to) {
  for (uint64_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    switch (type) {
    case Element::F32:
      put<float>(to, i, value);
      break;
    case Element::F64:
      put<double>(to, i, value);
      break;
    case Element::F16:
      put<uint16_t>(to, i, toF16(value));
      break;
    case Element::Bf16:
      put<uint16_t>(to, i, toBf16(value));
      break;
    case Element::I32:
      put<int32_t>(to, i, value);
      break;
    case Element::I64:
      put<int64_t>(to, i, value);
      break;
    case Element::U8:
      put<uint8_t>(to, i, value);
      break;
    }
  }
}

std::vector<double> loadValues(Element type, const void *from, uint64_t count) {
  std::vector<double> values(count);
  for (uint64_t i = 0; i < count; ++i) {
    double &value = values[i];
    switch (type) {
    case Element::F32:
      value = get<float>(from, i);
      break;
    case Element::F64:
      value = get<double>(from, i);
      break;
    case Element::F16:
      value = fromF16(get<uint16_t>(from, i));
      break;
    case Element::Bf16:
      value = fromBf16(get<uint16_t>(from, i));
      break;
    case Element::I32:
      value = get<int32_t>(from, i);
      break;
    case Element::I64:
      value = double(get<int64_t>(from, i));
      break;
    case Element::U8:
      value = get<uint8_t>(from, i);
      break;
    }
  }
  return values;
}

} // namespace tenon::emu
