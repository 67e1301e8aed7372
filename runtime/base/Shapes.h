// Sizes of tensors, and which of them are the same elements in the same order.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::runtime {

using Shape = std::vector<uint64_t>;

/// Axes of size 1 do not matter when shapes are compared.
Shape withoutOnes(const Shape &shape);
/// Whether `coarse` is `fine` with neighbouring axes merged, as [3 * H * E] for [3, H, E]: the elements are in the same order.
/// Axes of size 1 do not count.
bool mergesTo(const Shape &fine, const Shape &coarse);
/// "[2, 3]".
std::string shapeText(std::span<const uint64_t> shape);
/// "[1, 0, 3]" of element i in row-major order.
std::string placeText(uint64_t i, std::span<const uint64_t> shape);

} // namespace tenon::runtime
