// unilm: pre-training with four masks (Dong et al. 2019, sections 2.2 and 2.3; microsoft/unilm, unilm-v1, seq2seq_loader.py):
// each row is drawn as one of them by `shares`. Pairs are those of mlm_nsp; a row that is read in one direction has one text, and
// that from source to target two that follow each other.
#include "runtime/data/SentenceTask.h"
#include <algorithm>

namespace tenon::data {

namespace {

enum : size_t { kIds, kSeg, kPlace, kLen, kTask, kPrefix, kAt, kWord, kWeight, kFollows, kPaired };
enum Direction : int32_t { kBothWays, kLeftToRight, kRightToLeft, kSeq2Seq };
constexpr int32_t kFirstSegment[] = {0, 2, 3, 4}, kSecondSegment[] = {1, 2, 3, 5};

class UnifiedTask : public SentenceTask {
public:
  UnifiedTask(const TaskSettings &settings, Vocabulary vocabulary) : SentenceTask(settings, std::move(vocabulary), kIds) {}

  Status readShares() const {
    double sum = 0;
    for (double share : settings.shares)
      sum += share >= 0 ? share : -1e9;
    return settings.shares.size() == 4 && sum > 0
               ? Status()
               : inputError("unilm: shares are four numbers, none below 0 and not all 0: of rows read both ways, from left to "
                            "right, from right to left, and from source to target");
  }

private:
  Direction drawDirection(uint64_t sample) const {
    double sum = 0;
    for (double share : settings.shares)
      sum += share;
    double drawn = RandomStream(settings.seed, Purpose::Direction, sample).uniform() * sum;
    int32_t last = 0;
    for (int32_t i = 0; i < 4; ++i) {
      const double share = settings.shares[static_cast<size_t>(i)];
      if (share <= 0)
        continue;
      last = i; // rounding may leave a rest behind the last share
      if (drawn < share)
        break;
      drawn -= share;
    }
    return static_cast<Direction>(last);
  }

  /// One text: sentences of a document until the row is full.
  std::vector<int64_t> drawText(RandomStream &random, uint64_t sample) const {
    int64_t sentence = sampleOf(sample);
    const int64_t end = text.documents[static_cast<size_t>(text.documentOf(sentence)) + 1], most = binding.T - 2;
    const int64_t target = random.uniform() < settings.shortRate ? random.between(2, most) : most;
    std::vector<int64_t> places;
    while (sentence < end && static_cast<int64_t>(places.size()) < target)
      append(places, sentence++);
    places.resize(std::min(places.size(), static_cast<size_t>(most)));
    return places;
  }

  void writeRow(const Writer &write, int64_t b, uint64_t sample) const override {
    const Direction direction = drawDirection(sample);
    RandomStream random(settings.seed, Purpose::Pairs, sample);
    const bool isPair = direction == kBothWays || direction == kSeq2Seq;
    Pair pair;
    if (isPair)
      pair = drawPair(random, sample, direction == kSeq2Seq);
    else
      pair.first = drawText(random, sample);
    std::vector<int32_t> ids = {marks.cls};
    addTokens(ids, pair.first);
    ids.push_back(marks.sep);
    const auto prefix = static_cast<int64_t>(ids.size());
    if (isPair) {
      addTokens(ids, pair.second);
      ids.push_back(marks.sep);
    }
    RandomStream masks(settings.seed, Purpose::Mask, sample);
    const std::vector<int64_t> chosen = choose(ids, direction, pair.first.size() + pair.second.size(), masks);
    const std::vector<Prediction> predictions = hide(ids, chosen, marks, symbols, Drawn::All, masks);
    const auto length = static_cast<int64_t>(ids.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kIds, b * binding.T + t, t < length ? ids[static_cast<size_t>(t)] : marks.pad);
      write.integer(kSeg, b * binding.T + t, t >= length ? 0 : t < prefix ? kFirstSegment[direction] : kSecondSegment[direction]);
      write.integer(kPlace, b * binding.T + t, t);
    }
    write.integer(kLen, b, length);
    write.integer(kTask, b, direction);
    write.integer(kPrefix, b, prefix);
    writePredictions(write, kAt, binding.K, b, predictions);
    write.integer(kFollows, b, pair.elsewhere);
    write.real(kPaired, b, direction == kBothWays);
  }

  /// Places in a random order until round(rate * n) of the n symbols of the texts are taken: a place alone or, with the
  /// probability `ngram`, the two or three from it on, up to a mark. The end of a target may be among them, which teaches to
  /// stop.
  std::vector<int64_t> choose(const std::vector<int32_t> &ids, Direction direction, size_t count, RandomStream &random) const {
    const auto length = static_cast<int64_t>(ids.size());
    auto isCandidate = [&](int64_t at) {
      const int32_t id = ids[static_cast<size_t>(at)];
      return (id != marks.cls && id != marks.sep) || (direction == kSeq2Seq && at == length - 1);
    };
    std::vector<int64_t> order, places;
    for (int64_t at = 0; at < length; ++at)
      if (isCandidate(at))
        order.push_back(at);
    random.shuffle(order);
    const size_t wanted = countToPredict(settings.rate, count, binding.K);
    std::vector<bool> taken(ids.size());
    for (int64_t from : order) {
      if (places.size() >= wanted)
        break;
      if (taken[static_cast<size_t>(from)])
        continue;
      const int64_t size = settings.ngram > 0 && random.uniform() < settings.ngram ? random.between(2, kLongest) : 1;
      for (int64_t at = from; at < std::min(from + size, length) && isCandidate(at); ++at)
        if (!taken[static_cast<size_t>(at)]) {
          taken[static_cast<size_t>(at)] = true;
          places.push_back(at);
        }
    }
    if (places.size() > wanted) {
      random.shuffle(places);
      places.resize(wanted);
    }
    return places;
  }

  static constexpr int64_t kLongest = 3; // symbols
};

} // namespace

Status makeUnifiedTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                       std::unique_ptr<DataTask> &result) {
  auto task = std::make_unique<UnifiedTask>(settings, std::move(vocabulary));
  Status status = task->readShares();
  if (status.ok())
    status = task->read(text);
  result = std::move(task);
  return status;
}

} // namespace tenon::data
