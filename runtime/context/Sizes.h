// What has to hold of the sizes of a call, before anything is made for them.
#pragma once
#include "runtime/artifact/Manifest.h"
#include "runtime/base/Status.h"

namespace tenon::runtime {

/// What the model requires of dims, and their bounds that are other dims. `dims`: those of the code, of one slice of a batch.
Status checkRequired(const RequirementInfo &required, const EntryInfo &entry, std::span<const int64_t> dims);

/// All of it: limits of dims, what is required, and that derived sizes are numbers of places. `whole`: dims of a whole batch.
Status checkSizes(const EntryInfo &entry, std::span<const int64_t> whole, std::span<const int64_t> dims);

} // namespace tenon::runtime
