// The specification of a run, kept beside its compiled model so that it can be compiled again, with other entries or sizes:
// MODEL/sources has every file that the compiler read, under its absolute path, and `command`, what was asked of it.
#pragma once
#include "tools/tenon/Command.h"

namespace tenon::driver {

constexpr const char *kSourcesName = "sources";

/// Writes them into `model`, the folder of a run's model. `artifact`: the folder of the cache that `options` were compiled to;
/// `recipe`: of the training. Errors: files that cannot be written, or that have changed since.
Status keepSources(const ModelOptions &options, const std::string &recipe, const std::string &artifact, const std::string &model);

/// The options that compile the specification of a run. An input error where the run has none.
Expected<ModelOptions> keptSources(const train::RunDirectory &run);

} // namespace tenon::driver
