#include "runtime/files/Npy.h"
#include "runtime/base/Checked.h"
#include "runtime/base/Convert.h"
#include <cstring>

namespace tenon::runtime {

namespace {

constexpr uint64_t largestHeader = 65535; // versions 2 and 3 allow more; only structured types need it
constexpr size_t largestRank = 64;

/// Reads the Python dictionary of the header: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  Status parse(NpyHeader &header) {
    bool seen[3] = {};
    if (!take('{'))
      return inputError("its header is not a dictionary");
    while (!take('}')) {
      std::string_view key;
      if (!quoted(key) || !take(':'))
        return inputError("its header is damaged");
      int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || seen[which])
        return inputError("its header has an unknown or repeated key");
      seen[which] = true;
      Status status = which == 0 ? descr(header.type) : which == 1 ? order() : shape(header.shape);
      if (status.failed())
        return status;
      if (!take(',') && peek() != '}')
        return inputError("its header is damaged");
    }
    if (!seen[0] || !seen[1] || !seen[2])
      return inputError("its header lacks descr, fortran_order or shape");
    skip();
    return at == text.size() ? Status() : inputError("there is text behind its header");
  }

private:
  void skip() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
  }
  char peek() {
    skip();
    return at < text.size() ? text[at] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted || at >= text.size())
      return false;
    ++at;
    return true;
  }
  bool quoted(std::string_view &value) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text.find(quote, at + 1);
    if (end == std::string_view::npos)
      return false;
    value = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool word(std::string_view wanted) {
    skip();
    if (text.substr(at, wanted.size()) != wanted)
      return false;
    at += wanted.size();
    return true;
  }
  Status descr(DataType &type) {
    std::string_view name;
    if (!quoted(name))
      return inputError("its element type is structured or not readable, expected numbers or truth values");
    for (const DataTypeRow &row : kDataTypes)
      if (!row.npy.empty() && row.npy == name) {
        type = row.type;
        return {};
      }
    return inputError("its element type '", name.substr(0, 20),
                      "' is not supported, expected f2, f4, f8, i1 to i8, u1 to u8 (little-endian) or b1");
  }
  Status order() {
    if (word("False"))
      return {};
    return word("True") ? inputError("it is in Fortran order, expected C order: save numpy.ascontiguousarray(x)")
                        : inputError("its fortran_order is neither True nor False");
  }
  Status shape(std::vector<uint64_t> &sizes) {
    if (!take('('))
      return inputError("its shape is not a tuple");
    while (!take(')')) {
      uint64_t size = 0;
      if (peek() < '0' || peek() > '9')
        return inputError("its shape is damaged");
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
        auto tens = checkedMultiply<uint64_t>(size, 10);
        auto next = tens ? checkedAdd<uint64_t>(*tens, static_cast<uint64_t>(text[at] - '0')) : std::nullopt;
        if (!next)
          return inputError("a size in its shape is too large");
        size = *next;
      }
      sizes.push_back(size);
      if (sizes.size() > largestRank)
        return inputError("it has more than ", largestRank, " axes");
      if (!take(',') && peek() != ')')
        return inputError("its shape is damaged");
    }
    return {};
  }

  std::string_view text;
  size_t at = 0;
};

} // namespace

Expected<NpyHeader> parseNpyHeader(std::string_view bytes, uint64_t fileBytes) {
  if (bytes.size() < 10 || fileBytes < bytes.size() || bytes.substr(0, 6) != "\x93NUMPY")
    return inputError("it is not a .npy file");
  auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])); };
  uint64_t version = byte(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3) // 3 is 2 with UTF-8 in the header
    return inputError("its format version ", version, " is not supported, expected 1, 2 or 3");
  if (bytes.size() < start)
    return inputError("it is truncated");
  uint64_t length = byte(8) | byte(9) << 8;
  if (version >= 2)
    length |= byte(10) << 16 | byte(11) << 24;
  if (length > largestHeader || length > fileBytes - start || start + length > bytes.size())
    return inputError("its header of ", length, " bytes is truncated or too long");
  NpyHeader header;
  header.dataStart = start + length;
  if (Status status = HeaderParser(bytes.substr(start, length)).parse(header); status.failed())
    return status;
  auto elements = checkedProduct(std::span<const uint64_t>(header.shape));
  auto need = elements ? checkedMultiply(*elements, byteSize(header.type)) : std::nullopt;
  if (!need || *need != fileBytes - header.dataStart)
    return inputError("it has ", fileBytes - header.dataStart, " bytes of data, its shape ", shapeText(header.shape), " needs ",
                      need ? std::to_string(*need) : "more than there can be");
  return header;
}

Expected<NpyArray> readNpy(const std::string &path) {
  uint64_t size = 0;
  auto file = File::openForReading(path, size);
  if (!file.ok())
    return file.status();
  std::string head(std::min<uint64_t>(size, largestHeader + 12), '\0');
  if (Status status = file->readAt(0, head.data(), head.size()); status.failed())
    return status;
  auto header = parseNpyHeader(head, size);
  if (!header.ok())
    return inputError("cannot read '", path, "': ", header.status().message());
  NpyArray array;
  array.type = header->type;
  array.shape = header->shape;
  array.data.resize(size - header->dataStart); // exactly what the file has
  if (Status status = file->readAt(header->dataStart, array.data.data(), array.data.size()); status.failed())
    return status;
  if (array.type == DataType::Bool)
    for (char value : array.data)
      if (value != 0 && value != 1)
        return inputError("cannot read '", path, "': a truth value is neither 0 nor 1");
  return array;
}

Status writeNpy(const std::string &path, DataType type, std::span<const int64_t> shape, const void *data, FileBatch *batch) {
  const std::string_view descr = rowOf(type).npy;
  if (descr.empty())
    return bugError("element type ", nameOf(type), " cannot be written as .npy");
  std::string sizes;
  uint64_t bytes = byteSize(type);
  for (int64_t size : shape) {
    sizes += concat(sizes.empty() ? "" : " ", size, ",");
    bytes *= static_cast<uint64_t>(size);
  }
  if (shape.size() > 1)
    sizes.pop_back(); // (3, 4) but (3,)
  std::string header = concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  while ((10 + header.size() + 1) % 64 != 0)
    header += ' ';
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 255);
  prefix += static_cast<char>(header.size() >> 8);
  return replaceFile(
      path,
      [&](ByteSink &sink) {
        Status status = sink.write(prefix.data(), prefix.size());
        if (status.ok())
          status = sink.write(header.data(), header.size());
        return status.ok() ? sink.write(data, bytes) : status;
      },
      batch);
}

Status npyToInput(const NpyArray &array, const std::string &name, DataType to, std::span<const int64_t> shape, void *data) {
  std::vector<uint64_t> expected(shape.begin(), shape.end());
  if (array.shape != expected)
    return inputError("'", name, "' has shape ", shapeText(array.shape), ", expected ", shapeText(expected));
  if (!convertible(array.type, to))
    return inputError("'", name, "' has element type ", nameOf(array.type), ", expected ", nameOf(to));
  if (auto wrong = convertElements(array.type, array.data.data(), array.elements(), to, data))
    return inputError("'", name, "': element ", placeText(wrong->index, array.shape), " ", wrong->what);
  return {};
}

} // namespace tenon::runtime
