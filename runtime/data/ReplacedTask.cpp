// rtd: ELECTRA's pre-training data (Clark et al. 2020; google-research/electra, build_pretraining_dataset.py and
// pretrain_helpers.py). Sample g of an epoch starts at a sentence of its own, as those of mlm_nsp; places are drawn anew for
// each.
#include "runtime/data/SentenceTask.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

namespace {

enum : size_t { kIds, kMasked, kSeg, kLen, kAt, kWeight };

class ReplacedTask : public SentenceTask {
public:
  using SentenceTask::SentenceTask;

private:
  struct Segments {
    std::vector<int64_t> first, second; // places of tokens; the second may be empty
  };

  /// Sentences to the end of the document or until a length is reached: mostly that of the sequence. The first of two segments
  /// takes sentences while it is below half of that; one sample in ten has no second one.
  Segments makeSegments(uint64_t sample) const {
    RandomStream random(settings.seed, Purpose::Pairs, sample);
    const int64_t start = sampleOf(sample), end = text.documents[static_cast<size_t>(text.documentOf(start)) + 1];
    const int64_t target = random.uniform() < shortShare ? random.between(5, binding.T) : binding.T;
    const int64_t ofFirst = random.uniform() < singleShare ? INT64_MAX : (target - 3) / 2;
    Segments result;
    for (int64_t sentence = start, length = 0; sentence < end && length < target; ++sentence) {
      const int64_t size = text.length(sentence), before = static_cast<int64_t>(result.first.size());
      const bool isFirst =
          before == 0 || before + size < ofFirst || (result.second.empty() && before < ofFirst && random.uniform() < 0.5);
      append(isFirst ? result.first : result.second, sentence);
      length += size;
    }
    auto trim = [](std::vector<int64_t> &segment, int64_t most) {
      segment.resize(std::min(segment.size(), static_cast<size_t>(std::max<int64_t>(0, most))));
    };
    trim(result.first, binding.T - 2);
    trim(result.second, binding.T - static_cast<int64_t>(result.first.size()) - 3);
    return result;
  }

  void writeRow(const Writer &write, int64_t b, uint64_t sample) const override {
    const Segments segments = makeSegments(sample);
    std::vector<int32_t> ids{marks.cls};
    addTokens(ids, segments.first);
    ids.push_back(marks.sep);
    const size_t ofFirst = ids.size();
    addTokens(ids, segments.second);
    if (ids.size() > ofFirst)
      ids.push_back(marks.sep);
    const std::vector<int32_t> masked = drawPlaces(write, b, ids, sample);
    const int64_t length = static_cast<int64_t>(ids.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      const size_t place = static_cast<size_t>(t);
      write.integer(kIds, b * binding.T + t, t < length ? ids[place] : marks.pad);
      write.integer(kMasked, b * binding.T + t, t < length ? masked[place] : marks.pad);
      write.integer(kSeg, b * binding.T + t, t < length && place >= ofFirst);
    }
    write.integer(kLen, b, length);
  }

  /// Writes the places, drawn with replacement, and returns the tokens of which they see the mask: each but for a share `keep`.
  /// Slots beyond round(rate * length) have the place 0 and no weight.
  std::vector<int32_t> drawPlaces(const Writer &write, int64_t b, const std::vector<int32_t> &ids, uint64_t sample) const {
    RandomStream random(settings.seed, Purpose::Mask, sample);
    std::vector<int64_t> candidates;
    for (size_t t = 0; t < ids.size(); ++t)
      if (ids[t] != marks.cls && ids[t] != marks.sep && ids[t] != marks.mask)
        candidates.push_back(static_cast<int64_t>(t));
    // TensorFlow's round, to even at halves.
    const double wanted = std::max(1.0, std::nearbyint(settings.rate * static_cast<double>(ids.size())));
    const int64_t count = candidates.empty() ? 0 : std::min(binding.K, static_cast<int64_t>(wanted));
    std::vector<int32_t> masked = ids;
    for (int64_t k = 0; k < binding.K; ++k) {
      int64_t at = 0;
      if (k < count) {
        at = candidates[static_cast<size_t>(random.below(candidates.size()))];
        if (random.uniform() >= settings.keepRate)
          masked[static_cast<size_t>(at)] = marks.mask;
      }
      write.integer(kAt, b * binding.K + k, at);
      write.real(kWeight, b * binding.K + k, k < count);
    }
    return masked;
  }

  static constexpr double shortShare = 0.05, singleShare = 0.1;
};

} // namespace

Status makeReplacedTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                        std::unique_ptr<DataTask> &result) {
  auto task = std::make_unique<ReplacedTask>(settings, std::move(vocabulary), kIds);
  if (Status status = task->read(text); !status.ok())
    return status;
  result = std::move(task);
  return {};
}

} // namespace tenon::data
