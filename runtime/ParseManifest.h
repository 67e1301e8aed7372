// What the files that read a manifest share.
#pragma once
#include "runtime/Manifest.h"
#include "runtime/ManifestReader.h"

namespace tenon::runtime {

std::vector<std::string> readTexts(const ManifestReader &reader);
SizeForm readSizeForm(const ManifestReader &reader, const std::vector<DimInfo> &dims);
/// The formula of a number of `eval`; the outputs of `entry` have been read.
AverageInfo readAverage(const ManifestReader &reader, const EntryInfo &entry);

} // namespace tenon::runtime
