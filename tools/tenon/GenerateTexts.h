// tenon generate with a beam search: a text for each row of the inputs.
#pragma once
#include "runtime/data/Vocabulary.h"
#include "runtime/generate/Search.h"
#include "tools/tenon/Call.h"

namespace tenon::driver {

struct TextsOptions {
  std::vector<std::string> inputs;
  std::string sources;
  std::optional<int64_t> batch;
  bool json = false;
};
void addTextsOptions(CLI::App &command, TextsOptions &options);
/// A usage error for options that are for a beam search alone.
Status checkNoTexts(const TextsOptions &options);

/// Whether the entry reads more than the text that is being made.
bool readsSources(const runtime::EntryInfo &entry);

struct TextsRequest {
  std::shared_ptr<runtime::Parameters> parameters;
  std::shared_ptr<runtime::ThreadPool> pool;
  generate::Settings settings;
  const data::Vocabulary &vocabulary;
  bool isKnown;       // the vocabulary is that of the model: texts are made of its symbols alone
  std::string prompt; // empty: the start of the settings
};
/// Prints one line per text, or with --json an object with symbols, scores and all hypotheses.
Status generateTexts(TextsRequest request, const TextsOptions &options);

} // namespace tenon::driver
