// permutation_lm: XLNet's pre-training data (Yang et al. 2019; zihangdai/xlnet, data_utils.py: _split_a_and_b, _sample_mask,
// _local_perm). The factorization order goes out as one rank per token instead of a mask matrix: -1 is given, then 0, 1, ...; the
// second part goes on after the first. `content sees j iff rank[j] <= rank[i]`, `query sees j iff rank[j] < rank[i]` are exactly
// the masks of _local_perm.
#include "runtime/data/Inputs.h"
#include "runtime/data/Random.h"
#include <algorithm>

namespace tenon::data {

namespace {

enum : size_t { kIds, kSeg, kRank, kBack, kAt, kWord, kWeight, kLabel };

/// One row of tokens with sentence borders, read forwards or backwards.
class Row {
public:
  Row(const Sentences &text, int64_t begin, int64_t length, bool back) : text(text), begin(begin), length(length), back(back) {}
  int64_t size() const { return length; }
  int32_t operator[](int64_t i) const { return text.tokens[place(i)]; }
  /// The first token from i >= 1 on that begins a sentence in the order of the row; size() where none does.
  int64_t borderFrom(int64_t i) const {
    const auto &all = text.begins;
    const int64_t at = back ? begin + length - *(std::upper_bound(all.begin(), all.end(), begin + length - i) - 1)
                            : *std::lower_bound(all.begin(), all.end(), begin + i) - begin;
    return std::min(at, length);
  }
  /// The last one up to i, or 0.
  int64_t borderUpTo(int64_t i) const {
    const auto &all = text.begins;
    const int64_t at = back ? begin + length - *std::lower_bound(all.begin(), all.end(), begin + length - i)
                            : *(std::upper_bound(all.begin(), all.end(), begin + i) - 1) - begin;
    return std::max<int64_t>(at, 0);
  }

private:
  int64_t place(int64_t i) const { return back ? begin + length - 1 - i : begin + i; }
  const Sentences &text;
  int64_t begin, length;
  bool back;
};

struct Pair {
  int64_t aBegin, aEnd, bBegin, bEnd;
  bool follows;
};

/// A from `begin` on, B behind it or from anywhere, together `total` tokens, cut at ends of sentences and then trimmed on the
/// right of the longer.
Pair splitPair(const Row &row, int64_t begin, int64_t total, RandomStream &random) {
  std::vector<int64_t> cuts;
  int64_t end = row.borderFrom(begin + 1);
  for (; end < row.size() && end - begin < total; end = row.borderFrom(end + 1))
    cuts.push_back(end);
  Pair pair{begin, end, end, end, true};
  if (!cuts.empty())
    pair.aEnd = cuts[random.below(cuts.size())];
  if (cuts.empty() || random.uniform() < 0.5) {
    pair.follows = false;
    int64_t length = std::max<int64_t>(1, total - (pair.aEnd - pair.aBegin));
    pair.bBegin = random.between(0, row.size() - 1 - length);
    pair.bEnd = pair.bBegin + length;
    pair.bBegin = row.borderUpTo(pair.bBegin);
    pair.bEnd = std::min(row.borderFrom(pair.bEnd), row.size() - 1);
  } else {
    pair.bBegin = pair.aEnd;
  }
  // One by one from the longer, of equals from B: first the difference, then by turns.
  const int64_t a = pair.aEnd - pair.aBegin, b = pair.bEnd - pair.bBegin, over = std::max<int64_t>(a + b - total, 0),
                apart = std::min(over, std::abs(a - b)), turns = over - apart;
  pair.aEnd -= (a > b ? apart : 0) + turns / 2;
  pair.bEnd -= (a > b ? 0 : apart) + (turns + 1) / 2;
  return pair;
}

class PermutationTask : public DataTask {
public:
  PermutationTask(const TaskSettings &settings, Vocabulary vocabulary) : settings(settings) { symbols = std::move(vocabulary); }

  Status read(std::string_view source) {
    auto sepId = symbols.special("sep"), clsId = symbols.special("cls");
    if (!sepId || !clsId)
      return inputError("permutation_lm needs <sep> and <cls> in the vocabulary");
    sep = *sepId;
    cls = *clsId;
    return splitSentences(symbols, source, true, text);
  }

  std::vector<std::string> gives() const override { return inputsOf(settings.name); }

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = bindInputs(settings.name, givenBy(settings.name, symbols.size()), inputs, binding); !status.ok())
      return status;
    if (binding.T < 2 || binding.B < 1)
      return inputError("permutation_lm needs an input of B rows of T tokens, such as ids");
    reuse = settings.reuse > 0 ? settings.reuse : binding.T / 2;
    pairLength = binding.T - reuse - 3;
    if (reuse < 1 || pairLength < 2)
      return inputError("permutation_lm with T = ", binding.T, " and reuse = ", reuse,
                        " leaves no room for two texts and three marks");
    if (binding.K > binding.T)
      return inputError("permutation_lm cannot predict K = ", binding.K, " of T = ", binding.T, " tokens");
    if (settings.bothWays && binding.B % 2 != 0)
      return inputError("permutation_lm with both_ways needs an even number of rows, not ", binding.B);
    streams = settings.bothWays ? binding.B / 2 : binding.B;
    rowLength = text.tokens.size() / streams;
    // The last window must leave a token behind its pair.
    steps = rowLength > reuse + pairLength ? (rowLength - reuse - pairLength - 1) / reuse + 1 : 0;
    if (steps < 1)
      return inputError("the text has ", text.tokens.size(), " symbols, too few for ", streams, " streams of more than ",
                        reuse + pairLength);
    return {};
  }

  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    return write(index, static_cast<int64_t>(index % batchesPerEpoch()) * reuse, inputs);
  }
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override {
    return write(index, evaluationBegin(index), inputs);
  }

  uint64_t batchesPerEpoch() const override { return static_cast<uint64_t>(steps); }
  bool resetsBefore(uint64_t index) const override { return index % batchesPerEpoch() == 0; }
  uint64_t evaluationBatches() const override {
    return batchesPerEpoch() + (evaluationBegin(batchesPerEpoch()) > (steps - 1) * reuse);
  }
  /// The last window lies over the one before it, whose memory has symbols that it is to predict.
  bool resetsInEvaluation(uint64_t index) const override { return index == 0 || index == batchesPerEpoch(); }
  int64_t covers(uint64_t index) const override {
    const int64_t end = evaluationBegin(index) + windowLength();
    return streams * (index == 0 ? end : end - evaluationBegin(index - 1) - windowLength());
  }
  Extent extent() const override {
    return {streams * (evaluationBegin(evaluationBatches() - 1) + windowLength()), text.tokens.size(), "symbols"};
  }
  int64_t tokensPerBatch() const override { return binding.B * binding.T; }

private:
  struct Sequence {
    std::vector<int32_t> ids, segments, ranks;
    std::vector<bool> masked;
    bool follows = false;
  };

  int64_t windowLength() const { return reuse + pairLength; }
  /// Where the window of a batch begins in its stream; an evaluation has one more than an epoch, which ends where the last may.
  int64_t evaluationBegin(uint64_t index) const {
    return std::min(static_cast<int64_t>(index) * reuse, rowLength - windowLength() - 1);
  }

  Status write(uint64_t index, int64_t begin, std::vector<InputTensor> &inputs) const {
    for (int64_t b = 0; b < binding.B; ++b)
      fillRow(index, begin, b, Writer(binding, inputs));
    return {};
  }

  void fillRow(uint64_t index, int64_t begin, int64_t b, const Writer &write) const {
    bool back = b >= streams;
    Row row(text, (b % streams) * rowLength, rowLength, back);
    uint32_t part = static_cast<uint32_t>(b);
    RandomStream pairs(settings.seed, Purpose::Pairs, index, part), masks(settings.seed, Purpose::Mask, index, part),
        order(settings.seed, Purpose::Rank, index, part);
    Sequence sequence = compose(row, begin, pairs);
    int64_t second = binding.K / 2;
    mark(sequence, 0, reuse, binding.K - second, back, masks);
    mark(sequence, reuse, binding.T, second, back, masks);
    rank(sequence, 0, reuse, -1, order);
    rank(sequence, reuse, binding.T, reuse, order);
    for (int64_t t = 0; t < binding.T; ++t) {
      size_t i = static_cast<size_t>(t);
      write.integer(kIds, b * binding.T + t, sequence.ids[i]);
      write.integer(kSeg, b * binding.T + t, sequence.segments[i]);
      write.integer(kRank, b * binding.T + t, sequence.ranks[i]);
    }
    int64_t slot = 0;
    for (int64_t t = 0; t < binding.T && slot < binding.K; ++t)
      if (isTarget(sequence, static_cast<size_t>(t)))
        writeSlot(write, b, slot++, t, sequence.ids[static_cast<size_t>(t)], 1);
    for (; slot < binding.K; ++slot)
      writeSlot(write, b, slot, 0, 0, 0);
    write.truth(kBack, b, back);
    write.integer(kLabel, b, sequence.follows);
  }

  void writeSlot(const Writer &write, int64_t b, int64_t slot, int64_t at, int32_t word, double weight) const {
    write.integer(kAt, b * binding.K + slot, at);
    write.integer(kWord, b * binding.K + slot, word);
    write.real(kWeight, b * binding.K + slot, weight);
  }

  /// reuse tokens of the stream, then A <sep> B <sep> <cls>.
  Sequence compose(const Row &row, int64_t begin, RandomStream &random) const {
    Sequence result;
    auto add = [&](int64_t from, int64_t to, int32_t segment) {
      for (int64_t i = from; i < to; ++i) {
        result.ids.push_back(row[i]);
        result.segments.push_back(segment);
      }
    };
    auto addMark = [&](int32_t id, int32_t segment) {
      result.ids.push_back(id);
      result.segments.push_back(segment);
    };
    Pair pair = splitPair(row, begin + reuse, pairLength, random);
    add(begin, begin + reuse, 0);
    add(pair.aBegin, pair.aEnd, 0);
    addMark(sep, 0);
    add(pair.bBegin, pair.bEnd, 1);
    addMark(sep, 1);
    addMark(cls, 2);
    result.ranks.resize(result.ids.size());
    result.masked.resize(result.ids.size());
    result.follows = pair.follows;
    return result;
  }

  bool functional(int32_t id) const { return id == sep || id == cls; }
  bool isTarget(const Sequence &sequence, size_t t) const { return sequence.masked[t] && !functional(sequence.ids[t]); }

  /// _sample_mask: spans of 1..maxSpan tokens, p ~ 1/n, each in a context of n * alpha / beta tokens; then single tokens up to
  /// the goal. Backward rows are masked in reading order, hence from the other end.
  void mark(Sequence &sequence, int64_t from, int64_t to, int64_t goal, bool back, RandomStream &random) const {
    int64_t length = to - from, made = 0;
    goal = std::min(goal, length);
    auto place = [&](int64_t i) { return static_cast<size_t>(back ? to - 1 - i : from + i); };
    auto wordStart = [&](int64_t i) { return i == 0 || symbols.startsWord(sequence.ids[place(i - 1)], sequence.ids[place(i)]); };
    for (int64_t at = 0; at < length && made < goal;) {
      int64_t span = std::min(spanLength(random), goal - made);
      int64_t context = std::max<int64_t>(1, span * settings.alpha / settings.beta);
      int64_t left = static_cast<int64_t>(random.below(static_cast<uint64_t>(context)));
      int64_t first = at + left;
      while (first < length && !wordStart(first))
        ++first;
      int64_t last = first + span;
      if (last >= length)
        break;
      for (int64_t i = first; i < last; ++i)
        sequence.masked[place(i)] = true;
      made += span;
      at = last + context - left;
    }
    while (made < goal) {
      size_t i = place(static_cast<int64_t>(random.below(static_cast<uint64_t>(length))));
      made += !sequence.masked[i];
      sequence.masked[i] = true;
    }
  }

  int64_t spanLength(RandomStream &random) const {
    double total = 0;
    for (int64_t n = 1; n <= settings.maxSpan; ++n)
      total += 1.0 / static_cast<double>(n);
    double draw = random.uniform() * total;
    for (int64_t n = 1; n < settings.maxSpan; ++n)
      if ((draw -= 1.0 / static_cast<double>(n)) < 0)
        return n;
    return settings.maxSpan;
  }

  /// _local_perm of one part: masked and functional tokens get the ranks base + 1 ... in random order, all others are given
  /// (base).
  void rank(Sequence &sequence, int64_t from, int64_t to, int32_t base, RandomStream &random) const {
    std::vector<int32_t> order(static_cast<size_t>(to - from));
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<int32_t>(i);
    random.shuffle(order);
    for (size_t i = 0; i < order.size(); ++i) {
      size_t t = static_cast<size_t>(from) + i;
      sequence.ranks[t] = sequence.masked[t] || functional(sequence.ids[t]) ? base + 1 + order[i] : base;
    }
  }

  TaskSettings settings;
  Sentences text;
  Binding binding;
  int32_t sep = 0, cls = 0;
  int64_t reuse = 0, pairLength = 0, streams = 0, rowLength = 0, steps = 0;
};

} // namespace

Status makePermutationTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                           std::unique_ptr<DataTask> &result) {
  return readTask<PermutationTask>(settings, text, std::move(vocabulary), result);
}

} // namespace tenon::data
