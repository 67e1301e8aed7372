// A vocabulary as text: what a run keeps, and what weights files say of their symbols.
#include "runtime/base/Base64.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Json.h"
#include "runtime/data/Utf8.h"
#include "runtime/data/Vocabulary.h"
#include <algorithm>
#include <functional>

namespace tenon::data {

using runtime::concat;

static std::string saveClasses(const std::map<std::string, std::vector<std::string>> &classes) {
  std::string text;
  for (const auto &[input, names] : classes) {
    text += runtime::concat(text.empty() ? ", \"classes\": {" : ", ", runtime::quoteJson(input), ": [");
    for (size_t i = 0; i < names.size(); ++i)
      text += (i ? ", " : "") + runtime::quoteJson(names[i]);
    text += "]";
  }
  return text.empty() ? text : text + "}";
}

/// Null: damaged.
static std::optional<std::map<std::string, std::vector<std::string>>> restoreClasses(const runtime::JsonValue *saved) {
  std::map<std::string, std::vector<std::string>> classes;
  if (saved && !saved->isObject())
    return std::nullopt;
  for (size_t i = 0; saved && i < saved->members.size(); ++i) {
    const auto &[input, names] = saved->members[i];
    for (const runtime::JsonValue &name : names.elements)
      classes[input].push_back(name.text);
    // A name is found by halving.
    if (names.elements.empty() ||
        std::adjacent_find(classes[input].begin(), classes[input].end(), std::greater_equal<>()) != classes[input].end() ||
        !std::all_of(names.elements.begin(), names.elements.end(),
                     [](const runtime::JsonValue &name) { return name.isString(); }))
      return std::nullopt;
  }
  return classes;
}

/// False: it is no list of texts.
static bool restoreTexts(const runtime::JsonValue *saved, std::vector<std::string> &texts) {
  if (!saved || !saved->isArray())
    return false;
  for (const runtime::JsonValue &each : saved->elements) {
    if (!each.isString())
      return false;
    texts.push_back(each.text);
  }
  return true;
}

static const char *nameOf(Unit unit) {
  switch (unit) {
  case Unit::Bytes:
    return "bytes";
  case Unit::Characters:
    return "characters";
  case Unit::Words:
    return "words";
  case Unit::BytePairs:
    return "byte_pairs";
  case Unit::SentencePieces:
    return "sentence_pieces";
  }
  return "";
}

std::string Vocabulary::save() const {
  std::string text = runtime::concat("{\"unit\": \"", nameOf(kind), "\", \"specials\": ", !symbols.empty() ? "true" : "false");
  if (kind == Unit::Characters) {
    std::string characters;
    for (char32_t c : points)
      appendCodePoint(characters, c);
    text += ", \"characters\": " + runtime::quoteJson(characters);
  }
  auto list = [&](const char *name, const std::vector<std::string> &lines) {
    text += concat(", \"", name, "\": [");
    for (size_t i = 0; i < lines.size(); ++i)
      text += (i ? ",\n" : "\n") + runtime::quoteJson(lines[i]);
    text += "]";
  };
  if (kind == Unit::Words || kind == Unit::BytePairs)
    list("words", symbols);
  if (kind == Unit::BytePairs)
    list("merges", pairs.merges());
  if (kind == Unit::SentencePieces)
    text += concat(", \"model\": \"", runtime::toBase64(sentence.file()), "\"",
                   sentinels() > 0 ? concat(", \"sentinels\": ", sentinels()) : "");
  return text + saveClasses(classes) + "}\n";
}

Status Vocabulary::restore(std::string_view text, Vocabulary &result) {
  auto damaged = [](const char *what) { return inputError("the saved vocabulary of the run is damaged: ", what); };
  runtime::Expected<runtime::JsonValue> json = runtime::parseJson(text, {.bytes = 1ull << 30, .depth = 4, .values = 1ull << 26});
  if (!json.ok())
    return damaged(json.status().message().c_str());
  const runtime::JsonValue *unit = json->find("unit"), *specials = json->find("specials");
  if (!unit || !unit->isString() || !specials || specials->kind != runtime::JsonValue::Kind::Bool)
    return damaged("it has no unit");
  auto classes = restoreClasses(json->find("classes"));
  if (!classes)
    return damaged("its classes are not sorted names");
  if (unit->text == "bytes") {
    result = bytes(specials->truth);
    result.classes = std::move(*classes);
    return {};
  }
  if (unit->text == "characters") {
    const runtime::JsonValue *all = json->find("characters");
    if (!all || !all->isString())
      return damaged("it has no characters");
    result = characters(all->text, specials->truth);
    return {};
  }
  if (unit->text == "sentence_pieces") {
    const runtime::JsonValue *model = json->find("model");
    std::optional<std::string> file = model && model->isString() ? runtime::fromBase64(model->text) : std::nullopt;
    const runtime::JsonValue *sentinels = json->find("sentinels");
    if (!file)
      return damaged("it has no model");
    if (sentinels && (!sentinels->isInteger() || sentinels->integer < 1 || sentinels->integer > kMostSentinels))
      return damaged("it has no number of sentinels");
    if (Status status = result.takePieces(std::move(*file), sentinels ? sentinels->integer : 0); status.failed())
      return status.in("the saved vocabulary of the run, pieces of sentencepiece");
    result.classes = std::move(*classes);
    return {};
  }
  const bool isPairs = unit->text == "byte_pairs";
  std::vector<std::string> merges;
  result = Vocabulary();
  result.kind = isPairs ? Unit::BytePairs : Unit::Words;
  if ((!isPairs && unit->text != "words") || !restoreTexts(json->find("words"), result.symbols) || result.symbols.empty())
    return damaged("it has no words");
  if (isPairs && !restoreTexts(json->find("merges"), merges))
    return damaged("it has no merges");
  if (Status status = isPairs ? BytePairs::make(result.symbols, std::move(merges), result.pairs) : Status(); status.failed())
    return damaged(status.message().c_str());
  for (const std::string &word : result.symbols)
    result.pieces |= !isPairs && word.size() > 2 && word.compare(0, 2, "##") == 0;
  result.classes = std::move(*classes);
  result.count = static_cast<int64_t>(result.symbols.size());
  result.index();
  return {};
}

std::string Vocabulary::note() const {
  if (kind == Unit::Bytes || kind == Unit::Characters)
    return save();
  return runtime::concat("{\"unit\": \"", nameOf(kind), "\", \"symbols\": ", count,
                         ", \"xxh3\": ", runtime::quoteJson(runtime::hash128(save())), "}\n");
}

runtime::Expected<std::optional<Vocabulary>> Vocabulary::ofNote(const std::string &text) {
  for (Unit unit : {Unit::Words, Unit::BytePairs, Unit::SentencePieces})
    if (text.empty() || text.starts_with(concat("{\"unit\": \"", nameOf(unit), "\"")))
      return std::optional<Vocabulary>();
  Vocabulary result;
  if (Status status = restore(text, result); status.failed())
    return status;
  return std::optional<Vocabulary>(std::move(result));
}

} // namespace tenon::data
