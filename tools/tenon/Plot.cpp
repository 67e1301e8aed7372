// tenon plot: the curves of runs as one self-contained picture; with --attention, what one of them attends to.
#include "runtime/train/History.h"
#include "runtime/train/RunState.h"
#include "tools/tenon/Attention.h"
#include "tools/tenon/Chart.h"
#include "tools/tenon/Picture.h"
#include "tools/tenon/Say.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

namespace tenon::driver {

namespace {

struct Options {
  std::vector<std::string> runs;
  std::string output;
  int64_t smooth = 0; // steps; 0: a hundredth of the run
  bool logarithmic = false;
  bool attention = false;
  AttentionOptions maps; // of it
};

struct Best {
  std::string measure; // a loss or metric of the model
  double value = 0, step = 0;
};

struct Run {
  std::string name;
  train::History history;
  std::string loss; // the only one of its recipe, as the recipe weighs it; empty where the training loss is another number than
                    // any held-out one
  std::optional<Best> best;
};

std::optional<runtime::JsonValue> jsonOf(const std::filesystem::path &path) {
  auto text = runtime::readWholeFile(path.string(), 64 << 20);
  auto json = text.ok() ? runtime::parseJson(*text) : Expected<runtime::JsonValue>(text.status());
  return json.ok() ? std::optional(json.take()) : std::nullopt;
}

const runtime::JsonValue *at(const runtime::JsonValue &object, std::initializer_list<const char *> keys) {
  const runtime::JsonValue *value = &object;
  for (const char *key : keys)
    if (value = value->find(key); !value)
      return nullptr;
  return value;
}

/// From the manifest of the run's model, which names the losses with their weights.
std::string soleLoss(const train::RunDirectory &directory) {
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(directory.model(), ignored)) {
    auto manifest = entry.path().extension() == ".json" ? jsonOf(entry.path()) : std::nullopt;
    const runtime::JsonValue *terms = manifest ? at(*manifest, {"recipe", "settings", "loss", "keywords"}) : nullptr;
    if (terms && terms->members.size() == 1 && terms->members[0].value.isNumber() && terms->members[0].value.real == 1)
      return terms->members[0].key;
  }
  return {};
}

/// What the best checkpoint says of itself; its tensors are not looked at.
std::optional<Best> bestOf(const train::RunDirectory &directory) {
  const std::string folder = train::bestDirectory(directory.checkpoints());
  auto step = runtime::newestCheckpointStep(folder);
  auto manifest = step ? jsonOf(concat(folder, "/step-", *step, "/manifest.json")) : std::nullopt;
  const runtime::JsonValue *best = manifest ? at(*manifest, {"body", "metadata", "best"}) : nullptr;
  const runtime::JsonValue *measure = best ? best->find("measure") : nullptr, *value = best ? best->find("value") : nullptr;
  if (!measure || !measure->isString() || !value || !value->isNumber())
    return std::nullopt;
  return Best{measure->text, value->real, static_cast<double>(*step)};
}

Curve curveOf(const Run &run, size_t colour, const train::Series &series, const std::string &what) {
  Curve curve{what + " of " + run.name, colour, {}, series.steps.size() <= 60, false};
  for (size_t i = 0; i < series.steps.size(); ++i)
    curve.points.emplace_back(series.steps[i], series.values[i]);
  return curve;
}

/// Exponential average over about `span` points, free of the pull to its start (as Adam's moments are); what is not finite is
/// passed over.
Curve smoothed(Curve curve, double span) {
  double keep = 1 - 1 / std::max(1.0, span), average = 0, weight = 0;
  for (auto &[step, value] : curve.points) {
    if (!std::isfinite(value))
      continue;
    average = keep * average + (1 - keep) * value;
    weight = keep * weight + (1 - keep);
    value = average / weight;
  }
  curve.label = "smoothed " + curve.label;
  curve.marks = false;
  return curve;
}

/// Curves of one key of all runs; `smooth`: the values themselves stand behind an average.
Panel panelOf(const std::vector<Run> &runs, const std::string &key, std::string title, std::string unit, const Options &options,
              bool smooth) {
  Panel panel{std::move(title), std::move(unit), {}, false};
  for (size_t i = 0; i < runs.size(); ++i) {
    const train::Series &series = runs[i].history.of(key);
    if (series.empty())
      continue;
    Curve curve = curveOf(runs[i], i, series, panel.title);
    if (smooth && series.steps.size() > 60) {
      double span = options.smooth ? static_cast<double>(options.smooth) : static_cast<double>(series.steps.size()) / 100;
      panel.curves.push_back(smoothed(curve, span));
      curve.faint = true;
    }
    panel.curves.push_back(std::move(curve));
  }
  return panel;
}

/// The training loss, and the held-out one with it where both are the same number of two texts: on one scale, so that overfitting
/// is seen.
Panel lossPanel(const std::vector<Run> &runs, const Options &options) {
  Panel panel = panelOf(runs, "loss", "training loss", "per step", options, true);
  for (size_t i = 0; i < runs.size(); ++i)
    if (const train::Series &series = runs[i].history.of("valid_" + runs[i].loss); !runs[i].loss.empty() && !series.empty()) {
      panel.title = "training loss, and held out with dots";
      for (Curve &curve : panel.curves)
        curve.marks &= curve.label.rfind("held-out ", 0) == 0; // else the two look the same
      panel.curves.push_back(curveOf(runs[i], i, series, "held-out " + runs[i].loss));
      panel.curves.back().marks = true;
    }
  return panel;
}

std::vector<Panel> panelsOf(const std::vector<Run> &runs, const Options &options) {
  std::vector<Panel> panels = {lossPanel(runs, options)};
  panels[0].logarithmic = options.logarithmic;
  std::set<std::string> heldOut;
  for (const Run &run : runs)
    for (const std::string &name : run.history.heldOut())
      heldOut.insert(name);
  for (const std::string &name : heldOut) {
    panels.push_back(panelOf(runs, "valid_" + name, "held-out " + name, "", options, false));
    panels.back().logarithmic = options.logarithmic;
    for (size_t i = 0; i < runs.size(); ++i)
      if (const std::optional<Best> &best = runs[i].best; best && best->measure == name)
        panels.back().curves.push_back({concat("the best of ", runs[i].name, ": step ", static_cast<uint64_t>(best->step)),
                                        i,
                                        {{best->step, best->value}},
                                        true,
                                        false,
                                        true});
  }
  panels.push_back(panelOf(runs, "lr", "learning rate", "", options, false));
  panels.push_back(panelOf(runs, "tokens_per_second", "speed", "tokens per second", options, true));
  for (Panel *panel : {&panels[panels.size() - 2], &panels.back()})
    for (Curve &curve : panel->curves)
      curve.marks = false;
  return panels;
}

Expected<std::vector<Run>> readRuns(const std::vector<std::string> &paths) {
  std::vector<Run> runs;
  std::vector<std::string> all;
  for (const std::string &path : paths) {
    std::error_code ignored;
    Expected<std::vector<std::string>> inside = std::vector<std::string>{path};
    if (!std::filesystem::exists(train::RunDirectory{path}.metrics(), ignored))
      inside = runsIn(path);
    if (!inside.ok())
      return inside.status();
    if (inside->empty())
      return inputError(path, " is no run, for it has no metrics.jsonl, nor a folder of runs");
    all.insert(all.end(), inside->begin(), inside->end());
  }
  for (const std::string &path : all) {
    std::error_code ignored;
    const train::RunDirectory run{path};
    if (!std::filesystem::exists(run.metrics(), ignored)) {
      note(concat(path, " has no figures yet"));
      continue;
    }
    auto history = train::readHistory(run.metrics());
    if (!history.ok())
      return history.status();
    if (history->damaged)
      note(concat(run.metrics(), ": ", runtime::counted(history->damaged, "damaged line"), " left out, of ", history->lines));
    if (history->series.empty())
      note(concat(run.metrics(), " has no figures yet"));
    else
      runs.push_back({path, history.take(), soleLoss(run), bestOf(run)});
  }
  if (runs.empty())
    return inputError("there is nothing to draw");
  return runs;
}

Status run(const Options &options) {
  auto runs = readRuns(options.runs);
  if (!runs.ok())
    return runs.status();
  std::string output = options.output.empty() ? options.runs[0] + "/plot.svg" : options.output;
  if (Status status = checkPictureName(output); status.failed())
    return status;
  std::vector<std::string> names;
  for (const Run &run : *runs)
    names.push_back(run.name);
  std::string title = names.size() == 1 ? "Training run " + names[0] : runtime::counted(names.size(), "training run");
  if (Status status = writePicture(output, title, drawCharts(title, "step", names, panelsOf(*runs, options))); status.failed())
    return status;
  show("%s\n", output.c_str());
  return {};
}

} // namespace

/// The options of --attention, which mean nothing without it.
void addAttention(CLI::App &command, Options &options, const std::vector<CLI::Option *> &ofCurves) {
  CLI::Option *attention = command.add_flag("--attention", options.attention,
                                            "instead: what each place of a text attends to, per layer and head (attention.svg)");
  for (CLI::Option *option : ofCurves)
    attention->excludes(option);
  CLI::Option *prompt = command.add_option_function<std::string>(
      "--prompt",
      [&options](const std::string &text) {
        options.maps.prompt = text;
        options.maps.promptGiven = true;
      },
      "with --attention: the text, read from left to right");
  CLI::Option *text =
      command
          .add_option("--text", options.maps.text,
                      "with --attention: a file whose first window is drawn, as eval reads it (default: what the run held out)")
          ->type_name("FILE")
          ->excludes(prompt);
  CLI::Option *window =
      command
          .add_option("--window", options.maps.window,
                      "with --attention: draw this one of the windows, from 0 on; a memory holds those before it")
          ->transform(whole())
          ->excludes(prompt);
  CLI::Option *length =
      command.add_option("--length", options.maps.length, "with --attention: symbols of the text (default: at most 64)")
          ->transform(whole(2));
  CLI::Option *checkpoint = command
                                .add_option("--checkpoint", options.maps.checkpoint,
                                            "with --attention: the number of a step, or best (default: the newest)")
                                ->type_name("N|best");
  CLI::Option *task = command
                          .add_option("--task", options.maps.task,
                                      "with --attention: of a recipe with tasks, the one whose losses and data are meant")
                          ->type_name("NAME");
  for (CLI::Option *option : {prompt, text, window, length, checkpoint, task})
    option->needs(attention);
}

void addPlot(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand(
      "plot", "draw the curves of runs: losses, held-out figures, learning rate, speed; or what a run attends to");
  auto options = std::make_shared<Options>();
  command->add_option("runs", options->runs, "runs, or folders that hold runs")->required()->type_name("RUN");
  command
      ->add_option("-o,--output", options->output,
                   "file to write, .svg or .html (default: plot.svg in the first of these folders)")
      ->type_name("FILE");
  CLI::Option *smooth = command
                            ->add_option("--smooth", options->smooth,
                                         "steps that the line through a noisy curve averages (default: a hundredth of the run)")
                            ->transform(whole(1));
  CLI::Option *logarithmic = command->add_flag("--log", options->logarithmic, "losses on a logarithmic axis");
  addAttention(*command, *options, {smooth, logarithmic});
  command->footer("Examples:\n  tenon plot run\n  tenon plot runs/small runs/large -o compare.html --log\n  tenon plot run "
                  "--attention --prompt \"To be, or not to be\" -o attention.html\n"
                  "--attention compiles the run's specification again, and so needs the compiler.");
  onRun(*command, exitCode, [options] {
    if (!options->attention)
      return run(*options);
    if (options->runs.size() > 1)
      return usageError("--attention draws one run, given are ", options->runs.size());
    options->maps.run = options->runs[0];
    options->maps.output = options->output;
    return plotAttention(options->maps);
  });
}

} // namespace tenon::driver
