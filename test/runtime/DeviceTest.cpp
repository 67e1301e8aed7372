// Everything that the runtime does with a model, on the host and on a device whose memory the host cannot address: the same
// bytes, and no access around the device (which would fault).
//
// usage: runtime-device-test ARTIFACT TEXT FOLDER [--claim|--lose]
//   --claim  the device's views claim to be the host's memory: the first use of one must fault
//   --lose   copies in lose a bit: the results must differ
#include "runtime/base/File.h"
#include "runtime/capi/CApiObjects.h"
#include "runtime/files/Checkpoint.h"
#include "runtime/generate/Generator.h"
#include "runtime/train/Evaluate.h"
#include "runtime/train/RunState.h"
#include "runtime/train/Session.h"
#include "runtime/train/Trainer.h"
#include "test/runtime/GuardedDevice.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;
using runtime::test::GuardedDevice;

namespace {

constexpr uint64_t kSteps = 6, kBreak = 3;
constexpr int kThreads = 2;

std::string text; // that the data task reads

void check(const Status &status) {
  if (status.ok())
    return;
  printf("error: %s\n", status.message().c_str());
  exit(status.exitCode());
}
template <typename T> T valueOf(Expected<T> result) {
  check(result.status());
  return result.take();
}
void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  printf("WRONG: %s\n", what.c_str());
  exit(1);
}

using Opened = std::shared_ptr<const runtime::Artifact>;

/// Trains to step kSteps, in two commands: the second one begins with a checkpoint of the first.
void trainIn(const Opened &artifact, const std::string &folder) {
  for (uint64_t steps : {kBreak, kSteps}) {
    train::TrainOptions options;
    options.runDirectory = folder;
    options.steps = steps;
    options.threads = kThreads;
    options.checkpointEvery = 2;
    options.data.text = text;
    options.data.validEvery = 3;
    options.quiet = true;
    check(train::trainModel(artifact, options));
  }
}

/// The lines of metrics.jsonl without what is measured.
std::string metricsOf(const std::string &folder) {
  const std::string all = valueOf(runtime::readWholeFile(folder + "/metrics.jsonl", 1 << 20));
  std::string kept;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find_first_of(",}\n", at), all.size() - 1) + 1;
    const std::string item = all.substr(at, end - at);
    const bool isMeasured = item.find("second") != std::string::npos || item.find("memory") != std::string::npos;
    kept += isMeasured ? "" : item;
    at = end;
  }
  return kept;
}

void compareRuns(const std::string &one, const std::string &other) {
  const std::string last = runtime::concat("/checkpoints/step-", kSteps, "/");
  for (const char *name : {"parameters", "moment1", "moment2", "states"}) {
    const std::string file = runtime::concat(last, name, ".safetensors");
    const std::string bytes = valueOf(runtime::readWholeFile(one + file, 1 << 26));
    expect(bytes == valueOf(runtime::readWholeFile(other + file, 1 << 26)), runtime::concat(name, " differ after training"));
  }
  expect(metricsOf(one) == metricsOf(other), "the metrics differ");
  printf("train: %d steps, a checkpoint after %d: the same bytes\n", int(kSteps), int(kBreak));
}

std::unique_ptr<train::Session> sessionOf(const Opened &artifact, const std::string &folder) {
  train::TrainOptions options;
  options.runDirectory = folder;
  options.threads = kThreads;
  options.data.text = text;
  std::unique_ptr<train::Session> session;
  check(train::Session::create(artifact, options, session));
  std::vector<std::string> notes;
  train::RunState state;
  bool found = false;
  check(train::loadRun(folder + "/checkpoints", "", state, *session->train, found, notes));
  expect(found, "there is no checkpoint");
  session->setSeed(state.seed);
  return session;
}

std::vector<double> evaluated(const Opened &artifact, const std::string &folder) {
  auto session = sessionOf(artifact, folder);
  auto result = valueOf(train::evaluate(*session->valid, *session->validFeeder, 4, nullptr));
  std::vector<double> numbers;
  for (const auto &number : result.numbers)
    numbers.push_back(number.value);
  return numbers;
}

std::string generated(const Opened &artifact, const std::string &folder, GuardedDevice *device) {
  auto parameters = valueOf(runtime::Parameters::create(artifact));
  std::vector<std::string> notes;
  uint64_t step = 0;
  check(train::loadWeights(folder + "/checkpoints", "", *parameters, step, notes));
  auto settings = valueOf(generate::readSettings(artifact->manifest(), ""));
  settings.limit = 40;
  const data::Vocabulary vocabulary = data::Vocabulary::bytes(false);
  auto generator =
      valueOf(generate::Generator::create(parameters, settings, vocabulary, valueOf(runtime::ThreadPool::create(kThreads))));
  std::vector<int32_t> ids;
  std::string result;
  check(generator->promptIds(std::string(100, 'a') + "bcd", ids)); // more than one window, and a rest
  check(generator->start(ids, 7));
  for (int i = 0; i < 40; ++i) {
    if (device && i == 20)
      device->counts = {};
    generate::Symbol symbol;
    check(generator->next(symbol));
    result += runtime::concat(symbol.id, " ");
  }
  if (device)
    printf("copies per symbol: %.1f in, %.1f out\n", double(device->counts.copiesIn) / 20, double(device->counts.copiesOut) / 20);
  return result;
}

/// What a step of the trainer moves: the inputs in, the outputs out.
void countCopies(const Opened &artifact, const std::string &folder, GuardedDevice &device) {
  auto session = sessionOf(artifact, folder);
  runtime::Context &context = *session->train;
  uint64_t inputs = 0, outputs = 0;
  for (const auto &tensor : context.inputs())
    inputs += (tensor.bytes + 63) / 64 * 64;
  for (const auto &tensor : context.outputs())
    outputs += (tensor.bytes + 63) / 64 * 64;
  for (uint64_t step = 0; step < 3; ++step) {
    check(session->trainFeeder->fill(step));
    device.counts = {};
    context.setStep(step);
    check(context.run());
    for (size_t i = 0; i < context.outputs().size(); ++i)
      (void)valueOf(train::scalarOutput(context, i));
    // The outputs of slices come out behind the last one, are added up on the host and put in place.
    const uint64_t slices = context.slices(), partial = slices > 1, numbers = context.outputs().size();
    const GuardedDevice::Counts &counts = device.counts;
    expect(counts.allocations == 0, "a step allocates");
    expect(counts.runs == (slices > 1 ? slices + 1 : 1), "runs of a step");
    expect(counts.copiesIn == 1 + (partial ? numbers - 2 : 0) && counts.bytesIn == inputs + (partial ? (numbers - 2) * 8 : 0),
           runtime::concat(counts.copiesIn, " copies in, ", counts.bytesIn, " bytes"));
    expect(counts.copiesOut == 1 + partial && counts.bytesOut == outputs + partial * slices * numbers * 8,
           runtime::concat(counts.copiesOut, " copies out, ", counts.bytesOut, " bytes"));
    if (step == 0)
      printf("copies per step: %d in, %d out, %d within; %d runs\n", int(counts.copiesIn), int(counts.copiesOut),
             int(counts.copiesWithin), int(counts.runs));
  }
}

/// A failed run is told with what waits for it first.
void loseRun(const Opened &artifact, const std::string &folder, GuardedDevice &device) {
  auto session = sessionOf(artifact, folder);
  check(session->trainFeeder->fill(0));
  device.failsNextRun = true;
  Status status = session->train->run();
  if (status.ok())
    status = train::scalarOutput(*session->train, 0).status();
  expect(status.kind() == runtime::ErrorKind::Resource && status.message().find("lost a run of") != std::string::npos,
         "a lost run is not told: " + status.message());
  printf("lost run: %s\n", status.message().c_str());
}

/// A training that loses a run ends with that message, and its last checkpoint is the one before.
void loseTraining(const Opened &artifact, const std::string &folder, GuardedDevice &device) {
  const auto before = runtime::newestCheckpointStep(folder + "/checkpoints");
  train::TrainOptions options;
  options.runDirectory = folder;
  options.steps = kSteps + 4;
  options.threads = kThreads;
  options.checkpointEvery = 1;
  options.data.text = text;
  options.quiet = true;
  device.failsNextRun = true;
  const Status status = train::trainModel(artifact, options);
  expect(status.kind() == runtime::ErrorKind::Resource && status.message().find("lost a run of") != std::string::npos,
         "a training that has lost a run goes on: " + status.message());
  expect(before && runtime::newestCheckpointStep(folder + "/checkpoints") == before, "a lost run is in a checkpoint");
  printf("lost training: the checkpoint before stays\n");
}

void succeed(tn_error *error) {
  if (!error)
    return;
  printf("error: %s\n", tn_error_message(error));
  exit(tn_error_code(error));
}

/// The bytes of all states, each set to what was read.
std::string statesThroughC(tn_context *context) {
  std::string all;
  tn_tensor_info info;
  for (int i = 0; i < tn_context_state_count(context); ++i) {
    succeed(tn_context_state_info(context, i, &info));
    std::string bytes(info.bytes, '\0');
    succeed(tn_context_get_state(context, i, bytes.data(), bytes.size()));
    succeed(tn_context_set_state(context, i, bytes.data(), bytes.size()));
    all += bytes;
  }
  return all;
}

/// The bytes of every parameter, its gradient and its first moment.
std::string parametersThroughC(tn_model &model) {
  std::string all;
  tn_tensor_info info;
  for (int i = 0; i < tn_model_parameter_count(&model); ++i) {
    succeed(tn_model_parameter_info(&model, i, &info));
    std::string bytes(info.bytes, '\0');
    succeed(tn_model_get_parameter(&model, info.name, bytes.data(), bytes.size()));
    all += bytes;
    succeed(tn_model_get_gradient(&model, info.name, bytes.data(), bytes.size()));
    all += bytes;
    succeed(tn_model_get_moment(&model, 0, info.name, bytes.data(), bytes.size()));
    all += bytes;
  }
  return all;
}

/// The C interface over a model of either device: buffers set, lent and read, gradients and states by name.
std::string throughC(const Opened &artifact, bool shares) {
  auto parameters = valueOf(runtime::Parameters::create(artifact));
  tn_model model{artifact, parameters, parameters->names()};
  tn_context *context = nullptr;
  succeed(tn_model_initialize(&model, 3));
  succeed(tn_context_create(&model, "train", nullptr, 0, nullptr, &context));
  std::string all;
  tn_tensor_info info;
  std::vector<std::vector<int32_t>> values;
  std::unique_ptr<void, void (*)(void *)> lent(nullptr, free);
  for (int i = 0; i < tn_context_input_count(context); ++i) {
    succeed(tn_context_input_info(context, i, &info));
    values.emplace_back(info.bytes / 4);
    for (size_t k = 0; k < values.back().size(); ++k)
      values.back()[k] = int32_t(k * 7 + size_t(i)) % 200;
    if (i == 0) {
      lent.reset(aligned_alloc(64, (info.bytes + 63) / 64 * 64));
      std::memcpy(lent.get(), values[0].data(), info.bytes);
      succeed(tn_context_lend_input(context, i, lent.get()));
    } else {
      succeed(tn_context_set_input(context, i, values.back().data(), info.bytes));
    }
  }
  alignas(64) double loss = 0;
  int groups = 0;
  tn_context_on_group(context, [](void *count, int) { ++*static_cast<int *>(count); }, &groups);
  succeed(tn_context_lend_output(context, 0, &loss));
  for (uint64_t step = 0; step < 2; ++step) {
    tn_context_set_step(context, step);
    succeed(tn_context_run_gradients(context));
    succeed(tn_context_run_update(context));
    all += runtime::concat(loss, " ", groups, " ");
  }
  expect(groups > 0 && groups == 2 * tn_context_group_count(context), runtime::concat(groups, " groups of gradients"));
  all += statesThroughC(context) + parametersThroughC(model);
  void *place = nullptr;
  uint64_t bytes = 0;
  tn_error *refused = tn_model_gradient_data(&model, parameters->names()[0].c_str(), &place, &bytes);
  if (!shares)
    printf("gradient_data: %s\n", tn_error_message(refused));
  expect((refused == nullptr) == shares, "tn_model_gradient_data");
  tn_error_free(refused);
  tn_context_free(context);
  return all;
}

/// Whether reading there ends a process.
bool faults(const volatile char *place) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    _exit(*place == 17);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

void checkGuard(const Opened &artifact, const Opened &onHost) {
  auto parameters = valueOf(runtime::Parameters::create(artifact)), known = valueOf(runtime::Parameters::create(onHost));
  const auto values = runtime::ParameterArena::Values;
  expect(faults(parameters->arena(values).codePointer()), "the device's memory can be read");
  expect(!faults(known->arena(values).codePointer()), "the host's memory cannot be read");
  printf("guard: a read around the device faults\n");
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4)
    return TN_ERROR_USAGE;
  const std::string path = argv[1], folder = argv[3], spoil = argc > 4 ? argv[4] : "";
  text = argv[2];
  setvbuf(stdout, nullptr, _IONBF, 0);
  GuardedDevice device;
  device.claimsHostView = spoil == "--claim";
  const Opened host = valueOf(runtime::Artifact::open(path)), guarded = valueOf(runtime::Artifact::open(path, {}, device));
  checkGuard(guarded, host);
  device.losesBits = spoil == "--lose";
  trainIn(host, folder + "/host");
  trainIn(guarded, folder + "/guarded");
  compareRuns(folder + "/host", folder + "/guarded");
  // From here on both read what the host has trained.
  const auto numbers = evaluated(host, folder + "/host"), others = evaluated(guarded, folder + "/host");
  expect(!numbers.empty() && numbers == others, "the evaluations differ");
  printf("eval: %zu numbers, the same bits\n", numbers.size());
  countCopies(guarded, folder + "/host", device);
  loseRun(guarded, folder + "/host", device);
  loseTraining(guarded, folder + "/guarded", device);
  expect(throughC(host, true) == throughC(guarded, false), "the C interface gives other bytes");
  printf("C interface: the same bytes\n");
  if (!host->manifest().generate.elements.empty()) {
    expect(generated(host, folder + "/host", nullptr) == generated(guarded, folder + "/host", &device), "the texts differ");
    printf("generate: the same symbols\n");
  }
  return 0;
}
