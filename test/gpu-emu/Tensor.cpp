// Copies of boxes of tensors into shared memory, which arrive at an mbarrier.
#include "Tensor.h"
#include "Async.h"
#include "Memory.h"
#include "Models.h"

namespace tenon::emu {

uint64_t turned(uint64_t address, uint32_t swizzle) {
  return swizzle ? address ^ (address >> 7 & (swizzle / 16 - 1)) << 4 : address;
}

std::string wrongIn(const TensorMap &map) {
  constexpr uint64_t most = uint64_t(1) << 32, mostStride = uint64_t(1) << 40;
  if (map.address % 16)
    return "the tensor's address is no multiple of 16";
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (map.sizes[i] == 0 || map.sizes[i] > most)
      return "size " + std::to_string(i) + " is " + std::to_string(map.sizes[i]) + ", not from 1 to 2^32";
    if (map.box[i] == 0 || map.box[i] > 256)
      return "the box has " + std::to_string(map.box[i]) + " elements along dim " + std::to_string(i) + ", not 1 to 256";
    if (i > 0 && (map.strides[i - 1] % 16 || map.strides[i - 1] >= mostStride))
      return "stride " + std::to_string(i) + " is " + std::to_string(map.strides[i - 1]) + ", no multiple of 16 below 2^40";
  }
  const uint32_t row = 2 * map.box[0];
  if (row % 16 || (map.swizzle && row > map.swizzle))
    return "a row of the box has " + std::to_string(row) + " bytes, no multiple of 16 or more than the swizzle";
  return "";
}

namespace {

struct Box {
  const TensorMap &map;
  int64_t places[5];
};

/// The pieces of 16 bytes of a box, in the order of shared memory: `to` counts up from the destination before it is turned.
std::vector<Segment> segmentsOf(const Box &box, uint64_t to) {
  const TensorMap &map = box.map;
  std::vector<Segment> segments;
  const uint32_t row = 2 * map.box[0];
  uint64_t rows = 1;
  for (uint32_t i = 1; i < map.rank; ++i)
    rows *= map.box[i];
  for (uint64_t number = 0; number < rows; ++number) {
    uint64_t from = map.address, rest = number;
    bool inside = true;
    for (uint32_t i = 1; i < map.rank; ++i) {
      const uint64_t place = uint64_t(box.places[i]) + rest % map.box[i];
      rest /= map.box[i];
      inside &= place < map.sizes[i];
      from += place * map.strides[i - 1];
    }
    for (uint32_t byte = 0; byte < row; byte += 16) {
      const uint64_t first = uint64_t(box.places[0]) + byte / 2;
      const uint64_t there = inside && first < map.sizes[0] ? std::min<uint64_t>(map.sizes[0] - first, 8) : 0;
      segments.push_back({turned(to + number * row + byte, map.swizzle), from + 2 * first, 16, uint32_t(2 * there)});
    }
  }
  return segments;
}

} // namespace

// Destination in shared memory, mbarrier, map, places; then a mask of blocks, a hint for caches, and whether these two are meant,
// which they must not be.
void opTensorCopy(const Site &site, const uint64_t *arguments, void *) {
  const uint32_t rank = uint32_t(site.model->parameter);
  const std::string who = nameOf(*machine.current), where = ", at " + placeOf(site);
  Box box = {*reinterpret_cast<const TensorMap *>(arguments[2]), {}};
  if (inArena(arguments[2]) || isDeviceAddress(arguments[2]) || box.map.magic != TensorMap::kMagic)
    fail("wrong copy", who + " gives an address that is no map among the kernel's parameters" + where);
  if (box.map.rank != rank)
    fail("wrong copy",
         who + " copies a box of " + std::to_string(rank) + " dims of a tensor that has " + std::to_string(box.map.rank) + where);
  for (uint32_t i = 0; i < rank; ++i)
    if ((box.places[i] = argument<int32_t>(arguments, 3 + i)) < 0)
      fail("wrong copy", who + " copies a box from a negative place on, which is not supported yet" + where);
  if ((arguments[5 + rank] & 1) || (arguments[6 + rank] & 1))
    fail("wrong copy", who + " copies to several blocks or with a hint, which is not supported yet" + where);
  const uint64_t to = arguments[0];
  if (to % (box.map.swizzle ? 8 * box.map.swizzle : 128))
    fail("misaligned", who + " copies a box to an address that is no multiple of 128, or of 8 rows of the swizzle" + where);
  issueBulk(site, arguments[1], segmentsOf(box, to));
}

} // namespace tenon::emu
