// byte_stream, char_stream, lm_stream: B contiguous streams of the text, segments of T, the target one symbol later (Dai et al.
// 2019, data_utils.LMOrderedIterator). lm_blocks: blocks of T in a random order, without anything carried over.
#include "runtime/data/Inputs.h"
#include "runtime/data/Random.h"
#include "runtime/data/Streams.h"
#include <algorithm>

namespace tenon::data {

namespace {

enum : size_t { kIds, kTarget, kLen }; // kLen: of lm_blocks

class StreamTask : public DataTask {
public:
  StreamTask(const TaskSettings &settings, Vocabulary vocabulary) : settings(settings) { symbols = std::move(vocabulary); }
  Status read(std::string_view text) { return tokenize(symbols, text, tokens); }

  std::vector<std::string> gives() const override { return inputsOf(settings.name); }

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = bindInputs(settings.name, givenBy(settings.name, symbols.size()), inputs, binding); !status.ok())
      return status;
    if (binding.T == 0)
      return inputError("the entry reads neither 'ids' nor 'target', which is all that " + settings.name + " gives");
    // The place after a segment is its last target; without a target the stream may end with the segment.
    ahead = binding.at[kTarget] >= 0 ? 1 : 0;
    rowLength = tokens.size() / (blocks() ? 1 : binding.B);
    perRow = std::max<int64_t>(0, rowLength - ahead) / binding.T;
    places = tokens.size() - ahead;
    rows = {places, binding.B};
    if (settings.evaluation)
      return tokens.size() > 1
                 ? Status()
                 : inputError("the text has ", runtime::counted(tokens.size(), "symbol"), ", and an evaluation needs 2");
    if (perRow < 1 || (blocks() && perRow < binding.B))
      return inputError("the text has " + std::to_string(tokens.size()) + " symbols, which is less than the " +
                        std::to_string(blocks() ? binding.B * binding.T + ahead : binding.B * (binding.T + ahead)) +
                        " of one batch of " + std::to_string(binding.B) + " rows of " + std::to_string(binding.T));
    return {};
  }

  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    Writer write(binding, inputs);
    for (int64_t b = 0; b < binding.B; ++b) {
      int64_t from = blocks() ? blockBegin(index, b) : b * rowLength + segmentBegin(index);
      writeRow(write, b, binding.T, from, binding.T);
    }
    return {};
  }

  // An evaluation of streams: rows of one length, which together predict each symbol once. What is left behind whole batches is a
  // part of a segment in each row. Of blocks: blocks for fewer rows, then a part of a block.
  uint64_t evaluationBatches() const override {
    return static_cast<uint64_t>(blocks() ? perRow / binding.B + (restRows() > 0) + (restPlaces() > 0)
                                          : (rows.length() + binding.T - 1) / binding.T);
  }
  int64_t validRows(uint64_t index) const override {
    if (!blocks() || static_cast<int64_t>(index) < perRow / binding.B)
      return binding.B;
    return restRows() > 0 && static_cast<int64_t>(index) == perRow / binding.B ? restRows() : 1;
  }
  int64_t validPlaces(uint64_t index) const override { return isPart(index) ? restPlaces() : binding.T; }
  int64_t firstPlace(uint64_t index, int64_t row) const override { return !blocks() && index == 0 && rows.startsEarly(row); }
  bool tellsLengths() const override { return blocks() && binding.at[kLen] >= 0; }
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override {
    const std::vector<int64_t> &shape = inputs[static_cast<size_t>(binding.at[binding.at[kIds] >= 0 ? kIds : kTarget])].shape;
    Writer write(binding, inputs);
    for (int64_t b = 0; b < shape.front(); ++b) {
      const int64_t at = static_cast<int64_t>(index), row = std::min(b, validRows(index) - 1);
      const int64_t block = isPart(index) ? perRow : at * binding.B + row;
      writeRow(write, b, shape.back(), blocks() ? block * binding.T : rows.begin(row) + at * binding.T, validPlaces(index));
    }
    return {};
  }
  bool resetsInEvaluation(uint64_t index) const override { return blocks() || index == 0; }
  Extent extent() const override { return {places, tokens.size(), "symbols"}; }

  uint64_t batchesPerEpoch() const override {
    return static_cast<uint64_t>(std::max<int64_t>(1, blocks() ? perRow / binding.B : perRow));
  }
  bool resetsBefore(uint64_t index) const override { return blocks() || index % batchesPerEpoch() == 0; }
  int64_t tokensPerBatch() const override { return binding.B * binding.T; }
  bool perCharacter() const override { return symbols.isOfCharacters(); }

private:
  bool blocks() const { return settings.name == "lm_blocks"; }

  int64_t restRows() const { return perRow % binding.B; } // of blocks
  int64_t restPlaces() const { return (blocks() ? places : rows.length()) % binding.T; }
  /// The batch of an evaluation that is shorter than T.
  bool isPart(uint64_t index) const { return restPlaces() > 0 && index + 1 == evaluationBatches(); }

  /// Row `b` of tensors with `length` places: `valid` symbols from `from` on, then the last of them again.
  void writeRow(const Writer &write, int64_t b, int64_t length, int64_t from, int64_t valid) const {
    for (int64_t t = 0; t < length; ++t) {
      const int64_t place = from + std::min(t, valid - 1);
      write.integer(kIds, b * length + t, tokens[place]);
      if (ahead)
        write.integer(kTarget, b * length + t, tokens[place + 1]);
    }
    if (blocks())
      write.integer(kLen, b, valid);
  }

  /// Later epochs start at another place inside the first segment, so that segment borders move.
  int64_t shift(uint64_t epoch) const {
    uint64_t slack = static_cast<uint64_t>(rowLength - ahead - perRow * binding.T);
    return epoch == 0 ? 0 : static_cast<int64_t>(RandomStream(settings.seed, Purpose::Shift, epoch).below(slack + 1));
  }
  int64_t segmentBegin(uint64_t index) const {
    uint64_t count = batchesPerEpoch();
    return static_cast<int64_t>(index % count) * binding.T + shift(index / count);
  }
  int64_t blockBegin(uint64_t index, int64_t row) const {
    uint64_t count = batchesPerEpoch(), epoch = index / count;
    Permutation order(settings.seed, epoch, static_cast<uint64_t>(perRow));
    uint64_t block = order((index % count) * static_cast<uint64_t>(binding.B) + static_cast<uint64_t>(row));
    return static_cast<int64_t>(block) * binding.T + shift(epoch);
  }

  TaskSettings settings;
  Tokens tokens;
  Binding binding;
  int64_t ahead = 1, rowLength = 0, perRow = 0;
  int64_t places = 0; // that predict, of the whole text
  EvenRows rows;      // of an evaluation of streams
};

} // namespace

Status makeStreamTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                      std::unique_ptr<DataTask> &result) {
  return readTask<StreamTask>(settings, text, std::move(vocabulary), result);
}

} // namespace tenon::data
