#include "runtime/base/Json.h"
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace tenon::runtime {

namespace {

/// Builds a JsonValue from parser events. Depth is capped, so recursion over the result is bounded too.
class Builder : public nlohmann::json_sax<nlohmann::json> {
public:
  Builder(JsonValue &root, const JsonLimits &limits) : root(root), limits(limits) {}
  Status status;

  bool null() override { return place(JsonValue::Kind::Null) != nullptr; }
  bool boolean(bool value) override {
    JsonValue *target = place(JsonValue::Kind::Bool);
    if (target)
      target->truth = value;
    return target;
  }
  bool number_integer(number_integer_t value) override {
    JsonValue *target = place(JsonValue::Kind::Integer);
    if (!target)
      return false;
    target->integer = value;
    target->real = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX))
      return fail("the number ", value, " is too large");
    return number_integer(static_cast<number_integer_t>(value));
  }
  bool number_float(number_float_t value, const string_t &text) override {
    // The lexer turns integers that do not fit 64 bits into floating point: refuse what looks like an integer.
    if (text.find_first_of(".eE") == std::string::npos)
      return fail("the number ", text, " is too large");
    JsonValue *target = place(JsonValue::Kind::Real);
    if (target)
      target->real = value;
    return target;
  }
  bool string(string_t &value) override {
    JsonValue *target = place(JsonValue::Kind::String);
    if (target)
      target->text = std::move(value);
    return target;
  }
  bool binary(binary_t &) override { return fail("binary values do not occur in JSON"); }
  bool start_object(std::size_t) override { return open(JsonValue::Kind::Object); }
  bool start_array(std::size_t) override { return open(JsonValue::Kind::Array); }
  bool end_object() override {
    keys.pop_back();
    stack.pop_back();
    return true;
  }
  bool end_array() override { return end_object(); }
  bool key(string_t &value) override {
    if (!keys.back().insert(value).second)
      return fail("the key ", quoteJson(value), " occurs twice");
    stack.back()->members.push_back({std::move(value), JsonValue()});
    return true;
  }
  bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &error) override {
    std::string text = error.what();
    if (size_t at = text.find("] "); at != std::string::npos)
      text.erase(0, at + 2);
    if (size_t at = text.find(": "); at != std::string::npos && text.starts_with("parse error at line "))
      text.erase(0, at + 2); // its own lines begin here, those of a file may not
    status = inputError("not valid JSON near byte ", position, ": ", text);
    return false;
  }

private:
  template <typename... Parts> bool fail(const Parts &...parts) {
    status = inputError(parts...);
    return false;
  }
  JsonValue *place(JsonValue::Kind kind) {
    if (++values > limits.values) {
      status = inputError("more than ", limits.values, " JSON values");
      return nullptr;
    }
    JsonValue *target = &root;
    if (!stack.empty()) {
      JsonValue &parent = *stack.back();
      target = parent.isArray() ? &parent.elements.emplace_back() : &parent.members.back().value;
    }
    target->kind = kind;
    return target;
  }
  // Pointers on the stack stay valid: a container grows only while it is on top.
  bool open(JsonValue::Kind kind) {
    if (stack.size() >= limits.depth)
      return fail("JSON nested deeper than ", limits.depth);
    JsonValue *target = place(kind);
    if (!target)
      return false;
    stack.push_back(target);
    keys.emplace_back();
    return true;
  }

  JsonValue &root;
  const JsonLimits &limits;
  std::vector<JsonValue *> stack;
  std::vector<std::unordered_set<std::string>> keys;
  uint64_t values = 0;
};

void printTo(std::string &text, const JsonValue &value) {
  char buffer[40];
  const char *separator = "";
  switch (value.kind) {
  case JsonValue::Kind::Null:
    text += "null";
    break;
  case JsonValue::Kind::Bool:
    text += value.truth ? "true" : "false";
    break;
  case JsonValue::Kind::Integer:
    text += std::to_string(value.integer);
    break;
  case JsonValue::Kind::Real: {
    auto result = std::to_chars(buffer, buffer + sizeof buffer, value.real);
    std::string_view digits(buffer, static_cast<size_t>(result.ptr - buffer));
    text += digits;
    if (digits.find_first_of(".en") == std::string_view::npos) // stays a real number when read back
      text += ".0";
    break;
  }
  case JsonValue::Kind::String:
    text += quoteJson(value.text);
    break;
  case JsonValue::Kind::Array:
    text += '[';
    for (const JsonValue &element : value.elements) {
      text += separator;
      printTo(text, element);
      separator = ", ";
    }
    text += ']';
    break;
  case JsonValue::Kind::Object:
    text += '{';
    for (const auto &[key, member] : value.members) {
      text += separator;
      text += quoteJson(key);
      text += ": ";
      printTo(text, member);
      separator = ", ";
    }
    text += '}';
    break;
  }
}

} // namespace

JsonValue::JsonValue() = default;
JsonValue::~JsonValue() = default;
JsonValue::JsonValue(const JsonValue &) = default;
JsonValue::JsonValue(JsonValue &&) noexcept = default;
JsonValue &JsonValue::operator=(const JsonValue &) = default;
JsonValue &JsonValue::operator=(JsonValue &&) noexcept = default;

const JsonValue *JsonValue::find(std::string_view key) const {
  for (const auto &[name, value] : members)
    if (name == key)
      return &value;
  return nullptr;
}

std::string JsonValue::print() const {
  std::string text;
  printTo(text, *this);
  return text;
}

Expected<JsonValue> parseJson(std::string_view text, const JsonLimits &limits) {
  if (text.size() > limits.bytes)
    return inputError("JSON of ", text.size(), " bytes, at most ", limits.bytes, " are read");
  JsonValue root;
  Builder builder(root, limits);
  bool valid = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  if (builder.status.failed())
    return builder.status;
  if (!valid)
    return inputError("not valid JSON");
  return root;
}

std::string quoteJson(std::string_view text) {
  static const char digits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (char character : text) {
    unsigned char code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      quoted += '\\';
      quoted += character;
    } else if (code < 0x20) {
      quoted += "\\u00";
      quoted += digits[code >> 4];
      quoted += digits[code & 15];
    } else {
      quoted += character;
    }
  }
  return quoted + '"';
}

} // namespace tenon::runtime
