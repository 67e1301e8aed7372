#include "runtime/train/Trainer.h"
#include "runtime/train/RunDirectory.h"
#include "runtime/train/RunStart.h"
#include "runtime/train/Selection.h"
#include "runtime/train/Session.h"
#include "runtime/train/StepReport.h"
#include "runtime/train/Stop.h"
#include "runtime/train/TrainingText.h"
#include "runtime/train/Validation.h"
#include "tenon/artifact.h"
#include <algorithm>
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
      : session(session), order(session.order()), now(&session), options(options), lock(lock), progress(options.quiet),
        run{options.runDirectory}, report(session, state, recorder, progress), start(Clock::now()) {}

  Status train() {
    Status status = begin();
    if (status.ok())
      status = evaluateMissed();
    if (status.failed())
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
  double tokensPerStep() const { // of the task of the last step
    return static_cast<double>(now->trainTask->tokensPerBatch()) * static_cast<double>(batchesPerStep());
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
    if (Status status = starting().setLength(notes); status.failed())
      return status;
    state.seed = session.recipe.seed;
    bool resumed = false;
    if (!options.fresh)
      if (Status status = loadRun(run.checkpoints(), options.from, state, *session.train, resumed, notes, session.parts());
          status.failed())
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
    state.plateau =
        session.recipe.plateau ? std::optional(state.plateau.value_or(Plateau{std::nullopt, 0, 0, state.step})) : std::nullopt;
    if (state.plateau)
      session.lowerRate(state.plateau->lowered);
    session.setSeed(state.seed);
    session.parameters->notes[runtime::kVocabularyNote] = session.vocabulary.note();
    if (Status status = starting().prepareDirectory(resumed, notes); status.failed())
      return status;
    if (Status status = recorder.open(run, resumed ? state.step : 0, notes); status.failed())
      return status;
    if (!options.quiet) {
      progress.message(
          startText(session, run, {totalSteps(), static_cast<uint64_t>(tokensPerStep()), state.seed, checkpointEvery(), keep()}));
      for (const SessionTask *task : session.tasks())
        for (const std::string &line : task->trainTask->summary())
          progress.message(task->name.empty() ? line : task->name + ": " + line);
    }
    for (const std::string &note : notes)
      progress.message(note);
    if (totalSteps() == 0 && options.seconds == 0 && !options.quiet)
      progress.message(
          "nothing says when to end (steps in the recipe, --steps, --minutes): it trains until it is stopped, which saves it");
    begun = state;
    lastSaved = resumed ? state.step : ~uint64_t{0};
    if (Status status = session.saveDescription(run); status.failed())
      return status;
    return options.tensorBoard ? recorder.openEvents(run) : Status();
  }

  /// The batch that is the `position`-th of the run: whose it is, and its number there.
  std::pair<SessionTask *, uint64_t> batchAt(uint64_t position) {
    const TaskOrder::Turn turn = order.at(position / batchesPerStep());
    return {session.tasks()[turn.task],
            session.others.empty() ? position : turn.step * batchesPerStep() + position % batchesPerStep()};
  }

  Status oneStep() {
    Clock::time_point before = Clock::now();
    now = batchAt(state.position).first;
    values.assign(now->train->outputs().size(), 0.0);
    double symbols = 0;
    if (Status status = readLossScale(usedScale); status.failed())
      return status;
    for (uint64_t i = 0; i < batchesPerStep(); ++i) {
      const uint64_t index = batchAt(state.position).second;
      runtime::Context &context = now->trainFeeder->contextOf(index);
      if (Status status = now->trainFeeder->fill(index); status.failed())
        return status;
      context.setStep(state.step * batchesPerStep() + i);
      if (Status status = context.run(); status.failed())
        return status.in(concat("step ", state.step + 1));
      ++state.position;
      if (i + 1 < batchesPerStep() || totalSteps() == 0 || state.step + 1 < totalSteps()) {
        const auto [task, next] = batchAt(state.position);
        task->trainFeeder->prepare(next); // while a GPU works
      }
      if (Status status = addOutputs(context, i); status.failed())
        return status;
      symbols += static_cast<double>(now->trainTask->tokensIn(index));
    }
    double seconds = std::chrono::duration<double>(Clock::now() - before).count();
    state.seconds = begun.seconds + elapsed();
    stepSeconds += seconds;
    tokens += symbols;
    int norm = now->train->entry().outputIndex("grad_norm");
    bool finite = std::isfinite(values[0]) && (norm < 0 || std::isfinite(values[static_cast<size_t>(norm)]));
    if (!finite)
      return skip(values[0]);
    ++state.step;
    if (session.averages)
      if (Status status = session.averages->update(state.step); status.failed())
        return status;
    if (skips > 1)
      progress.message(concat("step ", state.step, ": finite again, after ", skips, " skipped updates"));
    skips = hopeless = 0;
    report.done(point(seconds, symbols));
    if (isScheduled(state.step, session.recipe.validEvery))
      if (Status status = validate(); status.failed())
        return status;
    if (state.step % checkpointEvery() == 0)
      return save();
    return {};
  }

  /// Losses are means over the batches of a step, norm and rate are those of its last.
  Status addOutputs(const runtime::Context &context, uint64_t batch) {
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

  StepPoint point(double seconds, double symbols) const {
    return {*now, values, usedScale, seconds, symbols, totalSteps(), options.seconds, elapsed()};
  }
  RunStart starting() { return {session, options, run, lock, state, keep(), checkpointEvery()}; }
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
      now->train->resetStates();
    ++state.skipped;
    const uint64_t step = state.step + 1; // the one that was tried
    report.skipped(point(0, 0));
    if (++skips == 1) // the metrics have each of them
      progress.message(concat("step ", step, ": ",
                              skippedText(onlyGradients ? usedScale : std::nullopt, nextScale, session.parameters->manifest()),
                              "; the update is skipped"));
    const bool searches = onlyGradients && *usedScale > 1 && *nextScale < *usedScale;
    if (searches || ++hopeless < kMaximumSkips)
      return {};
    return Status(ErrorKind::Numeric,
                  hopelessText(step, kMaximumSkips, onlyGradients && session.parameters->manifest().lossScale->isFixed()));
  }

  Status validate() {
    if (!evaluates(session) || lastEvaluated == state.step)
      return {};
    if (Status status = prepareAverages(); status.failed())
      return status;
    auto results = evaluateTasks(session);
    if (!results.ok())
      return results.status();
    if (StopSignals::requested())
      return {};
    for (const TaskEvaluation &each : *results)
      if (const std::string note = each.evaluation.perBatchNote(); !note.empty() && !lastEvaluated)
        progress.message("note: " + note);
    lastEvaluated = state.step;
    return addEvaluation(*results);
  }

  /// Metrics, message and best checkpoint of an evaluation of all tasks.
  Status addEvaluation(const std::vector<TaskEvaluation> &results) {
    MetricsLine line;
    line.add("step", state.step);
    const HeldOutReport found = reportHeldOut(results, line);
    const std::string text = concat("step ", state.step, "  held out:", found.text);
    lastHeldOut = HeldOut{found.numbers, state.step};
    auto first = [](const std::optional<HeldOut> &evaluation) { return evaluation->numbers[0].second; };
    if (!bestHeldOut || !std::isfinite(first(bestHeldOut)) || first(lastHeldOut) < first(bestHeldOut))
      bestHeldOut = lastHeldOut;
    report.record(line);
    countForPlateau();
    const double measured = session.measure ? findNumber(results, session.measure->name)->value : 0;
    const bool better = session.measure && updateBest(*session.measure, measured, state.step,
                                                      isScheduled(state.step, session.recipe.validEvery), state.best);
    if (!options.quiet)
      progress.message(text + (better ? ", the best so far"
                               : !std::isfinite(measured)
                                   ? concat("; ", session.measure->name, " is not finite, so never the best")
                                   : ""));
    return better && !session.recipe.best.empty() ? tolerated(saveBest(run.checkpoints(), state, *session.train, session.parts()))
                                                  : Status();
  }

  void countForPlateau() {
    const auto &[name, value] = lastHeldOut->numbers[0];
    if (!state.plateau || !isScheduled(state.step, session.recipe.validEvery) ||
        !waitForBetter(value, *session.recipe.plateau, state.step, *state.plateau))
      return;
    session.lowerRate(state.plateau->lowered);
    progress.message(plateauText(name, state.step, state.plateau->lowered));
  }

  /// Errors of kind Resource (a full disk) are warnings while training goes on.
  Status prepareAverages() {
    std::vector<std::string> notes;
    Status status =
        session.averages ? session.averages->prepare(run.checkpoints(), state.step, checkpointEvery(), notes) : Status();
    for (const std::string &note : notes)
      progress.message(note);
    return status;
  }
  Status write() {
    Status status = prepareAverages();
    RunParts parts = session.parts();
    if (session.averages)
      parts.needed = session.averages->needed(run.checkpoints(), state.step, checkpointEvery());
    return status.ok() ? saveRun(run.checkpoints(), state, *session.train, keep(), parts) : status;
  }
  Status save() {
    Status status = write();
    if (status.ok())
      lastSaved = state.step;
    return finished() ? status : tolerated(status);
  }
  Status tolerated(const Status &status) {
    if (status.kind() == ErrorKind::Resource) {
      progress.message("warning: " + status.message()); // names the step
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
      progress.message(earlyText(*state.best, state.step, session.recipe.patience));
    return {};
  }

  /// The evaluation of the last step, which may take long, so the step is saved before it; what it is compared with is part of
  /// the checkpoint, which is therefore written once more.
  Status evaluateLast() {
    const auto before = state.best;
    Status status = validate();
    return status.ok() && state.best != before ? tolerated(write()) : status;
  }

  /// What a run without the interruption would have counted, before the first step that may depend on it; counted it is part of
  /// the checkpoint, as in `evaluateLast`.
  Status evaluateMissed() {
    if (!missesEvaluation(state, session.recipe.validEvery))
      return {};
    Status status = validate();
    return status.ok() && lastEvaluated ? tolerated(write()) : status;
  }

  void sumUp() {
    const uint64_t steps = state.step - begun.step, skipped = state.skipped - begun.skipped;
    if (options.quiet || steps == 0)
      return;
    std::optional<double> lossScale;
    if (readLossScale(lossScale).failed()) // what it came to is said where the run fails
      lossScale = std::nullopt;
    progress.message(endText({state.step, steps, skipped, state.seconds, elapsed(), tokens / stepSeconds, report.lastLoss(),
                              report.lastBits(), lastHeldOut, bestHeldOut, concat(run.checkpoints(), "/step-", lastSaved),
                              session.recipe.best.empty() ? std::nullopt : state.best,
                              concat(bestDirectory(run.checkpoints()), "/step-", state.best ? state.best->step : 0), lossScale}));
  }

  Session &session;
  TaskOrder order;
  SessionTask *now; // the task of the last step
  const TrainOptions &options;
  RunLock &lock;
  Progress progress;
  Recorder recorder;
  RunDirectory run;
  RunState state;
  StepReport report;
  Clock::time_point start;
  std::vector<double> values; // outputs of the step
  RunState begun;             // where this command started
  double stepSeconds = 0, tokens = 0;
  std::optional<HeldOut> lastHeldOut, bestHeldOut; // by this command
  uint64_t lastSaved = 0;
  std::optional<uint64_t> lastEvaluated; // by this command
  std::optional<double> usedScale;       // by the step
  int skips = 0, hopeless = 0;           // in a row
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
