/* Loads the artifact given as argument 1, steps it, reads parameters, saves and loads them (argument 2: a folder to write to). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/runtime.h>

static void check(tn_error *error) {
  if (!error)
    return;
  fprintf(stderr, "error: %s\n", tn_error_message(error));
  exit(tn_error_code(error));
}

/* Prints and frees an error that must be there. */
static void expect(tn_error *error) {
  if (!error) {
    printf("no error!\n");
    exit(1);
  }
  printf("refused (%d): %s\n", tn_error_code(error), tn_error_message(error));
  tn_error_free(error);
}

static void describe(const tn_tensor_info *info) {
  printf("%s type %d [", info->name, info->type);
  for (int32_t i = 0; i < info->rank; ++i)
    printf("%s%lld", i ? ", " : "", (long long)info->shape[i]);
  printf("] %llu bytes\n", (unsigned long long)info->bytes);
}

/* A checkpoint brings back what training had, and what cannot be one is refused. */
static void goOn(tn_model *model, tn_context *train, const char *folder) {
  char path[4096];
  float table[15], again[15];
  double loss = 0;
  tn_progress progress = {3, 4, 42, 0, 1.5}, found;
  uint64_t step = 0;
  snprintf(path, sizeof path, "%s/checkpoints", folder);
  check(tn_model_get_parameter(model, "table", table, sizeof table));
  check(tn_context_get_scalar(train, "loss", &loss));
  printf("loss %.1f, optimizer %s with %d moments, next batch %d\n", loss, tn_model_optimizer(model),
         tn_model_moment_count(model), (int)tn_context_step(train));
  expect(tn_context_get_scalar(train, "los", &loss));
  expect(tn_model_get_moment(model, 0, "table", table, sizeof table));
  expect(tn_model_set_moment(model, 0, "table", table, sizeof table));
  expect(tn_context_rewind(train, 0));
  expect(tn_context_load_checkpoint(train, path, NULL, &found, NULL, NULL));
  expect(tn_context_save_checkpoint(train, path, &progress, 0));
  check(tn_context_save_checkpoint(train, path, &progress, 2));
  memset(again, 0, sizeof again);
  check(tn_model_set_parameter(model, "table", again, sizeof again));
  tn_context_set_step(train, 0);
  check(tn_context_load_checkpoint(train, folder, "", &found, NULL, NULL));
  check(tn_model_get_parameter(model, "table", again, sizeof again));
  printf("step %d, batch %d, seed %d, %.1f s, next batch %d, table %s\n", (int)found.step, (int)found.position, (int)found.seed,
         found.seconds, (int)tn_context_step(train), memcmp(table, again, sizeof table) ? "other" : "the same");
  check(tn_model_load_checkpoint(model, folder, NULL, &step, NULL, NULL));
  printf("weights of step %d\n", (int)step);
}

static void trainSomeSteps(tn_model *model, tn_threads *threads, const char *folder) {
  int64_t batch = 2;
  int32_t ids[2] = {0, 1};
  double loss = 0;
  float table[15];
  tn_context *train = NULL;
  check(tn_context_create(model, "train", &batch, 1, threads, &train));
  check(tn_context_set_input(train, tn_context_input_find(train, "ids"), ids, sizeof ids));
  memset(table, 0, sizeof table);
  check(tn_model_set_parameter(model, "table", table, sizeof table));
  for (uint64_t step = 0; step < 3; ++step) {
    tn_context_set_step(train, step);
    tn_context_set_seed(train, 42);
    check(tn_context_run(train));
    check(tn_context_get_output(train, 0, &loss, sizeof loss));
    printf("step %d loss %.1f\n", (int)step, loss);
  }
  check(tn_model_get_parameter(model, "table", table, sizeof table));
  printf("table[4, 2] = %.1f\n", table[14]);
  goOn(model, train, folder);
  tn_context_set_flags(train, 1);
  check(tn_context_run(train));
  check(tn_model_get_gradient(model, "table", table, sizeof table));
  printf("gradient = %.1f\n", table[14]);
  tn_context_free(train);
}

/* What nobody has given is not zero. */
static void runsNothing(tn_model *model, tn_threads *threads) {
  int64_t batch = 2;
  int32_t ids[2] = {0, 1};
  _Alignas(64) int32_t lent[16] = {0};
  float bias[20] = {0}, table[15] = {0}, weight[60] = {0};
  tn_context *context = NULL;
  check(tn_context_create(model, "infer", &batch, 1, threads, &context));
  expect(tn_context_run(context));
  check(tn_context_lend_input(context, 0, lent));
  expect(tn_context_run(context));
  check(tn_context_lend_input(context, 0, NULL));
  expect(tn_context_run(context));
  check(tn_context_set_input(context, 0, ids, sizeof ids));
  check(tn_model_set_parameter(model, "blocks.0.bias", bias, sizeof bias));
  check(tn_model_set_parameter(model, "blocks.1.bias", bias, sizeof bias));
  check(tn_model_set_parameter(model, "blocks.0.weight", weight, sizeof weight));
  check(tn_model_set_parameter(model, "table", table, sizeof table));
  expect(tn_context_run(context));
  check(tn_model_set_parameter(model, "blocks.1.weight", weight, sizeof weight));
  check(tn_context_run(context));
  tn_context_free(context);
}

static void infer(tn_model *model, tn_threads *threads) {
  int64_t batch = 4, none = 0;
  int32_t ids[4] = {0, 1, 2, 5};
  float y[80], count[4];
  tn_tensor_info info;
  tn_context *context = NULL;
  tn_generator *generator = NULL;
  expect(tn_context_create(model, "infer", &none, 1, threads, &context));
  check(tn_context_create(model, "infer", &batch, 1, threads, &context));
  check(tn_context_output_info(context, 0, &info));
  describe(&info);
  check(tn_context_state_info(context, 0, &info));
  describe(&info);
  printf("%d output, %lld slice, place %lld of %lld, room for inputs, outputs and states: %s\n", tn_context_output_count(context),
         (long long)tn_context_slice_count(context), (long long)tn_context_position(context),
         (long long)tn_context_capacity(context),
         tn_context_bytes(context) >= sizeof ids + sizeof y + sizeof count ? "yes" : "no");
  printf("state %d, no state %d\n", tn_context_state_find(context, "count"), tn_context_state_find(context, "counts"));
  expect(tn_context_save_checkpoint(context, "/nowhere", &(tn_progress){0}, 1));
  expect(tn_generator_create(model, NULL, NULL, NULL, NULL, NULL, NULL, &generator));
  expect(tn_generator_create(model, "poems", NULL, NULL, NULL, NULL, NULL, &generator));
  expect(tn_context_set_input(context, 0, ids, 8));
  check(tn_context_set_input(context, 0, ids, sizeof ids));
  expect(tn_context_run(context));
  ids[3] = 4;
  check(tn_context_set_input(context, 0, ids, sizeof ids));
  check(tn_context_run(context));
  check(tn_context_get_state(context, 0, count, sizeof count));
  printf("count = %.0f\n", count[3]);
  tn_context_reset_states(context);
  check(tn_context_get_state(context, 0, count, sizeof count));
  printf("count = %.0f\n", count[3]);
  check(tn_context_get_output(context, 0, y, sizeof y));
  expect(tn_context_get_output(context, 1, y, sizeof y));
  tn_context_free(context);
}

int main(int argc, char **argv) {
  tn_model *model = NULL, *copy = NULL;
  tn_threads *threads = NULL;
  tn_tensor_info info;
  char path[4096];
  float before[60], after[60];
  if (argc != 3)
    return 2;
  expect(tn_model_open("/nowhere", NULL, &model));
  check(tn_model_open(argv[1], "portable", &model));
  check(tn_threads_create(2, &threads));
  printf("tier %s, %d entries, first %s(%s), threads %d\n", tn_model_tier(model), tn_model_entry_count(model),
         tn_model_entry_name(model, 0), tn_model_dim_name(model, 0, 0), tn_threads_count(threads));
  runsNothing(model, threads);
  check(tn_model_initialize(model, 7));
  for (int i = 0; i < tn_model_parameter_count(model); ++i) {
    check(tn_model_parameter_info(model, i, &info));
    describe(&info);
  }
  expect(tn_model_get_parameter(model, "blocks.9.weight", before, sizeof before));
  infer(model, threads);
  trainSomeSteps(model, threads, argv[2]);
  snprintf(path, sizeof path, "%s/weights.safetensors", argv[2]);
  check(tn_model_save(model, path, NULL));
  check(tn_model_open(argv[1], NULL, &copy));
  check(tn_model_load(copy, path, NULL));
  check(tn_model_get_parameter(model, "blocks.1.weight", before, sizeof before));
  check(tn_model_get_parameter(copy, "blocks.1.weight", after, sizeof after));
  printf("loaded %s\n", memcmp(before, after, sizeof before) ? "something else" : "the same");
  expect(tn_model_load(copy, path, "hf"));
  expect(tn_model_save(copy, "/nowhere/x", NULL));
  tn_model_close(copy);
  tn_model_close(model);
  tn_threads_free(threads);
  return 0;
}
