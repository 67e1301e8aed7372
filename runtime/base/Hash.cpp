#include "runtime/base/Hash.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::runtime {

namespace {

std::string hexadecimal(XXH128_hash_t hash) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, hash);
  std::string text;
  for (unsigned char byte : bytes.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

} // namespace

struct Hash128::State {
  XXH3_state_t xxh;
};

Hash128::Hash128() : state(std::make_unique<State>()) { XXH3_128bits_reset(&state->xxh); }
Hash128::~Hash128() = default;

void Hash128::add(const void *data, size_t bytes) { XXH3_128bits_update(&state->xxh, data, bytes); }

std::string Hash128::take() {
  std::string text = hexadecimal(XXH3_128bits_digest(&state->xxh));
  XXH3_128bits_reset(&state->xxh);
  return text;
}

std::string hash128(std::string_view text) { return hexadecimal(XXH3_128bits(text.data(), text.size())); }

} // namespace tenon::runtime
