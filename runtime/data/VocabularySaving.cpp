// A vocabulary as text: what a run keeps, and what weights files say of their symbols.
#include "runtime/base/Base64.h"
#include "runtime/base/Hash.h"
#include "runtime/base/Json.h"
#include "runtime/data/Utf8.h"
#include "runtime/data/VocabularyNote.h"
#include <algorithm>
#include <set>

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

std::optional<ClassLists> restoreClasses(const runtime::JsonValue *saved) {
  ClassLists classes;
  if (saved && !saved->isObject())
    return std::nullopt;
  for (size_t i = 0; saved && i < saved->members.size(); ++i) {
    const auto &[input, names] = saved->members[i];
    for (const runtime::JsonValue &name : names.elements)
      classes[input].push_back(name.text);
    const std::set<std::string> once(classes[input].begin(), classes[input].end());
    if (names.elements.empty() || once.size() != names.elements.size() ||
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

std::string Vocabulary::save() const { return symbolsText(count) + saveClasses(classes) + "}\n"; }

std::string Vocabulary::symbolsText(int64_t first) const {
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
    list("words", {symbols.begin(), symbols.begin() + std::min(first, count)});
  if (kind == Unit::BytePairs)
    list("merges", pairs.merges());
  if (kind == Unit::SentencePieces)
    text += concat(", \"model\": \"", runtime::toBase64(sentence.file()), "\"",
                   sentinels() + first > count ? concat(", \"sentinels\": ", sentinels() + first - count) : "");
  return text;
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
    return damaged("its classes are not lists of names");
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
    result.classes = std::move(*classes);
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
                         ", \"xxh3\": ", runtime::quoteJson(symbolsHash(count)), saveClasses(classes), "}\n");
}

std::string Vocabulary::symbolsHash(int64_t first) const { return runtime::hash128(symbolsText(first) + "}\n"); }

runtime::Expected<std::optional<Vocabulary>> Vocabulary::ofNote(const std::string &text) {
  if (text.empty())
    return std::optional<Vocabulary>();
  auto note = VocabularyNote::parse(text);
  if (!note.ok())
    return note.status();
  return std::move(note->whole);
}

runtime::Expected<VocabularyNote> VocabularyNote::parse(const std::string &text) {
  VocabularyNote note;
  for (Unit unit : {Unit::Words, Unit::BytePairs, Unit::SentencePieces}) {
    if (!text.starts_with(concat("{\"unit\": \"", nameOf(unit), "\"")))
      continue;
    auto damaged = [](const char *what) { return inputError("the note of the vocabulary is damaged: ", what); };
    auto json = runtime::parseJson(text, {.bytes = 1ull << 30, .depth = 4, .values = 1ull << 26});
    if (!json.ok())
      return damaged(json.status().message().c_str());
    const runtime::JsonValue *symbols = json->find("symbols"), *hash = json->find("xxh3");
    auto classes = restoreClasses(json->find("classes"));
    if (!symbols || !symbols->isInteger() || symbols->integer < 1 || !hash || !hash->isString() || !classes)
      return damaged("it does not have the number of the symbols, their hash and lists of names");
    return VocabularyNote{unit, symbols->integer, hash->text, std::nullopt, std::move(*classes)};
  }
  note.whole.emplace();
  if (Status status = Vocabulary::restore(text, *note.whole); status.failed())
    return status;
  note.unit = note.whole->unit();
  note.symbols = note.whole->size();
  note.classes = note.whole->classes;
  return note;
}

bool VocabularyNote::hasSymbolsOf(const Vocabulary &vocabulary) const {
  if (unit != vocabulary.unit() || symbols != vocabulary.size())
    return false;
  if (whole)
    return whole->symbolsHash(symbols) == vocabulary.symbolsHash(symbols);
  return hash == vocabulary.symbolsHash(symbols) || (classes.empty() && hash == runtime::hash128(vocabulary.save()));
}

bool VocabularyNote::hasClassesOf(const Vocabulary &vocabulary) const {
  // Notes without classes come from trainings without names, or from before notes had them: their hash tells.
  return classes == vocabulary.classes || (!whole && classes.empty() && hash == runtime::hash128(vocabulary.save()));
}

bool VocabularyNote::beginsAs(const Vocabulary &vocabulary) const {
  if (unit != vocabulary.unit())
    return false;
  if (whole)
    return firstOther(vocabulary).empty();
  const bool possible =
      unit == Unit::SentencePieces ? symbols >= vocabulary.size() - vocabulary.sentinels() : symbols <= vocabulary.size();
  return possible && hash == vocabulary.symbolsHash(symbols);
}

std::string VocabularyNote::text() const { return countOf(unit, symbols); }

std::string VocabularyNote::firstOther(const Vocabulary &vocabulary) const {
  if (!whole || unit != vocabulary.unit())
    return {};
  auto named = [](const Vocabulary &of, int32_t id) {
    return of.isSpecial(id) ? std::string("a mark") : runtime::quoteJson(of.text(id, -1));
  };
  for (int32_t id = 0; unit == Unit::Characters && id < std::min(symbols, vocabulary.size()); ++id)
    if (const std::string before = named(*whole, id), now = named(vocabulary, id); before != now)
      return concat("symbol ", id, " is ", before, " there and ", now, " here");
  return {};
}

std::string countOf(Unit unit, int64_t symbols) {
  return runtime::counted(static_cast<uint64_t>(symbols), unit == Unit::Bytes        ? "byte"
                                                          : unit == Unit::Characters ? "character"
                                                          : unit == Unit::Words      ? "word"
                                                          : unit == Unit::BytePairs  ? "byte pair"
                                                                                     : "piece");
}

} // namespace tenon::data
