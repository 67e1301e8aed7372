// Fields that metrics.jsonl and `tenon eval --json` have besides the losses and metrics of a model. JSON objects have each key
// once, so neither is called so.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

namespace tenon::sema {

/// Of the lines of steps and of evaluations (runtime/train/Trainer.cpp), outputs of the entry `train`, and of `tenon eval`
/// (tools/tenon/Eval.cpp): test/driver/fields.test compares.
inline constexpr std::string_view kFieldNames[] = {
    "step",    "skipped",     "bits_per_char", "grad_norm", "learning_rate", "lr",      "tokens_per_second",
    "seconds", "peak_memory", "loss_scale",    "batches",   "perplexity",    "covered", "of",
    "unit",    "part"};
/// Before the names of held-out numbers.
inline constexpr std::string_view kHeldOutPrefix = "valid_";

inline bool isFieldName(std::string_view name) {
  return name.starts_with(kHeldOutPrefix) ||
         std::find(std::begin(kFieldNames), std::end(kFieldNames), name) != std::end(kFieldNames);
}

} // namespace tenon::sema
