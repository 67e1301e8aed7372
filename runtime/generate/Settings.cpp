#include "runtime/generate/Settings.h"
#include "frontend/recipes/Limit.h"

namespace tenon::generate {

using runtime::Expected;
using runtime::inputError;
using runtime::JsonValue;

namespace {

Status readNumber(const JsonValue &keywords, const char *key, double &result) {
  const JsonValue *value = keywords.find(key);
  if (value && !value->isNumber())
    return inputError("generate: ", key, " must be a number");
  if (value)
    result = value->real;
  return {};
}

/// \n, \t and \\ of a specification's strings, which have no escapes of their own.
std::string unescape(const std::string &text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    char next = i + 1 < text.size() ? text[i + 1] : 0;
    bool escape = text[i] == '\\' && (next == 'n' || next == 't' || next == '\\');
    result += !escape ? text[i] : next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
    i += escape;
  }
  return result;
}

Status readBeam(const JsonValue &keywords, Beam &beam) {
  double size = static_cast<double>(beam.size), noRepeat = 0;
  for (const Status &status : {readNumber(keywords, "size", size), readNumber(keywords, "alpha", beam.alpha),
                               readNumber(keywords, "no_repeat", noRepeat)})
    if (status.failed())
      return status;
  if (!(size >= 1 && size < 1e6) || !(noRepeat >= 0 && noRepeat < 1e9))
    return inputError("generate: a beam has at least 1 text, and no_repeat is a whole number, at least 0");
  beam.size = static_cast<int64_t>(size);
  beam.noRepeat = static_cast<int64_t>(noRepeat);
  const JsonValue *rule = keywords.find("rule");
  const std::string name = rule && rule->isString() ? rule->text : "t2t";
  if (name != "t2t" && name != "hf" && name != "unilm")
    return inputError("generate: there are the rules t2t, hf and unilm, not ", name);
  beam.rule = name == "t2t" ? BeamRule::T2t : name == "hf" ? BeamRule::Hf : BeamRule::UniLm;
  return {};
}

Status readExempt(const JsonValue &keywords, std::vector<std::string> &except) {
  const JsonValue *given = keywords.find("except");
  if (!given)
    return {};
  for (const JsonValue &each : given->isArray() ? given->elements : std::vector<JsonValue>{*given})
    if (each.isString())
      except.push_back(unescape(each.text));
    else
      return inputError("generate: except is a symbol of the vocabulary, or several, as texts");
  return {};
}

Status readMethod(const JsonValue &value, Settings &settings) {
  const JsonValue *call = value.find("call"), *keywords = value.find("keywords");
  std::string name = call && call->isString() ? call->text : value.isString() ? value.text : "";
  if (name != "sample" && name != "greedy" && name != "beam")
    return inputError("not supported yet: generate with method = ", name.empty() ? "?" : name,
                      "; there are sample(...), greedy and beam(...)");
  settings.method.greedy = name == "greedy";
  settings.searches = name == "beam";
  if (!keywords || !keywords->isObject())
    return {};
  double topK = 0, limit = static_cast<double>(settings.limit);
  const JsonValue *text = keywords->find("limit");
  const bool isOverSize = text && text->isString();
  if (isOverSize) {
    const auto form = schema::parseLimit(text->text);
    if (!form)
      return inputError("generate: limit = '", text->text, "' is neither a number nor a size and a number more, such as S + 50");
    settings.limitOver = form->dim;
    settings.limit = form->more;
  }
  const JsonValue *feed = keywords->find("feed");
  settings.feedsMask = feed && feed->isString() && feed->text == "mask";
  if (settings.searches)
    for (const Status &status : {readBeam(*keywords, settings.beam), readExempt(*keywords, settings.except)})
      if (status.failed())
        return status;
  for (const Status &status :
       {readNumber(*keywords, "temperature", settings.method.temperature), readNumber(*keywords, "top_k", topK),
        readNumber(*keywords, "top_p", settings.method.topP), isOverSize ? Status() : readNumber(*keywords, "limit", limit)})
    if (status.failed())
      return status;
  if (!(topK >= 0 && topK < 1e9) || !(limit >= 0 && limit < 1e15))
    return inputError("generate: top_k and limit must be whole numbers, at least 0");
  settings.method.topK = static_cast<int64_t>(topK);
  if (!isOverSize)
    settings.limit = static_cast<int64_t>(limit);
  return {};
}

Status readTexts(const JsonValue &values, Settings &settings) {
  auto read = [&](const char *key, std::string &text, std::optional<int32_t> *symbol) -> Status {
    const JsonValue *value = values.find(key);
    if (value && value->isString())
      text = unescape(value->text);
    if (!symbol || !value || !value->isNumber())
      return {};
    if (!(value->real >= 0 && value->real <= INT32_MAX))
      return inputError("generate: ", key, " = ", value->real, " is not the number of a symbol");
    *symbol = static_cast<int32_t>(value->real);
    return {};
  };
  if (const JsonValue *seed = values.find("seed"); seed && seed->isNumber())
    settings.seed = static_cast<uint64_t>(seed->integer);
  for (const Status &status :
       {read("entry", settings.entry, nullptr), read("start", settings.start, &settings.startSymbol),
        read("stop", settings.stop, &settings.stopSymbol), read("mask", settings.mask, &settings.maskSymbol)})
    if (status.failed())
      return status;
  return {};
}

} // namespace

Beam oneText() { return {1, BeamRule::UniLm, 0, 0, {}}; }

Expected<Settings> readSettings(const runtime::Manifest &manifest, const std::string &name) {
  Settings settings;
  std::string names;
  for (const JsonValue &block : manifest.generate.elements) {
    const JsonValue *blockName = block.find("name"), *values = block.find("settings");
    if (!blockName || !values)
      continue;
    names += (names.empty() ? "" : ", ") + blockName->text;
    if (!name.empty() && blockName->text != name)
      continue;
    if (Status status = readTexts(*values, settings); status.failed())
      return status;
    if (const JsonValue *method = values->find("method"))
      if (Status status = readMethod(*method, settings); status.failed())
        return status;
    return settings;
  }
  if (!name.empty())
    return runtime::usageError("the model has no generate block '", name, "'; there are: ", names.empty() ? "none" : names);
  return settings;
}

} // namespace tenon::generate
