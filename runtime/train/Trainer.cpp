#include "runtime/train/Trainer.h"
#include "runtime/train/RunDirectory.h"
#include "runtime/train/RunLog.h"
#include "runtime/train/RunStart.h"
#include "runtime/train/Selection.h"
#include "runtime/train/Session.h"
#include "runtime/train/Stop.h"
#include "runtime/train/TrainingText.h"
#include "tenon/artifact.h"
#include <chrono>
#include <cmath>
#include <filesystem>

namespace tenon::train {

using runtime::concat;
using runtime::ErrorKind;

namespace {

/// Steps in a row without a finite loss or gradient after which training ends. Those that only look for a loss scale do not
/// count.
constexpr int kMaximumSkips = 10;

class Trainer {
public:
  Trainer(Session &session, const TrainOptions &options, RunLock &lock)
      : session(session), options(options), lock(lock), log(options.quiet), run{options.runDirectory}, start(Clock::now()) {}

  Status train() {
    if (Status status = begin(); status.failed())
      return status;
    while (!finished())
      if (Status status = oneStep(); status.failed())
        return status;
    return end();
  }

private:
  using Clock = std::chrono::steady_clock;
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
  uint64_t totalSteps() const {
    const Recipe &recipe = session.recipe;
    return options.steps.value_or(recipe.epochs > 0 ? session.stepsOf(recipe.epochs) : static_cast<uint64_t>(recipe.steps));
  }
  uint64_t batchesPerStep() const { return static_cast<uint64_t>(session.parameters->manifest().accumulate); }
  double tokensPerStep() const {
    return static_cast<double>(session.trainTask->tokensPerBatch()) * static_cast<double>(batchesPerStep());
  }

  bool finished() const {
    bool stepsDone = totalSteps() > 0 && state.step >= totalSteps();
    return stepsDone || stoppedEarly() || (options.seconds > 0 && elapsed() >= options.seconds) || StopSignals::requested();
  }

  bool stoppedEarly() const {
    const uint64_t patience = static_cast<uint64_t>(session.recipe.patience);
    return patience > 0 && state.best && state.best->since >= patience;
  }
  Status begin() {
    std::vector<std::string> notes = session.notes;
    if (Status status = runtime::checkMemory(session.memoryItems(), session.parameters->device().availableBytes());
        status.failed())
      return status;
    if (Status status = setLength(notes); status.failed())
      return status;
    state.seed = session.recipe.seed;
    bool resumed = false;
    if (!options.fresh)
      if (Status status = loadRun(run.checkpoints(), options.from, state, *session.train, resumed, notes); status.failed())
        return status;
    if (resumed && state.seed != session.recipe.seed)
      return runtime::usageError("the run in ", run.path, " has seed ", state.seed, ", not ", session.recipe.seed,
                                 "; pass --seed ", state.seed, " to go on, or --fresh to start anew");
    if (resumed && !options.weights.empty())
      return runtime::usageError("the run in ", run.path, " goes on from step ", state.step,
                                 "; --weights is for a new one (--fresh, or another --out)");
    if (state.best && (!session.measure || session.measure->name != state.best->measure))
      state.best.reset(); // the recipe compares by something else now
    if (resumed)
      notes.push_back(resumedText(state.step, totalSteps(), stoppedEarly()));
    else if (Status status = starting().initialize(notes); status.failed())
      return status;
    session.setSeed(state.seed);
    session.parameters->notes[runtime::kVocabularyNote] = session.trainTask->vocabulary().note();
    if (Status status = starting().prepareDirectory(resumed, notes); status.failed())
      return status;
    if (Status status = log.openMetrics(run.metrics(), resumed ? state.step : 0, notes); status.failed())
      return status;
    if (!options.quiet) {
      log.message(
          startText(session, run, {totalSteps(), static_cast<uint64_t>(tokensPerStep()), state.seed, checkpointEvery(), keep()}));
      for (const std::string &line : session.trainTask->summary())
        log.message(line);
    }
    for (const std::string &note : notes)
      log.message(note);
    if (totalSteps() == 0 && options.seconds == 0 && !options.quiet)
      log.message(
          "nothing says when to end (steps in the recipe, --steps, --minutes): it trains until it is stopped, which saves it");
    begun = state;
    lastSaved = resumed ? state.step : ~uint64_t{0};
    if (Status status = session.saveDescription(run); status.failed())
      return status;
    return options.tensorBoard ? log.openEvents(run.path) : Status();
  }

  /// What the recipe gives in epochs, in steps.
  Status setLength(std::vector<std::string> &notes) {
    const double epochs = session.parameters->manifest().epochs;
    if (session.recipe.epochs > 0)
      notes.push_back(concat(session.recipe.epochs, " epochs of ", session.trainTask->batchesPerEpoch(), " batches are ",
                             session.stepsOf(session.recipe.epochs), " steps"));
    if (epochs == 0)
      return {};
    const uint64_t steps = session.stepsOf(epochs);
    if (static_cast<uint64_t>(session.recipe.warmup) >= steps)
      return inputError("the recipe ", session.recipe.name, " warms up for ", session.recipe.warmup,
                        " steps, but its schedule of ", epochs, " epochs has ", steps, " with this text");
    session.train->setTotalSteps(steps);
    return {};
  }

  Status oneStep() {
    Clock::time_point before = Clock::now();
    runtime::Context &context = *session.train;
    values.assign(context.outputs().size(), 0.0);
    if (Status status = readLossScale(usedScale); status.failed())
      return status;
    for (uint64_t i = 0; i < batchesPerStep(); ++i) {
      if (Status status = session.trainFeeder->fill(state.position); status.failed())
        return status;
      context.setStep(state.step * batchesPerStep() + i);
      if (Status status = context.run(); status.failed())
        return status.in(concat("step ", state.step + 1));
      ++state.position;
      if (Status status = addOutputs(i); status.failed())
        return status;
    }
    double seconds = std::chrono::duration<double>(Clock::now() - before).count();
    state.seconds = begun.seconds + elapsed();
    stepSeconds += seconds;
    int norm = context.entry().outputIndex("grad_norm");
    bool finite = std::isfinite(values[0]) && (norm < 0 || std::isfinite(values[static_cast<size_t>(norm)]));
    if (!finite)
      return skip(values[0]);
    ++state.step;
    if (skips > 1)
      log.message(concat("step ", state.step, ": finite again, after ", skips, " skipped updates"));
    skips = hopeless = 0;
    writeStep(values[0], tokensPerStep() / seconds);
    if (session.recipe.validEvery > 0 && state.step % static_cast<uint64_t>(session.recipe.validEvery) == 0)
      if (Status status = validate(); status.failed())
        return status;
    if (state.step % checkpointEvery() == 0)
      return save();
    return {};
  }

  /// Losses are means over the batches of a step, norm and rate are those of its last.
  Status addOutputs(uint64_t batch) {
    const runtime::Context &context = *session.train;
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string &name = context.outputs()[i].name;
      auto value = scalarOutput(context, i);
      if (!value.ok())
        return value.status();
      bool ofStep = name == "grad_norm" || name == "learning_rate";
      values[i] =
          ofStep || batch == 0 ? *value : (values[i] * static_cast<double>(batch) + *value) / static_cast<double>(batch + 1);
    }
    return {};
  }

  RunStart starting() { return {session, options, run, lock, state, keep()}; }
  int keep() const { return static_cast<int>(options.keep.value_or(session.recipe.keep)); }
  uint64_t checkpointEvery() const {
    return static_cast<uint64_t>(options.checkpointEvery.value_or(session.recipe.checkpointEvery));
  }

  /// What the loss of the next step is multiplied by; nullopt without a loss scale.
  Status readLossScale(std::optional<double> &scale) const {
    const auto now = session.parameters->lossScale();
    if (now.ok())
      scale = *now ? std::optional<double>((*now)->scale) : std::nullopt;
    return now.status();
  }

  /// The compiled step has left parameters and moments alone. The states of this segment are worthless, unless only the scaled
  /// gradients were too large.
  Status skip(double loss) {
    const bool onlyGradients = usedScale && std::isfinite(loss);
    std::optional<double> nextScale;
    if (Status status = readLossScale(nextScale); status.failed())
      return status;
    if (!onlyGradients)
      session.train->resetStates();
    ++state.skipped;
    const uint64_t step = state.step + 1; // the one that was tried
    MetricsLine line;
    line.add("step", step);
    line.add("loss", loss);
    line.addText("skipped", "not finite");
    if (usedScale)
      line.add("loss_scale", *usedScale);
    log.record(line, state.step);
    if (++skips == 1) // the metrics have each of them
      log.message(concat("step ", step, ": ",
                         skippedText(session.parameters->manifest(), onlyGradients ? usedScale : std::nullopt, nextScale),
                         "; the update is skipped"));
    const bool searches = onlyGradients && *usedScale > 1 && *nextScale < *usedScale;
    if (searches || ++hopeless < kMaximumSkips)
      return {};
    return Status(ErrorKind::Numeric,
                  concat("step ", step, ": ", kMaximumSkips, " updates in a row had a loss or gradient that is not finite; ",
                         onlyGradients && session.parameters->manifest().lossScale->isFixed()
                             ? "a smaller scale = fixed(..), or a dynamic one, may help"
                             : "a smaller learning rate, or clip, may help"));
  }

  void writeStep(double loss, double speed) {
    const runtime::Context &context = *session.train;
    MetricsLine line;
    line.add("step", state.step);
    line.add("loss", loss);
    std::optional<double> bits;
    lastLoss = loss;
    if (int entropy = entropyOutput(context, *session.trainTask); entropy >= 0)
      bits = values[static_cast<size_t>(entropy)] / M_LN2;
    if (bits)
      line.add("bits_per_char", *bits);
    lastBits = bits;
    size_t outputs = context.outputs().size();
    for (size_t i = 1; i < outputs; ++i) {
      const std::string &name = context.outputs()[i].name;
      bool onlyLoss = outputs <= 4 && i == 1; // one named loss: the same number again
      if (!onlyLoss || name == "grad_norm" || name == "learning_rate")
        line.add(name == "learning_rate" ? "lr" : name, values[i]);
      if (name == "learning_rate")
        checkRate(values[i]);
    }
    if (usedScale)
      line.add("loss_scale", *usedScale);
    line.add("tokens_per_second", speed);
    line.add("seconds", state.seconds);
    uint64_t resident = runtime::peakResidentBytes();
    line.add("peak_memory", resident);
    log.record(line, state.step);
    smoothSpeed = smoothSpeed == 0 ? speed : 0.95 * smoothSpeed + 0.05 * speed;
    const double weight = smoothSpeed == speed ? 1 : 0.1; // of the first step: all
    smoothLoss = (1 - weight) * smoothLoss + weight * loss;
    if (bits)
      smoothBits = *bits = (1 - weight) * smoothBits + weight * *bits;
    ProgressPoint point{state.step, totalSteps(), smoothLoss, bits, smoothSpeed, secondsLeft(), resident};
    log.update(point, state.step == 1 || state.step == totalSteps());
  }

  /// Steps behind the end of a schedule would look like training.
  void checkRate(double rate) {
    bool early = state.step <= static_cast<uint64_t>(session.recipe.warmup) + 1, last = state.step == totalSteps();
    if (rate > 0 || rateEnded || early || last)
      return;
    rateEnded = true;
    log.message(
        concat("step ", state.step, ": the schedule has come to a learning rate of 0; steps from here on change nothing"));
  }

  double secondsLeft() const {
    if (totalSteps() > 0 && totalSteps() <= state.step)
      return -1;
    double left = -1;
    if (totalSteps() > state.step && smoothSpeed > 0)
      left = static_cast<double>(totalSteps() - state.step) * tokensPerStep() / smoothSpeed;
    if (options.seconds > 0)
      left = left < 0 ? options.seconds - elapsed() : std::min(left, options.seconds - elapsed());
    return std::max(left, -1.0);
  }

  Status validate() {
    if (!session.valid || lastEvaluated == state.step)
      return {};
    auto result = evaluate(*session.valid, *session.validFeeder, 0, StopSignals::requested);
    if (!result.ok())
      return result.status();
    if (StopSignals::requested())
      return {};
    if (const std::string note = result->perBatchNote(); !note.empty() && !lastEvaluated)
      log.message("note: " + note);
    lastEvaluated = state.step;
    lastHeldOut = heldOut(*result, state.step);
    auto first = [](const std::optional<HeldOut> &evaluation) { return evaluation->numbers[0].second; };
    if (!bestHeldOut || !std::isfinite(first(bestHeldOut)) || first(lastHeldOut) < first(bestHeldOut))
      bestHeldOut = lastHeldOut;
    log.record(heldOutLine(*result, state.step), state.step);
    const double measured = session.measure ? result->find(session.measure->name)->value : 0;
    const bool better = session.measure && updateBest(*session.measure, measured, state.step, state.best);
    if (!options.quiet)
      log.message(heldOutText(*result, state.step) +
                  (better                     ? ", the best so far"
                   : !std::isfinite(measured) ? concat("; ", session.measure->name, " is not finite, so never the best")
                                              : ""));
    return better && !session.recipe.best.empty() ? tolerated(saveBest(run.checkpoints(), state, *session.train)) : Status();
  }

  /// Errors of kind Resource (a full disk) are warnings while training goes on.
  Status save() {
    Status status = saveRun(run.checkpoints(), state, *session.train, keep());
    if (status.ok())
      lastSaved = state.step;
    return finished() ? status : tolerated(status);
  }
  Status tolerated(const Status &status) {
    if (status.kind() == ErrorKind::Resource) {
      log.message("warning: " + status.message()); // names the step
      return {};
    }
    return status;
  }

  Status end() {
    bool stopped = StopSignals::requested();
    if (lastSaved != state.step)
      if (Status status = save(); status.failed())
        return status;
    if (!stopped && !stoppedEarly())
      if (Status status = evaluateLast(); status.failed())
        return status;
    sumUp();
    if (stopped)
      return Status(ErrorKind::Resumable, concat("stopped after step ", state.step, "; the same command goes on from there"));
    if (stoppedEarly())
      log.message(earlyText(*state.best, state.step, session.recipe.patience));
    return {};
  }

  /// The evaluation of the last step, which may take long, so the step is saved before it; what it is compared with is part of
  /// the checkpoint, which is therefore written once more.
  Status evaluateLast() {
    const auto before = state.best;
    Status status = validate();
    return status.ok() && state.best != before ? tolerated(saveRun(run.checkpoints(), state, *session.train, keep())) : status;
  }

  void sumUp() {
    const uint64_t steps = state.step - begun.step, skipped = state.skipped - begun.skipped;
    if (options.quiet || steps == 0)
      return;
    const double tokens = tokensPerStep() * static_cast<double>(steps + skipped);
    std::optional<double> lossScale;
    if (readLossScale(lossScale).failed()) // what it came to is said where the run fails
      lossScale = std::nullopt;
    log.message(endText({state.step, steps, skipped, state.seconds, elapsed(), tokens / stepSeconds, lastLoss, lastBits,
                         lastHeldOut, bestHeldOut, concat(run.checkpoints(), "/step-", lastSaved),
                         session.recipe.best.empty() ? std::nullopt : state.best,
                         concat(bestDirectory(run.checkpoints()), "/step-", state.best ? state.best->step : 0), lossScale}));
  }

  Session &session;
  const TrainOptions &options;
  RunLock &lock;
  RunLog log;
  RunDirectory run;
  RunState state;
  Clock::time_point start;
  std::vector<double> values; // outputs of the step
  RunState begun;             // where this command started
  double stepSeconds = 0, smoothSpeed = 0, smoothLoss = 0, smoothBits = 0, lastLoss = 0;
  std::optional<double> lastBits;
  std::optional<HeldOut> lastHeldOut, bestHeldOut; // by this command
  uint64_t lastSaved = 0;
  std::optional<uint64_t> lastEvaluated; // by this command
  std::optional<double> usedScale;       // by the step
  int skips = 0, hopeless = 0;           // in a row
  bool rateEnded = false;
};

} // namespace

Status trainModel(const std::shared_ptr<const runtime::Artifact> &artifact, const TrainOptions &options) {
  // The lock comes before anything of the run is read. Where there is no run yet it waits until all is known to fit: a mistake
  // makes no directory.
  RunLock lock;
  std::string note;
  std::error_code ignored;
  if (std::filesystem::is_directory(options.runDirectory, ignored)) {
    auto taken = RunLock::take(options.runDirectory, note);
    if (!taken.ok())
      return taken.status();
    lock = taken.take();
  }
  std::unique_ptr<Session> session;
  if (Status status = Session::create(artifact, options, session); status.failed())
    return status;
  if (!note.empty())
    session->notes.push_back(note);
  StopSignals signals;
  return Trainer(*session, options, lock).train();
}

} // namespace tenon::train
