// What weights that a training starts from say of their symbols and classes: numbers go on meaning what they meant.
#pragma once
#include "runtime/data/VocabularyNote.h"
#include "runtime/train/Recipe.h"

namespace tenon::train {

struct WeightsNote {
  std::string file;
  bool partial = false;                     // what does not fit stays initial, so other symbols are no error
  bool byOption = false;                    // of --weights, else of the recipe
  std::optional<data::VocabularyNote> said; // null: the file says nothing, or cannot be read

  /// Fails on a damaged note alone: a file that cannot be read is reported where its values are.
  static Expected<WeightsNote> read(const std::string &file, bool partial, bool byOption);
  /// Data for training get the names of classes.
  void nameClasses(std::vector<TaskRecipe> &tasks) const;
  /// The symbols of a training. Fails where the same numbers would be other symbols.
  Status check(const data::Vocabulary &vocabulary, std::vector<std::string> &notes) const;
};

} // namespace tenon::train
