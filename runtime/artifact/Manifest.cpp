#include "runtime/artifact/Manifest.h"
#include "runtime/base/Checked.h"
#include <algorithm>
#include <bit>

namespace tenon::runtime {

std::optional<int64_t> SizeForm::value(std::span<const int64_t> dims) const {
  std::optional<int64_t> sum = constant;
  auto add = [&](std::span<const uint32_t> factors, int64_t coefficient) {
    std::optional<int64_t> product = coefficient;
    for (uint32_t index : factors)
      product = product ? checkedMultiply(*product, dims[index]) : std::nullopt;
    sum = sum && product ? checkedAdd(*sum, *product) : std::nullopt;
  };
  for (auto &[index, coefficient] : terms)
    add({&index, 1}, coefficient);
  for (auto &[factors, coefficient] : products)
    add(factors, coefficient);
  return sum;
}

std::optional<int64_t> SizeForm::evaluate(std::span<const int64_t> dims) const {
  const std::optional<int64_t> size = value(dims);
  return size && *size < 0 ? std::nullopt : size;
}

bool SizeForm::dependsOn(uint32_t dim) const {
  return std::any_of(terms.begin(), terms.end(), [&](auto &term) { return term.first == dim; }) ||
         std::any_of(products.begin(), products.end(),
                     [&](auto &term) { return std::find(term.first.begin(), term.first.end(), dim) != term.first.end(); });
}

std::string SizeForm::print(std::span<const std::string> dimNames) const {
  std::string text;
  auto add = [&](std::span<const uint32_t> dims, int64_t factor) {
    if (!text.empty() || factor < 0)
      text += factor < 0 ? '-' : '+';
    uint64_t magnitude = factor < 0 ? 0 - static_cast<uint64_t>(factor) : static_cast<uint64_t>(factor);
    if (magnitude != 1)
      text += concat(magnitude, '*');
    for (size_t i = 0; i < dims.size(); ++i)
      text += concat(i > 0 ? "*" : "", dimNames[dims[i]]);
  };
  for (auto &[index, factor] : terms)
    add({&index, 1}, factor);
  for (auto &[dims, factor] : products)
    add(dims, factor);
  if (text.empty())
    return std::to_string(constant);
  return constant == 0 ? text : concat(text, constant < 0 ? "" : "+", constant);
}

std::string expandStars(std::string name, std::span<const int64_t> stack, int64_t index) {
  // From the last star on; the search goes on before what was put in.
  size_t end = name.size();
  for (size_t i = stack.size(); i-- > 0;) {
    size_t star = name.rfind('*', end);
    name.replace(star, 1, std::to_string(index % stack[i]));
    index /= stack[i];
    end = star;
  }
  return name;
}

template <typename Items> static int indexOf(const Items &items, std::string_view name) {
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].name == name)
      return static_cast<int>(i);
  return -1;
}
size_t EntryInfo::ownInputs() const {
  return static_cast<size_t>(
      std::count_if(inputs.begin(), inputs.end(), [](const TensorInfo &input) { return !input.prepared; }));
}
int EntryInfo::inputIndex(std::string_view wanted) const { return indexOf(inputs, wanted); }
int EntryInfo::outputIndex(std::string_view wanted) const { return indexOf(outputs, wanted); }
int EntryInfo::dimIndex(std::string_view wanted) const { return indexOf(dims, wanted); }
uint64_t Manifest::momentBytes() const {
  const auto alike = static_cast<uint64_t>(moments - (means.empty() ? 0 : 1));
  return parameterBytes * alike + meanBytes;
}
std::string Manifest::parameterTypes() const {
  std::string names;
  for (const DataTypeRow &row : kDataTypes)
    if (std::any_of(parameters.begin(), parameters.end(), [&](const ParameterInfo &info) { return info.stored == row.type; }))
      names = concat(row.name, names.empty() ? "" : " and ", names);
  return names.empty() ? std::string(nameOf(parameterType)) : names;
}
uint64_t Manifest::partialSumBytes() const {
  uint64_t bytes = 0;
  for (const EntryInfo &entry : entries)
    bytes = std::max(bytes, static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(entry.slices - 1))) * levelStride());
  return bytes;
}

const EntryInfo *Manifest::findEntry(std::string_view wanted) const {
  int index = indexOf(entries, wanted);
  return index < 0 ? nullptr : &entries[static_cast<size_t>(index)];
}

} // namespace tenon::runtime
