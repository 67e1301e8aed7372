#include "tools/tenon/GenerateTexts.h"
#include "runtime/base/Json.h"
#include "runtime/data/Utf8.h"
#include "runtime/files/Npy.h"
#include "tools/tenon/Say.h"
#include <algorithm>
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

class Texts {
public:
  Texts(TextsRequest request, const TextsOptions &options) : request(std::move(request)), options(options) {}
  Status run();

private:
  Status readInputs(const generate::Search &search);
  Status readStart();
  Status runBatch(generate::Search &search, int64_t first, int64_t count);
  Status print(const std::vector<std::vector<Hypothesis>> &texts) const;
  std::string textOf(const std::vector<int32_t> &symbols) const;

  TextsRequest request;
  const TextsOptions &options;
  std::vector<TensorInfo> infos;
  std::map<std::string, NpyArray> arrays;
  std::map<std::string, int64_t> dims;
  std::map<std::string, bool> hasRows;
  std::vector<int32_t> start;
  int64_t total = 1;
};

Status Texts::readInputs(const generate::Search &search) {
  infos = search.inputs();
  auto files = parseFiles("--input", options.inputs);
  if (!files.ok())
    return files.status();
  const runtime::EntryInfo &entry = *request.parameters->manifest().findEntry(request.settings.entry);
  std::string rowsOf;
  for (const auto &[name, file] : *files) {
    auto info = std::find_if(infos.begin(), infos.end(), [&, &name = name](const TensorInfo &each) { return each.name == name; });
    if (info == infos.end())
      return usageError("the entry ", entry.name, " has no input '", name, "' that a file could give");
    auto array = runtime::readNpy(file);
    if (!array.ok())
      return array.status();
    if (array->shape.size() != info->shape.size())
      return inputError(file, ": ", name, " has ", info->shape.size(), " axes, the file ", array->shape.size());
    for (size_t axis = 0; axis < info->shape.size(); ++axis) {
      const runtime::SizeForm &form = info->shape[axis];
      const auto size = static_cast<int64_t>(array->shape[axis]);
      if (form.terms.size() != 1 || form.terms[0].second != 1 || form.constant != 0)
        continue; // the context compares it
      const std::string &dim = entry.dims[form.terms[0].first].name;
      if (auto [known, isNew] = dims.emplace(dim, size); !isNew && known->second != size)
        return inputError(file, ": ", dim, " = ", size, ", but ", dim, " = ", known->second, " in another input");
    }
    arrays[name] = array.take();
  }
  for (const TensorInfo &info : infos) {
    if (!arrays.count(info.name))
      return usageError("the entry ", entry.name, " also reads '", info.name, "'; pass --input ", info.name, "=@FILE.npy");
    hasRows[info.name] = !info.axes.empty() && info.axes[0] == search.batchAxis();
    if (hasRows[info.name])
      total = static_cast<int64_t>(arrays[info.name].shape[0]);
  }
  return {};
}

Status Texts::readStart() {
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

std::string Texts::textOf(const std::vector<int32_t> &symbols) const {
  std::string text;
  int32_t previous = start.back();
  for (int32_t symbol : symbols) {
    text += symbol < request.vocabulary.size() ? request.vocabulary.text(symbol, previous) : concat("<", symbol, ">");
    previous = symbol;
  }
  return text;
}

Status Texts::print(const std::vector<std::vector<Hypothesis>> &texts) const {
  std::string lines;
  for (const std::vector<Hypothesis> &found : texts) {
    if (!options.json) {
      lines += textOf(found[0].symbols) + "\n";
      continue;
    }
    std::string list;
    for (const Hypothesis &each : found) {
      std::string ids;
      for (int32_t symbol : each.symbols)
        ids += concat(ids.empty() ? "" : ", ", symbol);
      char score[40];
      snprintf(score, sizeof score, "%.17g", each.score);
      list += concat(list.empty() ? "" : ", ", "{\"ids\": [", ids, "], \"score\": ", score,
                     ", \"ended\": ", each.ended ? "true" : "false",
                     ", \"text\": ", runtime::quoteJson(wellFormed(textOf(each.symbols))), "}");
    }
    lines += "[" + list + "]\n";
  }
  fwrite(lines.data(), 1, lines.size(), stdout); // as it is, like the text of `generate` without a search
  return finishOutput();
}

Status Texts::runBatch(generate::Search &search, int64_t first, int64_t count) {
  generate::SearchInputs inputs;
  inputs.texts = count;
  inputs.dims = dims;
  inputs.dims.erase(search.batchDim());
  inputs.prompts.assign(static_cast<size_t>(count), start);
  inputs.fill = [&](const runtime::BoundTensor &tensor, void *values) {
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
  return texts.ok() ? print(*texts) : texts.status();
}

Status Texts::run() {
  if (options.batch && *options.batch < 1)
    return usageError("--batch is a number of texts, at least 1");
  if (!request.settings.stop.empty()) {
    request.settings.stopSymbol = request.vocabulary.find(request.settings.stop);
    if (!request.settings.stopSymbol)
      return usageError("a beam search ends texts at one symbol, and '", request.settings.stop, "' is none of the vocabulary");
  }
  auto search = generate::Search::create(request.parameters, request.settings, request.pool);
  if (!search.ok())
    return search.status();
  Status status = readInputs(**search);
  if (status.ok())
    status = readStart();
  const int64_t batch = options.batch.value_or(kBatch);
  for (int64_t first = 0; first < total && status.ok(); first += batch)
    status = runBatch(**search, first, std::min(batch, total - first));
  return status;
}

} // namespace

void addTextsOptions(CLI::App &command, TextsOptions &options) {
  command.add_option("--input", options.inputs, "what a beam search (or greedy) reads besides the text: a row for each text")
      ->type_name("NAME=@FILE.npy");
  command.add_option("--batch", options.batch, "texts that a beam search makes at once (default 32)")->transform(whole());
  command.add_flag("--json", options.json, "of a beam search: per text its hypotheses, best first, with symbols and scores");
}

Status checkNoTexts(const TextsOptions &options) {
  if (!options.inputs.empty() || options.batch || options.json)
    return usageError(
        "--input, --batch and --json are for a beam search, or greedy where the entry reads more than the text; pass "
        "--beam SIZE, or a block whose method is beam");
  return {};
}

bool readsSources(const runtime::EntryInfo &entry) { return !entry.walk.empty() && entry.inputs.size() > 1; }

Status generateTexts(TextsRequest request, const TextsOptions &options) { return Texts(std::move(request), options).run(); }

} // namespace tenon::driver
