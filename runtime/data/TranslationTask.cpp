// translation(source = "a.en", target = "a.de"): parallel texts, line i of one being line i of the other, as rows of an encoder
// and of a decoder (Vaswani et al. 2017; tensor2tensor, data_generators/text_problems.py and layers/common_layers.py,
// shift_right): what the decoder reads is what it is to say, one place later, behind the filling symbol.
#include "runtime/data/Inputs.h"
#include "runtime/data/LengthBatches.h"
#include "runtime/data/ParallelLines.h"
#include "runtime/data/RowTask.h"
#include <algorithm>

namespace tenon::data {

using runtime::concat;
using runtime::counted;

namespace {

enum : size_t { kSource, kSourceLength, kTarget, kTargetLength, kLabel };

class TranslationTask : public RowTask {
public:
  using RowTask::RowTask;

  Status open(const Vocabulary *known) {
    names = inputsOf("translation");
    if (known)
      symbols = *known;
    else if (!settings.vocabulary.empty())
      if (Status status = readSymbols(settings, symbols); status.failed())
        return status;
    auto marks = marksOf(symbols, settings.vocabulary);
    if (!marks.ok())
      return marks.status();
    pad = marks->pad;
    end = marks->end;
    if (Status status = readParallel(settings, symbols, marks->all(), source, target); status.failed())
      return status;
    Status status = setRows(source.count(), concat("'", source.path, "'"));
    return status.ok() && settings.tokens > 0 ? sortByLength() : status;
  }

  std::vector<BatchSize> sizes() const override { return chosen; }
  size_t sizeOf(uint64_t index) const override { return chosen.size() > 1 ? batches.groupOf(settings.seed, index) : 0; }
  uint64_t batchesPerEpoch() const override { return sorts() ? batches.batches() : RowTask::batchesPerEpoch(); }
  int64_t tokensPerBatch() const override { return sorts() ? settings.tokens : RowTask::tokensPerBatch(); }
  int64_t tokensIn(uint64_t index) const override {
    if (!sorts())
      return RowTask::tokensIn(index);
    const BatchSize &size = chosen[sizeOf(index)];
    return size.rows * std::max(size.source, size.target);
  }

  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    if (!sorts())
      return RowTask::fill(index, inputs);
    const int64_t count = chosen[sizeOf(index)].rows;
    for (int64_t b = 0; b < count; ++b) {
      const uint64_t place = batches.row(settings.seed, index, static_cast<uint64_t>(b));
      if (Status status = writeRow(rowAt(place), b, inputs); status.failed())
        return status;
    }
    return {};
  }

  std::vector<std::string> summary() const override {
    std::vector<std::string> lines = RowTask::summary();
    if (!sorts())
      return lines;
    std::string list;
    for (const BatchSize &size : chosen)
      list += concat(list.empty() ? "" : ", ", size.batches, " of ", size.rows, " x ", std::max(size.source, size.target));
    lines.push_back(concat("batches by length, of up to ", settings.tokens, " tokens on each side: in an epoch ", list));
    return lines;
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    Status status = bindInputs("translation", givenBy("translation", symbols.size()), inputs, binding);
    if (status.ok())
      status = setBatch(inputs);
    const std::pair<size_t, size_t> lengths[] = {{kSourceLength, kSource}, {kTargetLength, kTarget}};
    for (auto [length, of] : lengths)
      if (status.ok() && binding.at[length] >= 0 && binding.at[of] >= 0)
        status = checkLengths(inputs[static_cast<size_t>(binding.at[length])], inputs[static_cast<size_t>(binding.at[of])]);
    return status;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> result;
    const bool chooses = settings.tokens > 0;
    for (auto [side, places, axis] : {std::tuple(&source, chooses ? settings.sourcePlaces : binding.S, "S"),
                                      std::tuple(&target, chooses ? settings.targetPlaces : binding.T, "T")}) {
      uint64_t longer = 0;
      for (uint64_t line = 0; line < side->count(); ++line)
        longer += places > 0 && side->length(line) + 1 > places;
      if (longer > 0)
        result.push_back(concat(counted(longer, "line"), " of ", side->path, longer == 1 ? " has" : " have", " more than ",
                                places - 1, " symbols and an end, which is all that ", axis, " = ", places,
                                " has room for: only the beginning is read"));
    }
    if (pad != 0 && binding.at[kLabel] >= 0 && part == Part::Training)
      result.push_back(concat("<pad> is the symbol ", pad, ": a loss leaves it out by `label != ", pad,
                              "`; `label != 0` leaves out another symbol, and counts the filling"));
    return result;
  }

private:
  /// Batches of a training are of one length each.
  bool sorts() const { return settings.tokens > 0 && part == Part::Training; }

  /// Places of a row with its end, on the longer side.
  int64_t lengthOf(uint64_t row) const {
    return std::max(std::min(source.length(row) + 1, settings.sourcePlaces),
                    std::min(target.length(row) + 1, settings.targetPlaces));
  }

  /// An evaluation has one size, for its longest row: its numbers are those of all rows as one batch anyway.
  Status sortByLength() {
    const int64_t greatest = std::max(settings.sourcePlaces, settings.targetPlaces);
    std::vector<int64_t> lengths(rows());
    for (uint64_t place = 0; place < rows(); ++place)
      lengths[place] = lengthOf(rowAt(place));
    auto add = [&](int64_t length, int64_t count, uint64_t number) {
      chosen.push_back({count, std::min(length, settings.sourcePlaces), std::min(length, settings.targetPlaces), number});
    };
    if (!sorts()) {
      const std::vector<int64_t> all = batchLengths(greatest);
      const int64_t longest = *std::lower_bound(all.begin(), all.end(), *std::max_element(lengths.begin(), lengths.end()));
      add(longest, rowsFor(settings.tokens, longest, 1), 0);
      return {};
    }
    if (Status status = batches.make(lengths, greatest, settings.tokens, settings.rowMultiple); status.failed())
      return status.in(settings.name);
    for (const LengthBatches::Group &group : batches.groups())
      add(group.length, group.rows, group.batches);
    return {};
  }

  /// Of a row in a tensor; batches of one length each are filled into tensors of several sizes.
  int64_t placesOf(std::initializer_list<size_t> given, const std::vector<InputTensor> &inputs) const {
    for (size_t one : given)
      if (binding.at[one] >= 0) {
        const InputTensor &input = inputs[static_cast<size_t>(binding.at[one])];
        return input.elements() / input.shape[0];
      }
    return 0;
  }

  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    const Writer write(binding, inputs);
    const int64_t S = placesOf({kSource}, inputs), T = placesOf({kTarget, kLabel}, inputs);
    const int64_t from = std::min(source.length(row), S - 1), to = std::min(target.length(row), T - 1);
    for (int64_t s = 0; s < S; ++s)
      write.integer(kSource, b * S + s, s < from ? source.at(row, s) : s == from ? end : pad);
    for (int64_t t = 0; t < T; ++t) {
      write.integer(kTarget, b * T + t, t > 0 && t <= to ? target.at(row, t - 1) : pad);
      write.integer(kLabel, b * T + t, t < to ? target.at(row, t) : t == to ? end : pad);
    }
    write.integer(kSourceLength, b, from + 1);
    write.integer(kTargetLength, b, to + 1);
    return {};
  }

  Lines source, target;
  Binding binding;
  LengthBatches batches;         // of a training with `tokens`
  std::vector<BatchSize> chosen; // with `tokens`
  int32_t pad = 0, end = 1;
};

} // namespace

Status makeTranslationTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<TranslationTask>(settings, part, known, result);
}

} // namespace tenon::data
