// What compiled code may rely on in the values it is given.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>

namespace tenon::runtime {

struct BoundTensor;

/// Input error unless each of the tensor's integers (i32 or i64) at `data` is in [0, bound). `kind`: "input", "state".
Status checkRange(const char *kind, const BoundTensor &tensor, const void *data, int64_t bound);
/// Input error unless each byte is 0 or 1: compiled code may use truth values as masks.
Status checkTruth(const BoundTensor &tensor, const void *data);

} // namespace tenon::runtime
