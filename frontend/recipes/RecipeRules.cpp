// Rules between the keywords of one recipe function.
#include "frontend/recipes/RecipeReader.h"

namespace tenon {

/// A keyword of a task over files of the user's own that is none of its settings names an input of the model.
bool RecipeChecker::checkInputName(const ast::Name &name, const schema::Function &task) {
  if (contains(context.inputs, name.text))
    return true;
  Diagnostic &error =
      diagnostics.error("T0606", name.range, "model " + context.model + " has no input `" + name.text + "`", "unknown input");
  std::vector<std::string> known = context.inputs;
  for (const schema::Parameter &parameter : task.parameters)
    known.emplace_back(parameter.name);
  suggest(error, name.text, known, "inputs of the model and settings of " + std::string(task.name));
  return false;
}

bool RecipeChecker::checkMomentum(const Setting &optimizer) {
  const Setting *nesterov = nullptr, *dampening = nullptr;
  double momentum = 0;
  for (const auto &[name, value] : optimizer.keywords) {
    nesterov = name == "nesterov" && value->truth ? value.get() : nesterov;
    dampening = name == "dampening" && value->real > 0 ? value.get() : dampening;
    momentum = name == "momentum" ? value->real : momentum;
  }
  if (nesterov && dampening) {
    diagnostics.error("T0610", dampening->range, "`nesterov` needs a `momentum` without `dampening`", "leave this out");
    return false;
  }
  const Setting *needs = nesterov ? nesterov : dampening;
  if (!needs || momentum > 0)
    return true;
  diagnostics.error("T0610", needs->range,
                    "`" + std::string(nesterov ? "nesterov" : "dampening") + "` needs a `momentum` above 0",
                    "without it this is plain sgd");
  return false;
}

/// A schedule that decays has steps left after its warm-up; where it counts epochs, training checks this when it knows the text.
bool RecipeChecker::checkLengths(const Setting &schedule) {
  const Setting *warmup = keywordOf(&schedule, "warmup"), *total = keywordOf(&schedule, "total"),
                *epochs = keywordOf(&schedule, "epochs"), *cycles = keywordOf(&schedule, "cycles"),
                *at = keywordOf(&schedule, "at");
  if (total && epochs) {
    diagnostics.error("T0616", epochs->range, "`" + schedule.text + "` takes `total` or `epochs`, which exclude each other",
                      "both");
    return false;
  }
  if (cycles && !total && !epochs) {
    diagnostics.error("T0610", cycles->range, "`cycles` needs `total` or `epochs`, the end of the last of them", "until when?");
    return false;
  }
  constexpr size_t kMostMilestones = 1000; // code compares with each of them
  if (at && at->elements.size() > kMostMilestones) {
    diagnostics.error("T0609", at->range, "`at` takes up to " + std::to_string(kMostMilestones) + " numbers",
                      "these are " + std::to_string(at->elements.size()));
    return false;
  }
  for (size_t i = 1; at && i < at->elements.size(); ++i)
    if (at->elements[i]->integer <= at->elements[i - 1]->integer) {
      Diagnostic &error =
          diagnostics.error("T0609", at->elements[i]->range, "each number of `at` must be more than the one before it",
                            "this is " + std::to_string(at->elements[i]->integer));
      error.related.push_back({at->elements[i - 1]->range, "the one before it"});
      return false;
    }
  if (!warmup || !total || warmup->kind != Setting::Kind::Int || warmup->integer < total->integer)
    return true;
  Diagnostic &error = diagnostics.error("T0627", total->range,
                                        "`" + schedule.text + "` ends after " + std::to_string(total->integer) +
                                            " steps, but warms up for " + std::to_string(warmup->integer),
                                        "`total` must be more than `warmup`");
  error.related.push_back({warmup->range, "the warm-up"});
  return false;
}

/// The best loss is the lowest, the best metric the highest unless `lowest = true`.
bool RecipeChecker::checkExcept(const Setting &method) {
  const Setting *except = nullptr;
  bool forbids = false;
  for (const auto &[name, value] : method.keywords) {
    except = name == "except" ? value.get() : except;
    forbids |= name == "no_repeat" && value->integer > 0;
  }
  if (!except || forbids)
    return true;
  diagnostics.error("T0610", except->range, "`except` says what `no_repeat` leaves alone; it needs a `no_repeat` above 0",
                    "nothing is forbidden here");
  return false;
}

bool RecipeChecker::checkBest(const Setting &every) {
  const Setting *best = nullptr, *lowest = nullptr;
  for (const auto &[name, value] : every.keywords) {
    best = name == "best" ? value.get() : best;
    lowest = name == "lowest" ? value.get() : lowest;
  }
  if (!lowest || (best && !(contains(context.losses, best->text) && !lowest->truth)))
    return true;
  if (best)
    diagnostics.error("T0616", lowest->range, "`" + best->text + "` is a loss, and the best loss is the lowest",
                      "leave this out");
  else
    diagnostics.error("T0610", lowest->range,
                      "`lowest` says which value of `best` is the best; it needs `best = ` a loss or metric", "no `best`");
  return false;
}

/// `best` and `stop` compare evaluations. Batches of a caller are evaluated by the caller, whatever the recipe says.
void RecipeChecker::requireEvaluations(const CheckedRecipe &checked) {
  const Setting *valid = checked.find("valid"), *checkpoint = checked.find("checkpoint"), *stop = checked.find("stop");
  std::vector<const Setting *> sources;
  if (const Setting *data = checked.find("data"))
    sources.push_back(data);
  for (const RecipeTask &task : tasksOf(checked))
    sources.push_back(task.data);
  if (sources.empty() || (valid && valid->kind != Setting::Kind::Call))
    return;
  for (const Setting *data : sources)
    if (data->kind != Setting::Kind::Call || data->text == "caller")
      return;
  if (stop && stop->kind != Setting::Kind::Call) // a mistake of its own
    stop = nullptr;
  auto refuse = [&](const Setting &place, const std::string &what, const std::string &label, const std::string &help) {
    diagnostics.error("T0628", place.range, what, label).notes.emplace_back("help", help);
  };
  const Setting *best = keywordOf(checkpoint, "best");
  bool held = valid, often = keywordOf(valid, "every");
  for (const Setting *data : sources) {
    const Setting *share = keywordOf(data, "held_out");
    held |= share && share->real > 0;
    often |= keywordOf(data, "every") != nullptr;
  }
  for (const Setting *each : {best, stop})
    if (each && !held)
      refuse(*each, "`" + std::string(each == best ? "best" : "stop") + "` compares evaluations, and nothing is held out",
             "of which data?", "hold a part of the data out (held_out = 0.05), or say valid = ..");
  const Setting *schedule = checked.find("schedule");
  if (schedule && schedule->text == "plateau" && !(held && often))
    refuse(*schedule, "`plateau` waits for better evaluations, and there is none in the training",
           held ? "how often?" : "of which data?", "hold a part of the data out and say how often: held_out = 0.05, every = 100");
  if (stop && held && !often)
    refuse(*stop, "`stop` counts evaluations, and there is one at the end only", "how often?",
           "say every = 100 in " + std::string(valid ? "`valid`" : "`data`"));
}

/// A program that makes the batches also decides when it evaluates, saves and ends: `tenon train` alone reads these settings.
void RecipeChecker::warnUnread(const CheckedRecipe &checked) {
  const Setting *data = checked.find("data"), *schedule = checked.find("schedule");
  if (!data || data->kind != Setting::Kind::Call || data->text != "caller")
    return;
  bool share = false, total = false;
  for (size_t i = 0; schedule && i < schedule->keywords.size(); ++i) {
    share |= schedule->keywords[i].first == "warmup" && schedule->keywords[i].second->kind == Setting::Kind::Real;
    total |= schedule->keywords[i].first == "total";
  }
  for (const char *key : {"steps", "epochs", "checkpoint", "stop", "average", "valid"}) {
    const Setting *setting = checked.find(key);
    const bool isLength = key == std::string_view("steps") || key == std::string_view("epochs"); // a warm-up may be a share of it
    if (setting && !(isLength && share && !total))
      diagnostics.warning("T0629", setting->range,
                          "nothing reads `" + std::string(key) +
                              "`: with `data = caller` the program decides when to evaluate, save and end",
                          "leave this out");
  }
}

} // namespace tenon
