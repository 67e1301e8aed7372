#include "tools/tenon/SourceTexts.h"
#include <algorithm>

namespace tenon::driver {

using runtime::concat;
using runtime::inputError;
using runtime::TensorInfo;

namespace {
constexpr const char *kSource = "src", *kLength = "src_len";

/// How an entry gets a source that it reads in front of its own text, as UniLM's does.
std::string otherInputs(const std::vector<TensorInfo> &inputs) {
  std::string names;
  for (const TensorInfo &each : inputs)
    names += (names.empty() ? "" : ", ") + each.name;
  return names.empty() ? std::string()
                       : "; a source in front of the text comes as rows, --input NAME=@FILE.npy for the text's symbols, " + names;
}
} // namespace

bool SourceTexts::gives(const std::string &input) const { return input == kSource || input == kLength; }

Expected<SourceTexts> SourceTexts::read(const std::string &path, const runtime::EntryInfo &entry,
                                        const std::vector<TensorInfo> &inputs, const data::Vocabulary &vocabulary) {
  auto found = std::find_if(inputs.begin(), inputs.end(), [](const TensorInfo &each) { return each.name == kSource; });
  if (found == inputs.end() || found->shape.size() != 2 || found->type != runtime::DataType::I32 || !found->shape[1].tellsDim())
    return runtime::usageError("the entry ", entry.name, " reads no src[B, S] of symbols, which is what --sources gives",
                               otherInputs(inputs));
  SourceTexts texts;
  texts.size = found->shape[1];
  const runtime::DimInfo &dim = entry.dims[texts.size.terms[0].first];
  texts.dim = dim.name;
  auto marks = data::marksOf(vocabulary, "of the model");
  if (!marks.ok())
    return marks.status();
  texts.marks = *marks;
  Status status = data::readLines(path, vocabulary, texts.marks.all(), texts.lines);
  if (status.ok() && texts.count() == 0)
    status = inputError(path, " has no lines");
  for (int64_t line = 0; line < texts.count() && status.ok() && dim.max > 0; ++line)
    if (auto value = texts.size.dimOf(texts.places(line)); value && *value > dim.max)
      status = inputError(path, ":", line + 1, ": the text has ", texts.places(line), " symbols with its end, and ", dim.name,
                          " is at most ", dim.max);
  if (status.failed())
    return status;
  return texts;
}

int64_t SourceTexts::longest(int64_t first, int64_t count) const {
  int64_t most = 0;
  for (int64_t line = first; line < first + count; ++line)
    most = std::max(most, places(line));
  return most;
}

Status SourceTexts::addSizes(int64_t first, int64_t count, std::map<std::string, int64_t> &dims) const {
  int64_t all = longest(first, count);
  while (!size.dimOf(all))
    ++all;
  if (auto [known, added] = dims.emplace(dim, *size.dimOf(all)); !added && known->second < *size.dimOf(all))
    return inputError("the longest of the texts ", first + 1, " to ", first + count, " has ", longest(first, count),
                      " symbols with its end, but ", dim, " = ", known->second, " elsewhere (another input)");
  return {};
}

void SourceTexts::fill(const runtime::BoundTensor &input, int64_t first, int64_t count, int32_t *values) const {
  for (int64_t row = 0; row < count; ++row) {
    const int64_t line = first + row, length = places(line) - 1;
    if (input.name == kLength) {
      values[row] = static_cast<int32_t>(length + 1);
      continue;
    }
    const auto room = static_cast<int64_t>(input.shape[1]);
    for (int64_t place = 0; place < room; ++place)
      values[row * room + place] = place < length    ? lines.at(static_cast<uint64_t>(line), place)
                                   : place == length ? marks.end
                                                     : marks.pad;
  }
}

} // namespace tenon::driver
