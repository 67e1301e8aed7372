// mlm_nsp: BERT's pre-training data (Devlin et al. 2018; google-research/bert, create_pretraining_data.py). Instance g of an
// epoch starts at a sentence of its own (a permutation of all sentences), where the original walks through each document once per
// duplicate: so any instance can be made on its own. Masks are new in every epoch.
// ernie_masks: the same pairs, whose masks are drawn for units of the text: ERNIE's knowledge masking (Sun et al. 2019, section
// 4.2; PaddlePaddle/ERNIE, ERNIE 1.0, batching.py), with what ERNIE 2.0 asks of single symbols (Sun et al. 2020, section 4.2).
#include "runtime/data/SentenceTask.h"
#include <algorithm>

namespace tenon::data {

namespace {

enum : size_t { kIds, kSeg, kLen, kAt, kWord, kWeight, kFollows, kUpper, kTopic };

class MaskedTask : public SentenceTask {
public:
  MaskedTask(const TaskSettings &settings, Vocabulary vocabulary)
      : SentenceTask(settings, std::move(vocabulary), kIds), drawsUnits(settings.name == "ernie_masks") {}

private:
  struct Instance {
    std::vector<int32_t> ids, segments;
    std::vector<int64_t> places; // in the text; -1: a mark
  };

  void writeRow(const Writer &write, int64_t b, uint64_t sample) const override {
    RandomStream random(settings.seed, Purpose::Pairs, sample);
    const Pair pair = drawPair(random, sample, false);
    Instance instance;
    add(instance, pair.first, 0);
    add(instance, pair.second, 1);
    RandomStream masks(settings.seed, Purpose::Mask, sample);
    const std::vector<int64_t> chosen = drawsUnits ? drawUnits(instance, masks) : drawCount(instance, masks);
    const std::vector<Prediction> predictions =
        hide(instance.ids, chosen, marks, symbols, drawsUnits ? Drawn::ButFirst : Drawn::All, masks);
    const auto length = static_cast<int64_t>(instance.ids.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kIds, b * binding.T + t, t < length ? instance.ids[static_cast<size_t>(t)] : marks.pad);
      write.integer(kSeg, b * binding.T + t, t < length ? instance.segments[static_cast<size_t>(t)] : 0);
    }
    writePredictions(write, kAt, binding.K, b, predictions);
    write.integer(kLen, b, length);
    write.integer(kFollows, b, pair.elsewhere != drawsUnits); // ERNIE's label is 1 for what does follow
    if (drawsUnits)
      writeSymbols(write, b, instance, pair);
  }

  void add(Instance &instance, const std::vector<int64_t> &places, int32_t segment) const {
    if (segment == 0) {
      instance.ids.push_back(marks.cls);
      instance.places.push_back(-1);
    }
    addTokens(instance.ids, places);
    instance.ids.push_back(marks.sep);
    instance.places.insert(instance.places.end(), places.begin(), places.end());
    instance.places.push_back(-1);
    instance.segments.resize(instance.ids.size(), segment);
  }

  bool goesOn(const Instance &instance, size_t i, WordChoice words) const {
    const int64_t place = instance.places[i];
    switch (words) {
    case WordChoice::Pieces:
      return false;
    case WordChoice::Whole:
      return symbols.continuesWord(instance.ids[i - 1], instance.ids[i]);
    case WordChoice::Units:
      return text.facts[static_cast<size_t>(place)] & Sentences::GoesOn;
    case WordChoice::Entities:
      return (text.facts[static_cast<size_t>(place)] & (Sentences::GoesOn | Sentences::Entity)) ==
             (Sentences::GoesOn | Sentences::Entity);
    }
    return false;
  }

  /// The places that are predicted together or not at all.
  std::vector<std::vector<int64_t>> groupsOf(const Instance &instance, WordChoice words) const {
    std::vector<std::vector<int64_t>> groups;
    for (size_t i = 0; i < instance.ids.size(); ++i) {
      if (instance.ids[i] == marks.cls || instance.ids[i] == marks.sep)
        continue;
      if (groups.empty() || groups.back().back() + 1 != static_cast<int64_t>(i) || !goesOn(instance, i, words))
        groups.emplace_back();
      groups.back().push_back(static_cast<int64_t>(i));
    }
    return groups;
  }

  std::vector<int64_t> drawCount(const Instance &instance, RandomStream &random) const {
    return takeGroups(groupsOf(instance, settings.words), countToPredict(settings.rate, instance.ids.size(), binding.K), random);
  }

  /// Each unit by a draw of its own; the units are those of one of the stages. More than K places: some units, by a shuffle, are
  /// left out.
  std::vector<int64_t> drawUnits(const Instance &instance, RandomStream &random) const {
    const WordChoice words = settings.stages[static_cast<size_t>(random.below(settings.stages.size()))];
    std::vector<std::vector<int64_t>> groups = groupsOf(instance, words), drawn;
    std::vector<int64_t> places;
    for (std::vector<int64_t> &group : groups)
      if (random.uniform() < settings.rate) {
        places.insert(places.end(), group.begin(), group.end());
        drawn.push_back(std::move(group));
      }
    const auto most = static_cast<size_t>(std::max<int64_t>(binding.K, 0));
    return places.size() > most ? takeGroups(std::move(drawn), most, random) : places;
  }

  /// Whether the word of a symbol begins with a capital, and whether the symbol occurs elsewhere in its document, outside of the
  /// text that it stands in here.
  void writeSymbols(const Writer &write, int64_t b, const Instance &instance, const Pair &pair) const {
    const auto length = static_cast<int64_t>(instance.places.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      const int64_t place = t < length ? instance.places[static_cast<size_t>(t)] : -1;
      write.integer(kUpper, b * binding.T + t, place >= 0 && text.facts[static_cast<size_t>(place)] & Sentences::Capital);
      write.integer(kTopic, b * binding.T + t, 0);
    }
    int64_t t = b * binding.T + 1;
    for (const std::vector<int64_t> *part : {&pair.first, &pair.second}) {
      if (!part->empty() && binding.at[kTopic] >= 0) {
        const std::vector<bool> seen = elsewhereInDocument(*part);
        for (size_t i = 0; i < part->size(); ++i)
          write.integer(kTopic, t + static_cast<int64_t>(i), seen[static_cast<size_t>(text.tokens[(*part)[i]])]);
      }
      t += static_cast<int64_t>(part->size()) + 1;
    }
  }

  /// By symbol, whether it occurs in the document of these places in front of the first or behind the last.
  std::vector<bool> elsewhereInDocument(const std::vector<int64_t> &places) const {
    std::vector<bool> seen(static_cast<size_t>(symbols.size()));
    const auto sentence = std::upper_bound(text.begins.begin(), text.begins.end(), places.front()) - text.begins.begin() - 1;
    const auto document = static_cast<size_t>(text.documentOf(sentence));
    const int64_t begin = text.begins[static_cast<size_t>(text.documents[document])],
                  end = text.begins[static_cast<size_t>(text.documents[document + 1])];
    for (int64_t place = begin; place < end; ++place)
      if (place < places.front() || place > places.back())
        seen[static_cast<size_t>(text.tokens[place])] = true;
    return seen;
  }

  const bool drawsUnits;
};

} // namespace

Status makeMaskedTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                      std::unique_ptr<DataTask> &result) {
  return readTask<MaskedTask>(settings, text, std::move(vocabulary), result);
}

} // namespace tenon::data
