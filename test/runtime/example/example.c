/* Trains the language model whose artifact is argument 1 on a text of its own, reads a parameter, and guesses letters with it. */
#include "tiny.h"
#include <stdio.h>
#include <stdlib.h>
#include <tenon/runtime.h>

enum { ROWS = 8, LENGTH = 64, STEPS = 400 }; /* rows and length as the recipe binds them: the entry has no open dims */

static void check(tn_error *error) {
  if (!error)
    return;
  fprintf(stderr, "error: %s\n", tn_error_message(error));
  exit(tn_error_code(error));
}

/* Rows begin at different places of the text, which goes round; the target is the next letter. */
static void makeBatch(int32_t *ids, int32_t *target) {
  static const char text[] = "and the earth was without form, and void; ";
  const int length = (int)sizeof text - 1;
  for (int row = 0; row < ROWS; ++row)
    for (int place = 0; place < LENGTH; ++place) {
      ids[row * LENGTH + place] = text[(5 * row + place) % length];
      target[row * LENGTH + place] = text[(5 * row + place + 1) % length];
    }
}

static void train(tn_model *model, tn_threads *threads) {
  int32_t ids[ROWS * LENGTH], target[ROWS * LENGTH];
  double loss = 0;
  tn_context *context = NULL;
  check(tn_context_create(model, tiny_train, NULL, tiny_train_dims, threads, &context));
  makeBatch(ids, target);
  check(tn_context_set_input(context, tiny_train_in_ids, ids, sizeof ids));
  check(tn_context_set_input(context, tiny_train_in_target, target, sizeof target));
  for (uint64_t step = 0; step < STEPS; ++step) {
    tn_context_set_step(context, step);
    check(tn_context_run(context));
    check(tn_context_get_output(context, tiny_train_out_loss, &loss, sizeof loss));
    if (step == 0 || step + 1 == STEPS)
      printf("step %d: loss %s 1\n", (int)step, loss < 1 ? "below" : "above");
  }
  tn_context_free(context);
}

/* The share of letters of the first row that the model would have guessed. */
static double guessed(tn_model *model, tn_threads *threads) {
  int32_t ids[ROWS * LENGTH], target[ROWS * LENGTH];
  int64_t dims[tiny_step_dims];
  tn_tensor_info info;
  tn_context *context = NULL;
  int right = 0;
  dims[tiny_step_dim_B] = 1;
  dims[tiny_step_dim_T] = LENGTH;          /* places that one call brings */
  dims[tiny_step_dim_T_capacity] = LENGTH; /* room for as many */
  check(tn_context_create(model, tiny_step, dims, tiny_step_dims, threads, &context));
  makeBatch(ids, target);
  check(tn_context_set_input(context, tiny_step_in_ids, ids, LENGTH * sizeof *ids));
  check(tn_context_run(context));
  check(tn_context_output_info(context, tiny_step_out_logits, &info));
  float *logits = malloc(info.bytes);
  check(tn_context_get_output(context, tiny_step_out_logits, logits, info.bytes));
  for (int place = 0; place < LENGTH; ++place) {
    const float *of = logits + place * info.shape[2];
    int best = 0;
    for (int symbol = 1; symbol < info.shape[2]; ++symbol)
      best = of[symbol] > of[best] ? symbol : best;
    right += best == target[place];
  }
  free(logits);
  tn_context_free(context);
  return (double)right / LENGTH;
}

int main(int argc, char **argv) {
  tn_threads *threads = NULL;
  tn_model *model = NULL;
  tn_tensor_info info;
  if (argc != 2)
    return TN_ERROR_USAGE;
  check(tn_threads_create(2, &threads));
  check(tn_model_open(argv[1], NULL, &model));
  check(tn_model_initialize(model, 1));
  train(model, threads);
  check(tn_model_parameter_info(model, tn_model_parameter_find(model, "emb"), &info));
  printf("%s [%lld, %lld]\n", info.name, (long long)info.shape[0], (long long)info.shape[1]);
  printf("guesses %s half of the letters\n", guessed(model, threads) > 0.5 ? "more than" : "at most");
  tn_model_close(model);
  tn_threads_free(threads);
  return 0;
}
