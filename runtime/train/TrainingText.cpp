#include "runtime/train/TrainingText.h"
#include "runtime/Context.h"
#include "runtime/train/Progress.h"
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
  std::string text =
      concat("training ", manifest.model, " by the recipe ", session.recipe.name, ": ",
             countedWithCommas(parameterCount(manifest), "parameter"), " in ", nameOf(manifest.parameterType), ", ",
             point.steps > 0 ? countedWithCommas(point.steps, "step") : "as many steps as there is time for, each", " of ",
             countedWithCommas(point.symbolsPerStep, "token"), ", seed ", point.seed, "\n");
  text += concat("tier ", session.tier, ", ", counted(static_cast<uint64_t>(session.pool->workers()), "thread"), ", ",
                 memoryText(session.memoryItems()), "\n");
  if (auto all = session.workspaceSavingAll())
    text += concat("save = blocks: training workspace ", runtime::readableBytes(session.train->workspaceBytes()),
                   ", with save = all ", runtime::readableBytes(*all), "\n");
  return text + concat("checkpoints every ", countedWithCommas(point.checkpointEvery, "step"), " in ", run.checkpoints(),
                       " (the newest ", static_cast<int64_t>(point.keep), " stay), metrics in ", run.metrics());
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
  if (point.best)
    text += concat("\nbest checkpoint: ", point.bestCheckpoint, " (", point.best->measure, " ", fixed(point.best->value, 4),
                   "; --checkpoint best reads it)");
  return text + "\nnewest checkpoint: " + point.checkpoint;
}

std::string earlyText(const BestEvaluation &best, uint64_t step, int64_t patience) {
  if (!std::isfinite(best.value))
    return concat("step ", step, ": ", best.measure, " has not been finite in ", runtime::counted(best.since, "evaluation"),
                  " (stop = patience(", patience, "))");
  return concat("step ", step, ": ", best.measure, " has not been better than at step ", best.step, " for ",
                runtime::counted(best.since, "evaluation"), " (stop = patience(", patience, "))");
}

std::string resumedText(uint64_t step, uint64_t steps, bool stoppedEarly) {
  if (stoppedEarly)
    return "the run has stopped early; nothing is left to train";
  return steps > 0 && step >= steps
             ? concat("the run has ", step, " steps already, ", steps, " are asked for (--steps): nothing is left to train")
             : concat("going on from step ", step);
}

HeldOut heldOut(const Evaluation &result, uint64_t step) {
  HeldOut found{{}, step};
  for (const Evaluation::Number &number : result.numbers)
    found.numbers.emplace_back(number.name, number.value);
  return found;
}

std::string heldOutText(const Evaluation &result, uint64_t step) {
  std::string text = concat("step ", step, "  held out:");
  for (size_t i = 0; i < result.numbers.size(); ++i) {
    text += concat(" ", result.numbers[i].name, " ", fixed(result.numbers[i].value, 4));
    if (static_cast<int>(i) == result.entropy)
      text += concat(" (", fixed(result.bitsPerCharacter(), 3), " bits/char)");
  }
  return text;
}

MetricsLine heldOutLine(const Evaluation &result, uint64_t step) {
  MetricsLine line;
  line.add("step", step);
  for (size_t i = 0; i < result.numbers.size(); ++i) {
    line.add("valid_" + result.numbers[i].name, result.numbers[i].value);
    if (static_cast<int>(i) == result.entropy)
      line.add("valid_bits_per_char", result.bitsPerCharacter());
  }
  if (auto perplexity = result.perplexity())
    line.add("valid_perplexity", *perplexity);
  line.add("valid_seconds", result.seconds);
  return line;
}

std::string skippedText(const runtime::Manifest &manifest, const std::optional<double> &tooLarge,
                        const std::optional<double> &next) {
  if (!tooLarge)
    return "the loss or its gradient is not finite";
  return concat("the gradients of the loss times ", *tooLarge, " are not finite",
                manifest.lossScale->isFixed() ? " (scale = fixed(..) of the recipe)"
                                              : concat(", the loss scale becomes ", *next));
}

} // namespace tenon::train
