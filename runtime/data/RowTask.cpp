#include "runtime/data/RowTask.h"
#include "runtime/data/Random.h"
#include <algorithm>

namespace tenon::data {

namespace {

/// Which rows are held out is the same for all runs.
constexpr uint64_t kChoiceSeed = 0x68656C64; // "held"

} // namespace

Status RowTask::setRows(uint64_t rows, const std::string &source) {
  total = rows;
  if (total == 0)
    return inputError(source, " has no rows");
  const uint64_t held = static_cast<uint64_t>(static_cast<double>(total) * settings.heldOut);
  begin = part == Part::HeldOut && settings.heldOut > 0 ? total - held : 0;
  count = settings.heldOut == 0 ? total : part == Part::HeldOut ? held : total - held;
  if (count == 0 || (settings.heldOut > 0 && held == 0))
    return inputError(source, " has ", runtime::counted(total, "row"), ", too few to hold out ", settings.heldOut, " of them");
  return {};
}

Status RowTask::setBatch(const std::vector<InputTensor> &inputs) {
  const InputTensor *first = nullptr;
  tokens = 0;
  for (const InputTensor &input : inputs) {
    if (isFixed(input.name))
      continue;
    if (input.shape.empty())
      return inputError("the input '", input.name, "' has no axis for the rows of ", settings.name, "; give it one, such as [B]",
                        settings.name == "arrays"
                            ? runtime::concat(", or say ", input.name, " = fixed(\"FILE.npy\"), the same in every batch")
                            : "");
    if (first && first->shape[0] != input.shape[0])
      return inputError("the first axis of an input runs over the rows of a batch, but '", first->name, "' has ", first->shape[0],
                        " of them and '", input.name, "' ", input.shape[0]);
    first = first ? first : &input;
    int64_t here = input.shape[0]; // symbols, of all texts of a row
    for (size_t axis = 1; input.bound >= 0 && axis < input.shape.size(); ++axis)
      here *= input.shape[axis];
    tokens = std::max(tokens, here);
  }
  if (!first)
    return inputError("the entry reads no input, so ", settings.name, " has nothing to give");
  batch = static_cast<uint64_t>(first->shape[0]);
  if (part == Part::Training && count < batch)
    return inputError(settings.name, " has ", runtime::counted(count, "row"), " for training, fewer than the ", batch,
                      " of one batch; bind smaller batches");
  return {};
}

uint64_t RowTask::batchesPerEpoch() const { return std::max<uint64_t>(1, count / batch); }

int64_t RowTask::validRows(uint64_t index) const {
  return static_cast<int64_t>(std::min(batch, count - std::min(count - 1, index * batch)));
}

uint64_t RowTask::rowAt(uint64_t place) const {
  return settings.heldOut == 0 ? place : Permutation(kChoiceSeed, ~uint64_t{0}, total)(begin + place);
}

std::vector<bool> RowTask::heldOutRows() const {
  std::vector<bool> held(total);
  const Permutation choice(kChoiceSeed, ~uint64_t{0}, total);
  for (uint64_t place = part == Part::Training ? count : begin; settings.heldOut > 0 && place < total; ++place)
    held[choice(place)] = true;
  return held;
}

const std::vector<std::string> *RowTask::namesOf(const ClassCounts &classes) const {
  auto found = symbols.classes.find(classes.input);
  return found == symbols.classes.end() ? nullptr : &found->second;
}

std::vector<std::string> RowTask::summary() const {
  std::vector<std::string> lines;
  for (const ClassCounts &classes : counts)
    lines.push_back(classes.text(namesOf(classes)));
  return lines;
}

void RowTask::takeClasses() {
  if (part == Part::HeldOut)
    symbols.classes.insert(settings.classes.begin(), settings.classes.end());
  said.clear();
}

std::vector<std::string> RowTask::numbered(const std::vector<std::string> &found, const std::string &input, int64_t bound) {
  const auto given = settings.classes.find(input);
  if (given == settings.classes.end())
    return found;
  std::string text;
  std::vector<std::string> names = numberedAs(given->second, settings.classesOf, found, input, bound, text);
  if (!text.empty())
    said.push_back(std::move(text));
  return names;
}

void RowTask::setNumbered(const std::string &input) {
  symbols.numbered.insert(input);
  if (part == Part::Training && settings.classes.count(input))
    said.push_back(runtime::concat("the classes of '", input, "' are whole numbers here, and ", settings.classesOf,
                                   " has names for them: each number is taken as it is"));
}

std::vector<std::string> RowTask::classNotes() const {
  std::vector<std::string> warnings = said;
  for (const ClassCounts &classes : counts)
    if (std::string text = classes.lackingText(namesOf(classes)); !text.empty())
      warnings.push_back(std::move(text));
  return warnings;
}

Status RowTask::fill(uint64_t index, std::vector<InputTensor> &inputs) const {
  const uint64_t perEpoch = batchesPerEpoch();
  const Permutation order(settings.seed, index / perEpoch, count);
  if (Status status = writeFixed(inputs); status.failed())
    return status;
  for (uint64_t b = 0; b < batch; ++b) {
    const uint64_t place = std::min(index % perEpoch * batch + b, count - 1);
    if (Status status = writeRow(rowAt(order(place)), static_cast<int64_t>(b), inputs); status.failed())
      return status;
  }
  return {};
}

Status RowTask::fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const {
  if (Status status = writeFixed(inputs); status.failed())
    return status;
  const auto ofBatch = std::find_if(inputs.begin(), inputs.end(), [&](const InputTensor &input) { return !isFixed(input.name); });
  for (int64_t b = 0; b < ofBatch->shape[0]; ++b) {
    const uint64_t place = index * batch + static_cast<uint64_t>(std::min(b, validRows(index) - 1));
    if (Status status = writeRow(rowAt(place), b, inputs); status.failed())
      return status;
  }
  return {};
}

Status checkLengths(const InputTensor &lengths, const InputTensor &values) {
  // A row may have axes of size 1 in front of its places, which the lengths have, too: ids [B, 1, T], len [B, 1].
  const size_t rank = std::max<size_t>(lengths.shape.size(), 1);
  if (values.shape.size() <= rank)
    return inputError("the input '", lengths.name, "' gets lengths, but '", values.name, "' has one value per row");
  const int64_t most = values.shape[rank];
  auto isOne = [](int64_t size) { return size == 1; };
  const bool alike = !lengths.shape.empty() && std::all_of(lengths.shape.begin() + 1, lengths.shape.end(), isOne) &&
                     std::all_of(values.shape.begin() + 1, values.shape.begin() + static_cast<std::ptrdiff_t>(rank), isOne);
  if (lengths.type == DataType::I32 && alike && (lengths.bound < 0 || lengths.bound > most))
    return {};
  return inputError("the input '", lengths.name, "' gets the lengths of '", values.name, "', 0 to ", most,
                    ": declare it as index(T + 1)[B]");
}

std::string outOfRange(const InputTensor &input, const int32_t *values, int64_t count, int64_t &index) {
  if (input.bound < 0)
    return {};
  for (index = 0; index < count; ++index)
    if (values[index] < 0 || values[index] >= input.bound)
      return runtime::concat("holds ", values[index], ", but the input '", input.name, "' takes 0 to ", input.bound - 1);
  return {};
}

} // namespace tenon::data
