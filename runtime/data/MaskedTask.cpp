// mlm_nsp: BERT's pre-training data (Devlin et al. 2018; google-research/bert, create_pretraining_data.py). Instance g of an
// epoch starts at a sentence of its own (a permutation of all sentences), where the original walks through each document once per
// duplicate: so any instance can be made on its own. Masks are new in every epoch.
#include "runtime/data/Random.h"
#include "runtime/data/SentenceTask.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

namespace {

enum : size_t { kIds, kSeg, kLen, kAt, kWord, kWeight, kFollows };

class MaskedTask : public SentenceTask {
public:
  using SentenceTask::SentenceTask;

private:
  struct Instance {
    std::vector<int32_t> ids, segments;
    bool random = false; // the second text comes from elsewhere
  };
  struct Prediction {
    int64_t at;
    int32_t word;
  };

  void writeRow(const Writer &write, int64_t b, uint64_t sample) const override {
    Instance instance = makePair(sample);
    std::vector<Prediction> predictions = maskTokens(instance, sample);
    writeRow(write, b, instance, predictions);
  }

  Instance makePair(uint64_t sample) const {
    RandomStream random(settings.seed, Purpose::Pairs, sample);
    const int64_t first = sentenceOf(sample);
    int64_t document = text.documentOf(first), end = text.documents[static_cast<size_t>(document) + 1];
    int64_t most = binding.T - 3;
    int64_t target = random.uniform() < settings.shortRate ? random.between(2, most) : most;
    int64_t last = first, length = 0;
    while (last < end && length < target)
      length += text.length(last++);
    int64_t sentences = last - first, aSentences = sentences == 1 ? 1 : random.between(1, sentences - 1);
    std::vector<int32_t> a, b;
    for (int64_t s = first; s < first + aSentences; ++s)
      append(a, s);
    Instance result;
    result.random = sentences == 1 || random.uniform() < 0.5;
    if (result.random)
      appendElsewhere(b, document, target - static_cast<int64_t>(a.size()), random);
    else
      for (int64_t s = first + aSentences; s < last; ++s)
        append(b, s);
    truncate(a, b, static_cast<size_t>(most), random);
    join(result, a, b);
    return result;
  }

  /// Sentences from a random place of another document, at most ten tries to find one; the last is kept even if it is the same.
  void appendElsewhere(std::vector<int32_t> &to, int64_t document, int64_t goal, RandomStream &random) const {
    int64_t documents = static_cast<int64_t>(text.documents.size()) - 1, other = document;
    for (int tries = 0; tries < 10 && other == document; ++tries)
      other = random.between(0, documents - 1);
    int64_t begin = text.documents[static_cast<size_t>(other)], end = text.documents[static_cast<size_t>(other) + 1];
    int64_t sentence = random.between(begin, end - 1);
    do
      append(to, sentence++);
    while (sentence < end && static_cast<int64_t>(to.size()) < goal);
  }

  static void truncate(std::vector<int32_t> &a, std::vector<int32_t> &b, size_t most, RandomStream &random) {
    while (a.size() + b.size() > most) {
      std::vector<int32_t> &longer = a.size() > b.size() ? a : b;
      if (random.uniform() < 0.5)
        longer.erase(longer.begin());
      else
        longer.pop_back();
    }
  }

  void join(Instance &result, const std::vector<int32_t> &a, const std::vector<int32_t> &b) const {
    result.ids.push_back(cls);
    result.ids.insert(result.ids.end(), a.begin(), a.end());
    result.ids.push_back(sep);
    result.segments.assign(result.ids.size(), 0);
    result.ids.insert(result.ids.end(), b.begin(), b.end());
    result.ids.push_back(sep);
    result.segments.resize(result.ids.size(), 1);
  }

  /// Chooses round(rate * length) tokens, whole words at a time if asked for; of these 80 % become the mask, 10 % a random
  /// symbol.
  std::vector<Prediction> maskTokens(Instance &instance, uint64_t sample) const {
    RandomStream random(settings.seed, Purpose::Mask, sample);
    std::vector<std::vector<int64_t>> groups;
    for (size_t i = 0; i < instance.ids.size(); ++i) {
      if (instance.ids[i] == cls || instance.ids[i] == sep)
        continue;
      bool joins = settings.wholeWords && !groups.empty() && groups.back().back() + 1 == static_cast<int64_t>(i) &&
                   symbols.continuesWord(instance.ids[i - 1], instance.ids[i]);
      if (!joins)
        groups.emplace_back();
      groups.back().push_back(static_cast<int64_t>(i));
    }
    random.shuffle(groups);
    // Python's round, to even at halves; at least one, at most the slots.
    size_t wanted = static_cast<size_t>(std::max(1.0, std::nearbyint(settings.rate * static_cast<double>(instance.ids.size()))));
    wanted = std::min(wanted, static_cast<size_t>(binding.K));
    std::vector<Prediction> result;
    for (const std::vector<int64_t> &group : groups) {
      if (result.size() >= wanted)
        break;
      if (result.size() + group.size() > wanted)
        continue;
      for (int64_t at : group) {
        int32_t &id = instance.ids[static_cast<size_t>(at)];
        result.push_back({at, id});
        if (random.uniform() < 0.8)
          id = mask;
        else if (random.uniform() >= 0.5)
          id = static_cast<int32_t>(random.below(static_cast<uint64_t>(symbols.size())));
      }
    }
    std::sort(result.begin(), result.end(), [](const Prediction &x, const Prediction &y) { return x.at < y.at; });
    return result;
  }

  void writeRow(const Writer &write, int64_t b, const Instance &instance, const std::vector<Prediction> &predictions) const {
    int64_t length = static_cast<int64_t>(instance.ids.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kIds, b * binding.T + t, t < length ? instance.ids[static_cast<size_t>(t)] : pad);
      write.integer(kSeg, b * binding.T + t, t < length ? instance.segments[static_cast<size_t>(t)] : 0);
    }
    for (int64_t k = 0; k < binding.K; ++k) {
      bool used = k < static_cast<int64_t>(predictions.size());
      write.integer(kAt, b * binding.K + k, used ? predictions[static_cast<size_t>(k)].at : 0);
      write.integer(kWord, b * binding.K + k, used ? predictions[static_cast<size_t>(k)].word : 0);
      write.real(kWeight, b * binding.K + k, used ? 1 : 0);
    }
    write.integer(kLen, b, length);
    write.integer(kFollows, b, instance.random);
  }
};

} // namespace

Status makeMaskedTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                      std::unique_ptr<DataTask> &result) {
  auto task = std::make_unique<MaskedTask>(settings, std::move(vocabulary), kIds);
  if (Status status = task->read(text); !status.ok())
    return status;
  result = std::move(task);
  return {};
}

} // namespace tenon::data
