#include "runtime/data/SpanTask.h"
#include "runtime/base/Json.h"
#include "runtime/data/ArrayFile.h"
#include <algorithm>

namespace tenon::data {

using runtime::concat;
using runtime::counted;

namespace {

enum : size_t { kIds, kSeg, kLen, kStart, kEnd, kInside, kAllowed };

} // namespace

Status SpanTask::open(const Vocabulary *known) {
  names = inputsOf(settings.name);
  if (known)
    symbols = *known;
  else if (settings.vocabulary.empty())
    symbols = Vocabulary::bytes(true);
  else if (Status status = readSymbols(settings, symbols); status.failed())
    return status;
  path = pathIn(settings.folder, settings.file);
  Status status = Marks::find(symbols, settings.name, marks);
  form = TextForm::ofMarks(marks.cls, marks.sep, 2);
  if (status.ok() && !settings.form.empty())
    status = TextForm::parse(settings.form, 2, symbols, form);
  if (status.ok() && !form.placeOf(marks.cls, 0, 0))
    status = inputError("form: '", settings.form, "' must have <cls>, which windows without their answer point to");
  if (status.ok())
    status = readQuestions(path, data);
  if (status.ok())
    status = setRows(data.all.size(), concat("'", path, "'"));
  return status.ok() ? encode() : status;
}

Status SpanTask::encode() {
  const std::vector<bool> held = heldOutRows();
  for (size_t i = 0; i < data.all.size(); ++i)
    if (settings.heldOut == 0 || held[i] == (part == Part::HeldOut))
      own.push_back(data.all[i]);
  std::vector<bool> used(data.contexts.size());
  contexts.resize(data.contexts.size());
  for (const Question &each : own) {
    Status status = symbols.encode(each.text, question.emplace_back());
    if (status.ok() && !used[each.context])
      status = symbols.encode(data.contexts[each.context], contexts[each.context].ids, &contexts[each.context].places);
    used[each.context] = true;
    if (status.ok() && !each.answers.empty() && answerOf(each).first < 0)
      status = inputError("the vocabulary leaves nothing of the answer ", runtime::quoteJson(each.answers[0]));
    if (status.failed())
      return status.in(each.place);
  }
  settings.heldOut = 0; // from here on the rows are windows of the questions of this part
  return {};
}

Status SpanTask::bind(const std::vector<InputTensor> &inputs) {
  Status status = bindInputs(settings.name, givenBy(settings.name, symbols.size()), inputs, binding);
  if (const auto taken = settings.question + static_cast<int64_t>(form.marks()); status.ok() && binding.T <= taken)
    status = inputError("a question of up to ", settings.question, " symbols, ", counted(form.marks(), "mark"),
                        " and a text need more than the ", binding.T, " places of a row; set question = .. to fewer");
  if (status.failed())
    return status;
  cutWindows();
  status = setRows(all.size(), concat("'", path, "'"));
  return status.ok() ? setBatch(inputs) : status;
}

void SpanTask::cutWindows() {
  all.clear();
  firstWindow.clear();
  const int64_t most = settings.length > 0 ? std::min(binding.T, settings.length) : binding.T;
  for (size_t i = 0; i < own.size(); ++i) {
    firstWindow.push_back(all.size());
    const int64_t asked = std::min(static_cast<int64_t>(question[i].size()), settings.question),
                  room = std::max<int64_t>(1, most - asked - static_cast<int64_t>(form.marks())),
                  count = static_cast<int64_t>(contexts[own[i].context].ids.size());
    for (int64_t begin = 0; begin < count; begin += std::min(room, settings.windowStride)) {
      const int64_t length = std::min(room, count - begin);
      Window &window = all.emplace_back(Window{i, begin, length, asked, 0, 0});
      const int64_t padding = settings.padLeft ? binding.T - rowLength(window) : 0;
      window.before = padding + static_cast<int64_t>(form.placeOfB(static_cast<size_t>(asked)));
      window.cls =
          padding + static_cast<int64_t>(*form.placeOf(marks.cls, static_cast<size_t>(asked), static_cast<size_t>(length)));
      if (begin + length == count)
        break;
    }
  }
  firstWindow.push_back(all.size());
}

int64_t SpanTask::rowLength(const Window &window) const {
  return static_cast<int64_t>(form.marks()) + window.asked + window.length;
}

std::vector<std::string> SpanTask::notes() const {
  uint64_t longer = 0, without = 0;
  for (const std::vector<int32_t> &each : question)
    longer += static_cast<int64_t>(each.size()) > settings.question;
  for (const Question &each : own)
    without += each.answers.empty();
  std::vector<std::string> result;
  if (longer > 0)
    result.push_back(concat(counted(longer, "question"), " of ", path, longer == 1 ? " has" : " have", " more than ",
                            settings.question, " symbols: only the beginning is read"));
  if (without > 0 && part == Part::Training)
    result.push_back(concat(counted(without, "question"), " of ", path, without == 1 ? " has" : " have",
                            " no answer: `start` and `end` are the place of <cls> there, and `inside` is 0"));
  return result;
}

std::pair<int64_t, int64_t> SpanTask::answerOf(const Question &asked) const {
  const std::vector<TextPlace> &places = contexts[asked.context].places;
  const auto first = std::find_if(places.begin(), places.end(), [&](const TextPlace &place) { return place.end > asked.begin; });
  auto last = first;
  while (last != places.end() && last->begin < asked.end)
    ++last;
  return first == last ? std::pair<int64_t, int64_t>(-1, -1)
                       : std::pair<int64_t, int64_t>(first - places.begin(), last - places.begin() - 1);
}

bool SpanTask::hasMostContext(size_t window, int64_t at) const {
  const size_t asked = all[window].question;
  size_t best = window;
  double most = -1;
  for (size_t i = firstWindow[asked]; i < firstWindow[asked + 1]; ++i) {
    const int64_t left = at - all[i].begin, right = all[i].begin + all[i].length - 1 - at;
    const double context = static_cast<double>(std::min(left, right)) + 0.01 * static_cast<double>(all[i].length);
    if (left < 0 || right < 0 || context <= most)
      continue;
    most = context;
    best = i;
  }
  return best == window;
}

std::string SpanTask::textOf(size_t window, int64_t first, int64_t last) const {
  const size_t context = own[all[window].question].context;
  const std::vector<TextPlace> &places = contexts[context].places;
  const std::string &text = data.contexts[context];
  size_t begin = places[static_cast<size_t>(first)].begin, end = places[static_cast<size_t>(last)].end;
  auto isInside = [&](size_t at) { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  while (begin > 0 && isInside(begin)) // bytes, and byte pairs, may be parts of a character
    --begin;
  while (isInside(end))
    ++end;
  return text.substr(begin, end - begin);
}

Status SpanTask::writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const {
  const Writer write(binding, inputs);
  const Window &window = all[row];
  const std::vector<int32_t> &asked = question[window.question], &context = contexts[own[window.question].context].ids;
  const auto from = context.begin() + window.begin;
  std::vector<std::pair<int32_t, int32_t>> made;
  form.join({asked.begin(), asked.begin() + window.asked}, {from, from + window.length}, static_cast<size_t>(binding.T), made);
  const int64_t length = rowLength(window), padding = settings.padLeft ? binding.T - length : 0;
  for (int64_t t = 0; t < binding.T; ++t) {
    const bool isText = t >= window.before && t < window.before + window.length;
    const auto [id, segment] =
        t >= padding && t < padding + length ? made[static_cast<size_t>(t - padding)] : std::pair(marks.pad, int32_t{0});
    write.integer(kIds, b * binding.T + t, id);
    write.integer(kSeg, b * binding.T + t, segment);
    write.truth(kAllowed, b * binding.T + t, isText || t == window.cls);
  }
  const Question &answered = own[window.question];
  const auto [first, last] = answerOf(answered);
  const bool inside = !answered.answers.empty() && first >= window.begin && last < window.begin + window.length;
  write.integer(kLen, b, length);
  write.integer(kStart, b, inside ? first - window.begin + window.before : window.cls);
  write.integer(kEnd, b, inside ? last - window.begin + window.before : window.cls);
  write.real(kInside, b, inside);
  return {};
}

Status makeSpanTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<SpanTask>(settings, part, known, result);
}

} // namespace tenon::data
