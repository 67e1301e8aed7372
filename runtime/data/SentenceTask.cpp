#include "runtime/data/SentenceTask.h"
#include <algorithm>

namespace tenon::data {

SentenceTask::SentenceTask(const TaskSettings &settings, Vocabulary vocabulary, size_t ids) : settings(settings), ids(ids) {
  symbols = std::move(vocabulary);
}

Status SentenceTask::read(std::string_view source) {
  if (Status status = Marks::find(symbols, settings.name, marks); status.failed())
    return status;
  const bool marked = settings.name == "ernie_masks" || settings.words == WordChoice::Units || settings.lowerCase;
  if (Status status =
          marked ? splitUnits(symbols, source, settings.lowerCase, text) : splitSentences(symbols, source, false, text);
      !status.ok())
    return status;
  return text.count() < 2 ? inputError(settings.name, " needs a text of at least two lines") : Status();
}

Status SentenceTask::bind(const std::vector<InputTensor> &inputs) {
  if (Status status = bindInputs(settings.name, givenBy(settings.name, symbols.size()), inputs, binding); !status.ok())
    return status;
  if (binding.T < 5 || binding.B < 1)
    return inputError(settings.name, " needs an input of B rows of at least 5 tokens, such as ids");
  return {};
}

Status SentenceTask::fill(uint64_t index, std::vector<InputTensor> &inputs) const {
  return write(index, binding.B, binding.B, inputs);
}
Status SentenceTask::fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const {
  const int64_t rows = binding.at[ids] >= 0 ? inputs[static_cast<size_t>(binding.at[ids])].shape[0] : binding.B;
  return write(index, rows, validRows(index), inputs);
}

uint64_t SentenceTask::batchesPerEpoch() const {
  return std::max<uint64_t>(1, static_cast<uint64_t>(samples()) / static_cast<uint64_t>(std::max<int64_t>(1, binding.B)));
}
uint64_t SentenceTask::evaluationBatches() const {
  const uint64_t rows = static_cast<uint64_t>(std::max<int64_t>(1, binding.B));
  return (static_cast<uint64_t>(samples()) + rows - 1) / rows;
}
int64_t SentenceTask::validRows(uint64_t index) const {
  return std::min(binding.B, samples() - static_cast<int64_t>(index) * binding.B);
}

/// Samples of batch `index`; rows from `valid` on repeat the last of them.
Status SentenceTask::write(uint64_t index, int64_t rows, int64_t valid, std::vector<InputTensor> &inputs) const {
  Writer write(binding, inputs);
  for (int64_t b = 0; b < rows; ++b)
    writeRow(write, b, index * static_cast<uint64_t>(binding.B) + static_cast<uint64_t>(std::min(b, valid - 1)));
  return {};
}

int64_t SentenceTask::sampleOf(uint64_t sample) const {
  const uint64_t count = static_cast<uint64_t>(samples());
  return static_cast<int64_t>(Permutation(settings.seed, sample / count, count)(sample % count));
}

void SentenceTask::append(std::vector<int64_t> &to, int64_t sentence) const {
  int64_t begin = text.begins[static_cast<size_t>(sentence)];
  // A line longer than a sequence would only be trimmed again.
  int64_t length = std::min(text.length(sentence), 2 * binding.T);
  for (int64_t i = 0; i < length; ++i)
    to.push_back(begin + i);
}

void SentenceTask::addTokens(std::vector<int32_t> &to, const std::vector<int64_t> &places) const {
  for (int64_t place : places)
    to.push_back(text.tokens[place]);
}

namespace {

void truncate(std::vector<int64_t> &a, std::vector<int64_t> &b, size_t most, RandomStream &random) {
  while (a.size() + b.size() > most) {
    std::vector<int64_t> &longer = a.size() > b.size() ? a : b;
    if (random.uniform() < 0.5)
      longer.erase(longer.begin());
    else
      longer.pop_back();
  }
}

} // namespace

SentenceTask::Pair SentenceTask::drawPair(RandomStream &random, uint64_t sample, bool follows) const {
  const int64_t first = sampleOf(sample);
  int64_t document = text.documentOf(first), end = text.documents[static_cast<size_t>(document) + 1];
  int64_t most = binding.T - 3;
  int64_t target = random.uniform() < settings.shortRate ? random.between(2, most) : most;
  int64_t last = first, length = 0;
  while (last < end && length < target)
    length += text.length(last++);
  int64_t sentences = last - first, ofFirst = sentences == 1 ? 1 : random.between(1, sentences - 1);
  Pair result;
  for (int64_t s = first; s < first + ofFirst; ++s)
    append(result.first, s);
  result.elsewhere = !follows && (sentences == 1 || random.uniform() < 0.5);
  if (result.elsewhere)
    appendElsewhere(result.second, document, target - static_cast<int64_t>(result.first.size()), random);
  else
    for (int64_t s = first + ofFirst; s < last; ++s)
      append(result.second, s);
  if (follows && sentences == 1 && result.first.size() > 1) {
    const int64_t cut = random.between(1, static_cast<int64_t>(result.first.size()) - 1);
    result.second.assign(result.first.begin() + cut, result.first.end());
    result.first.resize(static_cast<size_t>(cut));
  }
  truncate(result.first, result.second, static_cast<size_t>(most), random);
  return result;
}

/// Sentences from a random place of another document, at most ten tries to find one; the last is kept even if it is the same.
void SentenceTask::appendElsewhere(std::vector<int64_t> &to, int64_t document, int64_t goal, RandomStream &random) const {
  int64_t documents = static_cast<int64_t>(text.documents.size()) - 1, other = document;
  for (int tries = 0; tries < 10 && other == document; ++tries)
    other = random.between(0, documents - 1);
  int64_t begin = text.documents[static_cast<size_t>(other)], end = text.documents[static_cast<size_t>(other) + 1];
  int64_t sentence = random.between(begin, end - 1);
  do
    append(to, sentence++);
  while (sentence < end && static_cast<int64_t>(to.size()) < goal);
}

} // namespace tenon::data
