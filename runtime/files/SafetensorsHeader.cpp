// The JSON header of a safetensors file to its table of tensors.
#include "runtime/base/Checked.h"
#include "runtime/base/Json.h"
#include "runtime/files/Safetensors.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace tenon::runtime {

namespace {

constexpr size_t largestRank = 64;

/// Fills the table straight from parser events: a tree of a 100 MB header would take gigabytes.
class HeaderBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  HeaderBuilder(std::vector<SafetensorsEntry> &tensors, std::map<std::string, std::string> &notes)
      : tensors(tensors), notes(notes) {}
  Status status;

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a truth value"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t &text) override { return unexpected(concat("the number ", text)); }
  bool binary(binary_t &) override { return unexpected("binary data"); }
  bool number_unsigned(number_unsigned_t value) override {
    if (place != Place::Shape && place != Place::Offsets)
      return unexpected("a number");
    if (place == Place::Shape ? tensors.back().shape.size() == largestRank : offsets.size() == 2)
      return fail("too many numbers in '", field, "' of tensor ", quoteJson(tensors.back().name));
    (place == Place::Shape ? tensors.back().shape : offsets).push_back(value);
    return true;
  }
  bool string(string_t &value) override {
    if (place == Place::Metadata) {
      notes[field] = std::move(value);
      return true;
    }
    if (place != Place::Tensor || field != "dtype")
      return unexpected("a string");
    auto type = dataTypeFromSafetensors(value);
    if (!type)
      return fail("element type '", value, "' of tensor ", quoteJson(tensors.back().name), " is not supported");
    tensors.back().type = *type;
    return true;
  }
  bool start_object(std::size_t) override {
    if (place == Place::Outside)
      place = Place::Top;
    else if (place == Place::Top && pendingMetadata)
      place = Place::Metadata;
    else if (place == Place::Top)
      beginTensor();
    else
      return unexpected("an object");
    return true;
  }
  bool end_object() override {
    if (place == Place::Tensor && !endTensor())
      return false;
    place = place == Place::Top ? Place::Outside : Place::Top;
    return true;
  }
  bool start_array(std::size_t) override {
    if (place != Place::Tensor || (field != "shape" && field != "data_offsets"))
      return unexpected("an array");
    place = field == "shape" ? Place::Shape : Place::Offsets;
    return true;
  }
  bool end_array() override {
    place = Place::Tensor;
    return true;
  }
  bool key(string_t &value) override {
    if (place == Place::Top) {
      pendingMetadata = value == "__metadata__";
      if (!names.emplace(value, 0).second)
        return fail("the key ", quoteJson(value), " occurs twice");
    } else if (place == Place::Metadata) {
      if (notes.count(value))
        return fail("the key ", quoteJson(value), " occurs twice in __metadata__");
    } else {
      unsigned bit = value == "dtype" ? 1 : value == "shape" ? 2 : value == "data_offsets" ? 4 : 0;
      if (bit == 0)
        return fail("unknown key ", quoteJson(value), " in tensor ", quoteJson(tensors.back().name));
      if (seenFields & bit)
        return fail("the key '", value, "' occurs twice in tensor ", quoteJson(tensors.back().name));
      seenFields |= bit;
    }
    field = std::move(value);
    return true;
  }
  bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &) override {
    return fail("not valid JSON near byte ", position);
  }

private:
  enum class Place { Outside, Top, Metadata, Tensor, Shape, Offsets };
  template <typename... Parts> bool fail(const Parts &...parts) {
    status = inputError(parts...);
    return false;
  }
  bool unexpected(const std::string &what) {
    if (place == Place::Outside)
      return fail("the header is not an object");
    if (place == Place::Top)
      return fail("expected an object for ", quoteJson(field), ", got ", what);
    if (place == Place::Metadata)
      return fail("__metadata__ maps strings to strings, got ", what, " for ", quoteJson(field));
    return fail("unexpected ", what, " for '", field, "' of tensor ", quoteJson(tensors.back().name));
  }
  void beginTensor() {
    place = Place::Tensor;
    tensors.push_back({field, DataType::U8, {}, 0, 0});
    seenFields = 0;
    offsets.clear();
  }
  bool endTensor() {
    SafetensorsEntry &tensor = tensors.back();
    if (seenFields != 7 || offsets.size() != 2)
      return fail("tensor ", quoteJson(tensor.name), " needs dtype, shape and two data_offsets");
    tensor.begin = offsets[0];
    tensor.end = offsets[1];
    return true;
  }

  std::vector<SafetensorsEntry> &tensors;
  std::map<std::string, std::string> &notes;
  Place place = Place::Outside;
  bool pendingMetadata = false;
  std::string field;
  unsigned seenFields = 0;
  std::vector<uint64_t> offsets;
  std::unordered_map<std::string, char> names;
};

} // namespace

Status parseSafetensorsHeader(std::string_view header, uint64_t dataBytes, std::vector<SafetensorsEntry> &tensors,
                              std::map<std::string, std::string> &metadata) {
  if (header.empty() || header.front() != '{')
    return inputError("the header does not start with '{'");
  HeaderBuilder builder(tensors, metadata);
  if (!nlohmann::json::sax_parse(header.begin(), header.end(), &builder))
    return builder.status.ok() ? inputError("the header is not valid JSON") : builder.status;
  std::sort(tensors.begin(), tensors.end(), [](const SafetensorsEntry &a, const SafetensorsEntry &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  uint64_t expected = 0;
  for (const SafetensorsEntry &tensor : tensors) {
    std::string name = quoteJson(tensor.name);
    auto elements = checkedProduct(std::span<const uint64_t>(tensor.shape));
    auto bytes = elements ? checkedMultiply(*elements, byteSize(tensor.type)) : std::nullopt;
    if (!bytes)
      return inputError("the shape of tensor ", name, " overflows");
    if (tensor.end < tensor.begin || tensor.end > dataBytes)
      return inputError("tensor ", name, " lies at bytes ", tensor.begin, " .. ", tensor.end, " of ", dataBytes);
    if (tensor.begin != expected)
      return inputError("tensor ", name, tensor.begin < expected ? " overlaps the one before it" : " leaves a gap before it",
                        ": it begins at byte ", tensor.begin, ", expected ", expected);
    if (tensor.end - tensor.begin != *bytes)
      return inputError("tensor ", name, " has ", tensor.end - tensor.begin, " bytes, its shape and type need ", *bytes);
    expected = tensor.end;
  }
  if (expected != dataBytes)
    return inputError("the tensors end at byte ", expected, " of ", dataBytes, ": data without a tensor, or a truncated header");
  return {};
}

} // namespace tenon::runtime
