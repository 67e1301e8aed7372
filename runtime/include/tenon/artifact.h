/* The border between a compiled model library and the runtime. Plain C; both sides are checked by `abi`.
 * A library exports one symbol, `tn_artifact`. It links libc and libm only, allocates nothing and keeps no state. */
#ifndef TENON_ARTIFACT_H
#define TENON_ARTIFACT_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define TN_ABI_VERSION 12

struct TnContext;
/* One tile of one kernel. Tiles of one call may run in any order and on any thread; `worker` picks the scratch strip. */
typedef void (*TnTile)(const struct TnContext *context, int64_t tile, int64_t worker);

enum TnArena {
  TN_ARENA_PARAMS = 0,  /* parameters at the offsets of the manifest; at half of them in its `param_dtype` or `split` (16 bits) */
  TN_ARENA_GRADS = 1,   /* at the offsets of the manifest */
  TN_ARENA_MOMENT1 = 2, /* optimizer state, same layout; null when the optimizer has none */
  TN_ARENA_MOMENT2 = 3,
  TN_ARENA_STATES = 4, /* state tensors of the context: old values, read only */
  TN_ARENA_NEXT_STATES =
      5, /* new values, every state but those of 8 is written by each entry that has states; the runtime swaps 4 and 5 */
  TN_ARENA_WORKSPACE = 6, /* planned buffers */
  TN_ARENA_SUMS =
      7, /* same layout as the gradients: their sum over the batches of one update; null unless the recipe accumulates */
  TN_ARENA_KEPT_STATES =
      8, /* states that the manifest calls in_place: a run writes the rows of its new places, the others stay */
  TN_ARENA_COPIES =
      9, /* parameters in the manifest's `copies` (16 bits), at half their offsets: what contractions read; null without */
  TN_ARENA_SLICES =
      10, /* partial sums of the gradients over slices, one behind the other, each with their layout; null without slices */
  TN_ARENA_LOSS_SCALE = 11, /* a TnLossScale; null where gradients are those of the loss itself */
  TN_ARENA_REMAINDERS =
      12, /* what rounding to the manifest's `split` took from the parameters, at half their offsets; null without */
  TN_ARENA_COUNT = 13
};

/* What the loss is multiplied by before its gradient is taken (f16). An update reads and changes it. */
typedef struct TnLossScale {
  float scale;
  int32_t unused;
  int64_t good; /* updates since the scale last changed */
} TnLossScale;

/* Bits of TnContext::flags. A train entry runs whole, or one of its halves: gradients (forward and backward pass, states,
 * losses), or the update (tenon.optimize: norm, clipping, optimizer) from what lies in the arena of gradients. */
enum TnFlag { TN_GRADIENTS_ONLY = 1, TN_UPDATE_ONLY = 2 };

/* Everything an entry reads. The layout is known to the code generator (lowering/artifact/Abi.h): append only, bump
 * TN_ABI_VERSION. */
typedef struct TnContext {
  const int64_t *dims;    /*  0: values of the entry's symbolic dims, in manifest order */
  char *const *arenas;    /*  8: TN_ARENA_COUNT base addresses, 64-byte aligned */
  void *const *inputs;    /* 16: in manifest order, dense row-major, 64-byte aligned */
  void *const *outputs;   /* 24: in manifest order */
  const int64_t *offsets; /* 32: byte offsets written by `bind`: first the states, then planned buffers */
  void (*parallel_for)(const struct TnContext *context, TnTile tile, int64_t tiles); /* 40 */
  char *scratch;          /* 48: workers * scratch_stride bytes, 64-byte aligned */
  int64_t scratch_stride; /* 56 */
  uint64_t seed;          /* 64: of the random sites */
  uint64_t step;          /* 72: counts training batches from 0; an optimizer step takes `accumulate` of them */
  void *pool;             /* 80: of parallel_for's owner */
  uint64_t flags;         /* 88: TnFlag */
  uint64_t total_steps;   /* 96: optimizer steps of the schedule, where the recipe gives its length in epochs; of schedule =
                             plateau k + 1, k how often the rate was lowered; at least 1 */
  void (*group_ready)(
      const struct TnContext *context,
      int64_t group);   /* 104: called between kernels when the gradients of a group are finished; null: nobody is */
  void *owner;          /* 112: of group_ready's owner */
  uint64_t add_levels;  /* 120: bits: the partial sums that are added to the gradients of this slice, lowest first */
  int64_t keep_level;   /* 128: the partial sum that the result replaces; -1: it stays in the arena of gradients */
  int64_t level_stride; /* 136: bytes from one partial sum to the next */
  void (*launch)(const struct TnContext *context, int32_t kernel, int64_t blocks, int32_t threads, int32_t shared,
                 void *const *arguments, int32_t count,
                 const int64_t *spans); /* 144: starts kernel number `kernel` of the variant's TnModule: blocks of threads,
                                           `shared` further bytes of memory per block, arguments by the address of each. It
                                           comes behind what was started before in the same memory: spans[0] arguments, behind
                                           the maps, are addresses, from each of which it touches so many bytes, spans[1] and
                                           so on, negative where it writes some; null: behind all that was started before, and
                                           all that is started later is behind it. launch is null on the host */
  void *launcher;                       /* 152: of launch's owner */
} TnContext;

/* offsets[i] of every state and planned buffer for the given dims; sizes: [0] state arena, [1] workspace, [2] scratch per worker,
 * [3] arena of kept states, bytes. */
typedef void (*TnBind)(const int64_t *dims, int64_t *offsets, int64_t *sizes);
/* 0, or the 1-based number of a failed run-time check, before which nothing was written: 1: the kept states have no room for the
 * new places. */
typedef int32_t (*TnRun)(const TnContext *context);

/* The code of an entry for some machines. What its name asks of one, the device knows that runs it; it passes over names that it
 * does not know. */
typedef struct TnVariant {
  const char *name; /* as the manifest lists it */
  TnRun run;
} TnVariant;

typedef struct TnEntry {
  const char *name;
  TnBind bind;
  const TnVariant *variants; /* each of another name */
  int32_t variant_count;
  int32_t offset_count;
  int32_t dim_count, input_count, output_count, state_count;
} TnEntry;

/* Code of another machine than the host: what a variant's entries launch. */
typedef struct TnModule {
  const char *variant;        /* the name of the TnVariant */
  const char *text;           /* PTX, ended by a 0 */
  const char *const *kernels; /* names in the text, by number */
  const char *const *places;  /* of the specification, for messages; an empty text where there is none */
  int32_t kernel_count;
} TnModule;

typedef struct TnArtifact {
  int32_t abi; /* TN_ABI_VERSION */
  int32_t entry_count;
  const TnEntry *entries;
  const char *manifest; /* the JSON text, the same as NAME.json */
  const char *build_id; /* hash of spec, settings, target and tool version, hexadecimal */
  const TnModule *const *modules;
  int32_t module_count; /* 0: all code is the host's */
} TnArtifact;

/* The exported symbol. */
const TnArtifact *tn_artifact(void);

#ifdef __cplusplus
}
#endif
#endif
