/* A model library written by hand, for tests of the training loop and the driver without the compiler: logits of the next byte
 * are the row of a table [V, W] that the byte picks, plus a tenth of a memory; the memory afterwards is half the old one plus the
 * last row. Adam, rate 1e-2. A batch with byte 255 has the loss NaN, and then the step leaves parameters and moments alone. REAL
 * is float or double. */
#include "test/runtime/abi_text.h"
#include <math.h>

#ifndef REAL
#define REAL float
#define TYPE "f32"
#endif
enum { V = 256, B0 = 4, T0 = 16 };

static void bind(const int64_t *dims, int64_t rows, int64_t *offsets, int64_t *sizes) {
  (void)dims;
  offsets[0] = 0;
  sizes[0] = rows * V * (int64_t)sizeof(REAL);
  sizes[1] = 64;
  sizes[2] = 64;
}
static void bindFixed(const int64_t *dims, int64_t *offsets, int64_t *sizes) { bind(dims, B0, offsets, sizes); }
static void bindOpen(const int64_t *dims, int64_t *offsets, int64_t *sizes) { bind(dims, dims[0], offsets, sizes); }

static const REAL *row(const TnContext *c, int32_t id) { return (const REAL *)c->arenas[TN_ARENA_PARAMS] + (int64_t)id * V; }

static REAL logit(const TnContext *c, int64_t b, int32_t id, int64_t w) {
  return row(c, id)[w] + (REAL)0.1 * ((const REAL *)c->arenas[TN_ARENA_STATES])[b * V + w];
}

static void remember(const TnContext *c, int64_t rows, int64_t length) {
  const REAL *old = (const REAL *)c->arenas[TN_ARENA_STATES];
  REAL *next = (REAL *)c->arenas[TN_ARENA_NEXT_STATES];
  for (int64_t b = 0; b < rows; ++b) {
    const REAL *last = row(c, ((const int32_t *)c->inputs[0])[b * length + length - 1]);
    for (int64_t w = 0; w < V; ++w)
      next[b * V + w] = (REAL)0.5 * old[b * V + w] + last[w];
  }
}

static int32_t infer(const TnContext *c) {
  const int32_t *ids = (const int32_t *)c->inputs[0];
  for (int64_t i = 0; i < c->dims[0] * c->dims[1]; ++i)
    for (int64_t w = 0; w < V; ++w)
      ((REAL *)c->outputs[0])[i * V + w] = logit(c, i / c->dims[1], ids[i], w);
  remember(c, c->dims[0], c->dims[1]);
  return 0;
}

/* Mean cross entropy; adds to the gradient unless it is null. */
static double loss(const TnContext *c, REAL *gradient) {
  const int32_t *ids = (const int32_t *)c->inputs[0], *target = (const int32_t *)c->inputs[1];
  double total = 0;
  for (int64_t i = 0; i < B0 * T0; ++i) {
    double sum = 0, probability[V];
    if (ids[i] == 255)
      total = NAN;
    for (int64_t w = 0; w < V; ++w)
      sum += probability[w] = exp((double)logit(c, i / T0, ids[i], w));
    total += log(sum) - (double)logit(c, i / T0, ids[i], target[i]);
    for (int64_t w = 0; gradient && w < V; ++w)
      gradient[(int64_t)ids[i] * V + w] += (REAL)((probability[w] / sum - (w == target[i])) / (B0 * T0));
  }
  return total / (B0 * T0);
}

static int32_t evaluate(const TnContext *c) {
  *(double *)c->outputs[0] = loss(c, 0);
  remember(c, B0, T0);
  return 0;
}

static double gradient(const TnContext *c, double *norm) {
  REAL *g = (REAL *)c->arenas[TN_ARENA_GRADS];
  for (int64_t i = 0; i < V * V; ++i)
    g[i] = 0;
  double value = loss(c, g), sum = 0;
  for (int64_t i = 0; i < V * V; ++i)
    sum += (double)g[i] * (double)g[i];
  *norm = sqrt(sum);
  remember(c, B0, T0);
  return value;
}

static int32_t train(const TnContext *c) {
  double norm, value = gradient(c, &norm);
  *(double *)c->outputs[0] = *(double *)c->outputs[1] = value;
  *(double *)c->outputs[2] = norm;
  *(double *)c->outputs[3] = 1e-2;
  if (!isfinite(value) || !isfinite(norm) || c->flags & 1)
    return 0;
  double t = (double)c->step + 1;
  REAL *p = (REAL *)c->arenas[TN_ARENA_PARAMS], *m = (REAL *)c->arenas[TN_ARENA_MOMENT1],
       *v = (REAL *)c->arenas[TN_ARENA_MOMENT2];
  const REAL *g = (const REAL *)c->arenas[TN_ARENA_GRADS];
  for (int64_t i = 0; i < V * V; ++i) {
    m[i] = (REAL)(0.9 * (double)m[i] + 0.1 * (double)g[i]);
    v[i] = (REAL)(0.999 * (double)v[i] + 0.001 * (double)g[i] * (double)g[i]);
    p[i] -= (REAL)(1e-2 * ((double)m[i] / (1 - pow(0.9, t))) / (sqrt((double)v[i] / (1 - pow(0.999, t))) + 1e-8));
  }
  return 0;
}

static int32_t grad(const TnContext *c) {
  double norm;
  *(double *)c->outputs[0] = gradient(c, &norm);
  return 0;
}

#define BV "{\"const\": 0, \"terms\": {\"B\": 1}}"
#define TV "{\"const\": 0, \"terms\": {\"T\": 1}}"
#define TOKENS(name) "{\"name\": \"" name "\", \"dtype\": \"i32\", \"axes\": [\"B\", \"T\"], \"shape\": [4, 16], \"bound\": 256}"
#define SCALAR(name) "{\"name\": \"" name "\", \"dtype\": \"f64\", \"axes\": [], \"shape\": []}"
#define ENTROPY(name) "{\"name\": \"" name "\", \"dtype\": \"f64\", \"axes\": [], \"shape\": [], \"nats\": true}"
#define STATE(rows)                                                                                                              \
  "\"states\": [{\"name\": \"mem\", \"stack\": [], \"dtype\": \"" TYPE "\", \"axes\": [\"B\", \"V\"], \"shape\": [" rows         \
  ", 256], \"initial\": 0, \"of_model\": false}]"
// clang-format off: it takes the commas inside the texts for those of the arguments.
#define REST "\"kernels\": [{\"name\": \"table\", \"kind\": \"gather\", \"place\": \"bigram.tn:1:1\", \"calls\": 1, " \
  "\"flops\": 1024, \"bytes\": 4096}]"

static const char manifest[] =
    "{\"format\": 1, \"abi\": " ABI_TEXT ", \"tool\": \"tenon test\", \"name\": \"bigram\", \"model\": \"Bigram\", \"build_id\": "
    "\"bigram-" TYPE "\","
    "\"spec_sha256\": \"0000000000000000000000000000000000000000000000000000000000000000\","
    "\"target\": {\"name\": \"cpu\", \"device\": \"host\", "
    "\"triple\": \"x86_64-pc-linux-gnu\", \"tiers\": [\"portable\"], "
    "\"roofline\": {\"machine\": \"a hand\", \"flops_per_second\": 5, \"bytes_per_second\": 2}}, "
    "\"dtype\": \"" TYPE "\", \"param_bytes\": "
#ifdef WIDE
    "524288"
#else
    "262144"
#endif
    ", \"params\": [{\"name\": \"table\", \"stack\": [], \"axes\": [\"V\", \"W\"], \"shape\": [256, 256], \"offset\": 0, "
    "\"stride\": 0,"
    "\"init\": {\"kind\": \"normal\", \"a\": 0.02}, \"names\": {\"hf\": [{\"name\": \"wte.weight\", "
    "\"transform\": \"\","
    "\"part\": 0, \"parts\": 1}]}, \"frozen\": false}],"
    "\"optimizer\": {\"kind\": \"adam\", \"moments\": 2}, \"entries\": ["
    "{\"name\": \"infer\", \"kind\": \"out\", \"dims\": [{\"name\": \"B\", \"max\": -1}, {\"name\": \"T\", \"max\": 64}],"
    "\"inputs\": [{\"name\": \"ids\", \"dtype\": \"i32\", \"axes\": [\"B\", \"T\"], \"shape\": [" BV ", " TV "], \"bound\": "
    "256}],"
    "\"outputs\": [{\"name\": \"logits\", \"dtype\": \"" TYPE "\", \"axes\": [\"B\", \"T\", \"V\"], \"shape\": [" BV ", " TV
    ", 256]}],"
    STATE(BV) ", " REST "},"
    "{\"name\": \"eval\", \"kind\": \"eval\", \"dims\": [], \"inputs\": [" TOKENS("ids") ", " TOKENS("target") "], "
    "\"outputs\": [" ENTROPY("nll") "],"
    STATE("4") ", " REST "},"
    "{\"name\": \"grad\", \"kind\": \"grad\", \"dims\": [], \"inputs\": [" TOKENS("ids") ", " TOKENS("target") "], "
    "\"outputs\": [" ENTROPY("nll") "],"
    STATE("4") ", " REST "},"
    "{\"name\": \"train\", \"kind\": \"train\", \"dims\": [], \"inputs\": [" TOKENS("ids") ", " TOKENS("target") "],"
    "\"outputs\": [" SCALAR("loss") ", " ENTROPY("nll") ", " SCALAR("grad_norm") ", " SCALAR("learning_rate") "], "
    STATE("4") ", " REST "}],"
    "\"recipe\": {\"kind\": \"train\", \"name\": \"small\", \"settings\": {\"data\": {\"call\": \"byte_stream\", \"args\": [],"
    "\"keywords\": {\"text\": \"train.txt\"}}, \"loss\": \"nll\", \"steps\": 200, \"seed\": 42,"
    "\"checkpoint\": {\"call\": \"every\", \"args\": [50], \"keywords\": {\"keep\": 2}}}},"
    "\"generate\": [{\"name\": \"sample\", \"settings\": {\"entry\": \"infer\", \"start\": \"\\n\","
    "\"method\": {\"call\": \"sample\", \"args\": [], \"keywords\": {\"temperature\": 0.8, \"limit\": 40}}}}]}";
// clang-format on

static const TnVariant inferVariants[] = {{"portable", infer}}, evaluateVariants[] = {{"portable", evaluate}},
                       gradVariants[] = {{"portable", grad}}, trainVariants[] = {{"portable", train}};
static const TnEntry entries[] = {{"infer", bindOpen, inferVariants, 1, 1, 2, 1, 1, 1},
                                  {"eval", bindFixed, evaluateVariants, 1, 1, 0, 2, 1, 1},
                                  {"grad", bindFixed, gradVariants, 1, 1, 0, 2, 1, 1},
                                  {"train", bindFixed, trainVariants, 1, 1, 0, 2, 4, 1}};
static const TnArtifact artifact = {TN_ABI_VERSION, 4, entries, manifest, "bigram-" TYPE};
__attribute__((visibility("default"))) const TnArtifact *tn_artifact(void) { return &artifact; }
