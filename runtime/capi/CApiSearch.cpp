// The C ABI of beam search.
#include "runtime/base/Checked.h"
#include "runtime/capi/CApiObjects.h"
#include "runtime/generate/Search.h"
#include <cstring>

namespace generate = tenon::generate;

namespace {

struct GivenInput {
  DataType type;
  std::vector<int64_t> shape;
  std::vector<char> values;
};

} // namespace

struct tn_search {
  std::shared_ptr<Parameters> parameters;
  generate::Settings settings;
  std::unique_ptr<generate::Search> search;
  std::map<std::string, GivenInput> inputs;
  int64_t first = 0; // number of the first text of a run, for what is drawn
  std::vector<std::vector<generate::Hypothesis>> found;
};

namespace {

Expected<generate::Settings> readBlock(const tn_model &model, const char *block) {
  auto settings = generate::readSettings(model.parameters->manifest(), block ? block : "");
  if (settings.ok() && !settings->searches) // greedy, or a block that draws: the most probable symbol
    settings->beam = generate::oneText();
  return settings;
}

Status apply(const tn_beam &beam, generate::Settings &settings) {
  if (beam.rule < TN_BEAM_T2T || beam.rule > TN_BEAM_UNILM)
    return usageError("a beam search has the rules 0 (t2t), 1 (hf) and 2 (unilm), not ", beam.rule);
  if (beam.feed != TN_FEED_TOKEN && beam.feed != TN_FEED_MASK)
    return usageError("a beam search feeds 0 (the last symbol) or 1 (a mask behind it), not ", beam.feed);
  if (beam.no_repeat < 0 || beam.limit < -1)
    return usageError("no_repeat is at least 0, and a limit at least 0, or -1 for the block's");
  settings.beam = {beam.size, static_cast<generate::BeamRule>(beam.rule), beam.alpha, beam.no_repeat, {}};
  settings.except.clear();
  settings.stop.clear();
  settings.stopSymbol = beam.stop < 0 ? std::nullopt : std::optional<int32_t>(beam.stop);
  settings.feedsMask = beam.feed == TN_FEED_MASK;
  settings.maskSymbol = beam.mask < 0 ? std::nullopt : std::optional<int32_t>(beam.mask);
  if (beam.limit >= 0) {
    settings.limit = beam.limit;
    settings.limitOver.clear();
  }
  return {};
}

/// Sizes of the inputs that were given, by dim; the context compares the rest.
Expected<std::map<std::string, int64_t>> dimsOf(const tn_search &search) {
  std::map<std::string, int64_t> dims;
  const EntryInfo &entry = *search.parameters->manifest().findEntry(search.settings.entry);
  std::vector<std::string> names;
  for (const DimInfo &dim : entry.dims)
    names.push_back(dim.name);
  for (const TensorInfo &info : search.search->inputs()) {
    const auto given = search.inputs.find(info.name);
    for (size_t axis = 0; given != search.inputs.end() && axis < info.shape.size(); ++axis) {
      const SizeForm &form = info.shape[axis];
      if (!form.tellsDim())
        continue;
      const std::string &dim = names[form.terms[0].first];
      const int64_t places = given->second.shape[axis];
      const std::optional<int64_t> value = form.dimOf(places);
      if (!value || *value < 1)
        return usageError("the input '", info.name, "' has ", places, " places along ", info.axes[axis], ": no ",
                          form.print(names), " with a whole ", dim, " of at least 1");
      dims.emplace(dim, *value);
    }
  }
  dims.erase(search.search->batchDim());
  return dims;
}

Status fillFrom(const tn_search &search, const BoundTensor &tensor, void *values) {
  const auto given = search.inputs.find(tensor.name);
  if (given == search.inputs.end())
    return usageError("the search reads the input '", tensor.name, "', which was never set; set it first");
  if (given->second.shape != tensor.shape)
    return usageError("the input '", tensor.name, "' is for other sizes: it has ", given->second.values.size(),
                      " bytes, expected ", tensor.bytes);
  std::memcpy(values, given->second.values.data(), given->second.values.size());
  return {};
}

} // namespace

tn_error *tn_model_beam(const tn_model *model, const char *block, tn_beam *beam) {
  return guarded([&]() -> Status {
    if (!model || !beam)
      return usageError("model or beam is NULL");
    auto settings = readBlock(*model, block);
    if (!settings.ok())
      return settings.status();
    *beam = {settings->beam.size,
             settings->beam.alpha,
             static_cast<int32_t>(settings->beam.rule),
             settings->stopSymbol.value_or(-1),
             settings->beam.noRepeat,
             settings->limitOver.empty() ? settings->limit : -1,
             settings->feedsMask ? TN_FEED_MASK : TN_FEED_TOKEN,
             settings->maskSymbol.value_or(-1)};
    return {};
  });
}

tn_error *tn_search_create(tn_model *model, const char *block, const char *entry, const tn_beam *beam, tn_threads *threads,
                           tn_search **search) {
  return guarded([&]() -> Status {
    if (!model || !search)
      return usageError("model or search is NULL");
    auto settings = readBlock(*model, block);
    if (!settings.ok())
      return settings.status();
    auto made = std::make_unique<tn_search>();
    made->parameters = model->parameters;
    made->settings = settings.take();
    if (entry)
      made->settings.entry = entry;
    if (Status status = beam ? apply(*beam, made->settings) : Status(); status.failed())
      return status;
    if (!made->settings.stop.empty())
      return usageError("stop = '", made->settings.stop,
                        "' is a text; a search through this interface wants the number of a symbol");
    if (!made->settings.except.empty())
      return usageError("except = '", made->settings.except[0],
                        "' is a text; give this search a tn_beam, and the numbers of symbols by tn_search_except");
    auto pool = poolOf(threads);
    if (!pool.ok())
      return pool.status();
    auto inside = generate::Search::create(model->parameters, made->settings, *pool);
    if (!inside.ok())
      return inside.status();
    made->search = inside.take();
    *search = made.release();
    return {};
  });
}
void tn_search_free(tn_search *search) { delete search; }

tn_error *tn_search_except(tn_search *search, const int32_t *symbols, int64_t count) {
  return guarded([&]() -> Status {
    if (!search || count < 0 || (count > 0 && !symbols))
      return usageError("search or symbols is NULL, or their count is below 0");
    search->search->exempt({symbols, symbols + count});
    return {};
  });
}

tn_error *tn_search_draw(tn_search *search, const tn_sampling *sampling, int64_t first) {
  return guarded([&]() -> Status {
    if (!search || !sampling || first < 0)
      return usageError("search or sampling is NULL, or the number of the first text is below 0");
    search->first = first;
    return search->search->draw({sampling->greedy != 0, sampling->temperature, sampling->top_k, sampling->top_p}, sampling->seed);
  });
}

tn_error *tn_search_set_input(tn_search *search, const char *name, int32_t type, int32_t rank, const int64_t *shape,
                              const void *values) {
  return guarded([&]() -> Status {
    if (!search || !name || (rank > 0 && !shape))
      return usageError("search, name or shape is NULL");
    for (const TensorInfo &info : search->search->inputs()) {
      if (info.name != name)
        continue;
      if (static_cast<int32_t>(info.type) != type || static_cast<size_t>(rank) != info.shape.size())
        return usageError("the input '", name, "' has ", info.shape.size(), " axes and the type ",
                          static_cast<int32_t>(info.type), ", got ", rank, " and ", type);
      const std::vector<int64_t> sizes(shape, shape + rank);
      auto elements = checkedProduct(std::span<const int64_t>(sizes));
      if (!elements || *elements < 0 || (*elements > 0 && !values))
        return usageError("the input '", name, "' has sizes that are no sizes, or no values");
      const char *first = static_cast<const char *>(values);
      search->inputs[name] = {info.type, sizes, {first, first + static_cast<size_t>(*elements) * byteSize(info.type)}};
      return {};
    }
    return usageError("the entry '", search->settings.entry, "' has no input '", name, "' besides the text");
  });
}

tn_error *tn_search_run(tn_search *search, int64_t texts, const int32_t *prompts, int64_t length) {
  return guarded([&]() -> Status {
    if (!search || !prompts)
      return usageError("search or prompts is NULL");
    if (texts < 1 || length < 1)
      return usageError("a search makes at least 1 text from at least 1 symbol, not ", texts, " from ", length);
    if (Status status = search->parameters->checkGiven(); status.failed())
      return status;
    search->found.clear();
    generate::SearchInputs inputs;
    inputs.texts = texts;
    inputs.first = search->first;
    auto dims = dimsOf(*search);
    if (!dims.ok())
      return dims.status();
    inputs.dims = dims.take();
    for (int64_t text = 0; text < texts; ++text)
      inputs.prompts.emplace_back(prompts + text * length, prompts + (text + 1) * length);
    inputs.fill = [&](const BoundTensor &tensor, void *values) { return fillFrom(*search, tensor, values); };
    auto found = search->search->run(inputs);
    if (found.ok())
      search->found = found.take();
    return found.status();
  });
}

int tn_search_count(const tn_search *search, int64_t text) {
  const bool isThere = search && text >= 0 && static_cast<size_t>(text) < search->found.size();
  return isThere ? static_cast<int>(search->found[static_cast<size_t>(text)].size()) : 0;
}

tn_error *tn_search_result(const tn_search *search, int64_t text, int index, const int32_t **symbols, uint64_t *count,
                           double *score, int32_t *ended) {
  return guarded([&]() -> Status {
    if (index < 0 || index >= tn_search_count(search, text))
      return usageError("the search has no result ", index, " of text ", text);
    const generate::Hypothesis &found = search->found[static_cast<size_t>(text)][static_cast<size_t>(index)];
    if (symbols)
      *symbols = found.symbols.data();
    if (count)
      *count = found.symbols.size();
    if (score)
      *score = found.score;
    if (ended)
      *ended = found.ended;
    return {};
  });
}
