// arrays(ids = "ids.npy", label = "label.npy"): one file per input, whose first axis runs over the samples.
#include "runtime/base/Convert.h"
#include "runtime/data/ArrayColumns.h"
#include "runtime/data/Inputs.h"
#include "runtime/data/Random.h"
#include "runtime/data/RowTask.h"
#include "runtime/data/Streams.h"
#include <algorithm>
#include <functional>

namespace tenon::data {

using runtime::concat;
using runtime::counted;

namespace {

class ArraysTask : public RowTask {
public:
  using RowTask::RowTask;

  Status open() {
    if (Status status = columns.open(settings); status.failed())
      return status;
    names = columns.names();
    for (const Column &column : columns.all)
      if (column.rows() != columns.all[0].rows())
        return inputError(column.values.name(), " has ", counted(column.rows(), "row"), ", but ", columns.all[0].values.name(),
                          " has ", columns.all[0].rows());
    return setRows(columns.all[0].rows(), columns.all[0].values.name());
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = columns.find(inputs); status.failed())
      return status;
    if (Status status = columns.checkFixed(inputs); status.failed())
      return status;
    if (Status status = setBatch(inputs); status.failed())
      return status;
    said.clear();
    for (const Column &column : columns.all) {
      if (column.input < 0)
        continue;
      const InputTensor &input = inputs[static_cast<size_t>(column.input)];
      Status status = checkType(column.values, input);
      if (status.ok())
        status = checkShape(column.values, input, column.offsets ? 2 : 1, column.offsets ? "values" : "rows");
      if (status.ok() && column.length >= 0)
        status = checkLengths(inputs[static_cast<size_t>(column.length)], input);
      if (status.ok() && column.offsets)
        status = checkPadding(column, input);
      if (status.failed())
        return status;
    }
    if (Status status = columns.checkValues(inputs); status.failed())
      return status;
    return columns.areChecked() && part == Part::Training ? countClasses(inputs) : Status();
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> all = said;
    for (std::string &warning : classNotes())
      all.push_back(std::move(warning));
    return all;
  }
  bool isFixed(const std::string &input) const override { return columns.isFixed(input); }

private:
  /// Rows that are longer than the input are cut, which is said.
  Status checkPadding(const Column &column, const InputTensor &input) {
    if (input.bound >= 0 && column.setting->pad >= input.bound)
      return inputError("pad = ", column.setting->pad, " of '", input.name, "' is no value of that input, which takes 0 to ",
                        input.bound - 1);
    uint64_t longer = 0;
    if (Status status = column.countLonger(input.shape[1], longer); status.failed())
      return status;
    if (longer > 0)
      said.push_back(concat(counted(longer, "row"), " of ", column.values.name(), longer == 1 ? " is" : " are",
                            " longer than the ", input.shape[1], " places of '", input.name, "': only the ",
                            column.setting->left ? "end" : "beginning", " is read"));
    return {};
  }

  Status countClasses(const std::vector<InputTensor> &inputs) {
    counts = ClassCounts::of(inputs);
    std::erase_if(counts, [&](const ClassCounts &classes) { return isFixed(classes.input); });
    const std::vector<bool> held = counts.empty() ? std::vector<bool>() : heldOutRows();
    std::vector<int32_t> piece(uint64_t{1} << 18);
    for (ClassCounts &classes : counts) {
      const auto column = std::find_if(columns.all.begin(), columns.all.end(),
                                       [&](const Column &each) { return each.input == static_cast<int>(classes.position); });
      for (uint64_t first = 0; first < column->rows(); first += piece.size()) {
        const uint64_t size = std::min<uint64_t>(piece.size(), column->rows() - first);
        if (Status status = column->values.read(first, size, DataType::I32, piece.data()); status.failed())
          return status;
        for (uint64_t i = 0; i < size; ++i)
          if (!held[first + i])
            ++classes.rows[static_cast<size_t>(piece[i])];
      }
    }
    return {};
  }

  Status writeFixed(std::vector<InputTensor> &inputs) const override { return columns.writeFixed(inputs); }

  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    for (const Column &column : columns.all)
      if (Status status = column.offsets ? writeRagged(column, row, b, inputs) : writeWhole(column, row, b, inputs);
          status.failed())
        return status;
    return {};
  }

  Status writeWhole(const Column &column, uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const {
    if (column.input < 0)
      return {};
    const uint64_t count = column.values.elementsPerRow();
    return readInto(column.values, row * count, count, inputs[static_cast<size_t>(column.input)],
                    static_cast<uint64_t>(b) * count);
  }

  /// The row and padding behind it; of a row that is longer than the input, the beginning. At the left side the padding stands
  /// before it, and the end of a longer one is read: what came last, as in histories of a recommender.
  Status writeRagged(const Column &column, uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const {
    int64_t ends[2];
    if (Status status = column.offsets->read(row, 2, DataType::I64, ends); status.failed())
      return status;
    // They were in order when the file was opened, and it is read again for every batch.
    if (ends[0] < 0 || ends[1] < ends[0] || ends[1] > static_cast<int64_t>(column.values.rows()))
      return inputError(column.offsets->placeOf(row), " has changed since the file was opened: this row would lie at ", ends[0],
                        " .. ", ends[1], " of the ", column.values.rows(), " values of ", column.values.name());
    int64_t length = ends[1] - ends[0];
    if (column.input >= 0) {
      const InputTensor &input = inputs[static_cast<size_t>(column.input)];
      const uint64_t width = column.values.elementsPerRow(), places = static_cast<uint64_t>(input.shape[1]);
      length = std::min(length, input.shape[1]);
      const uint64_t used = static_cast<uint64_t>(length), at = static_cast<uint64_t>(b) * places * width;
      const bool left = column.setting->left;
      const uint64_t from = static_cast<uint64_t>(left ? ends[1] - length : ends[0]), padded = (places - used) * width;
      if (Status status = readInto(column.values, from * width, used * width, input, at + (left ? padded : 0)); status.failed())
        return status;
      pad(input, column.setting->pad, left ? at : at + used * width, padded);
    }
    if (column.length >= 0)
      static_cast<int32_t *>(inputs[static_cast<size_t>(column.length)].data)[b] = static_cast<int32_t>(length);
    return {};
  }

  static void pad(const InputTensor &input, int64_t value, uint64_t at, uint64_t count) {
    const int32_t whole = static_cast<int32_t>(value);
    std::vector<int32_t> values(count, whole);
    runtime::convertElements(DataType::I32, values.data(), count, input.type,
                             static_cast<char *>(input.data) + at * runtime::byteSize(input.type));
  }

  Columns columns;
  std::vector<std::string> said;
};

/// stream = true: the first axis of each file is time. B contiguous streams, segments of T, states carried over, as byte_stream
/// does it. Where the inputs have no batch axis the places are the rows of an evaluation: what its numbers are averages over.
class ArrayStreamTask : public DataTask {
public:
  ArrayStreamTask(const TaskSettings &settings, Part part) : settings(settings), part(part) {}

  Status open() {
    if (Status status = columns.open(settings); status.failed())
      return status;
    const ArrayFile &first = columns.all[0].values;
    for (const Column &column : columns.all) {
      if (column.offsets)
        return inputError("arrays(.., stream = true) reads one stream, so '", column.setting->input, "' cannot be ragged");
      if (column.rows() != first.rows())
        return inputError(column.values.name(), " has ", counted(column.rows(), "place"), ", but ", first.name(), " has ",
                          first.rows());
    }
    const uint64_t held = static_cast<uint64_t>(static_cast<double>(first.rows()) * settings.heldOut);
    begin = part == Part::HeldOut && settings.heldOut > 0 ? first.rows() - held : 0;
    count = settings.heldOut == 0 ? first.rows() : part == Part::HeldOut ? held : first.rows() - held;
    return {};
  }

  std::vector<std::string> gives() const override { return columns.names(); }

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = columns.find(inputs); status.failed())
      return status;
    if (Status status = columns.checkFixed(inputs); status.failed())
      return status;
    B = T = 0;
    hasRows = false;
    for (const Column &column : columns.all) {
      if (column.input < 0)
        continue;
      const InputTensor &input = inputs[static_cast<size_t>(column.input)];
      const size_t skipped = input.shape.size() > column.values.shape().size() ? 2 : 1; // [B, T, ..] or [T, ..]
      Status status = checkType(column.values, input);
      if (status.ok())
        status = checkShape(column.values, input, skipped, "places");
      if (status.failed())
        return status;
      const int64_t rows = skipped == 2 ? input.shape[0] : 1, places = input.shape[skipped - 1];
      if (B != 0 && (rows != B || places != T))
        return inputError("the input '", input.name, "' has ", rows, " rows of ", places, " places where other inputs have ", B,
                          " of ", T);
      B = rows;
      T = places;
      hasRows |= skipped == 2;
    }
    if (B == 0)
      return inputError("the entry reads no input, so arrays has nothing to give");
    rowLength = static_cast<int64_t>(count) / B;
    perRow = rowLength / T;
    if (perRow < 1)
      return inputError(columns.all[0].values.name(), " has ", count, " places for this, less than the ", B * T,
                        " of one batch of ", counted(static_cast<uint64_t>(B), "row"), " of ", T);
    even = {static_cast<int64_t>(count), B};
    return columns.checkValues(inputs);
  }

  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    const uint64_t epoch = index / batchesPerEpoch();
    const uint64_t slack = static_cast<uint64_t>(rowLength - perRow * T);
    const int64_t shift =
        epoch == 0 ? 0 : static_cast<int64_t>(RandomStream(settings.seed, Purpose::Shift, epoch).below(slack + 1));
    const int64_t from = static_cast<int64_t>(index % batchesPerEpoch()) * T + shift;
    return write([&](int64_t row) { return row * rowLength + from; }, T, inputs);
  }
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override {
    return write([&](int64_t row) { return even.begin(row) + static_cast<int64_t>(index) * T; }, placesOf(index), inputs);
  }
  uint64_t batchesPerEpoch() const override { return static_cast<uint64_t>(perRow); }
  uint64_t evaluationBatches() const override { return static_cast<uint64_t>((even.length() + T - 1) / T); }
  int64_t validRows(uint64_t index) const override { return hasRows ? B : placesOf(index); }
  int64_t validPlaces(uint64_t index) const override { return hasRows ? placesOf(index) : -1; }
  int64_t firstPlace(uint64_t index, int64_t row) const override { return hasRows && index == 0 && even.startsEarly(row); }
  int64_t covers(uint64_t index) const override { return hasRows ? -1 : placesOf(index); }
  bool resetsBefore(uint64_t index) const override { return index % batchesPerEpoch() == 0; }
  bool resetsInEvaluation(uint64_t index) const override { return index == 0; }
  int64_t tokensPerBatch() const override { return B * T; }
  bool isFixed(const std::string &input) const override { return columns.isFixed(input); }
  Extent extent() const override { return {static_cast<int64_t>(count), static_cast<int64_t>(count), "places"}; }

private:
  /// Of each row in batch `index` of an evaluation.
  int64_t placesOf(uint64_t index) const { return std::min(T, even.length() - static_cast<int64_t>(index) * T); }

  /// `valid` places of each row from `beginOf` on, then the last of them again where the tensors have more.
  Status write(const std::function<int64_t(int64_t row)> &beginOf, int64_t valid, std::vector<InputTensor> &inputs) const {
    if (Status status = columns.writeFixed(inputs); status.failed())
      return status;
    for (const Column &column : columns.all) {
      if (column.input < 0)
        continue;
      const InputTensor &input = inputs[static_cast<size_t>(column.input)];
      const uint64_t width = column.values.elementsPerRow();
      const int64_t places = input.shape[input.shape.size() > column.values.shape().size() ? 1 : 0];
      for (int64_t b = 0; b < B; ++b)
        for (int64_t t = 0; t < places; t += t < valid ? valid : 1) {
          const uint64_t at = begin + static_cast<uint64_t>(beginOf(b) + std::min(t, valid - 1));
          const uint64_t length = static_cast<uint64_t>(t < valid ? valid : 1);
          if (Status status =
                  readInto(column.values, at * width, length * width, input, static_cast<uint64_t>(b * places + t) * width);
              status.failed())
            return status;
        }
    }
    return {};
  }

  TaskSettings settings;
  Part part;
  Columns columns;
  uint64_t begin = 0, count = 0; // places of this part
  int64_t B = 0, T = 0, rowLength = 0, perRow = 0;
  bool hasRows = false; // the inputs are [B, T, ..], not [T, ..]
  EvenRows even;        // of an evaluation
};

template <typename Task> Status make(const TaskSettings &settings, Part part, std::unique_ptr<DataTask> &result) {
  auto task = std::make_unique<Task>(settings, part);
  if (Status status = task->open(); status.failed())
    return status;
  result = std::move(task);
  return {};
}

} // namespace

Status makeArraysTask(const TaskSettings &settings, Part part, std::unique_ptr<DataTask> &result) {
  return settings.stream ? make<ArrayStreamTask>(settings, part, result) : make<ArraysTask>(settings, part, result);
}

} // namespace tenon::data
