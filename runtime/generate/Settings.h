// What a `generate` block says.
#pragma once
#include "runtime/artifact/Manifest.h"
#include "runtime/generate/BeamRules.h"
#include "runtime/generate/Sampler.h"
#include <optional>

namespace tenon::generate {

using runtime::Status;

/// A `generate` block with what the command line put in place of its settings.
struct Settings {
  std::string entry = "infer";
  Method method;
  bool searches = false; // by `beam`, several texts at once (Search.h), instead of by `method`
  bool draws = false;    // a search whose symbols are drawn by `method`; its beam is `oneText()`
  Beam beam;
  int64_t limit = 400;                            // symbols to make
  std::string limitOver;                          // beyond the size of this dim; empty: of none
  std::string start, stop;                        // text, or a symbol of the vocabulary such as <|endoftext|>
  std::optional<int32_t> startSymbol, stopSymbol; // the same as numbers, where the block has numbers
  std::vector<std::string> except;                // symbols of the vocabulary that belong into beam.except
  bool feedsMask = false;                         // a search reads the next symbol at a mask behind the last one
  std::string mask;                               // which symbol that is; empty: the vocabulary's
  std::optional<int32_t> maskSymbol;
  uint64_t seed = 0;
};
/// Of each text one, by the most probable symbol or the drawn one, as a beam search: for entries that read more than the text.
Beam oneText();
/// The block `name` of the manifest (empty: the first one, or the defaults if there is none).
runtime::Expected<Settings> readSettings(const runtime::Manifest &manifest, const std::string &name);

} // namespace tenon::generate
