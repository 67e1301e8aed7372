// --numerics of the compiler and of the commands that call it.
#pragma once
#include "frontend/recipes/RecipeSchema.h"
#include <CLI/CLI.hpp>
#include <string>

namespace tenon {

/// `otherwise`: what holds without it. `wide` excludes it: it gives every real another type.
inline void addNumericsOption(CLI::App &command, std::string &numerics, const std::string &otherwise, CLI::Option *wide) {
  const std::vector<std::string> words = schema::factorsOfF32();
  std::string types;
  for (const std::string &word : words)
    if (word != schema::kRoundedFactors)
      types += word + ", ";
  command
      .add_option("--numerics", numerics,
                  "what contractions multiply and what is saved: " + types + "or " + std::string(schema::kRoundedFactors) +
                      " on GPUs (default: " + otherwise + ")")
      ->check(CLI::IsMember(words))
      ->excludes(wide);
}

} // namespace tenon
