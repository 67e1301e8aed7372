/* A model library written by hand, so that the runtime is tested without the compiler.
 * FAKE: y[B, O] = x[B, I] * weight^T + bias with weight [O = 20, I = 3] in panels of 16, in each of two layers "blocks.0",
 * "blocks.1" whose results are added; a state `count` of the context, a state `mean` of the model, and an embedding input `ids`
 * with bound 5. Build with -DFAKE_ABI=2 for another ABI version, -DFAKE_TIERS=4 for a bit mask of tiers (32: one that
 * no runtime knows), -DFAKE_DEVICE="..." for code of another device, -DFAKE_BUILD="..." for a wrong build id,
 * -DFAKE_OPTIMIZER="adam" -DFAKE_MOMENTS="2" for an optimizer that has moments, -DFAKE_INITIAL for the start of `mean`. */
#include "test/runtime/abi_text.h"
#include <stddef.h>
#include <string.h>

#ifndef FAKE_ABI
#define FAKE_ABI TN_ABI_VERSION
#endif
#ifndef FAKE_TIERS
#define FAKE_TIERS 31
#endif
#ifndef FAKE_DEVICE
#define FAKE_DEVICE "host"
#endif
#ifndef FAKE_BUILD
#define FAKE_BUILD "fake-1"
#endif
#ifndef FAKE_INITIAL
#define FAKE_INITIAL "1"
#endif
#ifndef FAKE_OPTIMIZER
#define FAKE_OPTIMIZER "sgd"
#define FAKE_MOMENTS "0"
#endif

/* How the first parameter lies in memory, as the end of its object. */
#ifdef FAKE_PANELS
#define FAKE_LAYOUT ", \"layout\": {\"form\": \"panels\", \"leading\": 1, \"width\": 3, \"steps\": 4, \"transposed\": false}"
#else
#define FAKE_LAYOUT ""
#endif

enum { INPUTS = 3, OUTPUTS = 20, LAYERS = 2, GAP = 144 };
enum { WEIGHT = 0, WEIGHT_STRIDE = OUTPUTS * INPUTS * 4 + GAP, BIAS = LAYERS * WEIGHT_STRIDE, BIAS_STRIDE = 128 };
enum { TABLE = BIAS + LAYERS * BIAS_STRIDE, PARAM_BYTES = TABLE + 5 * INPUTS * 4 };

static const char manifest[] =
    "{\"format\": 1, \"abi\": " ABI_TEXT
    ", \"tool\": \"by hand\", \"name\": \"fake\", \"model\": \"FAKE\", \"build_id\": \"fake-1\","
    " \"spec_sha256\": \"00\", \"target\": {\"name\": \"cpu\", \"device\": \"" FAKE_DEVICE "\", \"triple\": "
    "\"x86_64-pc-linux-gnu\", \"tiers\": [\"portable\", \"x86-64-v3\", "
    "\"x86-64-v4\", \"x86-64-v4-bf16\", \"x86-64-v4-amx\"],"
    " \"roofline\": {\"machine\": \"a hand\", \"flops_per_second\": 5, \"bytes_per_second\": 2}},"
    " \"dtype\": \"f32\", \"param_bytes\": 1084, \"params\": ["
    " {\"name\": \"blocks.*.weight\", \"stack\": [2], \"axes\": [\"O\", \"I\"], \"shape\": [20, 3], \"offset\": 0, \"stride\": "
    "384,"
    "  \"init\": {\"kind\": \"normal\", \"a\": 0.5},"
    "  \"names\": {\"hf\": [{\"name\": \"layers.0.kernel\", \"transform\": \"transpose\"}, {\"name\": \"layers.1.kernel\", "
    "\"transform\": \"transpose\"}],"
    "              \"packed\": [{\"name\": \"w\", \"transform\": \"part\", \"part\": 0, \"parts\": 2}, {\"name\": \"w\", "
    "\"transform\": \"part\", \"part\": 1, \"parts\": 2}]}" FAKE_LAYOUT "},"
    " {\"name\": \"blocks.*.bias\", \"stack\": [2], \"axes\": [\"O\"], \"shape\": [20], \"offset\": 768, \"stride\": 128,"
    "  \"init\": {\"kind\": \"constant\", \"a\": [0.25, 0.5]},"
    "  \"names\": {\"hf\": [{\"name\": \"layers.0.bias\"}, {\"name\": \"layers.1.bias\"}],"
    "              \"packed\": [{\"name\": \"b0\"}, {\"name\": \"b1\"}]}},"
    " {\"name\": \"table\", \"stack\": [], \"axes\": [\"V\", \"I\"], \"shape\": [5, 3], \"offset\": 1024, \"stride\": 60,"
    "  \"init\": {\"kind\": \"uniform\", \"a\": 1.0},"
    "  \"names\": {\"hf\": [{\"name\": \"wte.weight\", \"also\": [\"lm_head.weight\"]}],"
    "              \"packed\": [{\"name\": \"rows.#.v\", \"transform\": \"stacked\"}]}}],"
    " \"optimizer\": {\"kind\": \"" FAKE_OPTIMIZER "\", \"moments\": " FAKE_MOMENTS "},"
    " \"entries\": ["
    "  {\"name\": \"infer\", \"kind\": \"out\", \"dims\": [{\"name\": \"B\", \"max\": 1000}],"
    "   \"inputs\": [{\"name\": \"ids\", \"dtype\": \"i32\", \"axes\": [\"B\"], \"shape\": [{\"const\": 0, \"terms\": {\"B\": "
    "1}}], \"bound\": 5}],"
    "   \"outputs\": [{\"name\": \"y\", \"dtype\": \"f32\", \"axes\": [\"B\", \"O\"], \"shape\": [{\"const\": 0, \"terms\": "
    "{\"B\": 1}}, 20]}],"
    "   \"states\": [{\"name\": \"count\", \"stack\": [], \"dtype\": \"f32\", \"axes\": [\"B\"], \"shape\": [{\"const\": 0, "
    "\"terms\": {\"B\": 1}}], \"initial\": 7},"
    "                {\"name\": \"norm.*.mean\", \"stack\": [2], \"dtype\": \"f32\", \"axes\": [\"I\"], \"shape\": [3], "
    "\"initial\": " FAKE_INITIAL ", \"of_model\": true}]},"
    "  {\"name\": \"train\", \"kind\": \"train\", \"dims\": [{\"name\": \"B\", \"max\": 1000}],"
    "   \"inputs\": [{\"name\": \"ids\", \"dtype\": \"i32\", \"axes\": [\"B\"], \"shape\": [{\"const\": 0, \"terms\": {\"B\": "
    "1}}], \"bound\": 5}],"
    "   \"outputs\": [{\"name\": \"loss\", \"dtype\": \"f64\", \"axes\": [], \"shape\": []}],"
    "   \"groups\": {\"count\": 3, \"gradients\": [{\"parameter\": \"table\", \"group\": 0, \"element\": 0},"
    "    {\"parameter\": \"blocks.*.bias\", \"group\": 1, \"element\": 1, \"loops\": [{\"count\": 2, \"groups\": 1, "
    "\"elements\": -1}]}]},"
    "   \"states\": [{\"name\": \"norm.*.mean\", \"stack\": [2], \"dtype\": \"f32\", \"axes\": [\"I\"], \"shape\": [3], "
    "\"initial\": " FAKE_INITIAL ", \"of_model\": true}]}]}";

/* infer: two states, then the buffer h [B, I]. */
static void bind_infer(const int64_t *dims, int64_t *offsets, int64_t *sizes) {
  int64_t count = (dims[0] * 4 + 63) / 64 * 64;
  offsets[0] = 0;
  offsets[1] = count;
  offsets[2] = 0;
  sizes[0] = count + 64;
  sizes[1] = dims[0] * INPUTS * 4;
  sizes[2] = OUTPUTS * 4;
}
static void bind_train(const int64_t *dims, int64_t *offsets, int64_t *sizes) {
  offsets[0] = 0;
  sizes[0] = 64;
  sizes[1] = dims[0] * 4;
  sizes[2] = 0;
}

static float weight_at(const char *params, int layer, int output, int input) {
  const float *weight = (const float *)(params + WEIGHT + layer * WEIGHT_STRIDE);
  return weight[output * INPUTS + input];
}

/* One row of the batch, through the scratch strip of the worker. */
static void infer_row(const TnContext *context, int64_t row, int64_t worker) {
  const char *params = context->arenas[TN_ARENA_PARAMS];
  const float *x = (const float *)(params + TABLE) + ((const int32_t *)context->inputs[0])[row] * INPUTS;
  float *sum = (float *)(context->scratch + worker * context->scratch_stride);
  memset(sum, 0, OUTPUTS * 4);
  for (int layer = 0; layer < LAYERS; ++layer)
    for (int o = 0; o < OUTPUTS; ++o) {
      sum[o] += ((const float *)(params + BIAS + layer * BIAS_STRIDE))[o];
      for (int i = 0; i < INPUTS; ++i)
        sum[o] += weight_at(params, layer, o, i) * x[i];
    }
  memcpy((float *)context->outputs[0] + row * OUTPUTS, sum, OUTPUTS * 4);
}

static int32_t run_infer(const TnContext *context) {
  int64_t rows = context->dims[0];
  context->parallel_for(context, infer_row, rows);
  const float *old = (const float *)(context->arenas[TN_ARENA_STATES] + context->offsets[0]);
  float *new_count = (float *)(context->arenas[TN_ARENA_NEXT_STATES] + context->offsets[0]);
  for (int64_t row = 0; row < rows; ++row)
    new_count[row] = old[row] + 1;
  memcpy(context->arenas[TN_ARENA_NEXT_STATES] + context->offsets[1], context->arenas[TN_ARENA_STATES] + context->offsets[1],
         LAYERS * INPUTS * 4);
  return rows == 999 ? 3 : 0; /* a run-time check that fails */
}

/* Uses all of its workspace. The "gradient" of the table is 1 everywhere, the step subtracts 0.5 of it; the running mean doubles.
 */
static int32_t run_train(const TnContext *context) {
  float *table = (float *)(context->arenas[TN_ARENA_PARAMS] + TABLE);
  float *gradient = (float *)(context->arenas[TN_ARENA_GRADS] + TABLE);
  if (!(context->flags & TN_UPDATE_ONLY)) {
    double loss = 0;
    memset(context->arenas[TN_ARENA_WORKSPACE], 1, (size_t)context->dims[0] * 4);
    for (int i = 0; i < 5 * INPUTS; ++i) {
      gradient[i] = 1;
      loss += table[i];
    }
    for (int64_t group = 0; group < 3 && context->group_ready; ++group)
      context->group_ready(context, group);
    const float *old = (const float *)context->arenas[TN_ARENA_STATES];
    float *next = (float *)context->arenas[TN_ARENA_NEXT_STATES];
    for (int i = 0; i < LAYERS * INPUTS; ++i)
      next[i] = 2 * old[i];
    *(double *)context->outputs[0] = loss;
  }
  for (int i = 0; i < 5 * INPUTS && !(context->flags & TN_GRADIENTS_ONLY); ++i)
    table[i] -= 0.5f * gradient[i];
  return 0;
}

static int32_t run_unknown(const TnContext *context) {
  (void)context;
  return 77;
}

/* What the mask leaves out has neither name nor function: no variant. */
#define VARIANT(bit, name, function) {FAKE_TIERS & (bit) ? (name) : NULL, FAKE_TIERS & (bit) ? (function) : NULL}
#define VARIANTS(function)                                                                                                       \
  {VARIANT(32, "x86-64-v9", run_unknown), VARIANT(1, "portable", function),       VARIANT(2, "x86-64-v3", function),             \
   VARIANT(4, "x86-64-v4", function),     VARIANT(8, "x86-64-v4-bf16", function), VARIANT(16, "x86-64-v4-amx", function)}
static const TnVariant infer_variants[] = VARIANTS(run_infer), train_variants[] = VARIANTS(run_train);
enum { VARIANT_COUNT = sizeof infer_variants / sizeof *infer_variants };
static const TnEntry entries[] = {
    {"infer", bind_infer, infer_variants, VARIANT_COUNT, 3, 1, 1, 1, 2},
    {"train", bind_train, train_variants, VARIANT_COUNT, 1, 1, 1, 1, 1},
};
static const TnArtifact artifact = {FAKE_ABI, 2, entries, manifest, FAKE_BUILD};

__attribute__((visibility("default"))) const TnArtifact *tn_artifact(void) { return &artifact; }
