// XXH3-128 of bytes that come piece by piece: tells changed and damaged files, not forged ones.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tenon::runtime {

class Hash128 {
public:
  Hash128();
  ~Hash128();
  Hash128(const Hash128 &) = delete;
  Hash128 &operator=(const Hash128 &) = delete;
  void add(const void *data, size_t bytes);
  /// 32 hexadecimal digits of what was added; nothing has been added afterwards.
  std::string take();

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The hash of one text, 32 hexadecimal digits.
std::string hash128(std::string_view text);

} // namespace tenon::runtime
