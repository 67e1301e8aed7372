#include "runtime/data/Masking.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

Status Marks::find(const Vocabulary &vocabulary, const std::string &task, Marks &marks) {
  struct {
    const char *name, *other;
    int32_t &id;
  } all[] = {{"cls", "<s>", marks.cls}, {"sep", "</s>", marks.sep}, {"mask", "", marks.mask}, {"pad", "", marks.pad}};
  for (auto &[name, other, id] : all) {
    auto found = vocabulary.special(name);
    if (!found)
      found = vocabulary.find(other);
    if (!found)
      return inputError(task, " needs [CLS], [SEP], [MASK] and [PAD] in the vocabulary; it has no <", name,
                        "> or the like in capitals");
    id = *found;
  }
  return {};
}

size_t countToPredict(double rate, size_t symbols, int64_t most) {
  const auto wanted = static_cast<size_t>(std::max(1.0, std::nearbyint(rate * static_cast<double>(symbols))));
  return std::min(wanted, static_cast<size_t>(std::max<int64_t>(most, 0)));
}

std::vector<int64_t> takeGroups(std::vector<std::vector<int64_t>> groups, size_t wanted, RandomStream &random) {
  random.shuffle(groups);
  std::vector<int64_t> places;
  for (const std::vector<int64_t> &group : groups) {
    if (places.size() >= wanted)
      break;
    if (places.size() + group.size() <= wanted)
      places.insert(places.end(), group.begin(), group.end());
  }
  return places;
}

static int32_t drawSymbol(const Vocabulary &vocabulary, Drawn drawn, RandomStream &random) {
  constexpr int kTries = 100; // of a vocabulary that has little else than marks
  const int32_t first = drawn == Drawn::ButFirst && vocabulary.size() > 1;
  int32_t id = 0;
  for (int i = 0; i < kTries; ++i) {
    id = first + static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary.size() - first)));
    if (drawn != Drawn::Ordinary || !vocabulary.isSpecial(id))
      break;
  }
  return id;
}

std::vector<Prediction> hide(std::vector<int32_t> &ids, const std::vector<int64_t> &places, const Marks &marks,
                             const Vocabulary &vocabulary, Drawn drawn, RandomStream &random) {
  std::vector<Prediction> result;
  for (int64_t at : places) {
    int32_t &id = ids[static_cast<size_t>(at)];
    result.push_back({at, id});
    if (random.uniform() < 0.8)
      id = marks.mask;
    else if (random.uniform() >= 0.5)
      id = drawSymbol(vocabulary, drawn, random);
  }
  std::sort(result.begin(), result.end(), [](const Prediction &x, const Prediction &y) { return x.at < y.at; });
  return result;
}

void writePredictions(const Writer &write, size_t at, int64_t K, int64_t b, const std::vector<Prediction> &predictions) {
  for (int64_t k = 0; k < K; ++k) {
    const bool used = k < static_cast<int64_t>(predictions.size());
    write.integer(at, b * K + k, used ? predictions[static_cast<size_t>(k)].at : 0);
    write.integer(at + 1, b * K + k, used ? predictions[static_cast<size_t>(k)].word : 0);
    write.real(at + 2, b * K + k, used ? 1 : 0);
  }
}

} // namespace tenon::data
