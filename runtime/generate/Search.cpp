#include "runtime/generate/Search.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/base/Convert.h"
#include "runtime/generate/LogSumExp.h"
#include <algorithm>
#include <cmath>

namespace tenon::generate {

using runtime::Context;
using runtime::EntryInfo;
using runtime::Expected;
using runtime::inputError;
using runtime::SizeForm;
using runtime::TensorInfo;

namespace {

/// The dim that a size is, if it is nothing else.
std::optional<uint32_t> dimOf(const SizeForm &size) {
  return size.isOfOneDim() && size.terms[0].second == 1 && size.constant == 0 ? std::optional(size.terms[0].first) : std::nullopt;
}

} // namespace

Expected<std::unique_ptr<Search>> Search::create(std::shared_ptr<runtime::Parameters> parameters, const Settings &settings,
                                                 std::shared_ptr<runtime::ThreadPool> pool) {
  std::unique_ptr<Search> search(new Search(std::move(parameters), settings, std::move(pool)));
  if (!search->parameters->manifest().findEntry(settings.entry))
    return inputError("the artifact has no entry '", settings.entry,
                      "' to generate with; `entry` of a generate block names another");
  if (Status status = search->checkEntry(); status.failed())
    return status;
  return search;
}

Status Search::checkEntry() {
  const EntryInfo &info = entry();
  if (info.walk.empty())
    return inputError("a beam search needs an entry that walks an axis, and ", info.name,
                      " does not; declare `out step(T) = logits`");
  std::vector<size_t> along;
  for (size_t i = 0; i < info.ownInputs(); ++i)
    if (std::count(info.inputs[i].axes.begin(), info.inputs[i].axes.end(), info.walk) > 0)
      along.push_back(i);
  const bool isText = along.size() == 1 && info.inputs[along[0]].axes.size() == 2 && info.inputs[along[0]].bound &&
                      info.inputs[along[0]].axes[1] == info.walk;
  if (!isText)
    return inputError("the entry ", info.name, " reads ", along.size(), " inputs along ", info.walk,
                      "; a beam search feeds one, of symbols, with the axes of texts and of ", info.walk);
  walkedInput = along[0];
  if (info.outputs.empty() || info.outputs[0].axes.size() != 3 || info.outputs[0].shape[0] != walked().shape[0] ||
      info.outputs[0].shape[1] != walked().shape[1])
    return inputError("the first output of the entry ", info.name, " must be logits over one axis, with the axes of ",
                      walked().name, " in front of it");
  for (const Status &status : {checkBeam(settings.beam), checkLimit(settings.limit), checkMethod(settings.method)})
    if (status.failed())
      return status;
  if (!dimOf(walked().shape[0]) || !dimOf(walked().shape[1]))
    return inputError("the entry ", info.name,
                      " was compiled for a fixed number of texts or places; a beam search needs both open");
  return settings.feedsMask ? checkMask() : Status();
}

Status Search::checkMask() const {
  if (!settings.maskSymbol)
    return inputError(
        "feed = mask: which symbol the mask is was not given; `mask` of a generate block, or of a tn_beam, is its number");
  for (const runtime::StateInfo &state : entry().states)
    if (state.ofLastPlace)
      return inputError("not supported yet: feed = mask with the entry ", entry().name, ", which keeps of '", state.name,
                        "' what its last place left and so cannot take the place of the mask back");
  return {};
}

const std::string &Search::batchDim() const { return entry().dims[*dimOf(walked().shape[0])].name; }

std::optional<int64_t> Search::mostPrompt() const {
  const auto dim = dimOf(entry().capacity);
  const int64_t places = dim ? entry().dims[*dim].max : entry().capacity.isConstant() ? entry().capacity.constant : 0;
  return places > 0 && settings.limitOver.empty() ? std::optional(places - placesBehind(settings.limit)) : std::nullopt;
}

std::vector<TensorInfo> Search::inputs() const {
  std::vector<TensorInfo> others = entry().inputs;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(walkedInput));
  return others;
}

Status Search::draw(const Method &method, uint64_t seed) {
  if (Status status = checkMethod(method); status.failed())
    return status;
  settings.method = method;
  settings.draws = !method.greedy;
  settings.beam = oneText();
  settings.seed = seed;
  return {};
}

/// The size of an axis of the inputs that the compiler was told (--bind S=32).
std::optional<int64_t> Search::boundSize(const std::string &axis) const {
  for (const std::string &name : {settings.entry, entry().prepare})
    if (const EntryInfo *info = parameters->manifest().findEntry(name))
      for (const TensorInfo &input : info->inputs)
        for (size_t i = 0; i < input.axes.size(); ++i)
          if (input.axes[i] == axis && input.shape[i].isConstant())
            return input.shape[i].constant;
  return std::nullopt;
}

/// "S + 50" over the sizes of the inputs, or the number of the settings.
Expected<int64_t> Search::limitFor(const std::map<std::string, int64_t> &dims) const {
  if (settings.limitOver.empty())
    return settings.limit;
  auto size = dims.find(settings.limitOver);
  const auto bound = size == dims.end() ? boundSize(settings.limitOver) : std::nullopt;
  if (bound)
    return *bound + settings.limit;
  if (size == dims.end())
    return inputError("limit: the inputs of the entry ", settings.entry, " have no axis of the size ", settings.limitOver);
  return size->second + settings.limit;
}

Expected<std::unique_ptr<Context>> Search::makeContext(const std::string &name, int64_t rows, int64_t length,
                                                       const SearchInputs &inputs, int64_t room) const {
  const EntryInfo &info = *parameters->manifest().findEntry(name), &step = entry();
  std::map<std::string, int64_t> dims = inputs.dims;
  dims[step.dims[*dimOf(walked().shape[0])].name] = rows;
  dims[step.dims[*dimOf(walked().shape[1])].name] = length;
  if (auto dim = dimOf(step.capacity))
    dims[step.dims[*dim].name] = room;
  for (auto each = dims.begin(); each != dims.end();)
    each = info.dimIndex(each->first) < 0 ? dims.erase(each) : std::next(each);
  return Context::create(parameters, name, dims, pool, false);
}

/// All inputs but the walked one; rows of `times` beams each.
Status Search::fillInputs(Context &context, const SearchInputs &inputs, int64_t times) const {
  for (size_t i = 0; i < context.inputs().size(); ++i) {
    const TensorInfo &info = context.entry().inputs[i];
    if (info.prepared || (context.entry().name == settings.entry && i == walkedInput))
      continue;
    runtime::BoundTensor tensor = context.inputs()[i];
    const bool hasRows = !info.axes.empty() && info.axes[0] == walked().axes[0];
    char *values = static_cast<char *>(context.input(static_cast<int>(i)));
    if (hasRows) {
      tensor.shape[0] /= times;
      tensor.bytes /= static_cast<uint64_t>(times);
    }
    if (Status status = inputs.fill ? inputs.fill(tensor, values) : inputError("the input ", tensor.name, " has no values");
        status.failed())
      return status;
    if (!hasRows || times == 1)
      continue;
    const size_t row = tensor.bytes / static_cast<size_t>(std::max<int64_t>(tensor.shape[0], 1));
    for (int64_t text = tensor.shape[0]; text-- > 0;) // from the last one on: nothing is read that was written
      for (int64_t k = times; k-- > 0;)
        std::copy_n(values + static_cast<size_t>(text) * row, row, values + static_cast<size_t>(text * times + k) * row);
  }
  return {};
}

Status Search::makeContexts(const SearchInputs &inputs, int64_t limit) {
  texts = inputs.texts;
  const int64_t rows = texts * settings.beam.size, prompt = static_cast<int64_t>(inputs.prompts[0].size());
  const int64_t room = prompt + placesBehind(limit);
  auto made = makeContext(settings.entry, rows, placesPerSymbol(), inputs, room);
  if (!made.ok())
    return made.status();
  single = made.take();
  if (room > single->capacity())
    return inputError("a prompt of ", prompt, " and up to ", limit, " symbols take ", room, " places, and the entry ",
                      settings.entry, " keeps at most ", single->capacity());
  symbols = single->outputs()[0].shape[2];
  if (settings.beam.size > madeSymbols())
    return inputError("a beam search goes on with ", settings.beam.size, " texts, and there are only ", madeSymbols(),
                      " symbols");
  auto layout = KeptRows::of(*single, walked().shape[0], walked().axes[0]);
  if (!layout.ok())
    return layout.status();
  kept = layout.take();
  if (Status status = fillInputs(*single, inputs, settings.beam.size); status.failed() || entry().prepare.empty())
    return status;
  auto prepare = makeContext(entry().prepare, texts, 1, inputs, room);
  if (!prepare.ok())
    return prepare.status();
  Status status = fillInputs(**prepare, inputs, 1);
  if (status.ok())
    status = (*prepare)->run();
  return status.ok() ? kept->takePrepared(**prepare, settings.beam.size) : status;
}

/// Of all rows, so that each has the places of its prompt.
Status Search::feedPrompts(const SearchInputs &inputs) {
  const int64_t length = static_cast<int64_t>(inputs.prompts[0].size()) + placesPerSymbol() - 1;
  std::unique_ptr<Context> window;
  if (length > placesPerSymbol()) {
    SearchInputs same = inputs;
    auto made = makeContext(settings.entry, texts * settings.beam.size, length, same, single->capacity());
    if (!made.ok())
      return made.status();
    window = made.take();
    Status status = window->copyStatesFrom(*single);
    if (status.ok())
      status = fillInputs(*window, inputs, settings.beam.size);
    if (status.failed())
      return status;
  }
  Context &context = window ? *window : *single;
  int32_t *ids = static_cast<int32_t *>(context.input(static_cast<int>(walkedInput)));
  pastOf.clear();
  for (int64_t row = 0; row < texts * settings.beam.size; ++row) {
    const std::vector<int32_t> &prompt = inputs.prompts[static_cast<size_t>(row / settings.beam.size)];
    ids = std::copy(prompt.begin(), prompt.end(), ids);
    if (settings.feedsMask)
      *ids++ = *settings.maskSymbol;
    pastOf.push_back(prompt);
    rowOf[static_cast<size_t>(row)] = row;
  }
  Status status = runAndRead(context);
  return status.ok() && window ? single->copyStatesFrom(*window) : status;
}

/// A mask's place is taken back: what was kept of it is written over by the symbol that the search chooses for it.
Status Search::runAndRead(Context &context) {
  Status status = context.run();
  if (status.ok())
    status = readLogProbabilities(context);
  return status.ok() && settings.feedsMask ? context.rewind(context.position() - 1) : status;
}

/// Of the last place, in the order of the beams.
Status Search::readLogProbabilities(const Context &context) {
  const runtime::BoundTensor &output = context.outputs()[0];
  auto values = context.output(0);
  if (!values.ok())
    return values.status();
  const auto count = static_cast<size_t>(symbols), places = static_cast<size_t>(output.shape[1]);
  logProbabilities.resize(rowOf.size() * count);
  for (size_t beam = 0; beam < rowOf.size(); ++beam) {
    const size_t first = (static_cast<size_t>(rowOf[beam]) * places + places - 1) * count;
    double *to = logProbabilities.data() + beam * count;
    runtime::withReal(output.type,
                      [&]<typename Real>(Real) { std::copy_n(static_cast<const Real *>(*values) + first, count, to); });
    std::fill(to + madeSymbols(), to + count, -INFINITY);
    const double normalizer = logSumExp(to, count);
    if (!std::isfinite(normalizer))
      return Status(runtime::ErrorKind::Numeric,
                    runtime::concat("after ", context.position(), " places: the model's logits are not all numbers"));
    for (size_t i = 0; i < count; ++i)
      to[i] -= normalizer;
  }
  return {};
}

/// Leaves of each text's probabilities that of the symbol that is drawn. The draw depends on the number of the text and that of
/// the symbol, so batches of any size give the same texts, and the first text has the draws of one that is made alone.
void Search::drawSymbols(const SearchInputs &inputs, uint64_t made) {
  Sampler sampler(settings.method, settings.seed);
  std::vector<double> row(static_cast<size_t>(symbols));
  for (int64_t text = 0; text < texts; ++text) {
    double *values = logProbabilities.data() + text * symbols;
    std::copy_n(values, symbols, row.begin());
    const int32_t drawn = sampler.draw(row, (static_cast<uint64_t>(inputs.first + text) << 40) + made);
    std::fill_n(values, symbols, -INFINITY);
    if (drawn >= 0) // readLogProbabilities has refused what has none
      values[drawn] = row[static_cast<size_t>(drawn)];
  }
}

/// The first beam that goes on from a row stays there; others take a row that nobody goes on from, and of its past only what
/// differs is copied: two beams of a text have the same beginning.
Status Search::moveRows(const BeamSearch &search) {
  const std::vector<int32_t> &parents = search.parents();
  const auto size = static_cast<size_t>(settings.beam.size);
  std::vector<int64_t> rows(rowOf.size(), -1);
  for (size_t first = 0; first < rowOf.size(); first += size) {
    std::vector<bool> isTaken(size);
    for (size_t k = 0; k < size; ++k)
      if (const auto from = static_cast<size_t>(parents[first + k]); !isTaken[from]) {
        isTaken[from] = true;
        rows[first + k] = rowOf[first + from];
      }
    size_t free = 0;
    for (size_t k = 0; k < size; ++k) {
      if (rows[first + k] >= 0)
        continue;
      while (isTaken[free])
        ++free;
      isTaken[free] = true;
      const int64_t target = rowOf[first + free], source = rowOf[first + static_cast<size_t>(parents[first + k])];
      auto &to = pastOf[static_cast<size_t>(target)], &from = pastOf[static_cast<size_t>(source)];
      const int64_t same = std::mismatch(from.begin(), from.end(), to.begin(), to.end()).first - from.begin();
      if (Status status = kept->copyPlaces(source, target, same, static_cast<int64_t>(from.size())); status.failed())
        return status;
      to = from;
      rows[first + k] = target;
    }
  }
  rowOf = std::move(rows);
  return {};
}

Status Search::feedSymbols(const BeamSearch &search) {
  int32_t *ids = static_cast<int32_t *>(single->input(static_cast<int>(walkedInput)));
  for (size_t beam = 0; beam < rowOf.size(); ++beam) {
    // What is behind a stop is not read; a vocabulary may have no such symbol.
    const int32_t symbol = std::max(search.chosen()[beam], 0);
    int32_t *const to = ids + rowOf[beam] * placesPerSymbol();
    to[0] = symbol;
    if (settings.feedsMask)
      to[1] = *settings.maskSymbol;
    pastOf[static_cast<size_t>(rowOf[beam])].push_back(symbol);
  }
  return runAndRead(*single);
}

Expected<std::vector<std::vector<Hypothesis>>> Search::run(const SearchInputs &inputs) {
  auto limit = limitFor(inputs.dims);
  if (!limit.ok())
    return limit.status();
  for (const auto &prompt : inputs.prompts)
    if (prompt.empty() || prompt.size() != inputs.prompts[0].size())
      return inputError("texts of a batch begin with equally many symbols, at least one");
  if (static_cast<int64_t>(inputs.prompts.size()) != inputs.texts || inputs.texts < 1)
    return inputError(inputs.texts, " texts, and ", inputs.prompts.size(), " to begin with");
  rowOf.assign(static_cast<size_t>(inputs.texts * settings.beam.size), 0);
  Status status = makeContexts(inputs, *limit);
  if (status.ok() && settings.stopSymbol && *settings.stopSymbol >= madeSymbols())
    status = inputError("stop = ", *settings.stopSymbol, ": texts are made of ", madeSymbols(), " symbols");
  if (status.ok() && settings.feedsMask && *settings.maskSymbol >= symbols)
    status = inputError("mask = ", *settings.maskSymbol, ": the model knows ", symbols, " symbols");
  for (int32_t symbol : settings.beam.except)
    if (status.ok() && (symbol < 0 || symbol >= symbols))
      status = inputError("except = ", symbol, ": the model knows ", symbols, " symbols");
  if (status.ok())
    status = feedPrompts(inputs);
  if (status.failed())
    return status;
  auto search = BeamSearch::create(settings.beam, {texts, symbols, *limit, settings.stopSymbol.value_or(-1), inputs.prompts});
  for (uint64_t made = 0; !search->isOver(); ++made) {
    if (settings.draws)
      drawSymbols(inputs, made);
    search->advance(logProbabilities);
    if (search->isOver())
      break;
    status = moveRows(*search);
    if (status.ok())
      status = feedSymbols(*search);
    if (status.failed())
      return status;
  }
  std::vector<std::vector<Hypothesis>> found;
  for (int64_t text = 0; text < texts; ++text)
    found.push_back(search->hypotheses(text));
  return found;
}

} // namespace tenon::generate
