// Byte offsets inside TnContext (runtime/include/tenon/artifact.h), for generated code.
#pragma once
#include "runtime/include/tenon/artifact.h"
#include <cstddef>

namespace tenon::abi {

enum ContextField : int64_t {
  Dims = 0,
  Arenas = 8,
  Inputs = 16,
  Outputs = 24,
  Offsets = 32,
  ParallelFor = 40,
  Scratch = 48,
  ScratchStride = 56,
  Seed = 64,
  Step = 72,
  Pool = 80,
  Flags = 88,
  TotalSteps = 96,
  GroupReady = 104,
  Owner = 112,
  AddLevels = 120,
  KeepLevel = 128,
  LevelStride = 136,
  Launch = 144,
  Launcher = 152,
  ContextBytes = 160,
};

static_assert(offsetof(TnContext, dims) == Dims && offsetof(TnContext, arenas) == Arenas &&
              offsetof(TnContext, inputs) == Inputs);
static_assert(offsetof(TnContext, outputs) == Outputs && offsetof(TnContext, offsets) == Offsets);
static_assert(offsetof(TnContext, parallel_for) == ParallelFor && offsetof(TnContext, scratch) == Scratch);
static_assert(offsetof(TnContext, scratch_stride) == ScratchStride && offsetof(TnContext, seed) == Seed);
static_assert(offsetof(TnContext, step) == Step && offsetof(TnContext, pool) == Pool && offsetof(TnContext, flags) == Flags);
static_assert(offsetof(TnContext, flags) == Flags && offsetof(TnContext, total_steps) == TotalSteps);
static_assert(offsetof(TnContext, group_ready) == GroupReady && offsetof(TnContext, owner) == Owner);
static_assert(offsetof(TnContext, add_levels) == AddLevels && offsetof(TnContext, keep_level) == KeepLevel);
static_assert(offsetof(TnContext, level_stride) == LevelStride);
static_assert(offsetof(TnContext, launch) == Launch && offsetof(TnContext, launcher) == Launcher);
static_assert(sizeof(TnContext) == ContextBytes);

/// An entry works on its own copy of the context, and tiles are given that copy: behind it lie the depths of the running stacks
/// (i64 each, outermost first) and a few scalars that one kernel of an entry leaves for the next.
constexpr int64_t maxDepths = 8;
constexpr int64_t DepthValues = ContextBytes;
constexpr int64_t CallScalars = DepthValues + 8 * maxDepths;
constexpr int64_t maxCallScalars = 8;
constexpr int64_t CallBytes = CallScalars + 8 * maxCallScalars;

} // namespace tenon::abi
