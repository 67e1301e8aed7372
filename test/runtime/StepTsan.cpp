// Takes training steps of the artifact that argument 1 names, on as many threads as argument 2 says. Built with -fsanitize=thread
// together with the runtime; instrumented.py instruments the code of the artifact.
#include <cstdio>
#include <cstdlib>
#include <tenon/runtime.h>
#include <vector>

constexpr uint64_t kSteps = 2;

static void check(tn_error *error) {
  if (!error)
    return;
  fprintf(stderr, "error: %s\n", tn_error_message(error));
  exit(tn_error_code(error));
}

int main(int argc, char **argv) {
  tn_threads *threads = nullptr;
  tn_model *model = nullptr;
  tn_context *context = nullptr;
  tn_tensor_info info;
  double loss = 0;
  if (argc != 3)
    return TN_ERROR_USAGE;
  check(tn_threads_create(atoi(argv[2]), &threads));
  check(tn_model_open(argv[1], nullptr, &model));
  check(tn_model_initialize(model, 1));
  check(tn_context_create(model, "train", nullptr, 0, threads, &context));
  for (int input = 0; input < tn_context_input_count(context); ++input) {
    check(tn_context_input_info(context, input, &info));
    std::vector<int32_t> values(info.bytes / sizeof(int32_t));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = int32_t((i * 37 + size_t(input)) % 101);
    check(tn_context_set_input(context, input, values.data(), info.bytes));
  }
  for (uint64_t step = 0; step < kSteps; ++step) {
    tn_context_set_step(context, step);
    check(tn_context_run(context));
    check(tn_context_get_output(context, 0, &loss, sizeof loss));
  }
  printf("%d steps on %d threads, loss %.17g\n", int(kSteps), tn_threads_count(threads), loss);
  tn_context_free(context);
  tn_model_close(model);
  tn_threads_free(threads);
  return 0;
}
