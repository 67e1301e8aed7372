#include "tools/tenon/ForeignOptions.h"
#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace tenon::driver {

namespace {

struct Row {
  bool anyCommand;                               // else train alone
  std::initializer_list<std::string_view> names; // without dashes in front, `-` for `_`
  std::string_view advice;
};

const Row kRows[] = {
    {false,
     {"epochs", "num-epochs", "max-epochs", "n-epochs", "num-train-epochs"},
     "the recipe says epochs = 3; here --steps N says how many updates"},
    {false,
     {"lr", "learning-rate"},
     "the recipe says it, optimizer = adam(lr = 1e-3); of a config in its place, lr = rate, --set rate=3e-4 gives the value"},
    {false,
     {"batch-size", "batch", "bs", "train-batch-size", "per-device-train-batch-size"},
     "a batch is a dim of the inputs: the recipe says bind B = 32, or here --bind B=32"},
    {true, {"batch-size", "batch", "bs"}, "a batch is a dim of the inputs: --bind B=32"},
    {false,
     {"seq-len", "seq-length", "sequence-length", "max-seq-len", "max-seq-length", "max-length", "block-size", "context-length"},
     "a length is a dim of the inputs: the recipe says bind T = 128, or here --bind T=128"},
    {true,
     {"seq-len", "seq-length", "sequence-length", "max-seq-len", "max-seq-length"},
     "a length is a dim of the inputs: --bind T=128"},
    {true,
     {"device", "devices", "gpu", "gpus", "cuda", "cpu"},
     "models run on the processor: --threads N says on how many of its cores"},
    {true, {"workers", "num-workers", "jobs"}, "--threads N says how many cores compute; batches need none of their own"},
    {true,
     {"fp16", "bf16", "half", "precision", "dtype", "mixed-precision"},
     "--numerics bf16 or f16 multiplies numbers of 16 bits, --f64 makes all have 64"},
    {false, {"optimizer", "optim"}, "the recipe says optimizer = adamw(lr = 1e-3)"},
    {false, {"weight-decay", "wd", "decay"}, "the recipe says optimizer = adamw(lr = 1e-3, decay = 0.01)"},
    {false,
     {"warmup", "warmup-steps", "schedule", "scheduler", "lr-scheduler", "lr-scheduler-type"},
     "the recipe says schedule = cosine(warmup = 100, total = 1000)"},
    {false, {"clip", "grad-clip", "max-grad-norm"}, "the recipe says clip = global_norm(1.0)"},
    {false, {"accumulate", "gradient-accumulation-steps", "grad-accum"}, "the recipe says accumulate = 4"},
    {false, {"dropout"}, "the model says it, dropout(x, rate); --set gives a config another value"},
    {false, {"patience", "early-stopping"}, "the recipe says stop = patience(5)"},
    {false, {"max-steps", "num-steps", "iterations", "iters"}, "--steps N says how many updates"},
    {false,
     {"resume", "continue", "resume-from", "resume-from-checkpoint"},
     "the same command goes on from the newest checkpoint; --from N from an earlier one"},
    {false, {"eval-every", "eval-steps", "eval-interval"}, "--valid-every N evaluates"},
    {false, {"save-every", "save-steps", "save-interval"}, "--checkpoint-every N saves"},
    {false, {"output", "output-dir", "save-dir", "run-dir"}, "--out DIR is the run"},
    {false,
     {"dataset", "data-dir", "train-data", "train-file"},
     "the recipe says data = ..; --text FILE replaces a text, --data the folder or files"},
};

} // namespace

std::string adviceFor(const std::string &command, const std::string &option) {
  std::string name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  std::replace(name.begin(), name.end(), '_', '-');
  for (const Row &row : kRows)
    if ((row.anyCommand || command == "train") && std::find(row.names.begin(), row.names.end(), name) != row.names.end())
      return std::string(row.advice);
  return {};
}

} // namespace tenon::driver
