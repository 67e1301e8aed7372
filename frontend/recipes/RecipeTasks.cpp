// `tasks = (task(data = .., loss = ..), ..)`: several data tasks with losses of their own, one of them in each step.
#include "frontend/recipes/RecipeReader.h"
#include <algorithm>

namespace tenon {

const Setting *keywordOf(const Setting *call, std::string_view wanted) {
  for (size_t i = 0; call && i < call->keywords.size(); ++i)
    if (call->keywords[i].first == wanted)
      return call->keywords[i].second.get();
  return nullptr;
}

std::vector<RecipeTask> tasksOf(const CheckedRecipe &recipe) {
  std::vector<RecipeTask> tasks;
  const Setting *list = recipe.find("tasks");
  for (size_t i = 0; list && i < list->elements.size(); ++i) {
    RecipeTask task;
    task.call = list->elements[i].get();
    task.data = keywordOf(task.call, "data");
    const Setting *loss = keywordOf(task.call, "loss"), *batch = keywordOf(task.call, "batch");
    if (!task.data || !loss || loss->keywords.empty())
      continue; // a mistake of its own
    for (const auto &[name, weight] : loss->keywords)
      task.losses.emplace_back(name, weight->real);
    task.batch = batch ? batch->integer : 0;
    task.hasId = keywordOf(task.call, "id");
    auto taken = [&](const std::string &name) {
      return std::any_of(tasks.begin(), tasks.end(), [&](const RecipeTask &other) { return other.name == name; });
    };
    task.name = task.losses[0].first;
    for (int number = 2; taken(task.name); ++number)
      task.name = task.losses[0].first + std::to_string(number);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// Settings of tasks that go with a rule of `mix`, and what evaluations of several tasks can be.
void RecipeChecker::requireTasks(const CheckedRecipe &checked) {
  const Setting *mix = checked.find("mix"), *valid = checked.find("valid"), *tasks = checked.find("tasks");
  if (valid && valid->kind == Setting::Kind::Call && valid->text != "held_out")
    diagnostics.error("T0616", valid->range, "beside `tasks` evaluations read what each task holds out", "data of which task?")
        .notes.emplace_back("help", "say valid = held_out(0.05, every = 100), or held_out = 0.05 in the data of a task");
  const bool draws = !mix || mix->text == "by share";
  for (const SettingValue &task : tasks->elements) {
    if (!task)
      continue;
    if (const Setting *share = keywordOf(task.get(), "share"); share && !draws)
      diagnostics.error("T0616", share->range,
                        "`share` says how often mix = \"by share\" draws a task; here mix is \"" + mix->text + "\"",
                        "leave this out");
    const Setting *id = keywordOf(task.get(), "id");
    if (id && !contains(context.inputs, "task"))
      diagnostics.error("T0610", id->range, "`id` is the value of the input `task`, and model " + context.model + " has none",
                        "nothing reads it");
  }
}

} // namespace tenon
