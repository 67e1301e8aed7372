// What may be meant by a word that a recipe does not know.
#include "frontend/recipes/RecipeReader.h"
#include <algorithm>

namespace tenon {

bool contains(const std::vector<std::string> &list, const std::string &word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::string listing(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

/// What other tools call a setting, and what it is called here.
static const std::map<std::string, std::string> &foreignNames() {
  static const std::map<std::string, std::string> names = {
      {"learning_rate", "lr"},   {"weight_decay", "decay"},  {"warmup_steps", "warmup"},
      {"total_steps", "total"},  {"max_steps", "steps"},     {"num_steps", "steps"},
      {"num_epochs", "epochs"},  {"max_epochs", "epochs"},   {"batch_size", "bind"},
      {"max_grad_norm", "clip"}, {"grad_clip", "clip"},      {"gradient_accumulation_steps", "accumulate"},
      {"scheduler", "schedule"}, {"early_stopping", "stop"}, {"dataset", "data"},
      {"validation", "valid"},   {"epsilon", "eps"},         {"split", "held_out"},
      {"val_split", "held_out"}};
  return names;
}

std::string suggest(Diagnostic &diagnostic, const std::string &word, const std::vector<std::string> &candidates,
                    const std::string &kind) {
  auto foreign = foreignNames().find(word);
  std::string near =
      foreign != foreignNames().end() && contains(candidates, foreign->second) ? foreign->second : nearest(word, candidates);
  if (near == "bind" && word == "batch_size")
    diagnostic.notes.emplace_back("help", "a batch is a dim of the model's inputs: bind B = 32");
  else if (!near.empty())
    diagnostic.notes.emplace_back("help", "did you mean `" + near + "`?");
  else
    diagnostic.notes.emplace_back("help", kind + ": " + listing(candidates));
  return near;
}

} // namespace tenon
