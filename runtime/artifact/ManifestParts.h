// What the readers of the parts of a manifest share. Each fails through its `reader`, with the place, and then gives defaults.
#pragma once
#include "runtime/artifact/Manifest.h"
#include "runtime/artifact/ManifestReader.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::runtime {

constexpr int64_t largest = INT64_MAX;            // of any number
constexpr int64_t largestAxis = int64_t(1) << 48; // of one axis, and of the elements of a tensor

std::vector<std::string> readTexts(const ManifestReader &reader);
/// Numbers from `smallest` to largestAxis.
std::vector<int64_t> readSizes(const ManifestReader &reader, int64_t smallest);
/// Fails beyond largestAxis.
int64_t productOf(const ManifestReader &reader, const std::vector<int64_t> &sizes);
/// An element type that `isAllowed`.
template <typename Allowed> DataType readType(const ManifestReader &reader, Allowed isAllowed) {
  if (auto type = dataTypeFromName(reader.text()); type && isAllowed(*type))
    return *type;
  reader.fail(concat("element type '", reader.json().text, "' is not supported here"));
  return DataType::F32;
}
SizeForm readSizeForm(const ManifestReader &reader, const std::vector<DimInfo> &dims);
/// What has to hold of the dims of an entry, and sizes that they decide.
void readRequirements(const ManifestReader &reader, EntryInfo &info);
/// The formula of a number of `eval`; the outputs of `entry` have been read.
AverageInfo readAverage(const ManifestReader &reader, const EntryInfo &entry);
/// Of a tensor of a shape, with so many stack elements.
InitializerInfo readInitializer(const ManifestReader &reader, const std::vector<int64_t> &shape, int64_t stackElements);
/// How a state starts; `sizes` begin with those of the stacks, of which there are `elements` together.
void readInitial(const ManifestReader &reader, const std::vector<int64_t> &sizes, int64_t elements, StateInfo &info);
/// A text, which is the whole tensor, or an object.
PublicNameInfo readPublicName(const ManifestReader &reader);
/// One element of `params`, with everything about it that `manifest` (its arena so far) allows.
ParameterInfo readParameter(const ManifestReader &reader, const Manifest &manifest);
/// Of Manifest::means.
ParameterInfo readMean(const ManifestReader &reader, const Manifest &manifest);
/// Inputs of the entries that prepare others become inputs of those, behind their own.
void joinPrepared(const ManifestReader &reader, Manifest &manifest);
/// The totals of entries in slices have an entry that makes them; that one reads none but these, between its own runs.
void joinTotals(const ManifestReader &reader, Manifest &manifest);

} // namespace tenon::runtime
