#include "tools/tenon/SourceTexts.h"
#include <algorithm>
#include <limits>

namespace tenon::driver {

using runtime::concat;
using runtime::counted;
using runtime::inputError;
using runtime::TensorInfo;

namespace {
constexpr const char *kSource = "src", *kLength = "src_len", *kPrefix = "prefix", *kGap = "gap";

const TensorInfo *find(const std::vector<TensorInfo> &inputs, const char *name, size_t rank) {
  for (const TensorInfo &each : inputs)
    if (each.name == name && each.shape.size() == rank && each.type == runtime::DataType::I32)
      return &each;
  return nullptr;
}

/// How an entry gets a source that it reads in front of its own text by other names.
std::string otherInputs(const std::vector<TensorInfo> &inputs) {
  std::string names;
  for (const TensorInfo &each : inputs)
    names += (names.empty() ? "" : ", ") + each.name;
  return names.empty() ? std::string()
                       : "; another source comes as rows, --input NAME=@FILE.npy for the text's symbols, " + names;
}
} // namespace

bool SourceTexts::gives(const std::string &input) const {
  return standInFront() ? input == kPrefix || input == kGap : input == kSource || input == kLength;
}

bool SourceTexts::mayGive(const std::string &input) {
  return input == kSource || input == kLength || input == kPrefix || input == kGap;
}

Expected<SourceTexts> SourceTexts::read(const std::string &path, const runtime::EntryInfo &entry,
                                        const std::vector<TensorInfo> &inputs, const data::Vocabulary &vocabulary,
                                        std::optional<int64_t> mostPrompt) {
  SourceTexts texts;
  Status status;
  if (const TensorInfo *source = find(inputs, kSource, 2); source && source->shape[1].tellsDim())
    status = texts.readForEncoder(path, entry, *source, vocabulary);
  else if (find(inputs, kPrefix, 1) && find(inputs, kGap, 1))
    status = texts.readInFront(path, vocabulary, mostPrompt);
  else
    status = runtime::usageError("the entry ", entry.name,
                                 " reads neither src[B, S] of symbols nor prefix[B] and gap[B], which "
                                 "is what --sources gives",
                                 otherInputs(inputs));
  if (status.ok() && texts.count() == 0)
    status = inputError(path, " has no lines");
  return status.ok() ? Expected<SourceTexts>(std::move(texts)) : status;
}

Status SourceTexts::readForEncoder(const std::string &path, const runtime::EntryInfo &entry, const TensorInfo &source,
                                   const data::Vocabulary &vocabulary) {
  size = source.shape[1];
  const runtime::DimInfo &info = entry.dims[size.terms[0].first];
  dim = info.name;
  auto found = data::marksOf(vocabulary, "of the model");
  if (!found.ok())
    return found.status();
  ends = *found;
  Status status = data::readLines(path, vocabulary, ends.all(), lines);
  for (int64_t line = 0; line < count() && status.ok() && info.max > 0; ++line)
    if (auto value = size.dimOf(places(line)); value && *value > info.max)
      status = inputError(path, ":", line + 1, ": the text has ", places(line), " symbols with its end, and ", dim,
                          " is at most ", info.max);
  return status;
}

Status SourceTexts::readInFront(const std::string &path, const data::Vocabulary &vocabulary, std::optional<int64_t> mostPrompt) {
  most = mostPrompt.value_or(std::numeric_limits<int64_t>::max()) - 2;
  if (most < 1)
    return runtime::usageError("--length, or the limit of the generate block, leaves no room for a source in front of the text");
  Status status = data::Marks::find(vocabulary, "--sources", marks);
  return status.ok() ? data::readLines(path, vocabulary, {marks.cls, marks.sep, marks.mask, marks.pad}, lines) : status;
}

std::string SourceTexts::note() const {
  uint64_t longer = 0;
  for (uint64_t line = 0; standInFront() && line < lines.count(); ++line)
    longer += lines.length(line) > most;
  return longer == 0 ? std::string()
                     : concat(counted(longer, "line"), " of ", lines.path, longer == 1 ? " has" : " have", " more than the ",
                              most, " symbols that there is room for in front of the text: the end is cut off");
}

int64_t SourceTexts::places(int64_t line) const {
  const int64_t length = lines.length(static_cast<uint64_t>(line));
  return standInFront() ? std::min(length, most) + 2 : length + 1;
}

int64_t SourceTexts::longest(int64_t first, int64_t count) const {
  int64_t all = 0;
  for (int64_t line = first; line < first + count; ++line)
    all = std::max(all, places(line));
  return all;
}

Status SourceTexts::addSizes(int64_t first, int64_t count, std::map<std::string, int64_t> &dims) const {
  if (standInFront())
    return {};
  int64_t all = longest(first, count);
  while (!size.dimOf(all))
    ++all;
  if (auto [known, added] = dims.emplace(dim, *size.dimOf(all)); !added && known->second < *size.dimOf(all))
    return inputError("the longest of the texts ", first + 1, " to ", first + count, " has ", longest(first, count),
                      " symbols with its end, but ", dim, " = ", known->second, " elsewhere (another input)");
  return {};
}

void SourceTexts::fill(const runtime::BoundTensor &input, int64_t first, int64_t count, int32_t *values) const {
  const int64_t all = longest(first, count), room = input.name == kSource ? static_cast<int64_t>(input.shape[1]) : 1;
  for (int64_t row = 0; row < count; ++row) {
    const int64_t line = first + row;
    if (input.name == kSource)
      fillSymbols(line, room, values + row * room);
    else
      values[row] = static_cast<int32_t>(input.name == kGap ? all - places(line) : places(line));
  }
}

void SourceTexts::fillSymbols(int64_t line, int64_t room, int32_t *values) const {
  const int64_t length = places(line) - 1;
  for (int64_t place = 0; place < room; ++place)
    values[place] = place < length ? lines.at(static_cast<uint64_t>(line), place) : place == length ? ends.end : ends.pad;
}

std::vector<std::vector<int32_t>> SourceTexts::prompts(int64_t first, int64_t count) const {
  const auto all = static_cast<size_t>(longest(first, count));
  std::vector<std::vector<int32_t>> rows(static_cast<size_t>(count), {marks.cls});
  for (int64_t row = 0; row < count; ++row) {
    std::vector<int32_t> &ids = rows[static_cast<size_t>(row)];
    for (int64_t place = 0; place < places(first + row) - 2; ++place)
      ids.push_back(lines.at(static_cast<uint64_t>(first + row), place));
    ids.push_back(marks.sep);
    ids.resize(all, marks.pad);
  }
  return rows;
}

} // namespace tenon::driver
