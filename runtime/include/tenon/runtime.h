/* The C ABI of the Tenon runtime: open a compiled model, bind an entry, run it, read and write parameters.
 *
 * Errors: every function that can fail returns a tn_error pointer: NULL is success; else free it with tn_error_free. No global
 * state. Strings and pointers that a function hands out belong to the object they came from and live as long as it does. Threads:
 * different objects may be used from different threads. One model with its contexts is one unit: its functions must not run at
 * the same time unless said otherwise. Threads pools may be shared by models; calls that meet in a pool wait for each other.
 * Tensors are dense and row-major in the declared order of axes. */
#ifndef TENON_RUNTIME_H
#define TENON_RUNTIME_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TN_API __attribute__((visibility("default")))
#else
#define TN_API
#endif

/* Exit codes of the `tenon` command, too. */
enum tn_error_kind {
  TN_ERROR_SPEC = 1,
  TN_ERROR_USAGE = 2,
  TN_ERROR_INPUT = 3,
  TN_ERROR_NUMERIC = 4,
  TN_ERROR_RESOURCE = 5,
  TN_ERROR_BUG = 70,
  TN_ERROR_RESUMABLE = 75
};
typedef struct tn_error tn_error;
TN_API int tn_error_code(const tn_error *error);            /* a tn_error_kind */
TN_API const char *tn_error_message(const tn_error *error); /* one sentence, UTF-8 */
TN_API void tn_error_free(tn_error *error);                 /* NULL is allowed */

/* Version of the artifact ABI that this library speaks. */
TN_API int tn_abi_version(void);

enum tn_type { TN_F64 = 0, TN_F32 = 1, TN_F16 = 2, TN_BF16 = 3, TN_I64 = 4, TN_I32 = 5, TN_BOOL = 12 };
enum { TN_MAX_RANK = 16 };
/* Filled by the library; `name` belongs to the object asked. */
typedef struct tn_tensor_info {
  const char *name;
  int32_t type; /* tn_type */
  int32_t rank;
  int64_t shape[TN_MAX_RANK];
  uint64_t bytes;
} tn_tensor_info;

/* ---- thread pools. Thread-safe. ---- */
typedef struct tn_threads tn_threads;
/* `count` includes the calling thread; 0: one per available CPU. */
TN_API tn_error *tn_threads_create(int count, tn_threads **threads);
TN_API int tn_threads_count(const tn_threads *threads);
TN_API void tn_threads_free(tn_threads *threads); /* models keep what they use */

/* ---- models: an artifact with its parameters ---- */
typedef struct tn_model tn_model;
/* `path`: the artifact's directory or library, which is code: open only what you trust. `tier`: one of the
 * manifest's, "best", or NULL for the environment variable TENON_TIER, else the best. No run before each parameter has been
 * initialized, loaded or set. */
TN_API tn_error *tn_model_open(const char *path, const char *tier, tn_model **model);
TN_API void tn_model_close(tn_model *model);                 /* its contexts keep what they use */
TN_API const char *tn_model_manifest(const tn_model *model); /* JSON text */
TN_API const char *tn_model_tier(const tn_model *model);
TN_API int tn_model_entry_count(const tn_model *model);
TN_API const char *tn_model_entry_name(const tn_model *model, int entry); /* NULL if there is no such entry */
TN_API int tn_model_entry_find(const tn_model *model, const char *name);  /* -1 if there is no such entry */
TN_API int tn_model_dim_count(const tn_model *model, int entry);          /* -1 if there is no such entry */
TN_API const char *tn_model_dim_name(const tn_model *model, int entry, int dim);

/* Every parameter and state of the model from its initializer; equal seeds give equal values whatever the tier. Moments of an
 * optimizer stay as they are: a training that starts anew opens the model anew. */
TN_API tn_error *tn_model_initialize(tn_model *model, uint64_t seed);
TN_API int tn_model_parameter_count(const tn_model *model);
/* In manifest order; names like "blocks.3.wq.weight". */
TN_API tn_error *tn_model_parameter_info(const tn_model *model, int parameter, tn_tensor_info *info);
TN_API int tn_model_parameter_find(const tn_model *model, const char *name); /* -1 if there is no such parameter */
/* Copies a whole tensor; `bytes` must be its size. Values are of the type that tn_model_parameter_info says, f32 or f64:
 * parameters that are kept in 16 bits (docs/training.md) are widened when they are read, and rounded to the nearest when they are
 * set; a number that they cannot hold is an error, and nothing is set. */
TN_API tn_error *tn_model_get_parameter(const tn_model *model, const char *name, void *values, uint64_t bytes);
TN_API tn_error *tn_model_set_parameter(tn_model *model, const char *name, const void *values, uint64_t bytes);
/* After the gradients half of a train entry, or a run of a gradient entry. */
TN_API tn_error *tn_model_get_gradient(const tn_model *model, const char *name, void *values, uint64_t bytes);
/* What the update half of a train entry reads: the gradient that several processes have computed together, say. */
TN_API tn_error *tn_model_set_gradient(tn_model *model, const char *name, const void *values, uint64_t bytes);
/* Where a gradient lies, so that it need not be copied: it is dense and row-major, and the place stays the same while the model
 * is open. Not while its model runs, but for groups that are ready (tn_context_on_group). */
TN_API tn_error *tn_model_gradient_data(tn_model *model, const char *name, void **values, uint64_t *bytes);
/* The optimizer of the train entry ("adamw", ..; "" without one) and its moments, by number from 0: zero before the first step.
 * They are named like the files of a checkpoint, "moment1" and "moment2"; NULL if there is no such moment. Its tensors are those
 * of the parameters; only the first moment of adafactor has others: means of squares, "NAME.rows" and "NAME.columns" of a
 * parameter that is a matrix, with its first and its last axes. */
TN_API const char *tn_model_optimizer(const tn_model *model);
TN_API int tn_model_moment_count(const tn_model *model);
TN_API const char *tn_model_moment_name(const tn_model *model, int moment);
TN_API int tn_model_moment_tensor_count(const tn_model *model, int moment); /* 0 if there is no such moment */
TN_API tn_error *tn_model_moment_info(const tn_model *model, int moment, int tensor, tn_tensor_info *info);
TN_API tn_error *tn_model_get_moment(const tn_model *model, int moment, const char *name, void *values, uint64_t bytes);
TN_API tn_error *tn_model_set_moment(tn_model *model, int moment, const char *name, const void *values, uint64_t bytes);
/* The loss scale of a model that trains in f16 (docs/training.md): what the loss of the next step is multiplied by, and the
 * number of updates with finite gradients since it last changed. An error where the model has none. Gradients that a program
 * reads between the halves of a step are those of the loss times the scale. Setting it is for what no checkpoint says. */
TN_API tn_error *tn_model_get_loss_scale(const tn_model *model, double *scale, int64_t *good);
TN_API tn_error *tn_model_set_loss_scale(tn_model *model, double scale, int64_t good);
/* safetensors; `names`: a scheme of the artifact such as "hf", or NULL for Tenon's names. A failed load changes nothing, a failed
 * save leaves the old file. */
TN_API tn_error *tn_model_load(tn_model *model, const char *path, const char *names);
/* The same from a file, an index of shards or a folder that has one, for what fits: a parameter that is missing there or has
 * another shape keeps its value. `stayed` (NULL: nobody is told) is called for each with its name and one sentence, both valid
 * during the call, before the function returns. */
TN_API tn_error *tn_model_load_partial(tn_model *model, const char *path, const char *names,
                                       void (*stayed)(void *context, const char *name, const char *reason), void *context);
TN_API tn_error *tn_model_save(const tn_model *model, const char *path, const char *names);

/* ---- contexts: one entry with its dims, its buffers and its states ---- */
typedef struct tn_context tn_context;
/* `dims`: `dim_count` values in the order of tn_model_dim_name. `threads`: NULL for a pool of one. All memory is allocated here.
 */
TN_API tn_error *tn_context_create(tn_model *model, const char *entry, const int64_t *dims, int dim_count, tn_threads *threads,
                                   tn_context **context);
TN_API void tn_context_free(tn_context *context);
TN_API int tn_context_input_count(const tn_context *context);
TN_API int tn_context_output_count(const tn_context *context);
TN_API int tn_context_state_count(const tn_context *context);
TN_API tn_error *tn_context_input_info(const tn_context *context, int input, tn_tensor_info *info);
TN_API tn_error *tn_context_output_info(const tn_context *context, int output, tn_tensor_info *info);
TN_API tn_error *tn_context_state_info(const tn_context *context, int state, tn_tensor_info *info); /* stack sizes first */
TN_API int tn_context_input_find(const tn_context *context, const char *name);                      /* -1 if there is none */
TN_API int tn_context_output_find(const tn_context *context, const char *name);                     /* -1 if there is none */
TN_API int tn_context_state_find(const tn_context *context, const char *name);                      /* -1 if there is none */
/* Copies values in or out; `bytes` must be the size of the tensor. Inputs of the next run may be set when tn_context_run has
 * returned, before outputs are read: a GPU is at work then, and goes on while the host prepares. A state without a run-time dim
 * (running statistics) is the model's: it is read and set for all contexts of the model, and saved with its parameters. */
TN_API tn_error *tn_context_set_input(tn_context *context, int input, const void *values, uint64_t bytes);
TN_API tn_error *tn_context_get_output(const tn_context *context, int output, void *values, uint64_t bytes);
TN_API tn_error *tn_context_get_state(const tn_context *context, int state, void *values, uint64_t bytes);
TN_API tn_error *tn_context_set_state(tn_context *context, int state, const void *values, uint64_t bytes);
/* One real number of an output by its name: a loss, "grad_norm", "learning_rate". */
TN_API tn_error *tn_context_get_scalar(const tn_context *context, const char *output, double *value);
/* Lends a buffer without copying: 64-byte aligned, at least the size of the tensor, alive until another is lent. NULL: the
 * context's own. */
TN_API tn_error *tn_context_lend_input(tn_context *context, int input, void *buffer);
TN_API tn_error *tn_context_lend_output(tn_context *context, int output, void *buffer);
/* Seed of dropout and sampling; number of the training batch from 0 (the optimizer's step too, unless the recipe accumulates
 * several batches into one); steps of a schedule whose length the recipe gives in epochs, or for schedule = plateau
 * k + 1, k how often the rate was lowered; flags: 1 makes tn_context_run the gradients half of a step, 2 its update half, see
 * below. */
TN_API void tn_context_set_seed(tn_context *context, uint64_t seed);
TN_API void tn_context_set_step(tn_context *context, uint64_t step);
TN_API uint64_t tn_context_step(const tn_context *context); /* as set */
TN_API void tn_context_set_total_steps(tn_context *context, uint64_t steps);
TN_API void tn_context_set_flags(tn_context *context, uint64_t flags);
/* One call of the entry. A usage error while an input that it reads was never set or lent in this context (an entry that walks an
 * axis may read some at the first places of a text alone: docs/artifact.md), or a parameter of the model has no values yet. Index
 * inputs are checked. After an error states are as before. */
TN_API tn_error *tn_context_run(tn_context *context);
/* The two halves of a training step, for programs that do something between them; one after the other they are
 * tn_context_run, to the bit. run_gradients: forward and backward pass; it leaves losses, states and the model's gradients, and
 * parameters as they are; outputs `grad_norm` and `learning_rate` are not written. run_update: clipping and the optimizer step by
 * the gradients that the model has then, whoever made them; it reads no inputs, and writes these two outputs alone. A recipe that
 * accumulates has one of each for each batch. */
TN_API tn_error *tn_context_run_gradients(tn_context *context);
TN_API tn_error *tn_context_run_update(tn_context *context);
/* Groups of gradients, numbered in the order in which a run finishes them: 0 for an entry that is not differentiated. `index`
 * counts the parameters of a group, their numbers are those of tn_model_parameter_info; -1 if there is no such group or
 * parameter. Each gradient is in one group. */
TN_API int tn_context_group_count(const tn_context *context);
TN_API int tn_context_group_size(const tn_context *context, int group);
TN_API int tn_context_group_parameter(const tn_context *context, int group, int index);
/* `ready` is called on the caller's thread for each group, in order, when its gradients are finished: nothing of the run reads or
 * writes them again but its update half. The run waits for it, so work of any length belongs to another thread, which must be
 * done before run_update. NULL: nobody is called. It must not call functions of this model but tn_model_get_gradient,
 * tn_model_set_gradient and tn_model_gradient_data. */
typedef void (*tn_group_ready)(void *user, int group);
TN_API void tn_context_on_group(tn_context *context, tn_group_ready ready, void *user);
/* In how many slices the recipe cuts a batch (`slices = n`; else 1), and which of them run_gradients computes: all from the
 * beginning. Inputs are those of the whole batch; of rows that are not computed those alone are read that a loss divides by (the
 * weights of sum(w * x) / sum(w)). Gradients and losses are then the share of these slices: added to the shares of the others in
 * the order of the tree over all slices they have the bits of the whole. Slices that are no node of that tree are refused: n = 4
 * has 0, 1, 2, 3, 0 to 1, 2 to 3 and 0 to 3. */
TN_API int64_t tn_context_slice_count(const tn_context *context);
TN_API tn_error *tn_context_set_slices(tn_context *context, int64_t first, int64_t count);
/* States back to their initial values; those that belong to the model (running averages) stay. */
TN_API void tn_context_reset_states(tn_context *context);
/* Entries that walk an axis (`out step(T)`): places that earlier runs brought, and how many there can be; -1 for other entries.
 */
TN_API int64_t tn_context_position(const tn_context *context);
TN_API int64_t tn_context_capacity(const tn_context *context);
/* Forgets all kept places but the first `count`, from 0 to the position: the next run brings what follows them. An error but for
 * 0 where a state holds what the last place left ("of_last_place" of the manifest: a recurrence, a window). */
TN_API tn_error *tn_context_rewind(tn_context *context, int64_t count);
/* Bytes of its buffers, without parameters. */
TN_API uint64_t tn_context_bytes(const tn_context *context);

/* ---- checkpoints: what a training needs to go on with the same bits, in the format of `tenon train` (docs/training.md) ---- */
/* Where a training is. `position`: index of the next batch, which is not `step` where steps were skipped or take several batches.
 */
typedef struct tn_progress {
  uint64_t step, position, seed,
      skipped;    /* optimizer steps done, next batch, seed, updates skipped for a loss that is not finite */
  double seconds; /* training time so far */
} tn_progress;
/* Called with one sentence, valid during the call, before the function returns: a damaged checkpoint that was passed over,
 * another recipe. */
typedef void (*tn_note)(void *user, const char *sentence);
/* Writes DIRECTORY/step-N: parameters, moments, the states of this train context, `progress`; then removes the oldest beyond
 * `keep` (at least 1). The folder is made if its parent is there. Survives a crash at any point; a full disk is an error that
 * leaves older ones as they were. Where an update takes several batches, save between updates: a training goes on with the first
 * batch of one, and states of the model are saved as they are. */
TN_API tn_error *tn_context_save_checkpoint(const tn_context *context, const char *directory, const tn_progress *progress,
                                            int keep);
/* A checkpoint of a folder of checkpoints or of a run directory into parameters, moments and the states of a train context, whose
 * seed and step are set. `which`: NULL or "" the newest valid one, "best" that of the best evaluation, else the number of a step.
 * Refuses one of another model or optimizer, and changes nothing before that is known. `note` may be NULL. */
TN_API tn_error *tn_context_load_checkpoint(tn_context *context, const char *directory, const char *which, tn_progress *progress,
                                            tn_note note, void *user);
/* Parameters and model states alone, to evaluate, run or generate. */
TN_API tn_error *tn_model_load_checkpoint(tn_model *model, const char *directory, const char *which, uint64_t *step, tn_note note,
                                          void *user);

/* ---- generation, as `tenon generate` does it: equal settings, seeds and weights give equal texts ---- */
typedef struct tn_sampling {
  int32_t greedy;     /* not 0: always the most probable symbol; what follows up to top_p is not used */
  double temperature; /* greater than 0: divides the logits */
  int64_t top_k;      /* only the k most probable symbols; 0: all */
  double top_p;       /* then only the most probable ones that together reach p, 0 < p <= 1 */
  int64_t limit;      /* symbols to make */
  uint64_t seed;
} tn_sampling;
/* Settings of a generate block: NULL is the first one, or the defaults where the model has none. */
TN_API tn_error *tn_model_sampling(const tn_model *model, const char *block, tn_sampling *sampling);

typedef struct tn_generator tn_generator;
/* Reads the model's parameters at each symbol, and belongs to the unit of the model (see Threads). NULL stands for: `block` the
 * first one, `entry`, `sampling` and `stop` (a text or a symbol that ends the text) the block's, `threads` a pool of one,
 * `vocabulary` bytes. A vocabulary is a run directory, its vocabulary.json, a file with one symbol per line,
 * a model of sentencepiece, or of byte pairs a vocab.json with the merges.txt beside it. */
TN_API tn_error *tn_generator_create(tn_model *model, const char *block, const char *entry, const tn_sampling *sampling,
                                     const char *stop, const char *vocabulary, tn_threads *threads, tn_generator **generator);
TN_API void tn_generator_free(tn_generator *generator);
/* Begins a text with a prompt, of symbols or of `bytes` bytes of UTF-8 (none: the block's start); the one before is forgotten. */
TN_API tn_error *tn_generator_start(tn_generator *generator, const int32_t *ids, uint64_t count);
TN_API tn_error *tn_generator_start_text(tn_generator *generator, const char *prompt, uint64_t bytes);
/* The next symbol, -1 at the end. `text` (NULL: not asked for): what it adds to the text, in whole characters, maybe none, maybe
 * more at the end; it belongs to the generator until its next call. The prompt is not repeated. */
TN_API tn_error *tn_generator_next(tn_generator *generator, int32_t *symbol, const char **text, uint64_t *bytes);
/* Why the text has ended before its limit, where neither its stop has ended it nor its caller: the entry keeps no more places.
 * Else "". It belongs to the generator until its next call. */
TN_API const char *tn_generator_note(const tn_generator *generator);

/* ---- beam search: several texts at once, each of what else the entry reads (docs/recipes.md, `generate`) ---- */
enum tn_beam_rule { TN_BEAM_T2T = 0, TN_BEAM_HF = 1, TN_BEAM_UNILM = 2 };
enum tn_beam_feed { TN_FEED_TOKEN = 0, TN_FEED_MASK = 1 };
typedef struct tn_beam {
  int64_t size;      /* texts that it goes on with, per text that is made */
  double alpha;      /* exponent of the length penalty */
  int32_t rule;      /* tn_beam_rule */
  int32_t stop;      /* the symbol that ends a text; -1: only the limit does */
  int64_t no_repeat; /* no sequence of so many symbols twice; 0: any */
  int64_t limit;     /* symbols to make; -1: as the block says, which may depend on sizes of the inputs */
  int32_t feed;      /* tn_beam_feed: where the next symbol is read: at the last one, or at a mask behind it */
  int32_t mask;      /* the number of that mask */
} tn_beam;
/* Settings of a generate block: NULL is the first one. Of a block whose method is greedy, or draws: a beam of 1 that is always
 * the most probable symbol. `limit` is -1 where it depends on sizes, `mask` where the block gives no number. What a block
 * names in `except` are texts: tn_search_except takes their numbers. */
TN_API tn_error *tn_model_beam(const tn_model *model, const char *block, tn_beam *beam);

typedef struct tn_search tn_search;
/* NULL stands for: `block` the first one, `entry` and `beam` the block's, `threads` a pool of one. */
TN_API tn_error *tn_search_create(tn_model *model, const char *block, const char *entry, const tn_beam *beam, tn_threads *threads,
                                  tn_search **search);
TN_API void tn_search_free(tn_search *search);
/* In runs from now on a sequence of `no_repeat` symbols with one of these may come again (docs/recipes.md, `except`). Copied. */
TN_API tn_error *tn_search_except(tn_search *search, const int32_t *symbols, int64_t count);
/* In runs from now on each symbol is drawn by `sampling`, in which `limit` is not used (that of the beam is), and each text has
 * one result: what the beam says of `size`, `alpha`, `rule` and `no_repeat` is not used any more. The draws of a text are those
 * of its number, whatever the runs: that of the first text of a run is `first`. Greedy sampling draws nothing. Refuses values
 * out of the ranges of tn_sampling, and a `first` below 0. */
TN_API tn_error *tn_search_draw(tn_search *search, const tn_sampling *sampling, int64_t first);
/* An input besides the text, for all texts of a run, in the type of the entry (tn_type), copied. `shape`: `rank` sizes, which
 * tell the dims that an axis has a multiple of, such as A of 2*A + 1. */
TN_API tn_error *tn_search_set_input(tn_search *search, const char *name, int32_t type, int32_t rank, const int64_t *shape,
                                     const void *values);
/* Makes `texts` texts, each from `length` symbols of `prompts` (at least one: the start symbol). */
TN_API tn_error *tn_search_run(tn_search *search, int64_t texts, const int32_t *prompts, int64_t length);
/* What the last run has found of a text, best first: how many, and one of them, which belongs to the search until its next run.
 * `ended`: not 0 if by the stop symbol, which is no part of it. */
TN_API int tn_search_count(const tn_search *search, int64_t text);
TN_API tn_error *tn_search_result(const tn_search *search, int64_t text, int index, const int32_t **symbols, uint64_t *count,
                                  double *score, int32_t *ended);

#ifdef __cplusplus
}
#endif
#endif
