// The text of tenon plot --attention --prompt, as inputs of an evaluation.
#pragma once
#include "runtime/context/Context.h"
#include "runtime/data/Vocabulary.h"
#include "tools/tenon/Attention.h"

namespace tenon::driver {

constexpr int64_t kMostSymbols = 64; // of a text, where nobody says how many

/// A prompt as the data of the recipe's task would hold it: between the marks that the model has always seen around a text.
Status encodePrompt(const AttentionOptions &options, const data::Vocabulary &vocabulary, const std::string &task,
                    std::vector<int32_t> &ids);
/// The inputs for a prompt: one text, given from left to right, of which nothing is padded or masked. What else a task gives are
/// labels and what the losses weigh by; attention does not depend on them. `task`: the value of the input of this name.
void fillFromPrompt(runtime::Context &context, int text, const std::vector<int32_t> &ids, int64_t task);
/// Usage error for inputs on which attention may depend and that a prompt cannot tell; `hasId`: the recipe says what the input
/// `task` is.
Status checkPrompt(const runtime::EntryInfo &entry, int text, bool hasId);

} // namespace tenon::driver
