#include "tools/tenon/ForeignOptions.h"
#include "runtime/base/DataType.h"
#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace tenon::driver {

namespace {

struct Row {
  std::string_view command;                      // empty: any
  std::initializer_list<std::string_view> names; // without dashes in front, `-` for `_`
  std::string advice;
};

const Row kRows[] = {
    {"train",
     {"epochs", "num-epochs", "max-epochs", "n-epochs", "num-train-epochs"},
     "the recipe says epochs = 3; here --steps N says how many updates"},
    {"train",
     {"lr", "learning-rate"},
     "the recipe says it, optimizer = adam(lr = 1e-3); of a config in its place, lr = rate, --set rate=3e-4 gives the value"},
    {"train",
     {"batch-size", "batch", "bs", "train-batch-size", "per-device-train-batch-size"},
     "a batch is a dim of the inputs: the recipe says bind B = 32, or here --bind B=32"},
    {"", {"batch-size", "batch", "bs"}, "a batch is a dim of the inputs: --bind B=32"},
    {"train",
     {"seq-len", "seq-length", "sequence-length", "max-seq-len", "max-seq-length", "max-length", "block-size", "context-length"},
     "a length is a dim of the inputs: the recipe says bind T = 128, or here --bind T=128"},
    {"",
     {"seq-len", "seq-length", "sequence-length", "max-seq-len", "max-seq-length"},
     "a length is a dim of the inputs: --bind T=128"},
    {"",
     {"device", "devices", "gpu", "gpus", "cuda", "cpu"},
     "models run on the processor: --threads N says on how many of its cores"},
    {"", {"workers", "num-workers", "jobs"}, "--threads N says how many cores compute; batches need none of their own"},
    {"",
     {"fp16", "bf16", "half", "precision", "dtype", "mixed-precision"},
     "--numerics " + runtime::listThat(runtime::isStoredReal) + " multiplies numbers of 16 bits, --f64 makes all have 64"},
    {"train", {"optimizer", "optim"}, "the recipe says optimizer = adamw(lr = 1e-3)"},
    {"train", {"weight-decay", "wd", "decay"}, "the recipe says optimizer = adamw(lr = 1e-3, decay = 0.01)"},
    {"train",
     {"warmup", "warmup-steps", "schedule", "scheduler", "lr-scheduler", "lr-scheduler-type"},
     "the recipe says schedule = cosine(warmup = 100, total = 1000)"},
    {"train", {"clip", "grad-clip", "max-grad-norm"}, "the recipe says clip = global_norm(1.0)"},
    {"train", {"accumulate", "gradient-accumulation-steps", "grad-accum"}, "the recipe says accumulate = 4"},
    {"train", {"dropout"}, "the model says it, dropout(x, rate); --set gives a config another value"},
    {"train", {"patience", "early-stopping"}, "the recipe says stop = patience(5)"},
    {"train", {"max-steps", "num-steps", "iterations", "iters"}, "--steps N says how many updates"},
    {"train",
     {"resume", "continue", "resume-from", "resume-from-checkpoint"},
     "the same command goes on from the newest checkpoint; --from N from an earlier one"},
    {"train", {"eval-every", "eval-steps", "eval-interval"}, "--valid-every N evaluates"},
    {"train", {"save-every", "save-steps", "save-interval"}, "--checkpoint-every N saves"},
    {"train", {"output", "output-dir", "save-dir", "run-dir"}, "--out DIR is the run"},
    {"train",
     {"dataset", "data-dir", "train-data", "train-file"},
     "the recipe says data = ..; --text FILE replaces a text, --data the folder or files"},
    {"test-grad", {"numerics"}, "gradients are compared in double precision, under which no policy holds"},
};

} // namespace

std::string adviceFor(const std::string &command, const std::string &option) {
  std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::replace(name.begin(), name.end(), '_', '-');
  for (const Row &row : kRows)
    if ((row.command.empty() || row.command == command) && std::find(row.names.begin(), row.names.end(), name) != row.names.end())
      return row.advice;
  return {};
}

} // namespace tenon::driver
