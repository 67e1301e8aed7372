// The specification of a compiled model, kept with it so that it can be compiled again, with other numerics, entries or sizes, or
// for another target. The folder, MODEL/sources of a run and NAME.sources beside an artifact, has every file that the compiler
// read, under its absolute path, and `command`, what was asked of it.
#pragma once
#include "tools/tenon/Command.h"

namespace tenon::driver {

constexpr const char *kSourcesName = "sources";

/// A file that the compiler read: its absolute path, and what it held then.
struct KeptText {
  std::string path, text;
};

/// Writes those of `model`, which is in the cache, into `directory`, the folder of a run's model. `options`: what it was compiled
/// from; `recipe`: of the training. Errors: files that cannot be written, or that have changed since.
Status keepSources(const Model &model, const ModelOptions &options, const std::string &recipe, const std::string &directory);

/// Writes them beside the artifact that `tenon compile` has just made by these arguments, or with --without-sources removes those
/// of an earlier one. `roots`: folders in which it looked for std.tn and imports. Errors: files that cannot be written, or a
/// folder of that name that holds something else.
Status keepCompiled(const std::vector<std::string> &arguments, const std::vector<KeptText> &read,
                    const std::vector<std::string> &roots);

/// The folder of what was compiled to this artifact: beside it, or of a run's model. Empty if there is none, or only that of
/// another artifact of the same name.
std::string sourcesOf(const runtime::Artifact &artifact);
/// The paths of the files in it, as the compiler read them; the specification first.
std::vector<std::string> pathsOf(const std::string &sources);

/// An input error where the run has none.
Expected<std::string> sourcesOf(const train::RunDirectory &run);
/// The options that compile what is in it.
Expected<ModelOptions> readSources(const std::string &folder);

} // namespace tenon::driver
