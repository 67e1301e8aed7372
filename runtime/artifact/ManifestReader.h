// Typed access to JSON members with the place in the error: `manifest: params[3].shape[0]: expected an integer`.
#pragma once
#include "runtime/base/Json.h"
#include <initializer_list>

namespace tenon::runtime {

/// Wraps a value and its path. The first error is kept in the shared status; later calls give defaults.
class ManifestReader {
public:
  ManifestReader(const JsonValue &value, std::string path, Status &status)
      : value(value), path(std::move(path)), status(status) {}
  bool good() const { return status.ok(); }
  void fail(std::string_view what) const {
    if (status.ok())
      status = inputError("manifest: ", path.empty() ? "the file" : path, ": ", what);
  }
  const JsonValue &json() const { return value; }

  bool has(std::string_view key) const {
    const JsonValue *member = value.find(key);
    return member && !member->isNull();
  }
  ManifestReader member(std::string_view key) const {
    static const JsonValue nothing;
    const JsonValue *found = value.find(key);
    if (!found)
      fail(concat("the member '", key, "' is missing"));
    return ManifestReader(found ? *found : nothing, path.empty() ? std::string(key) : concat(path, '.', key), status);
  }
  int64_t integer(int64_t low, int64_t high) const {
    if (!value.isInteger()) {
      fail("expected an integer");
      return low;
    }
    if (value.integer < low || value.integer > high) {
      fail(concat("expected ", low, " .. ", high, ", got ", value.integer));
      return low;
    }
    return value.integer;
  }
  double number() const {
    if (!value.isNumber())
      fail("expected a number");
    return value.real;
  }
  const std::string &text() const {
    if (!value.isString())
      fail("expected a string");
    return value.text;
  }
  bool truth() const {
    if (value.kind != JsonValue::Kind::Bool)
      fail("expected true or false");
    return value.truth;
  }
  /// Position of the text in `words`; an error lists them.
  int oneOf(std::initializer_list<std::string_view> words) const {
    int index = 0;
    std::string list;
    for (std::string_view word : words) {
      if (value.isString() && value.text == word)
        return index;
      ++index;
      list += concat(list.empty() ? "" : ", ", word);
    }
    fail(concat("expected one of ", list));
    return 0;
  }
  template <typename Visit> void each(Visit visit) const {
    if (!value.isArray())
      return fail("expected an array");
    for (size_t i = 0; i < value.elements.size() && good(); ++i)
      visit(ManifestReader(value.elements[i], concat(path, '[', i, ']'), status));
  }
  template <typename Visit> void eachMember(Visit visit) const {
    if (!value.isObject())
      return fail("expected an object");
    for (const auto &[key, inner] : value.members)
      if (good())
        visit(key, ManifestReader(inner, concat(path, '.', key), status));
  }

private:
  const JsonValue &value;
  std::string path;
  Status &status;
};

} // namespace tenon::runtime
