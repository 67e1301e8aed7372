// span_corruption: T5's pre-training (Raffel et al. 2020, section 3.1.4; text-to-text-transfer-transformer,
// t5/data/preprocessors.py: random_spans_helper, random_spans_noise_mask, noise_span_to_unique_sentinel,
// nonnoise_span_to_unique_sentinel). Of a piece of the text each span of noise is one sentinel in the source, and in the target
// stands behind it.
#include "runtime/data/Corruption.h"
#include "runtime/data/Inputs.h"
#include <algorithm>

namespace tenon::data {

namespace {

enum : size_t { kSource, kSourceLength, kTarget, kTargetLength, kLabel };

class CorruptionTask : public DataTask {
public:
  CorruptionTask(const TaskSettings &settings, Vocabulary vocabulary) : settings(settings) { symbols = std::move(vocabulary); }

  Status read(std::string_view text) {
    const std::optional<int32_t> filling = symbols.special("pad"), found = symbols.special("eos");
    while (const auto sentinel = symbols.find(runtime::concat("<extra_id_", sentinels.size(), ">")))
      sentinels.push_back(*sentinel);
    if (!filling || !found || sentinels.empty())
      return inputError(
          "span_corruption puts <extra_id_0>, <extra_id_1> and so on in place of spans, ends rows with <eos> and fills "
          "them with <pad>, and the vocabulary has no ",
          sentinels.empty() ? "<extra_id_0>; take a model of sentencepiece with sentinels = 100"
          : filling         ? "<eos>"
                            : "<pad>");
    pad = *filling;
    end = *found;
    return tokenize(symbols, text, tokens);
  }

  std::vector<std::string> gives() const override { return inputsOf(settings.name); }

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = bindInputs(settings.name, givenBy(settings.name, symbols.size()), inputs, binding); status.failed())
      return status;
    if (binding.S == 0)
      return inputError("the entry does not read 'src', whose places say how long a piece of the text is");
    size = CorruptionSize::thatFits(binding.S, settings.rate, settings.meanSpan);
    if (size.symbols < 2)
      return inputError("S = ", binding.S, " has no room for two symbols, a sentinel and an end");
    if (binding.T > 0 && binding.T < size.target)
      return inputError("T = ", binding.T, " has no room for the targets of S = ", binding.S, ", which have ", size.target,
                        " symbols; bind T = ", size.target);
    if (size.spans > static_cast<int64_t>(sentinels.size()))
      return inputError("a piece of ", size.symbols, " symbols has ", size.spans, " spans, and the vocabulary ", sentinels.size(),
                        " sentinels");
    if (!settings.evaluation && pieces() < binding.B)
      return inputError("the text has ", tokens.size(), " symbols, which is less than the ", binding.B * size.symbols,
                        " of one batch of ", binding.B, " pieces of ", size.symbols);
    return tokens.size() > 0 ? Status() : inputError("the text has no symbols");
  }

  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    const Writer write(binding, inputs);
    const uint64_t count = batchesPerEpoch(), epoch = index / count;
    const Permutation order(settings.seed, epoch, static_cast<uint64_t>(pieces()));
    for (int64_t b = 0; b < binding.B; ++b) {
      const uint64_t rows = static_cast<uint64_t>(binding.B), row = static_cast<uint64_t>(b);
      const auto piece = static_cast<int64_t>(order(index % count * rows + row));
      writeRow(write, b, piece * size.symbols + shift(epoch), size.symbols, index * rows + row);
    }
    return {};
  }

  /// All pieces in their order, the last one shorter, with spans that are the same in each evaluation.
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override {
    const Writer write(binding, inputs);
    for (int64_t b = 0; b < inputs[0].shape[0]; ++b) {
      const int64_t piece = static_cast<int64_t>(index) * binding.B + std::min(b, validRows(index) - 1),
                    from = piece * size.symbols;
      writeRow(write, b, from, std::min(size.symbols, tokens.size() - from), static_cast<uint64_t>(piece));
    }
    return {};
  }
  uint64_t evaluationBatches() const override { return static_cast<uint64_t>((allPieces() + binding.B - 1) / binding.B); }
  int64_t validRows(uint64_t index) const override {
    return std::min(binding.B, allPieces() - static_cast<int64_t>(index) * binding.B);
  }
  Extent extent() const override { return {allPieces(), allPieces(), "rows"}; }
  uint64_t batchesPerEpoch() const override { return static_cast<uint64_t>(std::max<int64_t>(1, pieces() / binding.B)); }
  bool resetsBefore(uint64_t) const override { return true; }
  int64_t tokensPerBatch() const override { return binding.B * size.symbols; }

private:
  int64_t pieces() const { return tokens.size() / size.symbols; }
  int64_t allPieces() const { return (tokens.size() + size.symbols - 1) / size.symbols; }
  /// Later epochs cut the text elsewhere, as lm_blocks does.
  int64_t shift(uint64_t epoch) const {
    const auto slack = static_cast<uint64_t>(tokens.size() - pieces() * size.symbols);
    return epoch == 0 ? 0 : static_cast<int64_t>(RandomStream(settings.seed, Purpose::Shift, epoch).below(slack + 1));
  }

  void writeRow(const Writer &write, int64_t b, int64_t from, int64_t count, uint64_t sample) const {
    RandomStream random(settings.seed, Purpose::Mask, sample);
    std::vector<int32_t> source, target;
    int64_t at = from;
    size_t number = 0;
    for (const NoiseSpan &span : drawSpans(count, settings.rate, settings.meanSpan, random)) {
      for (int64_t i = 0; i < span.before && at < from + count; ++i)
        source.push_back(tokens[at++]);
      source.push_back(sentinels[number]);
      target.push_back(sentinels[number++]);
      for (int64_t i = 0; i < span.noise && at < from + count; ++i)
        target.push_back(tokens[at++]);
    }
    source.push_back(end);
    target.push_back(end);
    auto symbol = [&](const std::vector<int32_t> &row, int64_t place) {
      return place < static_cast<int64_t>(row.size()) ? row[static_cast<size_t>(place)] : pad;
    };
    for (int64_t s = 0; s < binding.S; ++s)
      write.integer(kSource, b * binding.S + s, symbol(source, s));
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kTarget, b * binding.T + t, t > 0 ? symbol(target, t - 1) : pad);
      write.integer(kLabel, b * binding.T + t, symbol(target, t));
    }
    write.integer(kSourceLength, b, static_cast<int64_t>(source.size()));
    write.integer(kTargetLength, b, static_cast<int64_t>(target.size()));
  }

  TaskSettings settings;
  Tokens tokens;
  Binding binding;
  CorruptionSize size;
  std::vector<int32_t> sentinels;
  int32_t pad = 0, end = 0;
};

} // namespace

Status makeCorruptionTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                          std::unique_ptr<DataTask> &result) {
  return readTask<CorruptionTask>(settings, text, std::move(vocabulary), result);
}

} // namespace tenon::data
