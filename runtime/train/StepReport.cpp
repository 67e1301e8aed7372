#include "runtime/train/StepReport.h"
#include "runtime/train/TrainingText.h"
#include <cmath>

namespace tenon::train {

using runtime::concat;

MetricsLine StepReport::lineOf(const StepPoint &point, uint64_t step) const {
  MetricsLine line;
  line.add("step", step);
  if (!point.task.name.empty())
    line.addText("task", point.task.name);
  line.add("loss", point.values[0]);
  return line;
}

void StepReport::done(const StepPoint &point) {
  MetricsLine line = lineOf(point, state.step);
  loss = point.values[0];
  bits.reset();
  if (int entropy = entropyOutput(*point.task.train, *point.task.trainTask); entropy >= 0)
    bits = point.values[static_cast<size_t>(entropy)] / M_LN2;
  if (bits)
    line.add("bits_per_char", *bits);
  addOutputs(point, line);
  if (point.lossScale)
    line.add("loss_scale", *point.lossScale);
  const double speed = point.tokens / point.seconds;
  line.add("tokens_per_second", speed);
  line.add("seconds", state.seconds);
  const uint64_t resident = runtime::peakResidentBytes();
  line.add("peak_memory", resident);
  record(line);
  show(point, speed, resident);
}

void StepReport::skipped(const StepPoint &point) {
  MetricsLine line = lineOf(point, state.step + 1);
  line.addText("skipped", "not finite");
  if (point.lossScale)
    line.add("loss_scale", *point.lossScale);
  record(line);
}

void StepReport::record(const MetricsLine &line) {
  if (const std::string warning = recorder.record(line, state.step); !warning.empty())
    progress.message(warning);
}

void StepReport::addOutputs(const StepPoint &point, MetricsLine &line) {
  const std::vector<runtime::BoundTensor> &outputs = point.task.train->outputs();
  for (size_t i = 1; i < outputs.size(); ++i) {
    const std::string &name = outputs[i].name;
    const bool onlyLoss = outputs.size() <= 4 && i == 1; // one named loss: the same number again
    if (!onlyLoss || name == "grad_norm" || name == "learning_rate")
      line.add(name == "learning_rate" ? "lr" : name, point.values[i]);
    if (name == "learning_rate")
      checkRate(point.values[i], point.total);
  }
}

/// Steps behind the end of a schedule would look like training.
void StepReport::checkRate(double rate, uint64_t total) {
  const bool early = state.step <= static_cast<uint64_t>(session.recipe.warmup) + 1, last = state.step == total;
  if (rate > 0 || rateEnded || early || last)
    return;
  rateEnded = true;
  progress.message(
      concat("step ", state.step, ": the schedule has come to a learning rate of 0; steps from here on change nothing"));
}

void StepReport::show(const StepPoint &point, double speed, uint64_t resident) {
  smoothSpeed = smoothSpeed == 0 ? speed : 0.95 * smoothSpeed + 0.05 * speed;
  const double weight = smoothSpeed == speed ? 1 : 0.1; // of the first step: all
  smoothLoss = (1 - weight) * smoothLoss + weight * loss;
  std::optional<double> shown;
  if (bits)
    shown = smoothBits = (1 - weight) * smoothBits + weight * *bits;
  const double left = secondsLeft(point.total, state.step, smoothSpeed / point.tokens, point.limit, point.elapsed);
  progress.update({state.step, point.total, smoothLoss, shown, smoothSpeed, left, resident},
                  state.step == 1 || state.step == point.total);
}

} // namespace tenon::train
