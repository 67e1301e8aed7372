// What the manifest says about losses and metrics: the numbers of a batch, and how one number is made of several batches.
#pragma once
#include "frontend/Program.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace tenon {

/// Outputs of losses and metrics, and the parts that their averages need; `real`: the element type of real tensors.
llvm::json::Array numbersJson(const Entry &entry, const std::string &real);

} // namespace tenon
