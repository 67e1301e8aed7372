// Elements of parameters between memory, where they have 16 bits, halves or panels, and callers, who have them row-major.
#include "runtime/base/Convert.h"
#include "runtime/parameters/PanelLayout.h"
#include "runtime/parameters/Parameters.h"
#include <algorithm>

namespace tenon::runtime {

/// Elements as they are in memory, but row-major.
Status Parameters::readStored(const Place &place, ParameterArena which, uint64_t first, uint64_t count, char *values) const {
  const uint64_t size = byteSize(typeInMemory(*place.info, which));
  if (which != ParameterArena::Values || !place.info->panels)
    return stored(place, which).part(first * size, count * size).read(values);
  auto memory = HostCopy::of(stored(place, which));
  if (memory.ok())
    readPanels(*place.info->panels, size, memory->data(), first, count, values);
  return memory.status();
}

Status Parameters::writeStored(const Place &place, ParameterArena which, const char *values) {
  if (which != ParameterArena::Values || !place.info->panels)
    return stored(place, which).write(values);
  return fillView(stored(place, which), [&](char *target) {
    writePanels(*place.info->panels, byteSize(typeInMemory(*place.info, which)), values, target);
    return Status();
  });
}

Status Parameters::getAt(const Place &place, void *values, ParameterArena which) const {
  const auto count = static_cast<uint64_t>(place.info->elements);
  if (isSplit(place, which))
    return readHalves(place, 0, count, static_cast<float *>(values));
  const DataType type = typeOf(*place.info, which);
  if (type == place.info->type)
    return readStored(place, which, 0, count, static_cast<char *>(values));
  std::vector<uint16_t> bits(static_cast<size_t>(count));
  Status status = readStored(place, which, 0, count, reinterpret_cast<char *>(bits.data()));
  if (status.ok())
    convertReals(type, bits.data(), count, place.info->type, values);
  return status;
}

Status Parameters::setAt(const Place &place, const void *values, ParameterArena which) {
  const bool isShort = typeOf(*place.info, which) != place.info->type;
  Status status = isSplit(place, which) ? writeHalves(place, static_cast<const float *>(values))
                  : isShort             ? writeShort(place, which, static_cast<const float *>(values))
                                        : writeStored(place, which, static_cast<const char *>(values));
  if (status.ok() && which == ParameterArena::Values && place.info->copied)
    status = writeShort(place, ParameterArena::Copies, static_cast<const float *>(values));
  if (status.ok() && which == ParameterArena::Values)
    given.emplace(place.info, place.stackIndex);
  return status;
}

/// `half` of each value, in memory.
template <typename Half> Status Parameters::writeBits(const Place &place, ParameterArena which, const float *values, Half half) {
  const float *end = values + place.info->elements;
  if (which == ParameterArena::Values && place.info->panels) {
    std::vector<uint16_t> bits(static_cast<size_t>(place.info->elements));
    std::transform(values, end, bits.begin(), half);
    return writeStored(place, which, reinterpret_cast<const char *>(bits.data()));
  }
  return fillView(stored(place, which), [&](char *target) {
    std::transform(values, end, reinterpret_cast<uint16_t *>(target), half);
    return Status();
  });
}

/// A copy may be infinite, its parameter is not; a parameter of 16 bits has nothing else.
Status Parameters::writeShort(const Place &place, ParameterArena which, const float *values) {
  const DataType type = typeOf(*place.info, which);
  const float *end = values + place.info->elements;
  if (which == ParameterArena::Values)
    if (const float *found = std::find_if(values, end, [&](float value) { return isBeyond(value, type); }); found != end)
      return inputError("'", place.info->elementName(place.stackIndex), "': element ", found - values, " is ", *found,
                        ", more than ", nameOf(type), " holds (", rowOf(type).largestText, ")");
  return withShort(type, [&]<typename Short>(Short) {
    return writeBits(place, which, values, [](float value) { return Short::of(value).bits; });
  });
}

Status Parameters::writeHalves(const Place &place, const float *values) {
  Status status = writeBits(place, ParameterArena::Values, values, [](float value) { return halvesOfFloat(value).upper; });
  return status.ok()
             ? writeBits(place, ParameterArena::Remainders, values, [](float value) { return halvesOfFloat(value).remainder; })
             : status;
}

Status Parameters::readHalves(const Place &place, uint64_t first, uint64_t count, float *values) const {
  auto remainder =
      HostCopy::of(stored(place, ParameterArena::Remainders).part(first * sizeof(uint16_t), count * sizeof(uint16_t)));
  if (!remainder.ok())
    return remainder.status();
  std::vector<uint16_t> upper(static_cast<size_t>(count));
  Status status = readStored(place, ParameterArena::Values, first, count, reinterpret_cast<char *>(upper.data()));
  if (status.ok())
    std::transform(upper.begin(), upper.end(), reinterpret_cast<const uint16_t *>(remainder->data()), values,
                   [](uint16_t a, uint16_t b) { return floatFromHalves({a, b}); });
  return status;
}

Status Parameters::visitAt(const Place &place, ParameterArena which, uint64_t first, uint64_t count,
                           const std::function<Status(const char *, uint64_t)> &visit) const {
  const uint64_t size = byteSize(typeOf(*place.info, which));
  const bool isInPanels = which == ParameterArena::Values && place.info->panels;
  if (!isSplit(place, which) && !isInPanels)
    return visitView(stored(place, which).part(first * size, count * size), visit);
  constexpr uint64_t piece = 1 << 18;
  std::vector<char> values(std::min(piece, count) * size);
  for (uint64_t end = first + count; first < end; first += piece) {
    const uint64_t now = std::min(piece, end - first);
    Status status = isSplit(place, which) ? readHalves(place, first, now, reinterpret_cast<float *>(values.data()))
                                          : readStored(place, which, first, now, values.data());
    if (status.ok())
      status = visit(values.data(), now * size);
    if (status.failed())
      return status;
  }
  return {};
}

} // namespace tenon::runtime
