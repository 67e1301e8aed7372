#include "runtime/data/Questions.h"
#include "runtime/base/Json.h"
#include "runtime/data/Text.h"
#include "runtime/data/Utf8.h"
#include <algorithm>

namespace tenon::data {

using runtime::concat;
using runtime::JsonValue;
using runtime::quoteJson;

namespace {

const JsonValue *textOf(const JsonValue &value, const char *key) {
  const JsonValue *found = value.find(key);
  return found && found->isString() ? found : nullptr;
}

const JsonValue *listOf(const JsonValue &value, const char *key) {
  const JsonValue *found = value.find(key);
  return found && found->isArray() ? found : nullptr;
}

/// Where the first answer stands. `start`: in characters.
Status placeAnswer(const std::string &context, int64_t start, Question &question) {
  size_t at = 0;
  for (int64_t i = 0; i < start && at < context.size(); ++i)
    decodeCodePoint(context, at);
  const std::string &answer = question.answers[0];
  if (start < 0 || answer.empty() || context.compare(at, answer.size(), answer) != 0)
    return inputError("the answer ", quoteJson(answer), " does not stand at character ", start, " of its context");
  question.begin = at;
  question.end = at + answer.size();
  return {};
}

/// {"text": [..], "answer_start": [..]}, or a list of such pairs.
Status readAnswers(const JsonValue *answers, Question &question, int64_t &start) {
  const JsonValue *texts = answers ? listOf(*answers, "text") : nullptr,
                  *starts = texts ? listOf(*answers, "answer_start") : nullptr;
  if (texts && starts && texts->elements.size() != starts->elements.size())
    return inputError("the answers have ", runtime::counted(texts->elements.size(), "text"), " and ", starts->elements.size(),
                      " of \"answer_start\"; each text needs one");
  std::vector<std::pair<const JsonValue *, const JsonValue *>> pairs;
  for (size_t i = 0; texts && starts && i < texts->elements.size(); ++i)
    pairs.emplace_back(&texts->elements[i], &starts->elements[i]);
  if (answers && answers->isArray())
    for (const JsonValue &each : answers->elements)
      pairs.emplace_back(each.find("text"), each.find("answer_start"));
  else if (!texts || !starts)
    return inputError("expected \"answers\": {\"text\": [..], \"answer_start\": [..]}, or a list of objects with both");
  for (const auto &[text, place] : pairs) {
    if (!text || !text->isString() || !place || !place->isInteger())
      return inputError("an answer needs a \"text\" and a whole number as \"answer_start\"");
    if (question.answers.empty())
      start = place->integer;
    question.answers.push_back(text->text);
  }
  return {};
}

/// `at`: where the question stands, without its id.
Status readQuestion(const JsonValue &value, size_t context, const std::string &place, const std::string &at, Questions &result) {
  Question question;
  question.place = place;
  question.context = context;
  const JsonValue *text = textOf(value, "question"), *id = textOf(value, "id");
  question.id = id ? id->text : std::to_string(result.all.size());
  if (id)
    if (const auto [other, added] = result.places.emplace(id->text, at); !added)
      return inputError(at, ": the id ", quoteJson(id->text), " is that of another question, ", other->second,
                        "; answers are told apart by it, so give each question one of its own");
  if (!text)
    return inputError("expected a text as \"question\"").in(place);
  question.text = text->text;
  int64_t start = 0;
  Status status = readAnswers(value.find("answers"), question, start);
  const JsonValue *impossible = value.find("is_impossible");
  if (status.ok() && impossible && impossible->kind != JsonValue::Kind::Bool)
    status = inputError("\"is_impossible\" must be true or false");
  if (status.ok() && impossible && !impossible->truth && question.answers.empty())
    status = inputError("\"is_impossible\" is false, but there is no answer");
  if (status.ok() && impossible && impossible->truth && !question.answers.empty())
    status = inputError("\"is_impossible\" is true, but there is the answer ", quoteJson(question.answers[0]));
  if (status.ok() && !question.answers.empty())
    status = placeAnswer(result.contexts[context], start, question);
  result.all.push_back(std::move(question));
  return status.in(place);
}

Status readLine(std::string_view line, const std::string &place, Questions &result) {
  auto value = runtime::parseJson(line);
  if (value.failed())
    return value.status().in(place);
  const JsonValue *context = textOf(*value, "context");
  if (!context)
    return inputError("expected an object with \"context\", \"question\" and \"answers\"").in(place);
  if (result.contexts.empty() || result.contexts.back() != context->text) // questions about a text stand together
    result.contexts.push_back(context->text);
  return readQuestion(*value, result.contexts.size() - 1, place, place, result);
}

Status readSquad(const JsonValue &data, const std::string &path, Questions &result) {
  uint64_t articles = 0;
  for (const JsonValue &article : data.elements) {
    ++articles;
    const JsonValue *paragraphs = listOf(article, "paragraphs");
    for (size_t i = 0; paragraphs && i < paragraphs->elements.size(); ++i) {
      const JsonValue &paragraph = paragraphs->elements[i], *context = textOf(paragraph, "context"),
                      *questions = listOf(paragraph, "qas");
      if (!context || !questions)
        return inputError(path, ": a paragraph needs a \"context\" and a list \"qas\"");
      result.contexts.push_back(context->text);
      uint64_t number = 0;
      for (const JsonValue &each : questions->elements) {
        const std::string at = concat(path, ", article ", articles, ", paragraph ", i + 1, ", question ", ++number);
        const JsonValue *id = textOf(each, "id");
        const std::string place = concat(path, ", question ", id ? id->text : std::to_string(result.all.size()));
        if (Status status = readQuestion(each, result.contexts.size() - 1, place, at, result); status.failed())
          return status;
      }
    }
  }
  return {};
}

/// Whether the first line that is not empty is a part of what goes on behind it: a brace that it does not close.
bool beginsObject(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size()),
               end = std::min(text.find('\n', begin), text.size());
  std::string_view line = text.substr(begin, end - begin);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  return text.find_first_not_of(" \t\r\n", end) != std::string_view::npos && line.starts_with('{') &&
         (line.size() == 1 || std::string_view("{[,").find(line.back()) != std::string_view::npos);
}

} // namespace

Status readQuestions(const std::string &path, Questions &result) {
  std::string text;
  if (Status status = readMarkedFile(path, text); status.failed())
    return status;
  result = Questions();
  const auto whole = runtime::parseJson(text);
  if (const JsonValue *data = whole.ok() ? listOf(*whole, "data") : nullptr)
    return readSquad(*data, path, result);
  if (beginsObject(text)) // of several lines, so that no line is a question
    return whole.ok() ? inputError(path, ": expected an object with a list \"data\", as SQuAD has it, or an object in each line")
                      : whole.status().in(path);
  uint64_t number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    if (Status status = readLine(line, concat(path, ":", number), result); status.failed())
      return status;
  }
  return {};
}

} // namespace tenon::data
