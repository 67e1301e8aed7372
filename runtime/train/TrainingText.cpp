#include "runtime/train/TrainingText.h"
#include "runtime/context/Context.h"
#include "runtime/train/Progress.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tenon::train {

using runtime::concat;
using runtime::counted;

namespace {

std::string fixed(double value, int digits) {
  char buffer[64];
  snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

std::string countedWithCommas(uint64_t count, const char *noun) {
  return concat(withCommas(static_cast<double>(count)), " ", noun, count == 1 ? "" : "s");
}

/// Scalars of all parameters that exist, one of each element of a stack.
uint64_t parameterCount(const runtime::Manifest &manifest) {
  uint64_t count = 0;
  for (const runtime::ParameterInfo &info : manifest.parameters)
    for (int64_t i = 0; i < info.stackElements; ++i)
      count += info.has(i) ? static_cast<uint64_t>(info.elements) : 0;
  return count;
}

std::string memoryText(const std::vector<runtime::MemoryItem> &items) {
  uint64_t sum = 0;
  std::string parts;
  for (const runtime::MemoryItem &item : items) {
    sum += item.bytes;
    parts += concat(parts.empty() ? "" : ", ", item.name, " ", runtime::readableBytes(item.bytes));
  }
  return concat("memory ", runtime::readableBytes(sum), " (", parts, ")");
}

} // namespace

std::string startText(const Session &session, const RunDirectory &run, const StartPoint &point) {
  const runtime::Manifest &manifest = session.parameters->manifest();
  std::string text = concat("training ", manifest.model, " by the recipe ", session.recipe.name, ": ",
                            countedWithCommas(parameterCount(manifest), "parameter"), " in ", manifest.parameterTypes(), ", ",
                            point.steps > 0 ? countedWithCommas(point.steps, "step") : "as many steps as there is time for, each",
                            " of ", countedWithCommas(point.symbolsPerStep, "token"), ", seed ", point.seed, "\n");
  text += concat("tier ", session.tier, ", ", counted(static_cast<uint64_t>(session.pool->workers()), "thread"), ", ",
                 memoryText(session.memoryItems()), "\n");
  if (auto all = session.workspaceSavingAll())
    text += concat("save = blocks: training workspace ", runtime::readableBytes(session.train->workspaceBytes()),
                   ", with save = all ", runtime::readableBytes(*all), "\n");
  return text + concat("checkpoints every ", countedWithCommas(point.checkpointEvery, "step"), " in ", run.checkpoints(),
                       " (the newest ", static_cast<int64_t>(point.keep), " stay), metrics in ", run.metrics());
}

std::string resumedText(uint64_t step, uint64_t total, bool stoppedEarly) {
  if (stoppedEarly)
    return "the run has stopped early (stop = patience(..)): nothing is left to train; a specification with a larger patience "
           "goes on";
  return total > 0 && step >= total ? concat("the run has ", step, " steps already, and ", total,
                                             " are asked for: nothing is left to train; --steps N asks for more")
                                    : concat("going on from step ", step);
}

std::string skippedText(const std::optional<double> &usedScale, const std::optional<double> &nextScale,
                        const runtime::Manifest &manifest) {
  if (!usedScale)
    return "the loss or its gradient is not finite";
  return concat("the gradients of the loss times ", *usedScale, " are not finite",
                manifest.lossScale->isFixed() ? " (scale = fixed(..) of the recipe)"
                                              : concat(", the loss scale becomes ", *nextScale));
}

std::string hopelessText(uint64_t step, int skips, bool isFixedScale) {
  return concat("step ", step, ": ", skips, " updates in a row had a loss or gradient that is not finite; ",
                isFixedScale ? "a smaller scale = fixed(..), or a dynamic one, may help"
                : step == 1  ? "no update was made before: look at the first weights, the data, and what the model divides by or "
                               "takes the logarithm of"
                             : "a smaller learning rate, or clip, may help");
}

double secondsLeft(uint64_t total, uint64_t step, double stepsPerSecond, double limit, double elapsed) {
  if (total > 0 && total <= step)
    return -1;
  double left = -1;
  if (total > step && stepsPerSecond > 0)
    left = static_cast<double>(total - step) / stepsPerSecond;
  if (limit > 0)
    left = left < 0 ? limit - elapsed : std::min(left, limit - elapsed);
  return std::max(left, -1.0);
}

std::string plateauText(const std::string &loss, uint64_t step, uint64_t lowered) {
  return concat("step ", step, ": ", loss, " is no better than before; schedule = plateau lowers the learning rate, ",
                counted(lowered, "time"), " by now");
}

std::string epochsText(const Session &session, double epochs) {
  if (session.others.empty())
    return concat(epochs, " epochs of ", session.trainTask->batchesPerEpoch(), " batches are ", session.stepsOf(epochs),
                  " steps");
  std::string each;
  const std::vector<uint64_t> steps = session.stepsPerEpoch();
  for (size_t i = 0; i < steps.size(); ++i)
    each += concat(i ? ", " : "", session.tasks()[i]->name, " ", steps[i]);
  return concat(epochs, " epochs of all tasks (", each, ") are ", session.stepsOf(epochs), " steps");
}

std::string endText(const EndPoint &point) {
  std::string text = concat("trained ", countedWithCommas(point.stepsNow, "step"), " in ", durationText(point.secondsNow));
  if (point.stepsNow != point.step)
    text +=
        concat(" (", withCommas(static_cast<double>(point.step)), " in ", durationText(point.seconds), " with earlier commands)");
  text += concat(", ", withCommas(point.tokensPerSecond), " tokens/s");
  if (point.skippedNow > 0)
    text += concat(", ", countedWithCommas(point.skippedNow, "update"), " skipped");
  if (point.lossScale)
    text += concat(", loss scale ", *point.lossScale);
  text += "; last loss " + fixed(point.loss, 4);
  if (point.bits)
    text += concat(", ", fixed(*point.bits, 3), " bits/char");
  if (point.last) {
    std::string separator = "\nheld out: ";
    for (const auto &[name, value] : point.last->numbers) {
      text += concat(separator, name, " ", fixed(value, 4));
      separator = ", ";
    }
    text += concat(" at step ", point.last->step);
  }
  if (point.lowest && point.lowest->step != point.last->step) {
    const auto &[name, value] = point.lowest->numbers[0];
    text += concat("; the best ", name, " was ", fixed(value, 4), " at step ", point.lowest->step);
  }
  if (point.best && std::isfinite(point.best->value)) // without one there is no such checkpoint
    text += concat("\nbest checkpoint: ", point.bestCheckpoint, " (", point.best->measure, " ", fixed(point.best->value, 4),
                   "; --checkpoint best reads it)");
  return text + "\nnewest checkpoint: " + point.checkpoint;
}

std::string earlyText(const BestEvaluation &best, uint64_t step, int64_t patience) {
  if (!best.awaited)
    return concat("step ", step, ": ", best.measure, " has not been finite in ", runtime::counted(best.since, "evaluation"),
                  " (stop = patience(", patience, "))");
  return concat("step ", step, ": ", best.measure, " has not been better than at step ", best.awaitedStep, " for ",
                runtime::counted(best.since, "evaluation"), " (stop = patience(", patience, "))");
}

} // namespace tenon::train
