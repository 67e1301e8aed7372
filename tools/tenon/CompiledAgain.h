// A run or an artifact that keeps its specification is compiled again where its code cannot do what the options ask.
#pragma once
#include "tools/tenon/Command.h"

namespace tenon::driver {

/// The first option for which the artifact in `directory` has to be compiled again; empty: none. --bind asks for it where the
/// recipe's entries were compiled for one size of a dim, and the command takes sizes for these (ModelOptions::bindRecipe).
std::string asksForAnother(const ModelOptions &options, const std::string &directory);
/// What compiles the specification that the source of `model` keeps, in `model.sources`, as these options ask. Usage error where
/// it keeps none, and for options that choose another model.
Expected<ModelOptions> compiledAgain(Model &model, const ModelOptions &options, const std::string &option);

} // namespace tenon::driver
