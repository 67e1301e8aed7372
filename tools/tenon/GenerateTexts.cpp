#include "tools/tenon/GenerateTexts.h"
#include "runtime/base/Json.h"
#include "runtime/data/Utf8.h"
#include "runtime/files/Npy.h"
#include "tools/tenon/Say.h"
#include "tools/tenon/SourceTexts.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tenon::driver {

using generate::Hypothesis;
using runtime::NpyArray;
using runtime::TensorInfo;

namespace {

/// Texts that are made at once unless --batch says how many.
constexpr int64_t kBatch = 32;

/// For JSON, which is UTF-8: a byte that belongs to no character comes as U+FFFD.
std::string wellFormed(const std::string &text) {
  std::string result;
  for (size_t at = 0; at < text.size();)
    data::appendCodePoint(result, data::decodeCodePoint(text, at));
  return result;
}

/// A symbol by its spelling, or of a byte or character.
std::optional<int32_t> symbolOf(const data::Vocabulary &vocabulary, const std::string &text) {
  std::vector<int32_t> ids;
  const std::optional<int32_t> found = vocabulary.find(text);
  if (found || !vocabulary.isOfCharacters() || vocabulary.encode(text, ids).failed() || ids.size() != 1)
    return found;
  return vocabulary.isSpecial(ids[0]) ? std::nullopt : std::optional<int32_t>(ids[0]); // what stands for unknown ones is none
}

class Texts {
public:
  Texts(TextsRequest request, const TextsOptions &options) : request(std::move(request)), options(options) {}
  Status run();

private:
  Status findSymbols();
  Status readInputs(const generate::Search &search);
  Status readStart();
  Status readPrompts(const TensorInfo &text);
  Status runBatch(generate::Search &search, int64_t first, int64_t count);
  Status print(const std::vector<std::vector<Hypothesis>> &texts, const std::vector<std::vector<int32_t>> &begun);
  std::string lineOf(std::string text);
  std::string textOf(const std::vector<int32_t> &symbols, int32_t previous) const;

  TextsRequest request;
  const TextsOptions &options;
  std::vector<TensorInfo> infos;
  std::map<std::string, NpyArray> arrays;
  std::optional<SourceTexts> sources;
  std::map<std::string, int64_t> dims;
  std::map<std::string, bool> hasRows;
  std::vector<std::vector<int32_t>> prompts; // of each text, or one of all
  int64_t total = 1;
  uint64_t broken = 0; // texts with ends of lines in them
};

/// The numbers of the symbols that the settings name.
Status Texts::findSymbols() {
  generate::Settings &settings = request.settings;
  if (!settings.stop.empty()) {
    settings.stopSymbol = request.vocabulary.mark(settings.stop);
    if (!settings.stopSymbol)
      return usageError("a beam search ends texts at one symbol, and '", settings.stop, "' is none of the vocabulary");
  }
  for (const std::string &text : settings.except) {
    const std::optional<int32_t> symbol = symbolOf(request.vocabulary, text);
    if (!symbol)
      return usageError("except = '", text, "' is no symbol of the vocabulary; one that is may be repeated");
    settings.beam.except.push_back(*symbol);
  }
  if (!settings.feedsMask || settings.maskSymbol)
    return {};
  settings.maskSymbol = settings.mask.empty() ? request.vocabulary.special("mask") : request.vocabulary.find(settings.mask);
  if (settings.maskSymbol)
    return {};
  if (!settings.mask.empty())
    return usageError("mask = '", settings.mask, "' is no symbol of the vocabulary");
  return usageError(
      "feed = mask: the vocabulary has no <mask> or [MASK]; give the generate block mask = NUMBER, or --vocab FILE");
}

Status Texts::readInputs(const generate::Search &search) {
  infos = search.inputs();
  auto files = parseFiles("--input", options.inputs);
  if (!files.ok())
    return files.status();
  const runtime::EntryInfo &entry = *request.parameters->manifest().findEntry(request.settings.entry);
  std::string rowsOf;
  for (const auto &[name, file] : *files) {
    auto found =
        std::find_if(infos.begin(), infos.end(), [&, &name = name](const TensorInfo &each) { return each.name == name; });
    const TensorInfo *info = found != infos.end() ? &*found : name == search.text().name ? &search.text() : nullptr;
    if (!info)
      return usageError("the entry ", entry.name, " has no input '", name, "' that a file could give");
    auto array = runtime::readNpy(file);
    if (!array.ok())
      return array.status();
    // The length of what the texts begin with is no size of the entry.
    const std::optional<size_t> length = info == &search.text() ? std::optional<size_t>(1) : std::nullopt;
    if (Status status = takeDims(entry, *info, array->shape, dims, length); status.failed())
      return status.in(file);
    arrays[name] = array.take();
  }
  if (!options.sources.empty()) {
    auto read = SourceTexts::read(options.sources, entry, infos, request.vocabulary, search.mostPrompt());
    if (!read.ok())
      return read.status();
    sources = read.take();
    total = sources->count();
    if (const std::string cut = sources->note(); !cut.empty())
      note("note: " + cut);
  }
  for (const TensorInfo &info : infos) {
    if (sources && sources->gives(info.name)) {
      if (arrays.count(info.name))
        return usageError("--sources and --input ", info.name, " both give it; pass one of them");
      continue;
    }
    if (!arrays.count(info.name))
      return usageError("the entry ", entry.name, " also reads '", info.name, "'; pass --input ", info.name, "=@FILE.npy",
                        SourceTexts::mayGive(info.name) ? ", or texts by --sources FILE" : "");
    hasRows[info.name] = !info.axes.empty() && info.axes[0] == search.batchAxis();
    if (const auto rows = static_cast<int64_t>(arrays[info.name].shape[0]); hasRows[info.name] && sources && rows != total)
      return inputError(options.sources, " has ", runtime::counted(static_cast<uint64_t>(total), "line"), ", and ", info.name,
                        " ", runtime::counted(static_cast<uint64_t>(rows), "row"));
    else if (hasRows[info.name])
      total = rows;
  }
  const bool areRows = arrays.count(search.text().name) > 0;
  if (sources && sources->standInFront())
    return areRows || !request.prompt.empty()
               ? usageError("--sources and ", areRows ? "--input " + search.text().name : std::string("--prompt"),
                            " both say what the texts begin with; pass one of them")
               : Status();
  return areRows ? readPrompts(search.text()) : readStart();
}

/// A row of the file for each text.
Status Texts::readPrompts(const TensorInfo &text) {
  if (!request.prompt.empty())
    return usageError("--prompt and --input ", text.name, " both say what the texts begin with; pass one of them");
  const NpyArray &array = arrays.at(text.name);
  total = static_cast<int64_t>(array.shape[0]);
  const auto length = static_cast<int64_t>(array.shape[1]);
  if (length < 1)
    return inputError(text.name, ": a text goes on from at least one symbol, and the rows have none");
  std::vector<int32_t> ids(static_cast<size_t>(total * length));
  const std::vector<int64_t> shape{total, length};
  if (Status status = runtime::npyToInput(array, text.name, text.type, shape, ids.data()); status.failed())
    return status;
  for (auto row = ids.begin(); row != ids.end(); row += length)
    prompts.emplace_back(row, row + length);
  return {};
}

Status Texts::readStart() {
  std::vector<int32_t> &start = prompts.emplace_back();
  if (!request.prompt.empty())
    return request.vocabulary.encode(request.prompt, start).in("prompt");
  const generate::Settings &settings = request.settings;
  if (settings.startSymbol)
    start.push_back(*settings.startSymbol);
  else if (auto symbol = request.vocabulary.find(settings.start); symbol && !settings.start.empty())
    start.push_back(*symbol);
  else if (Status status = request.vocabulary.encode(settings.start, start); status.failed())
    return status.in("start");
  return start.empty() ? usageError("there is nothing to go on from: pass --prompt TEXT, or give the generate block a start")
                       : Status();
}

/// `previous`: what the text begins behind.
std::string Texts::textOf(const std::vector<int32_t> &symbols, int32_t previous) const {
  std::string text;
  for (int32_t symbol : symbols) {
    text += symbol < request.vocabulary.size() ? request.vocabulary.text(symbol, previous) : concat("<", symbol, ">");
    previous = symbol;
  }
  return text;
}

/// Of several texts each is one line.
std::string Texts::lineOf(std::string text) {
  const auto isEnd = [](char c) { return c == '\n' || c == '\r'; };
  if (total == 1 || std::none_of(text.begin(), text.end(), isEnd))
    return text;
  ++broken;
  std::replace_if(text.begin(), text.end(), isEnd, ' ');
  return text;
}

Status Texts::print(const std::vector<std::vector<Hypothesis>> &texts, const std::vector<std::vector<int32_t>> &begun) {
  std::string lines;
  for (size_t number = 0; number < texts.size(); ++number) {
    const std::vector<Hypothesis> &found = texts[number];
    const int32_t last = begun[number].back(), size = static_cast<int32_t>(request.vocabulary.size());
    const int32_t previous = last < size && request.vocabulary.isSpecial(last) ? -1 : last; // marks are no text to go on from
    if (!options.json) {
      lines += lineOf(textOf(found[0].symbols, previous)) + "\n";
      continue;
    }
    std::string list;
    for (const Hypothesis &each : found) {
      std::string ids;
      for (int32_t symbol : each.symbols)
        ids += concat(ids.empty() ? "" : ", ", symbol);
      char score[40];
      snprintf(score, sizeof score, std::isfinite(each.score) ? "%.17g" : "null", each.score);
      list += concat(list.empty() ? "" : ", ", "{\"ids\": [", ids, "], \"score\": ", score,
                     ", \"ended\": ", each.ended ? "true" : "false",
                     ", \"text\": ", runtime::quoteJson(wellFormed(textOf(each.symbols, previous))), "}");
    }
    lines += "[" + list + "]\n";
  }
  fwrite(lines.data(), 1, lines.size(), stdout); // as it is, like the text of `generate` without a search
  return finishOutput();
}

Status Texts::runBatch(generate::Search &search, int64_t first, int64_t count) {
  generate::SearchInputs inputs;
  inputs.texts = count;
  inputs.first = first;
  inputs.dims = dims;
  inputs.dims.erase(search.batchDim());
  if (sources)
    if (Status status = sources->addSizes(first, count, inputs.dims); status.failed())
      return status;
  if (sources && sources->standInFront())
    inputs.prompts = sources->prompts(first, count);
  else if (static_cast<int64_t>(prompts.size()) == total)
    inputs.prompts.assign(prompts.begin() + first, prompts.begin() + first + count);
  else
    inputs.prompts.assign(static_cast<size_t>(count), prompts[0]);
  inputs.fill = [&](const runtime::BoundTensor &tensor, void *values) -> Status {
    if (sources && sources->gives(tensor.name)) {
      sources->fill(tensor, first, count, static_cast<int32_t *>(values));
      return {};
    }
    const NpyArray &whole = arrays.at(tensor.name);
    if (!hasRows.at(tensor.name))
      return runtime::npyToInput(whole, tensor.name, tensor.type, tensor.shape, values);
    NpyArray part{whole.type, whole.shape, {}};
    const size_t row = whole.data.size() / std::max<size_t>(static_cast<size_t>(whole.shape[0]), 1);
    part.shape[0] = static_cast<uint64_t>(count);
    part.data.assign(whole.data.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(first) * row),
                     whole.data.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(first + count) * row));
    return runtime::npyToInput(part, tensor.name, tensor.type, tensor.shape, values);
  };
  auto texts = search.run(inputs);
  return texts.ok() ? print(*texts, inputs.prompts) : texts.status();
}

Status Texts::run() {
  if (Status status = findSymbols(); status.failed())
    return status;
  auto search = generate::Search::create(request.parameters, request.settings, request.pool);
  if (!search.ok())
    return search.status();
  if (request.isKnown)
    (*search)->keepTo(request.vocabulary.size());
  Status status = readInputs(**search);
  const int64_t batch = options.batch.value_or(kBatch);
  for (int64_t first = 0; first < total && status.ok(); first += batch)
    status = runBatch(**search, first, std::min(batch, total - first));
  if (broken > 0)
    note(concat("note: ", runtime::counted(broken, "text"), broken == 1 ? " has" : " have",
                " ends of lines, which are blanks here; --json has them as they are"));
  return status;
}

} // namespace

void addTextsOptions(CLI::App &command, TextsOptions &options) {
  command
      .add_option("--input", options.inputs,
                  "what an entry that makes several texts reads: a row for each; of the text itself: what it begins with")
      ->type_name("NAME=@FILE.npy");
  command
      .add_option("--sources", options.sources,
                  "texts that an encoder reads, or that stand in front of what is made, a line each: src and src_len, or "
                  "prefix and gap, of a model that data = translation or seq2seq trains")
      ->type_name("FILE");
  command.add_option("--batch", options.batch, "texts that are made at once (default 32)")->transform(whole(1));
  command.add_flag("--json", options.json, "of several texts: of each its hypotheses, best first, with symbols and scores");
}

Status checkNoTexts(const TextsOptions &options) {
  if (!options.inputs.empty() || !options.sources.empty() || options.batch || options.json)
    return usageError(
        "--input, --sources, --batch and --json are for a beam search, or an entry that reads more than the text; pass --beam "
        "SIZE, or a block whose method is beam");
  return {};
}

bool readsSources(const runtime::EntryInfo &entry) { return !entry.walk.empty() && entry.inputs.size() > 1; }

Status generateTexts(TextsRequest request, const TextsOptions &options) { return Texts(std::move(request), options).run(); }

} // namespace tenon::driver
