// tenon runs: what runs there are and how they stand. Opens no artifact: a model is code, a list needs none.
#include "runtime/base/Printable.h"
#include "runtime/train/History.h"
#include "runtime/train/RunState.h"
#include "tools/tenon/Command.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace tenon::driver {

namespace fs = std::filesystem;

namespace {

struct Listed {
  std::string path, model, recipe;
  std::vector<uint64_t> checkpoints; // their steps, oldest first
  std::optional<uint64_t> best;      // the step of the one that is kept apart
  uint64_t bytes = 0;                // of the whole directory
  train::History history;
};

bool isRun(const fs::path &path) {
  std::error_code ignored;
  return fs::is_directory(path / "model", ignored) &&
         (fs::exists(path / "metrics.jsonl", ignored) || fs::is_directory(path / "checkpoints", ignored));
}

} // namespace

Expected<std::vector<std::string>> runsIn(const std::string &path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return inputError(path, " does not exist");
  if (isRun(path))
    return std::vector<std::string>{path};
  std::vector<std::string> found;
  for (const fs::directory_entry &entry : fs::directory_iterator(path, error))
    if (isRun(entry.path()))
      found.push_back(entry.path().string());
  if (error)
    return inputError("cannot read ", path, ": ", error.message());
  std::sort(found.begin(), found.end());
  return found;
}

namespace {

void readManifest(const std::string &folder, Listed &run) {
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".json")
      continue;
    auto text = runtime::readWholeFile(entry.path().string(), 64 << 20);
    auto manifest = text.ok() ? runtime::parseJson(*text) : Expected<runtime::JsonValue>(text.status());
    if (!manifest.ok())
      continue;
    auto name = [](const runtime::JsonValue *value) { return value && value->isString() ? value->text : std::string(); };
    run.model = name(manifest->find("model"));
    if (const runtime::JsonValue *recipe = manifest->find("recipe"))
      run.recipe = name(recipe->find("name"));
  }
}

Expected<Listed> list(const std::string &path) {
  Listed run;
  run.path = path;
  train::RunDirectory directory{path};
  readManifest(directory.model(), run);
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory.checkpoints(), ignored)) {
    std::string name = entry.path().filename().string();
    if (auto step = name.rfind("step-", 0) == 0 ? wholeNumber<uint64_t>(std::string_view(name).substr(5)) : std::nullopt)
      run.checkpoints.push_back(*step);
  }
  std::sort(run.checkpoints.begin(), run.checkpoints.end());
  run.best = runtime::newestCheckpointStep(train::bestDirectory(directory.checkpoints()));
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(path, ignored))
    if (entry.is_regular_file(ignored))
      run.bytes += entry.file_size(ignored);
  if (fs::exists(directory.metrics(), ignored)) {
    auto history = train::readHistory(directory.metrics());
    if (!history.ok())
      return history.status();
    run.history = history.take();
  }
  return run;
}

std::string figure(double value, const char *form) {
  char text[40];
  snprintf(text, sizeof text, form, value);
  return std::isfinite(value) ? text : "-";
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds))
    return "-";
  auto whole = static_cast<long long>(seconds);
  return whole >= 3600 ? concat(whole / 3600, "h", whole / 60 % 60, "m")
         : whole >= 60 ? concat(whole / 60, "m", whole % 60, "s")
                       : concat(whole, "s");
}

/// The middle of the last hundred steps' speeds: the first ones are slower.
double speed(const train::History &history) {
  const std::vector<double> &all = history.of("tokens_per_second").values;
  std::vector<double> last(all.end() - static_cast<long>(std::min<size_t>(100, all.size())), all.end());
  last.erase(std::remove_if(last.begin(), last.end(), [](double value) { return !std::isfinite(value); }), last.end());
  if (last.empty())
    return std::nan("");
  std::nth_element(last.begin(), last.begin() + static_cast<long>(last.size() / 2), last.end());
  return last[last.size() / 2];
}

double lastStep(const train::History &history) {
  const std::vector<double> &steps = history.of("loss").steps;
  return steps.empty() ? std::nan("") : steps.back();
}

std::string heldOutText(const train::History &history) {
  std::string text;
  for (const std::string &name : history.heldOut())
    text += concat(text.empty() ? "" : ", ", name, " ", figure(history.last("valid_" + name), "%.4g"));
  return text.empty() ? "-" : text;
}

/// What `key` was at that step, NaN where it has no figure.
double atStep(const train::History &history, const std::string &key, uint64_t step) {
  const train::Series &series = history.of(key);
  auto found = std::lower_bound(series.steps.begin(), series.steps.end(), static_cast<double>(step));
  return found != series.steps.end() && *found == static_cast<double>(step)
             ? series.values[static_cast<size_t>(found - series.steps.begin())]
             : std::nan("");
}

/// "200 (ce 1.31) 400 (ce 1.02) best 400 (ce 1.02)": a held-out figure of that step, where there was an evaluation.
std::string checkpointText(const Listed &run) {
  std::vector<std::string> names = run.history.heldOut();
  std::erase_if(names,
                [](const std::string &name) { return name == "bits_per_char" || name == "perplexity"; }); // a loss said otherwise
  auto one = [&](uint64_t step) {
    double value = names.empty() ? std::nan("") : atStep(run.history, "valid_" + names[0], step);
    return std::to_string(step) + (std::isfinite(value) ? concat(" (", names[0], " ", figure(value, "%.4g"), ")") : "");
  };
  std::string text;
  for (uint64_t step : run.checkpoints)
    text += concat(text.empty() ? "" : " ", one(step));
  if (run.best)
    text += concat(text.empty() ? "" : " ", "best ", one(*run.best));
  return text.empty() ? "-" : text;
}

/// A row of the table is a line, whatever a folder is called.
std::string inOneLine(const std::string &path) {
  std::string text;
  for (char c : runtime::printable(path))
    text += c == '\n' ? "\\u000a" : std::string(1, c);
  return text;
}

void printTable(const std::vector<Listed> &runs) {
  std::vector<std::vector<std::string>> rows = {
      {"run", "model", "recipe", "steps", "loss", "held out", "tokens/s", "time", "size", "checkpoints"}};
  for (const Listed &run : runs)
    rows.push_back({inOneLine(run.path), run.model.empty() ? "-" : run.model, run.recipe.empty() ? "-" : run.recipe,
                    figure(lastStep(run.history), "%.0f"), figure(run.history.last("loss"), "%.4g"), heldOutText(run.history),
                    figure(speed(run.history), "%.0f"), duration(run.history.last("seconds")),
                    figure(static_cast<double>(run.bytes) / 1e6, "%.1f MB"), checkpointText(run)});
  std::vector<size_t> widths(rows[0].size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  for (const auto &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i)
      line += row[i] + (i + 1 < row.size() ? std::string(widths[i] - row[i].size() + 2, ' ') : "");
    show("%s\n", line.c_str());
  }
}

std::string jsonNumber(double value) { return std::isfinite(value) ? figure(value, "%.9g") : "null"; }

/// Members of an object: the figures of the evaluation at a step, or the last ones.
std::string heldOutJson(const train::History &history, std::optional<uint64_t> step) {
  std::string text;
  for (const std::string &name : history.heldOut()) {
    double value = step ? atStep(history, "valid_" + name, *step) : history.last("valid_" + name);
    if (!step || std::isfinite(value))
      text += concat(text.empty() ? "" : ", ", runtime::quoteJson(name), ": ", jsonNumber(value));
  }
  return text;
}

void printJson(const std::vector<Listed> &runs) {
  std::string text = "[";
  for (const Listed &run : runs) {
    text += concat(text.size() > 1 ? ",\n " : "\n ", "{\"run\": ", runtime::quoteJson(run.path),
                   ", \"model\": ", runtime::quoteJson(run.model), ", \"recipe\": ", runtime::quoteJson(run.recipe),
                   ", \"steps\": ", jsonNumber(lastStep(run.history)), ", \"loss\": ", jsonNumber(run.history.last("loss")),
                   ", \"held_out\": {");
    text +=
        concat(heldOutJson(run.history, std::nullopt), "}, \"tokens_per_second\": ", jsonNumber(speed(run.history)),
               ", \"seconds\": ", jsonNumber(run.history.last("seconds")), ", \"bytes\": ", run.bytes, ", \"checkpoints\": [");
    for (size_t i = 0; i < run.checkpoints.size(); ++i)
      text += concat(i ? ", " : "", "{\"step\": ", run.checkpoints[i],
                     ", \"loss\": ", jsonNumber(atStep(run.history, "loss", run.checkpoints[i])), ", \"held_out\": {",
                     heldOutJson(run.history, run.checkpoints[i]), "}}");
    text +=
        concat("], \"best\": ", run.best ? std::to_string(*run.best) : "null", ", \"damaged_lines\": ", run.history.damaged, "}");
  }
  show("%s\n]\n", text.c_str());
}

Status run(const std::vector<std::string> &paths, bool json) {
  std::vector<Listed> runs;
  for (const std::string &path : paths) {
    auto found = runsIn(path);
    if (!found.ok())
      return found.status();
    for (const std::string &one : *found) {
      auto listed = list(one);
      if (!listed.ok())
        return listed.status();
      runs.push_back(listed.take());
    }
  }
  if (runs.empty() && !json)
    return inputError("no runs in ", paths[0], paths.size() > 1 ? " and the others" : "",
                      ": a run is what tenon train --out writes");
  json ? printJson(runs) : printTable(runs);
  return {};
}

} // namespace

void addRuns(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("runs", "list runs and their checkpoints with their figures");
  auto paths = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  command->add_option("directories", *paths, "runs, or folders that hold runs (default: this one)")->type_name("DIR");
  command->add_flag("--json", *json, "one JSON array");
  command->footer("Examples:\n  tenon runs\n  tenon runs experiments --json");
  onRun(*command, exitCode, [paths, json] { return run(paths->empty() ? std::vector<std::string>{"."} : *paths, *json); });
}

} // namespace tenon::driver
