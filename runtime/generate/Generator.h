// Text from an entry that keeps its past: states such as Transformer-XL's memory, or the keys and values of `out step(T)`.
#pragma once
#include "runtime/Context.h"
#include "runtime/data/Vocabulary.h"
#include "runtime/generate/Sampler.h"
#include <functional>
#include <optional>

namespace tenon::generate {

using runtime::Status;

/// A `generate` block with what the command line put in place of its settings.
struct Settings {
  std::string entry = "infer";
  Method method;
  int64_t limit = 400;             // symbols to make
  std::string start, stop;         // text, or a symbol of the vocabulary such as <|endoftext|>
  std::optional<int32_t> startSymbol, stopSymbol; // the same as numbers, where the block has numbers
  uint64_t seed = 0;
};
/// The block `name` of the manifest (empty: the first one, or the defaults if there is none).
runtime::Expected<Settings> readSettings(const runtime::Manifest &manifest, const std::string &name);

/// Takes pieces of text as they come; false ends the generation.
using TextSink = std::function<bool(std::string_view)>;

class Generator {
public:
  /// Contexts over `entry`; input errors where the entry reads more than `ids` or keeps nothing from call to call.
  static runtime::Expected<std::unique_ptr<Generator>> create(std::shared_ptr<runtime::Parameters> parameters, const Settings &settings,
                                                              const data::Vocabulary &vocabulary, std::shared_ptr<runtime::ThreadPool> pool);
  /// Feeds the prompt (settings.start if it is empty), then draws up to settings.limit symbols. The prompt is not repeated to `sink`; text comes
  /// in whole characters.
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
  /// Room for prompt and text in an entry that walks an axis: the error where there is none, or the value of the dim that leaves it open.
  Status makeRoom(int64_t prompt);

  std::unique_ptr<runtime::Context> single; // one symbol per call
  int64_t rows = 1;                         // of a batch: 1 unless the entry was compiled for a fixed number; all rows are equal
  int64_t room = 1;                         // of a walk whose capacity is a dim
  std::vector<double> logits;
  std::string endNote;
};

} // namespace tenon::generate
