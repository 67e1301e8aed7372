// The one JSON reader of the runtime: nlohmann's iterative parser through its SAX interface, with caps on size, depth and number
// of values, and no duplicate keys. Members keep their order.
#pragma once
#include "runtime/base/Status.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tenon::runtime {

class JsonValue {
public:
  enum class Kind : uint8_t { Null, Bool, Integer, Real, String, Array, Object };
  struct Member;

  Kind kind = Kind::Null;
  bool truth = false;
  int64_t integer = 0;             // Integer
  double real = 0;                 // Real, and Integer converted
  std::string text;                // String
  std::vector<JsonValue> elements; // Array
  std::vector<Member> members;     // Object, in file order

  // Out of line, since a vector of an incomplete type cannot be destroyed here.
  JsonValue();
  ~JsonValue();
  JsonValue(const JsonValue &);
  JsonValue(JsonValue &&) noexcept;
  JsonValue &operator=(const JsonValue &);
  JsonValue &operator=(JsonValue &&) noexcept;

  bool isNumber() const { return kind == Kind::Integer || kind == Kind::Real; }
  bool isInteger() const { return kind == Kind::Integer; }
  bool isString() const { return kind == Kind::String; }
  bool isArray() const { return kind == Kind::Array; }
  bool isObject() const { return kind == Kind::Object; }
  bool isNull() const { return kind == Kind::Null; }
  /// Member of an object by key, else null.
  const JsonValue *find(std::string_view key) const;
  /// Compact text that reads back to an equal value.
  std::string print() const;
};

struct JsonValue::Member {
  std::string key;
  JsonValue value;
};

struct JsonLimits {
  uint64_t bytes = 64ull << 20;
  uint32_t depth = 64;
  uint64_t values = 4'000'000;
};
/// Duplicate keys, numbers outside i64 and double, invalid UTF-8, and anything after the value are errors that name the byte.
Expected<JsonValue> parseJson(std::string_view text, const JsonLimits &limits = {});
/// `"text"` with escapes.
std::string quoteJson(std::string_view text);

} // namespace tenon::runtime
