// Rows of texts that somebody else made: labels, pairs, tags, candidates, questions, translations.
#include "runtime/data/Answers.h"
#include "runtime/data/Inputs.h"
#include "test/runtime/FuzzEntry.h"

namespace tenon::fuzz {

namespace {

struct RowKind {
  const char *task, *row;
};
const RowKind kKinds[] = {
    {"single", "1\tThe first line, of words\n"},
    {"pairs", "0\tA text\tna\xc3\xafve and longer\n"},
    {"relations", "2\tit rains\tso we stay\n"},
    {"relevance", "3\ta query\tthe title of a page\n"},
    {"tags", "The DT\nfirst JJ\nline NN\n\n"},
    {"groups", "1\ta text\tone end\tanother\tthe last\n"},
    {"squad",
     "{\"id\": \"q\", \"context\": \"a text \\u20ac of words\", \"question\": \"which one?\", \"answers\": {\"text\": "
     "[\"text\"], \"answer_start\": [2]}}\n{\"id\": \"n\", \"context\": \"a text \\u20ac of words\", \"question\": \"why?\", "
     "\"is_impossible\": true, \"answers\": []}\n"},
    {"translation", "a line of a text\n"},
    {"seq2seq", "another line of it\n"},
};

/// All inputs of the task at these sizes, with the bounds that it says it keeps; of labels as few as rows here have.
Entry entryFor(const std::string &task, int64_t B, int64_t T, int64_t symbols) {
  Entry entry;
  for (const data::Given &given : data::givenBy(task, symbols)) {
    std::vector<int64_t> shape;
    for (char axis : given.axes)
      shape.push_back(axis == 'B' ? B : axis == 'A' || axis == 'K' ? 3 : T);
    const int64_t bound = given.values == -2                                   ? T
                          : given.values == -3 || given.name.ends_with("_len") ? T + 1
                          : given.values > 0                                   ? given.values
                          : given.name == "rank"                               ? -1 // given places have -1
                          : given.type == runtime::DataType::I32               ? 4
                                                                               : -1;
    entry.add(given.name.c_str(), given.type, shape, bound);
  }
  return entry;
}

data::TaskSettings settingsFor(const char *task, const std::string &folder, Random &random) {
  data::TaskSettings settings;
  settings.name = task;
  settings.folder = folder;
  settings.file = "rows";
  settings.sourceText = folder + "/rows";
  settings.targetText = folder + "/others";
  settings.seed = random.next();
  settings.size = 3;
  settings.question = static_cast<int64_t>(random.below(8));
  settings.windowStride = 1 + static_cast<int64_t>(random.below(16));
  settings.length = random.below(2) ? 0 : 1 + static_cast<int64_t>(random.below(24));
  settings.padLeft = random.below(2);
  settings.form = settings.name == "squad" && random.below(2) ? "b <sep> a <sep> <cls>" : "";
  settings.heldOut = random.below(3) == 0 ? static_cast<double>(random.below(100)) / 100 : 0;
  if (settings.name == "translation" && random.below(2)) {
    settings.tokens = 1 + static_cast<int64_t>(random.below(120));
    settings.sourcePlaces = settings.targetPlaces = 1 + static_cast<int64_t>(random.below(24));
    settings.rowMultiple = 1 + static_cast<int64_t>(random.below(2));
  }
  return settings;
}

} // namespace

bool tryRows(Random &random, const std::string &folder) {
  const RowKind &kind = kKinds[random.below(std::size(kKinds))];
  std::string text;
  for (uint64_t i = 0, repeats = 1 + random.below(8); i < repeats; ++i)
    text += kind.row;
  const std::string other = text;
  if (random.below(4) != 0)
    mutate(text, random);
  writeAll(folder + "/rows", text);
  writeAll(folder + "/others", other);
  const data::TaskSettings settings = settingsFor(kind.task, folder, random);
  const bool trains = random.below(2);
  std::unique_ptr<data::DataTask> task;
  if (data::makeTask(settings, trains ? data::Part::Training : data::Part::HeldOut, nullptr, task).failed())
    return false;
  Entry entry = entryFor(settings.name, 1 + static_cast<int64_t>(random.below(4)), 1 + static_cast<int64_t>(random.below(24)),
                         task->vocabulary().size());
  if (task->bind(entry.tensors).failed())
    return false;
  task->notes();
  const std::vector<data::BatchSize> sizes = task->sizes();
  auto bindSize = [&](uint64_t index) { // that of a batch, where the task chooses it
    if (sizes.empty())
      return;
    const data::BatchSize &size = trains ? sizes.at(task->sizeOf(index)) : sizes.back();
    entry = entryFor(settings.name, size.rows, size.source, task->vocabulary().size());
    require(task->bind(entry.tensors).ok(), "a task refuses a size of its own");
  };
  bindSize(0);
  const uint64_t epoch = trains ? task->batchesPerEpoch() : task->evaluationBatches();
  require(epoch > 0, "a task has no batch");
  for (uint64_t index : {uint64_t{0}, epoch - 1, trains ? epoch : epoch / 2, random.below((trains ? 10 : 1) * epoch)}) {
    if (trains)
      bindSize(index);
    require((trains ? task->fill(index, entry.tensors) : task->fillEvaluation(index, entry.tensors)).ok(), "a batch is refused");
    requireBounds(entry, settings.name + (trains ? ", training," : ", held out,"), index);
  }
  if (const data::SpanTask *spans = trains ? nullptr : task->spans()) {
    data::AnswerSearch search(*spans);
    for (size_t window = 0; window < spans->windows().size(); ++window) {
      std::vector<double> scores[2];
      for (std::vector<double> &each : scores)
        for (int64_t place = 0; place < spans->places(); ++place)
          each.push_back(static_cast<double>(random.below(9)));
      search.add(window, scores[0], scores[1]);
    }
    const data::AnswerSearch::Result result = search.result();
    require(result.all.exact <= result.all.f1 && result.all.f1 <= 100, "answers are worth more than everything");
    require(!result.hasUnanswered || result.all.f1 <= result.bestF1.value + 1e-9, "the best threshold is worse than 0");
  }
  return true;
}

} // namespace tenon::fuzz
