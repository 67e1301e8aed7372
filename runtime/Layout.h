// Stored order of parameters. `row`: dense row-major. `panel16`: the matrix [output O, input I] as ceil(O / 16) panels of
// [I][16], the last one padded with zeros, so that one cache line holds 16 outputs of one input.
#pragma once
#include "runtime/Manifest.h"

namespace tenon::runtime {

/// `stored` (storedElements) -> `logical` (elements, row-major); padding is left out.
void toLogical(const ParameterInfo &info, DataType type, const char *stored, char *logical);
/// The other way; padding becomes zero.
void toStored(const ParameterInfo &info, DataType type, const char *logical, char *stored);

} // namespace tenon::runtime
