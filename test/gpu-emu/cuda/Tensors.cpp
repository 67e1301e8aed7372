// Maps of tensors: what a kernel is given by value, 128 bytes.
#include "../Tensor.h"
#include "Driver.h"
#include <cstring>

namespace tenon::emu::cuda {

// Numbers by cuda.h.
TENON_CUDA_API Result cuTensorMapEncodeTiled(void *made, int type, uint32_t rank, void *address, const uint64_t *sizes,
                                             const uint64_t *strides, const uint32_t *box, const uint32_t *elementStrides,
                                             int interleave, int swizzle, int, int fill) {
  TENON_CUDA_ENTER;
  const auto wrong = [](Result result, const std::string &text) { return complain(result, "cuTensorMapEncodeTiled: " + text); };
  constexpr int kFirstOf16 = 1, kF16 = 6, kBf16 = 9;
  if (reinterpret_cast<uintptr_t>(made) % 64)
    return wrong(kInvalidValue, "the map's address is no multiple of 64");
  if (type != kFirstOf16 && type != kF16 && type != kBf16)
    return wrong(kNotSupported, "elements of type " + std::to_string(type) + " are not supported yet");
  if (rank < 2 || rank > 5 || interleave || fill || swizzle < 0 || swizzle > 3)
    return wrong(kNotSupported, "rank " + std::to_string(rank) + ", interleave " + std::to_string(interleave) + ", fill " +
                                    std::to_string(fill) + " or swizzle " + std::to_string(swizzle) + " is not supported yet");
  TensorMap map = {TensorMap::kMagic, reinterpret_cast<uint64_t>(address), {}, {}, {}, rank, swizzle ? 16u << swizzle : 0};
  for (uint32_t i = 0; i < rank; ++i) {
    map.sizes[i] = sizes[i];
    map.box[i] = box[i];
    if (i > 0)
      map.strides[i - 1] = strides[i - 1];
    if (elementStrides[i] != 1)
      return wrong(kNotSupported, "elements that lie apart are not supported yet");
  }
  if (const std::string text = wrongIn(map); !text.empty())
    return wrong(kInvalidValue, text);
  memset(made, 0, kMapBytes);
  memcpy(made, &map, sizeof map);
  return kSuccess;
}

} // namespace tenon::emu::cuda
