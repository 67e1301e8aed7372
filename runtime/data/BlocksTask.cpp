// mlm_blocks: RoBERTa's pre-training (Liu et al. 2019, sections 4.1 and 4.2; fairseq, token_block_dataset with the break mode
// "complete", and mask_tokens_dataset.py): rows are filled with whole sentences, also of several documents, and the masks are new
// in every epoch.
#include "runtime/data/SentenceTask.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

namespace {

enum : size_t { kIds, kSeg, kLen, kAt, kWord, kWeight };

class BlocksTask : public SentenceTask {
public:
  BlocksTask(const TaskSettings &settings, Vocabulary vocabulary) : SentenceTask(settings, std::move(vocabulary), kIds) {}

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = SentenceTask::bind(inputs); status.failed())
      return status;
    pack();
    return {};
  }

private:
  /// A sentence, or what fits into a row of one that is longer.
  struct Part {
    int64_t begin, length;
    bool opens; // a document
  };

  /// A row is <cls>, sentences that end with <sep>, and one more <sep> in front of another document.
  void pack() {
    parts.clear();
    blocks.clear();
    const int64_t most = binding.T - 2;
    size_t document = 0;
    for (int64_t sentence = 0; sentence < text.count(); ++sentence) {
      const bool opens = text.documents[document] == sentence;
      document += opens;
      const int64_t begin = text.begins[static_cast<size_t>(sentence)], length = text.length(sentence);
      for (int64_t at = 0; at < length; at += most)
        parts.push_back({begin + at, std::min(most, length - at), opens && at == 0});
    }
    int64_t size = binding.T;
    for (size_t i = 0; i < parts.size(); ++i) {
      const int64_t more = parts[i].length + 1;
      if (size + more + parts[i].opens > binding.T) {
        blocks.push_back(i);
        size = 1;
      } else {
        size += parts[i].opens;
      }
      size += more;
    }
  }

  int64_t samples() const override { return static_cast<int64_t>(blocks.size()); }

  void writeRow(const Writer &write, int64_t b, uint64_t sample) const override {
    const auto block = static_cast<size_t>(sampleOf(sample));
    const size_t end = block + 1 < blocks.size() ? blocks[block + 1] : parts.size();
    std::vector<int32_t> ids = {marks.cls};
    for (size_t i = blocks[block]; i < end; ++i) {
      if (i > blocks[block] && parts[i].opens)
        ids.push_back(marks.sep);
      for (int64_t at = 0; at < parts[i].length; ++at)
        ids.push_back(text.tokens[parts[i].begin + at]);
      ids.push_back(marks.sep);
    }
    RandomStream random(settings.seed, Purpose::Mask, settings.staticMasks ? static_cast<uint64_t>(block) : sample);
    const std::vector<int64_t> chosen = choose(ids, random);
    const std::vector<Prediction> predictions = hide(ids, chosen, marks, symbols, Drawn::Ordinary, random);
    const auto length = static_cast<int64_t>(ids.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kIds, b * binding.T + t, t < length ? ids[static_cast<size_t>(t)] : marks.pad);
      write.integer(kSeg, b * binding.T + t, 0);
    }
    write.integer(kLen, b, length);
    writePredictions(write, kAt, binding.K, b, predictions);
  }

  /// floor(rate * n + u) of the n places, those of marks too, with u uniform in [0, 1); of whole words so many words.
  std::vector<int64_t> choose(const std::vector<int32_t> &ids, RandomStream &random) const {
    std::vector<std::vector<int64_t>> groups;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (i == 0 || settings.words != WordChoice::Whole || !symbols.continuesWord(ids[i - 1], ids[i]))
        groups.emplace_back();
      groups.back().push_back(static_cast<int64_t>(i));
    }
    const auto wanted = static_cast<size_t>(settings.rate * static_cast<double>(groups.size()) + random.uniform());
    random.shuffle(groups);
    std::vector<int64_t> places;
    for (size_t i = 0; i < std::min(wanted, groups.size()); ++i)
      if (static_cast<int64_t>(places.size() + groups[i].size()) <= binding.K)
        places.insert(places.end(), groups[i].begin(), groups[i].end());
    return places;
  }

  std::vector<Part> parts;
  std::vector<size_t> blocks; // the first part of each
};

} // namespace

Status makeBlocksTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                      std::unique_ptr<DataTask> &result) {
  return readTask<BlocksTask>(settings, text, std::move(vocabulary), result);
}

} // namespace tenon::data
