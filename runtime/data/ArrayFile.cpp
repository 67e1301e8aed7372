#include "runtime/data/ArrayFile.h"
#include "runtime/base/Checked.h"
#include "runtime/base/Convert.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Safetensors.h"
#include <cmath>

namespace tenon::data {

using runtime::DataType;
using runtime::Expected;
using runtime::inputError;
using runtime::Status;

namespace {

constexpr uint64_t kHeaderBytes = 1 << 16;
constexpr std::string_view kSafetensors = ".safetensors";

/// Path and tensor of "file.safetensors:tensor"; without a tensor the text is the path of a .npy file.
std::pair<std::string, std::string> splitPlace(const std::string &place) {
  const size_t end = place.find(std::string(kSafetensors) + ":");
  if (end == std::string::npos)
    return {place, ""};
  return {place.substr(0, end + kSafetensors.size()), place.substr(end + kSafetensors.size() + 1)};
}

Status findTensor(const std::string &path, const std::string &tensor, DataType &type, std::vector<uint64_t> &shape,
                  uint64_t &start) {
  auto file = runtime::SafetensorsFile::open(path);
  if (!file.ok())
    return file.status();
  const runtime::SafetensorsEntry *entry = file->find(tensor);
  if (!entry) {
    std::string names;
    for (const runtime::SafetensorsEntry &each : file->entries())
      names += runtime::concat(names.empty() ? "" : ", ", each.name);
    return inputError(path, " has no tensor '", tensor, "'; it has ", names.empty() ? "none" : names.substr(0, 400));
  }
  type = entry->type;
  shape = entry->shape;
  start = file->dataStart(*entry) + entry->begin;
  return {};
}

} // namespace

std::string pathIn(const std::string &folder, const std::string &path) {
  return folder.empty() || path.empty() || path[0] == '/' ? path : folder + "/" + path;
}

Expected<ArrayFile> ArrayFile::open(const std::string &place, const std::string &folder) {
  auto [path, tensor] = splitPlace(pathIn(folder, place));
  if (tensor.empty() && path.ends_with(kSafetensors))
    return inputError(path, ": which tensor? write \"", place, ":NAME\"");
  uint64_t size = 0;
  auto file = runtime::File::openForReading(path, size);
  if (!file.ok())
    return file.status();
  ArrayFile array;
  array.shown = tensor.empty() ? path : path + ":" + tensor;
  if (!tensor.empty()) {
    if (Status status = findTensor(path, tensor, array.element, array.sizes, array.start); status.failed())
      return status;
  } else {
    std::string head(std::min(size, kHeaderBytes), '\0');
    if (Status status = file->readAt(0, head.data(), head.size()); status.failed())
      return status;
    auto header = runtime::parseNpyHeader(head, size);
    if (!header.ok())
      return inputError("cannot read ", path, ": ", header.status().message());
    array.element = header->type;
    array.sizes = header->shape;
    array.start = header->dataStart;
  }
  for (size_t i = 1; i < array.sizes.size(); ++i) // the reader of the header has checked the product
    array.perRow *= array.sizes[i];
  array.file = file.take();
  return array;
}

uint64_t ArrayFile::bytes() const { return (sizes.empty() ? 1 : sizes[0] * perRow) * runtime::byteSize(element); }

std::string ArrayFile::placeOf(uint64_t index) const {
  if (sizes.empty() || perRow == 0)
    return shown;
  std::string text = runtime::concat(shown, ": row ", index / perRow);
  return sizes.size() == 1 ? text : text + ", element " + runtime::placeText(index % perRow, std::span(sizes).subspan(1));
}

Status ArrayFile::read(uint64_t first, uint64_t count, DataType to, void *target) const {
  const uint64_t width = runtime::byteSize(element);
  if (element == to && element != DataType::Bool) {
    Status status = file.readAt(start + first * width, target, count * width);
    return status.ok() ? checkNumbers(first, count, to, target) : status;
  }
  std::vector<char> raw(count * width);
  if (Status status = file.readAt(start + first * width, raw.data(), raw.size()); status.failed())
    return status;
  if (auto wrong = runtime::convertElements(element, raw.data(), count, to, target))
    return inputError(placeOf(first + wrong->index), " ", wrong->what);
  return checkNumbers(first, count, to, target);
}

/// What is no finite number would make every loss after it none.
Status ArrayFile::checkNumbers(uint64_t first, uint64_t count, DataType type, const void *values) const {
  if (!runtime::isReal(type))
    return {};
  for (uint64_t i = 0; i < count; ++i) {
    const double value = runtime::numberAt(type, values, i);
    if (!std::isfinite(value))
      return inputError(placeOf(first + i), std::isnan(value) ? " is nan, not a number"
                                            : value > 0       ? " is inf, not a finite number"
                                                              : " is -inf, not a finite number");
  }
  return {};
}

} // namespace tenon::data
