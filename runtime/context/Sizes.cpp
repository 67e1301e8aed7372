#include "runtime/context/Sizes.h"
#include <algorithm>
#include <limits>

namespace tenon::runtime {

namespace {

/// Indices are i32.
constexpr int64_t kMostPlaces = std::numeric_limits<int32_t>::max();

std::vector<std::string> namesOf(const EntryInfo &entry) {
  std::vector<std::string> names;
  for (const DimInfo &dim : entry.dims)
    names.push_back(dim.name);
  return names;
}

/// "N = 7, 2*T = 6, T = 3": sizes, and the dims that they are made of.
std::string valuesOf(std::initializer_list<const SizeForm *> sizes, const EntryInfo &entry, std::span<const int64_t> dims) {
  const std::vector<std::string> names = namesOf(entry);
  std::vector<std::string> shown;
  auto show = [&](const std::string &name, const std::string &value) {
    if (std::string each = concat(name, " = ", value); std::find(shown.begin(), shown.end(), each) == shown.end())
      shown.push_back(std::move(each));
  };
  for (const SizeForm *size : sizes)
    if (!size->isConstant()) {
      const auto value = size->value(dims);
      show(size->print(names), value ? concat(*value) : "more than 2^63");
    }
  for (uint32_t i = 0; i < dims.size(); ++i)
    if (std::any_of(sizes.begin(), sizes.end(), [&](const SizeForm *size) { return size->dependsOn(i); }))
      show(names[i], concat(dims[i]));
  std::string text;
  for (const std::string &each : shown)
    text += concat(text.empty() ? "" : ", ", each);
  return text;
}

bool holds(const RequirementInfo &required, std::span<const int64_t> dims) {
  const auto left = required.left.value(dims), right = required.right.value(dims);
  if (!left || !right)
    return false;
  using enum RequirementInfo::Relation;
  return required.relation == Same ? *left == *right : required.relation == Below ? *left < *right : *left <= *right;
}

Status checkDim(const DimInfo &dim, int64_t whole, int64_t own, int64_t least) {
  if (own >= least && (dim.max < 0 || whole <= dim.max))
    return {};
  return inputError("the dim ", dim.name, " is ", whole, ", expected at least ", dim.min,
                    dim.max >= 0 ? concat(" and at most ", dim.max) : std::string(),
                    whole >= 1 && whole < dim.min ? ": with fewer a mean or a choice runs over nothing" : std::string());
}

} // namespace

Status checkRequired(const RequirementInfo &required, const EntryInfo &entry, std::span<const int64_t> dims) {
  if (holds(required, dims))
    return {};
  return inputError("the model requires ", required.condition, required.text.empty() ? "" : concat(": ", required.text),
                    ", and here ", valuesOf({&required.left, &required.right}, entry, dims),
                    required.place.empty() ? "" : concat(" (", required.place, ")"));
}

Status checkSizes(const EntryInfo &entry, std::span<const int64_t> whole, std::span<const int64_t> dims) {
  for (size_t i = 0; i < dims.size(); ++i) // what is required is of sizes from 1 on
    if (Status status = checkDim(entry.dims[i], whole[i], dims[i], 1); status.failed())
      return status;
  for (const RequirementInfo &required : entry.requirements)
    if (Status status = checkRequired(required, entry, dims); status.failed())
      return status;
  for (size_t i = 0; i < dims.size(); ++i)
    if (Status status = checkDim(entry.dims[i], whole[i], dims[i], entry.dims[i].min); status.failed())
      return status;
  for (const auto &[name, size] : entry.sizes)
    if (const auto value = size.value(dims); !value || *value > kMostPlaces)
      return inputError("the size of ", name, " is more than ", kMostPlaces, ": ", valuesOf({&size}, entry, dims));
  return {};
}

} // namespace tenon::runtime
