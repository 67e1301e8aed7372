// Numbers of parameters of 16 bits that a file is to have as they are: means, whose steps are less than the last place of these.
#pragma once
#include "runtime/parameters/Parameters.h"
#include <map>

namespace tenon::runtime {

/// By the parameters' names, row-major.
using WideValues = std::map<std::string, std::vector<float>>;

/// As Parameters::saveTo and fileBytes of the values, but for those that are in `wide`, which the file has in f32.
Status saveWideTo(const Parameters &parameters, const WideValues &wide, ByteSink &sink);
uint64_t wideFileBytes(const Parameters &parameters, const WideValues &wide);

} // namespace tenon::runtime
