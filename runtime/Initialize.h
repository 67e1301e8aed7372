// Initial values of parameters. Each is a function of (seed, name, logical element index): independent of order, threads and layout.
#pragma once
#include "runtime/Manifest.h"

namespace tenon::runtime {

/// Values of one stack element in logical order. `name` is its published name. Fans (language, decision 6): the first axis is "out", the rest
/// "in"; kaiming_normal uses fan_out as ResNets do, with the axes behind the second as receptive field: out * shape[2] * shape[3] ...
void initialValues(const ParameterInfo &info, const std::string &name, uint64_t seed, std::vector<double> &values);

} // namespace tenon::runtime
