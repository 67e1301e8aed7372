// Text from an entry that keeps its past: states such as Transformer-XL's memory, or the keys and values of `out step(T)`.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/data/Vocabulary.h"
#include "runtime/generate/Settings.h"
#include <functional>
#include <optional>

namespace tenon::generate {

/// Takes pieces of text as they come; false ends the generation.
using TextSink = std::function<bool(std::string_view)>;

/// One symbol of a text, and what of the text it made whole: a character may take several symbols.
struct Symbol {
  int32_t id = -1; // -1: the text has ended; `text` has what was held back
  std::string text;
};

class Generator {
public:
  /// Contexts over `entry`; input errors where the entry reads more than `ids` or keeps nothing from call to call.
  static runtime::Expected<std::unique_ptr<Generator>> create(std::shared_ptr<runtime::Parameters> parameters,
                                                              const Settings &settings, const data::Vocabulary &vocabulary,
                                                              std::shared_ptr<runtime::ThreadPool> pool);
  /// The symbols of a prompt; of settings.start if it is empty.
  Status promptIds(std::string_view prompt, std::vector<int32_t> &ids) const;
  /// Begins a text: forgets the one before and feeds `ids`, at least one.
  Status start(const std::vector<int32_t> &ids, uint64_t seed);
  /// Draws the next symbol, up to settings.limit of them. The stop symbol ends the text and is not given; a stop text is a part
  /// of it. After an error `symbol.text` has what was held back.
  Status next(Symbol &symbol);
  /// Feeds the prompt, then gives all symbols' text to `sink`, in whole characters, without the prompt.
  Status run(std::string_view prompt, uint64_t seed, const TextSink &sink);
  /// Why the last run has made fewer symbols than asked for, where neither its stop nor the sink has ended it; else empty.
  const std::string &note() const { return endNote; }

private:
  Generator() = default;
  Status makeContext(int64_t length, std::unique_ptr<runtime::Context> &context);
  /// Runs `count` symbols through a context of that length and keeps the last place's logits.
  Status feed(runtime::Context &context, const int32_t *ids, int64_t count);
  Status feedPrompt(const std::vector<int32_t> &ids);
  Status encode(std::string_view text, std::vector<int32_t> &ids) const;

  std::shared_ptr<runtime::Parameters> parameters;
  std::shared_ptr<runtime::ThreadPool> pool;
  Settings settings;
  const data::Vocabulary *vocabulary = nullptr;
  const runtime::EntryInfo &entryInfo() const { return *parameters->manifest().findEntry(settings.entry); }
  /// Room for prompt and text in an entry that walks an axis: the error where there is none, or the value of the dim that leaves
  /// it open.
  Status makeRoom(int64_t prompt);

  std::unique_ptr<runtime::Context> single; // one symbol per call
  int64_t rows = 1;                         // of a batch: 1 unless the entry was compiled for a fixed number; all rows are equal
  int64_t room = 1;                         // of a walk whose capacity is a dim
  std::vector<double> logits;
  std::string endNote;
  // The text being made, since start().
  std::optional<Sampler> sampler;
  std::optional<int32_t> stopSymbol;
  std::string held, all; // the start of a character; the text for a stop text
  int32_t previous = -1;
  int64_t made = 0;
  bool ended = true;
};

} // namespace tenon::generate
