#include "runtime/data/PieceFile.h"
#include "runtime/base/Printable.h"
#include "runtime/data/Utf8.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

namespace tenon::data {

namespace {

constexpr size_t kMostBytes = 256u << 20, kMostPieces = 1u << 24; // the largest public ones: 5 MB, 256,000 pieces

/// A field of a message in the wire format of protocol buffers; of the types that have one, `number` is its value, of bytes
/// `bytes` what they are.
struct Field {
  uint64_t key = 0, number = 0;
  std::string_view bytes;
  bool isBytes = false;
};

bool takeNumber(std::string_view &rest, uint64_t &number) {
  number = 0;
  for (int shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest[0]);
    rest.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128)
      return true;
  }
  return false;
}

bool takeFixed(std::string_view &rest, size_t bytes, uint64_t &number) {
  if (rest.size() < bytes)
    return false;
  for (size_t i = 0; i < bytes; ++i)
    number |= static_cast<uint64_t>(static_cast<unsigned char>(rest[i])) << 8 * i;
  rest.remove_prefix(bytes);
  return true;
}

bool takeField(std::string_view &rest, Field &field) {
  field = {};
  uint64_t tag = 0;
  if (!takeNumber(rest, tag))
    return false;
  field.key = tag >> 3;
  switch (tag & 7) {
  case 0:
    return takeNumber(rest, field.number);
  case 1:
    return takeFixed(rest, 8, field.number);
  case 5:
    return takeFixed(rest, 4, field.number);
  case 2: {
    uint64_t length = 0;
    if (!takeNumber(rest, length) || length > rest.size())
      return false;
    field.isBytes = true;
    field.bytes = rest.substr(0, length);
    rest.remove_prefix(length);
    return true;
  }
  default:
    return false; // groups, which nobody writes any more
  }
}

/// False where `message` is none, or `use` says so.
bool eachField(std::string_view message, const std::function<bool(const Field &)> &use) {
  Field field;
  while (!message.empty())
    if (!takeField(message, field) || !use(field))
      return false;
  return true;
}

uint32_t unitAt(std::string_view units, size_t at) {
  uint32_t unit = 0;
  std::memcpy(&unit, units.data() + 4 * at, 4);
  return unit;
}

/// Whether a precompiled_charsmap stays in itself: a double array of darts-clone, whose units lead to others, and the texts that
/// its values are places of.
bool isSoundMap(std::string_view map) {
  if (map.empty())
    return true; // the text stays as it is
  uint64_t bytes = 0;
  if (!takeFixed(map, 4, bytes) || bytes % 4 != 0 || bytes == 0 || bytes >= map.size() || map.back() != '\0')
    return false;
  const std::string_view units = map.substr(0, bytes);
  const size_t count = bytes / 4, texts = map.size() - bytes;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t unit = unitAt(units, i);
    if (unit >> 31) // a value, from which nothing goes on
      continue;
    const size_t next = i ^ static_cast<size_t>((unit >> 10) << ((unit & 0x200) >> 6));
    if ((next | 255) >= count)
      return false;
    if ((unit & 0x100) && (unitAt(units, next) & 0x7FFFFFFF) >= texts)
      return false;
  }
  return true;
}

Status parsePiece(std::string_view message, PieceFile &result) {
  std::string_view spelling;
  uint64_t kind = 1;
  float score = 0;
  const bool whole = eachField(message, [&](const Field &field) {
    if (field.key == 1)
      spelling = field.bytes;
    else if (field.key == 2)
      score = std::bit_cast<float>(static_cast<uint32_t>(field.number));
    else if (field.key == 3)
      kind = field.number;
    return (field.key == 1) == field.isBytes || field.key > 3;
  });
  const size_t number = result.pieces.size();
  if (!whole)
    return inputError("its piece ", number, " is damaged");
  if (spelling.empty() || malformedAt(spelling))
    return inputError("its piece ", number, " is no text in UTF-8");
  if (kind < 1 || kind > 6 || !std::isfinite(score))
    return inputError("its piece ", number, ", '", runtime::printable(std::string(spelling)), "', has no score or no kind");
  if (number == kMostPieces)
    return inputError("it has more than ", kMostPieces, " pieces");
  result.pieces.emplace_back(spelling);
  result.kinds.push_back(static_cast<PieceFile::Kind>(kind));
  return {};
}

/// A NormalizerSpec; of texts that are read, not of those that are made.
bool takeNormalizer(std::string_view message, PieceFile *result) {
  std::string_view map;
  const bool whole = eachField(message, [&](const Field &field) {
    if (field.key == 2)
      map = field.bytes;
    else if (field.key == 3 && result)
      result->addsBlank = field.number != 0;
    else if (field.key == 4 && result)
      result->joinsBlanks = field.number != 0;
    return field.key != 2 || field.isBytes;
  });
  return whole && isSoundMap(map);
}

bool takeTrainer(std::string_view message, PieceFile &result) {
  return eachField(message, [&](const Field &field) {
    if (field.key == 24)
      result.blanksAreEnds = field.number != 0;
    return true;
  });
}

} // namespace

bool PieceFile::isLike(std::string_view file) {
  // A message of less than 128 bytes whose first field is a text, behind which a score stands: 0x15 is in no text.
  auto at = [&](size_t i) { return i < file.size() ? static_cast<unsigned char>(file[i]) : 0u; };
  return at(0) == 0x0A && at(1) < 128 && at(2) == 0x0A && at(3) + 2 <= at(1) && (at(4 + at(3)) == 0x15 || at(4 + at(3)) == 0x18);
}

Status PieceFile::parse(std::string_view file, PieceFile &result) {
  result = PieceFile();
  if (file.size() > kMostBytes)
    return inputError("it has more than ", kMostBytes >> 20, " MiB");
  Status status;
  const bool whole = eachField(file, [&](const Field &field) {
    if (field.key == 1 && field.isBytes)
      status = parsePiece(field.bytes, result);
    else if (field.key == 2)
      status = field.isBytes && takeTrainer(field.bytes, result) ? Status() : inputError("its trainer_spec is damaged");
    else if (field.key == 3 || field.key == 5)
      status = field.isBytes && takeNormalizer(field.bytes, field.key == 3 ? &result : nullptr)
                   ? Status()
                   : inputError("its rules of normalization are damaged");
    else if (field.key == 1)
      return false;
    return status.ok();
  });
  if (status.failed())
    return status;
  if (!whole)
    return inputError("it is no file of sentencepiece, or its end is missing");
  return result.pieces.empty() ? inputError("it has no pieces") : Status();
}

} // namespace tenon::data
