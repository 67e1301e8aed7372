// Initial values of parameters. Each is a function of (seed, name, logical element index): independent of order, threads and
// layout.
#pragma once
#include "runtime/artifact/Manifest.h"

namespace tenon::runtime {

/// Elements [first, first + count) of one stack element in logical order. The compiler has resolved fans: `a` is
/// the bound of uniform and xavier_uniform, the deviation of the normal kinds, the gain of orthogonal (whose range must be the
/// whole tensor: first axis against the rest).
void initialValues(const ParameterInfo &info, int64_t stackIndex, uint64_t seed, int64_t first, int64_t count, double *values);

} // namespace tenon::runtime
