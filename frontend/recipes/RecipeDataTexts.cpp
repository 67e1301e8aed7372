// What the texts and lists of a data task say, as far as no file is needed to tell: names of inputs, the form of a row, shares.
#include "frontend/recipes/RecipeReader.h"
#include <algorithm>
#include <sstream>

namespace tenon {

/// "<cls> a <sep> b <sep>": each text once, all else symbols. Which symbols a vocabulary has, its file tells.
bool RecipeChecker::checkForm(const Setting &form, const std::string &task) {
  std::vector<std::string> words, others;
  std::istringstream stream(form.text);
  for (std::string word; stream >> word;)
    words.push_back(word);
  const bool one = task == "single" || task == "tags";
  const std::vector<std::string> texts = one ? std::vector<std::string>{"a"} : std::vector<std::string>{"a", "b"};
  for (const std::string &word : words)
    if (!contains(texts, word))
      others.push_back(word);
  auto refuse = [&](const std::string &what, const std::string &label, const std::string &help) {
    diagnostics.error("T0611", form.range, "`form` of `" + task + "` " + what, label).notes.emplace_back("help", help);
    return false;
  };
  const std::string stands = texts.size() == 1 ? "a stands for the text" : "a and b stand for the texts";
  for (const std::string &text : texts) {
    const auto times = std::count(words.begin(), words.end(), text);
    if (times != 1)
      return refuse(times == 0 ? "has no `" + text + "`"
                               : "has `" + text + "` " + (times == 2 ? std::string("twice") : std::to_string(times) + " times"),
                    times == 0 ? "a text is missing" : "once is enough",
                    stands + (others.empty() ? std::string() : ", all else are symbols: " + listing(others)));
  }
  const bool hasStart = std::any_of(others.begin(), others.end(),
                                    [](const std::string &word) { return word == "<cls>" || word == "[CLS]" || word == "<s>"; });
  return task != "squad" || hasStart ||
         refuse("has no `<cls>`", "where windows without their answer point to", "also called [CLS] or <s>");
}

/// A model of sentencepiece is the vocabulary, and puts a blank in front of every text that it cuts, so of units too.
bool RecipeChecker::checkPieces(const Setting &task) {
  const Setting *model = keywordOf(&task, "model"), *words = keywordOf(&task, "words");
  for (const char *key : {"vocab", "merges", "unit"})
    if (const Setting *other = model ? keywordOf(&task, key) : nullptr) {
      diagnostics
          .error("T0616", other->range, "`model` and `" + std::string(key) + "` exclude each other", "the model has its symbols")
          .related.push_back({model->range, "pieces of sentencepiece"});
      return false;
    }
  if (const Setting *sentinels = model ? nullptr : keywordOf(&task, "sentinels")) {
    diagnostics.error("T0616", sentinels->range, "`sentinels` needs `model`: they stand behind its pieces", "of no model");
    return false;
  }
  if (model && words && words->text == "units") {
    diagnostics
        .error("T0616", words->range, "`model` and words = units exclude each other", "a piece that begins a text begins a word")
        .related.push_back({model->range, "pieces of sentencepiece"});
    return false;
  }
  return true;
}

bool RecipeChecker::checkTask(const Setting &task) {
  const Setting *form = keywordOf(&task, "form"), *shares = keywordOf(&task, "shares");
  if (form && !checkForm(*form, task.text))
    return false;
  if (!schema::find("data task", task.text)->input && !checkPieces(task))
    return false;
  if (shares && (shares->elements.size() != 4 || std::all_of(shares->elements.begin(), shares->elements.end(),
                                                             [](const SettingValue &share) { return share->real == 0; }))) {
    diagnostics.error("T0608", shares->range, "`shares` takes four numbers that are not all 0",
                      "of rows read both ways, from left to right, from right to left, from a source to a target");
    return false;
  }
  if (schema::find("data task", task.text)->input)
    return true; // its keywords are inputs, whatever they are called
  for (const char *key : {"label", "ids"}) {
    const Setting *name = keywordOf(&task, key);
    if (!name || contains(context.inputs, name->text))
      continue;
    Diagnostic &error = diagnostics.error("T0606", name->range, "model " + context.model + " has no input `" + name->text + "`",
                                          "`" + std::string(key) + "` names an input");
    suggest(error, name->text, context.inputs, "inputs of the model");
    return false;
  }
  return true;
}

} // namespace tenon
