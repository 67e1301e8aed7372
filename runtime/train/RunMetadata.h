// What a checkpoint says of its run in words and numbers. Internal to RunState.cpp.
#pragma once
#include "runtime/train/RunState.h"
#include "tenon/artifact.h"

namespace tenon::train {

/// A text of the manifest's recipe, or of a checkpoint's metadata; empty where it is not said.
std::string textOf(const runtime::JsonValue &object, const char *key);
/// Sizes of the model's dims, as the inputs have them: those that the recipe or --bind gave to the compiler, too.
std::map<std::string, int64_t> sizesOf(const runtime::Context &context);
/// A JSON object.
std::string metadataText(const RunState &state, const runtime::Context &context, const std::optional<TnLossScale> &lossScale);
/// Nothing where the checkpoint says nothing. Errors name the checkpoint.
runtime::Status readBest(const runtime::LoadedCheckpoint &checkpoint, std::optional<BestEvaluation> &result);
/// A run whose recipe had another schedule until now begins with no evaluation seen.
runtime::Status readPlateau(const runtime::LoadedCheckpoint &checkpoint, std::optional<Plateau> &result);
/// A run that was in f32 or bf16 until now begins with the recipe's scale, and a fixed one is always the recipe's.
runtime::Status readLossScale(const runtime::LoadedCheckpoint &checkpoint, runtime::Parameters &parameters);

} // namespace tenon::train
