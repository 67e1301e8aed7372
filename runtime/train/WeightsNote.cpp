#include "runtime/train/WeightsNote.h"
#include "runtime/files/Safetensors.h"
#include "runtime/parameters/Parameters.h"

namespace tenon::train {

using runtime::concat;

Expected<WeightsNote> WeightsNote::read(const std::string &file, bool partial, bool byOption) {
  WeightsNote result{file, partial, byOption, std::nullopt};
  if (file.empty())
    return result;
  auto opened = runtime::SafetensorsFile::open(file);
  if (!opened.ok())
    return result;
  const auto note = opened->metadata().find(runtime::kVocabularyNote);
  if (note == opened->metadata().end() || note->second.empty())
    return result;
  auto said = data::VocabularyNote::parse(note->second);
  if (!said.ok())
    return said.status().in(file);
  result.said = said.take();
  return result;
}

void WeightsNote::nameClasses(std::vector<TaskRecipe> &tasks) const {
  for (TaskRecipe &task : tasks)
    if (said) {
      task.data.classes = said->classes;
      task.data.classesOf = file;
    }
}

Status WeightsNote::check(const data::Vocabulary &vocabulary, std::vector<std::string> &notes) const {
  if (!said || said->hasSymbolsOf(vocabulary))
    return {};
  const std::string now = data::countOf(vocabulary.unit(), vocabulary.size()), then = said->text();
  if (said->beginsAs(vocabulary)) {
    notes.push_back(concat(file, " was trained with ", then, ", here there are ", now, ": both begin with the same"));
    return {};
  }
  const std::string first = said->firstOther(vocabulary);
  const std::string other = concat(file, " was trained with other symbols: ", then, ", and here there are ",
                                   now == then ? "as many others" : now, first.empty() ? "" : concat(", of which ", first));
  if (partial || said->isOfNumbers()) {
    notes.push_back(concat("warning: ", other, "; what it has for a number is taken for another symbol"));
    return {};
  }
  return inputError(other, "; take its vocabulary (--vocab FILE, vocabulary.json of its run), or ",
                    byOption ? "--partial" : "partial = true in load(..)", " to train it on these all the same");
}

} // namespace tenon::train
