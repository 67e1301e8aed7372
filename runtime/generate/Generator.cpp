#include "runtime/generate/Generator.h"
#include "runtime/artifact/Artifact.h"
#include "runtime/base/Convert.h"
#include "runtime/data/Utf8.h"
#include <utility>

namespace tenon::generate {

using runtime::Context;
using runtime::EntryInfo;
using runtime::Expected;
using runtime::inputError;

namespace {

/// Prompts go through the model in windows of this length, and the rest one by one.
constexpr int64_t kWindow = 64;

} // namespace

Expected<std::unique_ptr<Generator>> Generator::create(std::shared_ptr<runtime::Parameters> parameters, const Settings &settings,
                                                       const data::Vocabulary &vocabulary,
                                                       std::shared_ptr<runtime::ThreadPool> pool) {
  for (const Status &status : {checkMethod(settings.method), checkLimit(settings.limit)})
    if (status.failed())
      return status;
  if (settings.feedsMask)
    return inputError(
        "feed = mask is for a search (`tenon generate`, tn_search_create); symbol by symbol a text feeds its last one");
  const EntryInfo *entry = parameters->manifest().findEntry(settings.entry);
  if (!entry) {
    std::string others;
    for (const EntryInfo &other : parameters->manifest().entries)
      others += (others.empty() ? "" : ", ") + other.name;
    return inputError("the artifact has no entry '", settings.entry, "' to generate with, only ", others,
                      "; `entry` of a generate block names another");
  }
  if (entry->inputs.size() != 1 || entry->inputs[0].name != "ids" || entry->inputs[0].axes.size() != 2)
    return inputError("the entry ", settings.entry, " reads more than ids[B, T], so it cannot generate text by itself",
                      entry->walk.empty() ? "" : "; a search (tn_search_create, `tenon generate`) takes what else it reads");
  std::vector<std::string> dims;
  for (const runtime::DimInfo &dim : entry->dims)
    dims.push_back(dim.name);
  if (entry->outputs.empty() || entry->outputs[0].axes.size() != 3)
    return inputError("the first output of the entry ", settings.entry, " must be logits[B, T, V] to generate text");
  for (size_t axis = 0; axis < 2; ++axis)
    if (entry->outputs[0].shape[axis].print(dims) != entry->inputs[0].shape[axis].print(dims))
      return inputError("the first output of the entry ", settings.entry, " is not the logits of ids: it needs the axes of ids, ",
                        entry->inputs[0].axes[0], " and ", entry->inputs[0].axes[1],
                        ", in this order, and then one over the symbols");
  if (!entry->walk.empty() && entry->walk != entry->inputs[0].axes[1])
    return inputError("the entry ", settings.entry, " walks along ", entry->walk, ", and a text goes on along ",
                      entry->inputs[0].axes[1], ", the second axis of ids: declare `out ", settings.entry, "(",
                      entry->inputs[0].axes[1], ") = ..`");
  if (entry->states.empty())
    return inputError("the entry ", settings.entry,
                      " keeps nothing from call to call; declare `out step(T) = logits` and use entry = step");
  std::unique_ptr<Generator> generator(new Generator());
  generator->parameters = std::move(parameters);
  generator->pool = std::move(pool);
  generator->settings = settings;
  generator->vocabulary = &vocabulary;
  if (Status status = generator->makeContext(1, generator->single); status.failed())
    return status;
  int64_t symbols = generator->single->outputs()[0].shape[2];
  for (auto symbol : {settings.startSymbol, settings.stopSymbol})
    if (symbol && *symbol >= vocabulary.size())
      return inputError("generate: there is no symbol ", *symbol, " in a vocabulary of ", vocabulary.size());
  if (symbols < vocabulary.size())
    return inputError("the model knows ", symbols, " symbols and the vocabulary has ", vocabulary.size());
  return generator;
}

Status Generator::makeContext(int64_t length, std::unique_ptr<Context> &context) {
  const EntryInfo &entry = *parameters->manifest().findEntry(settings.entry);
  // B and T are what the two axes of ids are made of.
  std::map<std::string, int64_t> dims;
  for (size_t axis = 0; axis < 2; ++axis) {
    const runtime::SizeForm &form = entry.inputs[0].shape[axis];
    int64_t size = axis == 0 ? 1 : length;
    if (form.isOfOneDim() && form.terms[0].second == 1 && form.constant == 0)
      dims[entry.dims[form.terms[0].first].name] = size;
    else if (form.isConstant() && axis == 0)
      rows = form.constant;
    else if (!form.isConstant() || form.constant != size)
      return inputError("the entry ", settings.entry, " was compiled for a fixed size of its axis ", entry.inputs[0].axes[axis],
                        "; generation needs it open");
  }
  if (entry.capacity.isOfOneDim() && entry.capacity.terms[0].second == 1)
    dims.emplace(entry.dims[entry.capacity.terms[0].first].name, room);
  auto made = Context::create(parameters, settings.entry, dims, pool);
  if (made.status().kind() == runtime::ErrorKind::Resource && !entry.walk.empty())
    return made.status().in(runtime::concat("prompt and --length are ", room, " places"));
  if (!made.ok())
    return made.status();
  context = made.take();
  return {};
}

Status Generator::feed(Context &context, const int32_t *ids, int64_t count) {
  int64_t length = context.inputs()[0].shape[1];
  for (int64_t row = 0; row < rows; ++row) {
    int32_t *to = static_cast<int32_t *>(context.input(0)) + row * length;
    std::fill(std::copy(ids, ids + count, to), to + length, 0);
  }
  if (Status status = context.run(); status.failed())
    return status;
  const runtime::BoundTensor &output = context.outputs()[0];
  auto values = context.output(0);
  if (!values.ok())
    return values.status();
  size_t symbols = static_cast<size_t>(output.shape[2]), first = static_cast<size_t>(count - 1) * symbols;
  // A model's table may be larger than the vocabulary: rows beyond it stand for no symbol.
  logits.resize(std::min(symbols, static_cast<size_t>(vocabulary->size())));
  runtime::withReal(output.type, [&]<typename Real>(Real) {
    std::copy_n(static_cast<const Real *>(*values) + first, logits.size(), logits.begin());
  });
  return {};
}

/// Where an entry walks an axis, the rest of the last window is filled with 0 and forgotten again, unless it cannot be.
Status Generator::feedPrompt(const std::vector<int32_t> &ids) {
  int64_t count = static_cast<int64_t>(ids.size()), at = 0;
  const bool walks = single->capacity() >= 0, forgets = walks && !single->goesBackToStartOnly();
  const int64_t length = walks ? std::min(kWindow, single->capacity()) : kWindow;
  if (count > (forgets ? 1 : length)) {
    std::unique_ptr<Context> window;
    if (Status status = makeContext(length, window); status.failed())
      return status;
    for (; at < count; at += length) {
      int64_t more = std::min(length, count - at);
      if (more < length && (!forgets || at + length > single->capacity()))
        break;
      if (Status status = feed(*window, ids.data() + at, more); status.failed())
        return status;
      if (more < length)
        if (Status status = window->rewind(count); status.failed())
          return status;
    }
    if (Status status = single->copyStatesFrom(*window); status.failed())
      return status;
  }
  for (; at < count; ++at)
    if (Status status = feed(*single, ids.data() + at, 1); status.failed())
      return status;
  return {};
}

Status Generator::makeRoom(int64_t prompt) {
  const EntryInfo &entry = entryInfo();
  if (entry.walk.empty())
    return {};
  if (entry.capacity.isConstant()) {
    if (prompt > single->capacity())
      return inputError("the prompt has ", prompt, " symbols, and the entry ", settings.entry, " keeps at most ",
                        single->capacity());
    return {};
  }
  room = prompt + settings.limit;
  return makeContext(1, single);
}

Status Generator::encode(std::string_view text, std::vector<int32_t> &ids) const {
  if (auto symbol = vocabulary->find(text)) {
    ids.push_back(*symbol);
    return {};
  }
  return vocabulary->encode(text, ids);
}

Status Generator::promptIds(std::string_view prompt, std::vector<int32_t> &ids) const {
  if (prompt.empty() && settings.startSymbol)
    ids.push_back(*settings.startSymbol);
  else if (Status status = encode(prompt.empty() ? std::string_view(settings.start) : prompt, ids); status.failed())
    return status.in("prompt");
  if (ids.empty())
    return runtime::usageError(
        "there is nothing to go on from: pass --prompt TEXT, or give the generate block a start that is not empty");
  return {};
}

Status Generator::start(const std::vector<int32_t> &ids, uint64_t seed) {
  ended = true;
  if (ids.empty())
    return runtime::usageError("a text goes on from at least one symbol");
  for (int32_t id : ids)
    if (id < 0 || id >= vocabulary->size())
      return inputError("prompt: there is no symbol ", id, " in a vocabulary of ", vocabulary->size());
  if (Status status = makeRoom(static_cast<int64_t>(ids.size())); status.failed())
    return status;
  endNote.clear();
  single->resetStates();
  if (Status status = feedPrompt(ids); status.failed())
    return status;
  stopSymbol = settings.stop.empty() ? settings.stopSymbol : vocabulary->mark(settings.stop);
  sampler.emplace(settings.method, seed);
  held.clear();
  all.clear();
  previous = ids.back();
  made = 0;
  ended = false;
  return {};
}

Status Generator::next(Symbol &symbol) {
  symbol = {};
  auto end = [&](Status status) {
    ended = true;
    symbol.text = std::exchange(held, {});
    return status;
  };
  if (ended || made == settings.limit)
    return end({});
  if (made > 0) {
    if (single->capacity() >= 0 && single->position() == single->capacity()) {
      endNote = runtime::concat("the text ends after ", made, " of ", settings.limit, " symbols: the entry ", settings.entry,
                                " keeps at most ", single->capacity(), " places of ", single->entry().walk,
                                ", and prompt and text have taken them");
      return end({});
    }
    if (Status status = feed(*single, &previous, 1); status.failed())
      return end(status);
  }
  const int32_t id = sampler->draw(logits, static_cast<uint64_t>(made));
  if (id < 0)
    return end(Status(runtime::ErrorKind::Numeric, runtime::concat("symbol ", made, ": the model gives no finite logit")));
  if (stopSymbol == id)
    return end({});
  const std::string piece = vocabulary->text(id, previous);
  held += piece;
  symbol.id = previous = id;
  ++made;
  if (!stopSymbol && !settings.stop.empty()) {
    all += piece;
    if (all.ends_with(settings.stop))
      return end({});
  }
  const size_t whole = held.size() - data::incompleteTail(held);
  symbol.text = held.substr(0, whole);
  held.erase(0, whole);
  return {};
}

Status Generator::run(std::string_view prompt, uint64_t seed, const TextSink &sink) {
  std::vector<int32_t> ids;
  Status status = promptIds(prompt, ids);
  if (status.ok())
    status = start(ids, seed);
  Symbol symbol{0, {}};
  while (status.ok() && symbol.id >= 0) {
    status = next(symbol);
    if (!symbol.text.empty() && !sink(symbol.text))
      return {};
  }
  return status;
}

} // namespace tenon::generate
