// Several texts at once, by beam search or drawn: from an entry that walks an axis, with whatever else it reads (a source, once
// per text).
#pragma once
#include "runtime/context/Context.h"
#include "runtime/generate/KeptRows.h"
#include "runtime/generate/Settings.h"
#include <functional>

namespace tenon::generate {

/// What a batch of texts is made from.
struct SearchInputs {
  int64_t texts = 1;
  std::map<std::string, int64_t> dims; // of the inputs besides the walked one; not the batch
  /// Fills one of them for all texts, dense; null where there are none.
  std::function<Status(const runtime::BoundTensor &input, void *values)> fill;
  std::vector<std::vector<int32_t>> prompts; // of each text, all equally long, at least one symbol
  int64_t first = 0;                         // number of the first text among all, which what is drawn depends on
};

class Search {
public:
  /// Input errors: an entry that does not walk, reads more than one input along the walk, or puts out no logits over one axis; a
  /// beam of no size or of more than there are symbols; a mask that is fed to an entry which cannot take a place back, or that
  /// has no number.
  static runtime::Expected<std::unique_ptr<Search>> create(std::shared_ptr<runtime::Parameters> parameters,
                                                           const Settings &settings, std::shared_ptr<runtime::ThreadPool> pool);
  /// The inputs that a caller fills: all but the walked one, which is `text`.
  std::vector<runtime::TensorInfo> inputs() const;
  const runtime::TensorInfo &text() const { return walked(); }
  /// The axis of texts, and the dim that is its size.
  const std::string &batchAxis() const { return walked().axes[0]; }
  const std::string &batchDim() const;
  /// Symbols that a text may begin with so that the limit of the settings fits behind them; nothing where the entry keeps as many
  /// places as it is given, or the limit depends on the inputs.
  std::optional<int64_t> mostPrompt() const;
  /// Symbols that sequences may have that come again, instead of those of the settings.
  void exempt(std::vector<int32_t> symbols) { settings.beam.except = std::move(symbols); }
  /// Texts are made of the first `count` symbols alone: a model's table may be larger than the vocabulary.
  void keepTo(int64_t count) { known = count; }
  /// From now on each symbol is drawn, instead of searched for; `method.greedy`: it is the most probable one.
  Status draw(const Method &method, uint64_t seed);
  /// Per text its hypotheses, best first.
  runtime::Expected<std::vector<std::vector<Hypothesis>>> run(const SearchInputs &inputs);

private:
  Search(std::shared_ptr<runtime::Parameters> parameters, const Settings &settings, std::shared_ptr<runtime::ThreadPool> pool)
      : parameters(std::move(parameters)), pool(std::move(pool)), settings(settings) {}
  const runtime::EntryInfo &entry() const { return *parameters->manifest().findEntry(settings.entry); }
  const runtime::TensorInfo &walked() const { return entry().inputs[walkedInput]; }
  Status checkEntry();
  Status checkMask() const;
  /// Places of a call that brings one symbol: its own, and that of the mask.
  int64_t placesPerSymbol() const { return settings.feedsMask ? 2 : 1; }
  /// Places behind a prompt: the last symbol is not fed, and behind the one before it there may be a mask.
  int64_t placesBehind(int64_t limit) const { return std::max<int64_t>(limit - 1, 0) + placesPerSymbol() - 1; }
  int64_t madeSymbols() const { return std::min(symbols, known.value_or(symbols)); }
  std::optional<int64_t> boundSize(const std::string &axis) const;
  runtime::Expected<int64_t> limitFor(const std::map<std::string, int64_t> &dims) const;
  Status makeContexts(const SearchInputs &inputs, int64_t limit);
  runtime::Expected<std::unique_ptr<runtime::Context>> makeContext(const std::string &name, int64_t rows, int64_t length,
                                                                   const SearchInputs &inputs, int64_t room) const;
  Status fillInputs(runtime::Context &context, const SearchInputs &inputs, int64_t times) const;
  Status feedPrompts(const SearchInputs &inputs);
  Status feedSymbols(const BeamSearch &search);
  Status runAndRead(runtime::Context &context);
  Status readLogProbabilities(const runtime::Context &context);
  void drawSymbols(const SearchInputs &inputs, uint64_t made);
  Status moveRows(const BeamSearch &search);

  std::shared_ptr<runtime::Parameters> parameters;
  std::shared_ptr<runtime::ThreadPool> pool;
  Settings settings;
  size_t walkedInput = 0;
  std::optional<int64_t> known; // symbols that may be made; all of the model's
  // Of the batch under way.
  std::unique_ptr<runtime::Context> single; // one symbol per call and row, and the mask where it is fed
  std::optional<KeptRows> kept;
  int64_t texts = 0, symbols = 0;
  std::vector<int64_t> rowOf;               // per beam: the row of the batch where its past is kept
  std::vector<std::vector<int32_t>> pastOf; // per row: the symbols whose places it keeps
  std::vector<double> logProbabilities;     // per beam
};

} // namespace tenon::generate
