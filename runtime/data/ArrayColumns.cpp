#include "runtime/data/ArrayColumns.h"
#include "runtime/base/Convert.h"
#include "runtime/data/RowTask.h"
#include "runtime/files/Npy.h"
#include <algorithm>
#include <span>

namespace tenon::data {

using runtime::concat;

namespace {

/// Files together smaller than this are checked whole before the first step, so that a wrong label is found at once; of larger
/// ones every row is checked when it is read.
constexpr uint64_t kCheckedBytes = uint64_t{1} << 30;
constexpr uint64_t kPieceBytes = uint64_t{1} << 20;

std::span<const uint64_t> restOf(const ArrayFile &file) { return std::span(file.shape()).subspan(1); }

/// Calls visit(index, place) for every offset.
template <typename Visit> Status eachOffset(const ArrayFile &offsets, Visit visit) {
  std::vector<int64_t> piece(kPieceBytes / 8);
  for (uint64_t first = 0; first < offsets.rows(); first += piece.size()) {
    const uint64_t count = std::min<uint64_t>(piece.size(), offsets.rows() - first);
    if (Status status = offsets.read(first, count, DataType::I64, piece.data()); status.failed())
      return status;
    for (uint64_t i = 0; i < count; ++i)
      if (Status status = visit(first + i, piece[i]); status.failed())
        return status;
  }
  return {};
}

uint64_t elementsOf(const ArrayFile &file) { return file.bytes() / runtime::byteSize(file.type()); }

/// Every value of a file, against the input that it is for.
Status checkAll(const ArrayFile &file, InputTensor input) {
  const uint64_t piece = kPieceBytes / 8, all = elementsOf(file);
  std::vector<double> memory(piece);
  input.data = memory.data();
  for (uint64_t first = 0; first < all; first += piece)
    if (Status status = readInto(file, first, std::min(piece, all - first), input, 0); status.failed())
      return status;
  return {};
}

Status checkOffsets(const Column &column) {
  const ArrayFile &file = *column.offsets;
  if (file.shape().size() != 1 || file.rows() < 2 || !runtime::convertible(file.type(), DataType::I64))
    return inputError(file.name(), " has the shape ", runtime::shapeText(file.shape()), " and holds ", nameOf(file.type()),
                      " values; offsets are whole numbers, one more than there are rows");
  int64_t before = 0;
  Status status = eachOffset(*column.offsets, [&](uint64_t index, int64_t place) {
    const bool wrong = (index == 0 && place != 0) || place < before || place > static_cast<int64_t>(column.values.rows());
    before = place;
    return wrong ? inputError(file.placeOf(index), " holds ", place, "; offsets begin with 0, never fall, and end within the ",
                              column.values.rows(), " values of ", column.values.name())
                 : Status();
  });
  if (status.failed())
    return status;
  return before == static_cast<int64_t>(column.values.rows())
             ? Status()
             : inputError(file.name(), " ends with ", before, ", but ", column.values.name(), " has ", column.values.rows(),
                          " values");
}

} // namespace

Status Column::countLonger(int64_t places, uint64_t &longer) const {
  int64_t before = 0;
  return eachOffset(*offsets, [&](uint64_t, int64_t place) {
    longer += place - before > places;
    before = place;
    return Status();
  });
}

Status checkType(const ArrayFile &file, const InputTensor &input) {
  if (runtime::convertible(file.type(), input.type))
    return {};
  return inputError(file.name(), " holds ", nameOf(file.type()), " values, but the input '", input.name, "' takes ",
                    input.type == DataType::Bool  ? "truth values (bool)"
                    : input.type == DataType::I32 ? "whole numbers (i32, or any type of whole numbers)"
                                                  : "numbers of any type");
}

Status checkShape(const ArrayFile &file, const InputTensor &input, size_t skipped, const char *first) {
  std::vector<uint64_t> expected(input.shape.begin() + static_cast<int64_t>(std::min(skipped, input.shape.size())),
                                 input.shape.end());
  const std::span<const uint64_t> found = restOf(file);
  if (input.shape.size() >= skipped && std::equal(found.begin(), found.end(), expected.begin(), expected.end()))
    return {};
  std::string wanted;
  for (uint64_t size : expected)
    wanted += concat(", ", size);
  return inputError(file.name(), " has the shape ", runtime::shapeText(file.shape()), ", but the input '", input.name,
                    "' takes [", first, wanted, "]");
}

Status readInto(const ArrayFile &file, uint64_t first, uint64_t count, const InputTensor &input, uint64_t at) {
  char *target = static_cast<char *>(input.data) + at * runtime::byteSize(input.type);
  if (Status status = file.read(first, count, input.type, target); status.failed())
    return status;
  if (input.type != DataType::I32)
    return {};
  int64_t wrong = 0;
  const std::string what = outOfRange(input, reinterpret_cast<const int32_t *>(target), static_cast<int64_t>(count), wrong);
  return what.empty() ? Status() : inputError(file.placeOf(first + static_cast<uint64_t>(wrong)), " ", what);
}

Status Columns::open(const TaskSettings &settings) {
  for (const SourceSetting &source : settings.sources) {
    auto values = ArrayFile::open(source.file, settings.folder);
    if (!values.ok())
      return values.status();
    if (source.fixed) {
      fixed.push_back({&source, values.take(), std::nullopt});
      continue;
    }
    if (values->shape().empty())
      return inputError(
          values->name(),
          " is a single number; the first axis of a file runs over the samples; fixed(\"FILE.npy\") is the same in every batch");
    Column column{&source, values.take(), std::nullopt};
    if (!source.offsets.empty()) {
      auto offsets = ArrayFile::open(source.offsets, settings.folder);
      if (!offsets.ok())
        return offsets.status();
      column.offsets = offsets.take();
      if (Status status = checkOffsets(column); status.failed())
        return status;
    }
    all.push_back(std::move(column));
  }
  return all.empty() ? inputError("arrays needs a file for each input, such as arrays(ids = \"ids.npy\")") : Status();
}

std::vector<std::string> Columns::names() const {
  std::vector<std::string> result;
  for (const Column &column : all) {
    result.push_back(column.setting->input);
    if (column.offsets)
      result.push_back(column.setting->input + "_len");
  }
  for (const Column &column : fixed)
    result.push_back(column.setting->input);
  return result;
}

Status Columns::find(const std::vector<InputTensor> &inputs) {
  for (std::vector<Column> *columns : {&all, &fixed})
    for (Column &column : *columns)
      column.input = column.length = -1;
  std::vector<std::string> offsets;
  for (const Column &column : all)
    if (column.offsets)
      offsets.push_back(column.setting->offsets);
  const bool same = std::adjacent_find(offsets.begin(), offsets.end(), std::not_equal_to<>()) == offsets.end();
  for (size_t i = 0; i < inputs.size(); ++i) {
    auto own =
        std::find_if(all.begin(), all.end(), [&](const Column &column) { return column.setting->input == inputs[i].name; });
    auto lengths = std::find_if(all.begin(), all.end(), [&](const Column &column) {
      return column.offsets && takesLengths(inputs[i].name, column.setting->input, same);
    });
    if (auto whole = std::find_if(fixed.begin(), fixed.end(),
                                  [&](const Column &column) { return column.setting->input == inputs[i].name; });
        whole != fixed.end()) {
      whole->input = static_cast<int>(i);
      continue;
    }
    if (own == all.end() && lengths == all.end())
      return inputError("the entry reads '", inputs[i].name, "', for which arrays(..) names no file; add ", inputs[i].name,
                        " = \"FILE.npy\"");
    (own != all.end() ? own->input : lengths->length) = static_cast<int>(i);
  }
  return {};
}

bool Columns::areChecked() const {
  uint64_t bytes = 0;
  for (const Column &column : all)
    bytes += column.values.bytes();
  return bytes <= kCheckedBytes;
}

Status Columns::checkValues(const std::vector<InputTensor> &inputs) const {
  const bool checked = areChecked();
  for (const Column &column : all)
    if (column.input >= 0 && checked)
      if (Status status = checkAll(column.values, inputs[static_cast<size_t>(column.input)]); status.failed())
        return status;
  return {};
}

bool Columns::isFixed(const std::string &input) const {
  return std::any_of(fixed.begin(), fixed.end(), [&](const Column &column) { return column.setting->input == input; });
}

Status Columns::checkFixed(const std::vector<InputTensor> &inputs) const {
  for (const Column &column : fixed) {
    if (column.input < 0)
      continue;
    const InputTensor &input = inputs[static_cast<size_t>(column.input)];
    if (Status status = checkType(column.values, input); status.failed())
      return status;
    const std::vector<uint64_t> wanted(input.shape.begin(), input.shape.end());
    if (column.values.shape() != wanted)
      return inputError(column.values.name(), " has the shape ", runtime::shapeText(column.values.shape()), ", but the input '",
                        input.name, "' takes ", runtime::shapeText(wanted), ", for it is fixed");
    if (Status status = checkAll(column.values, input); status.failed())
      return status;
  }
  return {};
}

Status Columns::writeFixed(std::vector<InputTensor> &inputs) const {
  for (const Column &column : fixed)
    if (column.input >= 0)
      if (Status status = readInto(column.values, 0, elementsOf(column.values), inputs[static_cast<size_t>(column.input)], 0);
          status.failed())
        return status;
  return {};
}

} // namespace tenon::data
