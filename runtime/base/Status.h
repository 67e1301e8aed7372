// Errors as values. Nothing in the runtime throws across its borders; a kind is the exit code of the driver.
#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tenon::runtime {

/// The number is the exit code of `tenon` for an error of this kind.
enum class ErrorKind : int {
  None = 0,
  Spec = 1,
  Usage = 2,
  Input = 3,    // files, values, artifacts of another CPU or ABI
  Numeric = 4,  // NaN, infinity, divergence
  Resource = 5, // memory, disk
  Bug = 70,
  Resumable = 75, // stopped on request, state saved
};

/// Success, or one sentence for the user with its kind.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(ErrorKind kind, std::string message) : errorKind(kind), text(std::move(message)) {}
  static Status success() { return {}; }
  bool ok() const { return errorKind == ErrorKind::None; }
  bool failed() const { return !ok(); }
  ErrorKind kind() const { return errorKind; }
  int exitCode() const { return static_cast<int>(errorKind); }
  const std::string &message() const { return text; }
  /// The same error with "where: " in front.
  Status in(std::string_view where) const { return ok() ? *this : Status(errorKind, std::string(where) + ": " + text); }

private:
  ErrorKind errorKind = ErrorKind::None;
  std::string text;
};

/// A value or the reason why there is none. `*result` only after `result.ok()`.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : held(std::move(value)) {}
  Expected(Status status) : error(std::move(status)) {}
  bool ok() const { return held.has_value(); }
  bool failed() const { return !held.has_value(); }
  const Status &status() const { return error; }
  T &operator*() { return *held; }
  const T &operator*() const { return *held; }
  T *operator->() { return &*held; }
  const T *operator->() const { return &*held; }
  T take() { return std::move(*held); }

private:
  std::optional<T> held;
  Status error;
};

namespace detail {
inline void append(std::string &text, std::string_view part) { text.append(part); }
inline void append(std::string &text, char part) { text.push_back(part); }
template <typename T>
  requires std::is_arithmetic_v<T>
void append(std::string &text, T part) {
  char digits[32]; // the shortest form that reads back as the same number: 2, not 2.000000
  text.append(digits, std::to_chars(digits, digits + sizeof(digits), part).ptr);
}
} // namespace detail

/// Message text from pieces: strings, characters and numbers.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::string text;
  (detail::append(text, parts), ...);
  return text;
}
/// "1 tensor", "3 tensors".
inline std::string counted(uint64_t count, std::string_view noun) { return concat(count, " ", noun, count == 1 ? "" : "s"); }
template <typename... Parts> Status inputError(const Parts &...parts) { return Status(ErrorKind::Input, concat(parts...)); }
template <typename... Parts> Status usageError(const Parts &...parts) { return Status(ErrorKind::Usage, concat(parts...)); }
template <typename... Parts> Status resourceError(const Parts &...parts) { return Status(ErrorKind::Resource, concat(parts...)); }
template <typename... Parts> Status bugError(const Parts &...parts) { return Status(ErrorKind::Bug, concat(parts...)); }

/// strerror as a string, thread-safe.
std::string systemMessage(int error);

} // namespace tenon::runtime
