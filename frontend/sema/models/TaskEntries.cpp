#include "frontend/sema/models/TaskEntries.h"
#include "frontend/recipes/RecipeSchema.h"
#include "frontend/sema/models/Reach.h"
#include <algorithm>

namespace tenon::sema {

namespace {

/// The task whose entries have this name behind `train_` or `eval_`.
std::optional<RecipeTask> taskOf(const CheckedRecipe &recipe, const std::string &entry) {
  for (RecipeTask &task : tasksOf(recipe))
    if (entry == "train_" + task.name || entry == "eval_" + task.name)
      return std::move(task);
  return std::nullopt;
}

} // namespace

EntryRequest TaskEntries::ofLosses(EntryRequest request, const Weights &weights) {
  for (auto &[loss, weight] : weights)
    request.losses.push_back(loss);
  return request;
}

std::vector<EntryRequest> TaskEntries::trainRequests(const CheckedRecipe &recipe, const Weights &weights,
                                                     const EntryRequest &base) {
  std::vector<EntryRequest> requests;
  for (const RecipeTask &task : tasksOf(recipe)) {
    requests.push_back(ofLosses(base, task.losses));
    requests.back().name = "train_" + task.name;
  }
  if (requests.empty())
    requests.push_back(ofLosses(base, weights));
  return requests;
}

std::optional<Entry> TaskEntries::runTrain(const CheckedRecipe &recipe, EntryRequest &request) {
  const std::optional<RecipeTask> task = taskOf(recipe, request.name);
  if (task && task->batch > 0)
    bindRows(*task, request);
  auto entry = Checker(session, model, request).run();
  if (entry && task)
    entry->lossWeights = task->losses;
  return entry;
}

/// Whether somebody looks at the one batch that there is.
static bool isOfOneSize(const CheckOptions &options) { return options.gradient || options.attentionMaps; }

/// Whether the command line says the size of a dim.
static bool isGiven(const CheckOptions &options, const std::string &dim) {
  const auto isOf = [&](const auto &given) { return given.first == dim; };
  return std::any_of(options.bind.begin(), options.bind.end(), isOf) ||
         std::any_of(options.recipeBind.begin(), options.recipeBind.end(), isOf);
}

/// An input that is a file of its own, without rows.
static bool isFixed(const RecipeTask &task, const Input &input) {
  const Setting *given = keywordOf(task.data, input.name);
  return given && given->kind == Setting::Kind::Call && given->text == "fixed";
}

/// `batch` of a task: the first axis of the first input with rows that its losses read. A batch that somebody looks at has the
/// rows that the command line says.
void TaskEntries::bindRows(const RecipeTask &task, EntryRequest &request) {
  EntryRequest open = request;
  open.binds.clear();
  auto entry = Checker(session, model, open).run();
  if (!entry)
    return;
  for (const Input &input : entry->inputs) {
    if (input.type.axes.empty() || isFixed(task, input))
      continue;
    const Axis &rows = entry->axes[input.type.axes[0]];
    if (std::find(declared.dims.begin(), declared.dims.end(), rows.name) != declared.dims.end()) {
      if (!isOfOneSize(session.options) || !isGiven(session.options, rows.name))
        request.binds[rows.name] = task.batch;
      return;
    }
  }
  session.error("T0610", keywordOf(task.call, "batch")->range,
                "`batch` is the number of rows, and the losses of this task read no input with a dim of rows");
}

void TaskEntries::knowFiles(const std::vector<CheckedRecipe> &recipes) {
  inputsOfFiles.clear();
  for (const CheckedRecipe &each : recipes)
    for (std::string &input : inputsFromFiles(each))
      inputsOfFiles.push_back(std::move(input));
}

static bool readsInput(const Entry &entry, const std::string &name) {
  return std::any_of(entry.inputs.begin(), entry.inputs.end(), [&](const Input &input) { return input.name == name; });
}

void TaskEntries::findUnread(Source &source, EntryRequest trained) {
  const schema::Function *task = schema::find("data task", source.data.text);
  if (!task ||
      std::none_of(task->makes.begin(), task->makes.end(), [](const schema::Made &made) { return made.name == "score"; }))
    return;
  const Setting *renamed = keywordOf(&source.data, "label");
  const std::string label = renamed ? renamed->text : "label", score = "score";
  trained.metrics = false;
  auto entry = Checker(session, model, trained).run();
  if (!entry || readsInput(*entry, label) == readsInput(*entry, score))
    return;
  source.read = readsInput(*entry, label) ? label : score;
  source.unread = readsInput(*entry, label) ? score : label;
}

bool TaskEntries::fits(Source &source, const std::string &name, const EntryRequest &request) {
  auto entry = Checker(session, model, request).run();
  if (entry && readsInput(*entry, source.unread)) { // names of classes are no numbers to be near, and real numbers no classes
    source.leftOut.emplace_back(name,
                                "the column of labels is trained on as `" + source.read + "`, not as `" + source.unread + "`");
    return false;
  }
  const bool made = entry && makesInputs(source.data, source.hasId, *entry);
  if (!entry || made)
    return made;
  source.leftOut.emplace_back(name, inputsNotGiven(source.data, source.hasId, *entry));
  for (const ast::StmtPtr &statement : model.body)
    if (const bool isLoss = statement->kind == ast::Stmt::Kind::Loss;
        statement->name.text == name && (isLoss || statement->kind == ast::Stmt::Kind::Metric))
      warnNotEvaluated(source.recipe, source.data, source.hasId, *entry, (isLoss ? "loss `" : "metric `") + name + "`",
                       statement->name.range, inputsOfFiles, session.diagnostics);
  return false;
}

std::optional<Entry> TaskEntries::runFitting(Source &source, EntryRequest request) {
  std::vector<std::string> fitting;
  for (const std::string &metric : request.metrics ? declared.metrics : std::vector<std::string>()) {
    EntryRequest alone = request;
    alone.metricNames = {metric};
    if (fits(source, metric, alone))
      fitting.push_back(metric);
  }
  request.metricNames = fitting;
  auto entry = Checker(session, model, request).run();
  if (entry)
    entry->leftOut = std::move(source.leftOut);
  return entry;
}

std::optional<Entry> TaskEntries::runEval(const CheckedRecipe &recipe, const RecipeTask &task, const EntryRequest &base) {
  EntryRequest request = ofLosses(base, task.losses);
  request.name = "eval_" + task.name;
  if (task.batch > 0)
    bindRows(task, request);
  Source source{recipe, *task.data, task.hasId};
  findUnread(source, request);
  return runFitting(source, std::move(request));
}

/// T0620: data for evaluation alone that no loss can be computed of.
std::nullopt_t TaskEntries::nothingLeft(const Source &source) {
  std::string reasons;
  for (const auto &[name, why] : source.leftOut)
    reasons += (reasons.empty() ? "" : "; ") + name + ": " + why;
  if (auto *mistake = session.error("T0620", source.data.range,
                                    "no loss of " + model.name.text + " can be evaluated on these data: " + reasons))
    mistake->label = "the data of recipe `" + source.recipe.name + "` for evaluation";
  return std::nullopt;
}

std::optional<Entry> TaskEntries::runEval(const CheckedRecipe &recipe, const Weights &weights, const EntryRequest &base) {
  auto whole = Checker(session, model, base).run();
  const Setting *data = recipe.find("valid");
  const bool isOwn = data && data->text != "held_out";
  if (!isOwn)
    data = recipe.find("data");
  const schema::Function *task = data ? schema::find("data task", data->text) : nullptr;
  if (!whole || !task || (task->makes.empty() && !task->input))
    return whole;
  EntryRequest request = ofLosses(base, weights), alone = base;
  Source source{recipe, *data, false};
  findUnread(source, request);
  if (makesInputs(*data, false, *whole) && (source.unread.empty() || !readsInput(*whole, source.unread)))
    return whole;
  alone.metrics = false;
  const std::vector<std::string> trained = std::move(request.losses);
  request.losses.clear();
  for (const bool ofTraining : {true, false}) // `stop` and the like ask for the first loss
    for (const std::string &loss : ofTraining ? trained : declared.losses) {
      alone.losses = {loss};
      const bool isTrained = std::find(trained.begin(), trained.end(), loss) != trained.end();
      if (isTrained == ofTraining && ((isTrained && !isOwn) || fits(source, loss, alone)))
        request.losses.push_back(loss);
    }
  if (request.losses.empty() && session.mayGoOn())
    return nothingLeft(source);
  return runFitting(source, std::move(request));
}

void TaskEntries::checkEvaluations(const CheckedRecipe &recipe, const Weights &weights, const EntryRequest &base) {
  const std::vector<RecipeTask> tasks = tasksOf(recipe);
  for (const RecipeTask &task : tasks)
    (void)runEval(recipe, task, base);
  if (tasks.empty())
    (void)runEval(recipe, weights, base);
}

/// `steps` of `save` is about recurrences alone.
static void warnNoRecurrence(const CheckedRecipe &recipe, const Entry &entry, Diagnostics &diagnostics) {
  const Setting *steps = keywordOf(recipe.find("save"), "steps");
  if (steps && std::none_of(entry.stacks.begin(), entry.stacks.end(), [](const StackInfo &stack) { return stack.isScan; }))
    diagnostics.warning("T0629", steps->range, "nothing reads `steps`: the training step has no recurrence (`scan`)",
                        "leave this out");
}

void TaskEntries::checkStep(const CheckedRecipe &recipe, const Entry &entry, const Weights &weights,
                            const std::map<std::string, ParamPolicy> &policies,
                            const std::function<std::string(uint32_t)> &pathOf) {
  const std::optional<RecipeTask> task = taskOf(recipe, entry.name);
  checkDataInputs(recipe, task ? task->data : recipe.find("data"), task && task->hasId, entry, session.diagnostics);
  checkPictures(recipe, entry, session.diagnostics);
  warnNoRecurrence(recipe, entry, session.diagnostics);
  checkReach(session, model, recipe, entry, task ? task->losses : weights, policies, pathOf);
}

std::map<std::string, int64_t> TaskEntries::takeLengths(const CheckedRecipe &recipe, const Weights &weights, EntryRequest &base,
                                                        Diagnostics &found) {
  if (!lengthTokens(recipe) || isOfOneSize(session.options))
    return {};
  EntryRequest open = ofLosses(base, weights);
  open.binds.clear();
  auto entry = Checker(session, model, open).run();
  return entry ? tenon::takeLengths(recipe, *entry, base.binds, found) : std::map<std::string, int64_t>();
}

bool TaskEntries::canBeMade(const CheckedRecipe &recipe) {
  bool free = true;
  for (const std::string &out : declared.outs)
    if (auto task = taskOf(recipe, out)) {
      session.error("T0103", task->call->range, "the step of this task is the entry " + out + ", as an `out` of the model is");
      free = false;
    }
  return free;
}

} // namespace tenon::sema
