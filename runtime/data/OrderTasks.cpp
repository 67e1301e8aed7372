// reorder, distances: what a document says about the order of its sentences (ERNIE 2.0: Sun et al. 2020, section 4.2.2,
// "structure-aware pre-training tasks").
#include "runtime/data/SentenceTask.h"
#include <algorithm>

namespace tenon::data {

namespace {

enum : size_t { kIds, kSeg, kLen, kClass };

/// Rows of texts that each end with a mark, and a class.
class OrderTask : public SentenceTask {
public:
  OrderTask(const TaskSettings &settings, Vocabulary vocabulary) : SentenceTask(settings, std::move(vocabulary), kIds) {}
  bool mayPredictSymbols() const override { return false; }

protected:
  void writeTexts(const Writer &write, int64_t b, std::vector<std::vector<int64_t>> texts, int64_t number) const {
    cut(texts, binding.T - 1 - static_cast<int64_t>(texts.size()));
    std::vector<int32_t> ids = {marks.cls}, segments = {0};
    for (size_t i = 0; i < texts.size(); ++i) {
      addTokens(ids, texts[i]);
      ids.push_back(marks.sep);
      segments.resize(ids.size(), static_cast<int32_t>(i));
    }
    const auto length = static_cast<int64_t>(ids.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kIds, b * binding.T + t, t < length ? ids[static_cast<size_t>(t)] : marks.pad);
      write.integer(kSeg, b * binding.T + t, t < length ? segments[static_cast<size_t>(t)] : 0);
    }
    write.integer(kLen, b, length);
    write.integer(kClass, b, number);
  }

private:
  /// The longest text, of equals the last, loses its end until there is room.
  static void cut(std::vector<std::vector<int64_t>> &texts, int64_t room) {
    int64_t all = 0;
    for (const std::vector<int64_t> &each : texts)
      all += static_cast<int64_t>(each.size());
    for (; all > room; --all)
      std::max_element(texts.rbegin(), texts.rend(), [](const auto &x, const auto &y) {
        return x.size() < y.size();
      })->pop_back();
  }
};

/// Sentences of one document, cut into 1 to m texts that are shuffled: which order is it?
class ReorderTask : public OrderTask {
public:
  using OrderTask::OrderTask;

  Status bind(const std::vector<InputTensor> &inputs) override {
    std::vector<Given> given = givenBy(settings.name, symbols.size());
    given[kSeg].values = settings.most;
    given[kClass].values = ordersBelow(settings.most + 1);
    Status status = bindInputs(settings.name, given, inputs, binding);
    if (status.ok() && (binding.B < 1 || binding.T < 2 * settings.most + 1))
      status = inputError("reorder needs an input of B rows of at least ", 2 * settings.most + 1, " tokens, such as ids");
    return status;
  }

private:
  /// 1! + 2! + .. of the numbers of texts below `count`.
  static int64_t ordersBelow(int64_t count) {
    int64_t sum = 0, factorial = 1;
    for (int64_t texts = 1; texts < count; ++texts)
      sum += factorial *= texts;
    return sum;
  }

  /// The number of an order among those of fewer texts, and of as many in lexicographic order.
  static int64_t numberOf(const std::vector<int64_t> &order) {
    const auto count = static_cast<int64_t>(order.size());
    int64_t rank = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto at = order.begin() + i;
      rank = rank * (count - i) + std::count_if(at, order.end(), [&](int64_t later) { return later < *at; });
    }
    return ordersBelow(count) + rank;
  }

  void writeRow(const Writer &write, int64_t b, uint64_t sample) const override {
    RandomStream random(settings.seed, Purpose::Pairs, sample);
    const int64_t first = sampleOf(sample), end = text.documents[static_cast<size_t>(text.documentOf(first)) + 1];
    int64_t last = first;
    for (int64_t length = 0; last < end && length < binding.T - 1 - settings.most; ++last)
      length += text.length(last);
    const int64_t count = random.between(1, std::min(settings.most, last - first));
    std::vector<int64_t> cuts, order;
    for (int64_t sentence = first + 1; sentence < last; ++sentence)
      cuts.push_back(sentence);
    random.shuffle(cuts);
    cuts.resize(static_cast<size_t>(count - 1));
    std::sort(cuts.begin(), cuts.end());
    cuts.push_back(last);
    for (int64_t i = 0; i < count; ++i)
      order.push_back(i);
    random.shuffle(order);
    std::vector<std::vector<int64_t>> texts;
    for (int64_t i : order) {
      texts.emplace_back();
      for (int64_t s = i == 0 ? first : cuts[static_cast<size_t>(i - 1)]; s < cuts[static_cast<size_t>(i)]; ++s)
        append(texts.back(), s);
    }
    writeTexts(write, b, std::move(texts), numberOf(order));
  }
};

/// Two sentences: neighbours, of one document, or of two.
class DistanceTask : public OrderTask {
public:
  using OrderTask::OrderTask;

  Status checkDocuments() const {
    return text.documents.size() > 2
               ? Status()
               : inputError("distances needs a text of at least two documents, with an empty line between them");
  }

private:
  enum Distance : int64_t { kNeighbours, kSameDocument, kOtherDocument };

  void writeRow(const Writer &write, int64_t b, uint64_t sample) const override {
    RandomStream random(settings.seed, Purpose::Pairs, sample);
    const int64_t first = sampleOf(sample), document = text.documentOf(first);
    const int64_t begin = text.documents[static_cast<size_t>(document)], end = text.documents[static_cast<size_t>(document) + 1];
    auto wanted = static_cast<Distance>(random.below(3));
    const int64_t near = (first > begin) + (first + 1 < end), others = end - begin - 1 - near;
    if (wanted == kSameDocument && others == 0) // a short document
      wanted = kNeighbours;
    if (wanted == kNeighbours && near == 0)
      wanted = kOtherDocument;
    std::vector<std::vector<int64_t>> texts(2);
    int64_t second = 0;
    if (wanted == kNeighbours) {
      const bool isLast = first + 1 == end; // then it is the second of the two
      append(texts[0], isLast ? first - 1 : first);
      append(texts[1], isLast ? first : first + 1);
      return writeTexts(write, b, std::move(texts), wanted);
    }
    if (wanted == kSameDocument) {
      second = begin + static_cast<int64_t>(random.below(static_cast<uint64_t>(others)));
      const int64_t hole = first - (first > begin); // of the sentence and its neighbours
      second += second >= hole ? near + 1 : 0;
    } else {
      second = static_cast<int64_t>(random.below(static_cast<uint64_t>(text.count() - (end - begin))));
      second += second >= begin ? end - begin : 0;
    }
    append(texts[0], first);
    append(texts[1], second);
    writeTexts(write, b, std::move(texts), wanted);
  }
};

} // namespace

Status makeOrderTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                     std::unique_ptr<DataTask> &result) {
  if (settings.name == "reorder")
    return readTask<ReorderTask>(settings, text, std::move(vocabulary), result);
  auto task = std::make_unique<DistanceTask>(settings, std::move(vocabulary));
  Status status = task->read(text);
  if (status.ok())
    status = task->checkDocuments();
  result = std::move(task);
  return status;
}

} // namespace tenon::data
