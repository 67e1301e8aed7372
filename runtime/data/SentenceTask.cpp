#include "runtime/data/SentenceTask.h"
#include "runtime/data/Random.h"
#include <algorithm>

namespace tenon::data {

SentenceTask::SentenceTask(const TaskSettings &settings, Vocabulary vocabulary, size_t ids) : settings(settings), ids(ids) {
  symbols = std::move(vocabulary);
}

Status SentenceTask::read(std::string_view source) {
  struct {
    const char *name;
    int32_t &id;
  } marks[] = {{"cls", cls}, {"sep", sep}, {"mask", mask}, {"pad", pad}};
  for (auto &[name, id] : marks) {
    auto found = symbols.special(name);
    if (!found)
      return inputError(settings.name, " needs [CLS], [SEP], [MASK] and [PAD] in the vocabulary; it has no <", name,
                        "> or the like in capitals");
    id = *found;
  }
  if (Status status = splitSentences(symbols, source, false, text); !status.ok())
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
  return std::max<uint64_t>(1, static_cast<uint64_t>(text.count()) / static_cast<uint64_t>(std::max<int64_t>(1, binding.B)));
}
uint64_t SentenceTask::evaluationBatches() const {
  const uint64_t rows = static_cast<uint64_t>(std::max<int64_t>(1, binding.B));
  return (static_cast<uint64_t>(text.count()) + rows - 1) / rows;
}
int64_t SentenceTask::validRows(uint64_t index) const {
  return std::min(binding.B, text.count() - static_cast<int64_t>(index) * binding.B);
}

/// Samples of batch `index`; rows from `valid` on repeat the last of them.
Status SentenceTask::write(uint64_t index, int64_t rows, int64_t valid, std::vector<InputTensor> &inputs) const {
  Writer write(binding, inputs);
  for (int64_t b = 0; b < rows; ++b)
    writeRow(write, b, index * static_cast<uint64_t>(binding.B) + static_cast<uint64_t>(std::min(b, valid - 1)));
  return {};
}

int64_t SentenceTask::sentenceOf(uint64_t sample) const {
  const uint64_t count = static_cast<uint64_t>(text.count());
  return static_cast<int64_t>(Permutation(settings.seed, sample / count, count)(sample % count));
}

void SentenceTask::append(std::vector<int32_t> &to, int64_t sentence) const {
  int64_t begin = text.begins[static_cast<size_t>(sentence)];
  // A line longer than a sequence would only be trimmed again.
  int64_t length = std::min(text.length(sentence), 2 * binding.T);
  for (int64_t i = 0; i < length; ++i)
    to.push_back(text.tokens[begin + i]);
}

} // namespace tenon::data
