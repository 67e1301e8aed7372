// Element types, JSON, safetensors and .npy: what is written reads back; every rule of the formats is enforced.
#include "runtime/base/Convert.h"
#include "runtime/base/Json.h"
#include "runtime/files/Npy.h"
#include "runtime/files/Safetensors.h"
#include "test/runtime/Support.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <unistd.h>

namespace tenon::runtime::test {

TEST(DataType, EveryRowHasItsElement) {
  for (const DataTypeRow &row : kDataTypes) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(&rowOf(row.type), &row);
    EXPECT_EQ(dataTypeFromName(row.name), row.type);
    EXPECT_EQ(dataTypeFromSafetensors(row.safetensors), row.type);
    EXPECT_EQ(withElement(row.type, []<typename T>(T) { return sizeof(T); }), row.bytes);
    EXPECT_TRUE(isReal(row.type) ? isComputedReal(row.computed) : row.computed == row.type);
    if (isInCode(row.type)) {
      EXPECT_EQ(withCodeElement(row.type, []<typename T>(T) { return sizeof(T); }), row.bytes);
      char values[16] = {};
      fillNumbers(row.type, values, 2, 1);
      EXPECT_EQ(numberAt(row.type, values, 1), 1);
    }
    if (isReal(row.type)) {
      EXPECT_FALSE(isBeyond(row.largest, row.type));
      EXPECT_EQ(isBeyond(row.largest * 1.01, row.type), row.type != DataType::F64); // where that is no number itself
    }
  }
  EXPECT_EQ(dataTypeFromName("f8"), std::nullopt);
}

/// Classes that follow from the rows, by what they are for.
TEST(DataType, ClassesOfReals) {
  EXPECT_EQ(listThat(isWideReal), "f64");
  EXPECT_EQ(listThat(isComputedInF32), "f32, f16 or bf16");
  EXPECT_EQ(listThat(isStoredReal, " and "), "f16 and bf16");
  EXPECT_EQ(listThat(isUpperHalf), "bf16");
  EXPECT_EQ(listThat(needsScale), "f16");
  EXPECT_EQ(listThat([](DataType) { return false; }), "");
  for (uint32_t upper : {0x0001u, 0x3f80u, 0x7f7fu, 0xff80u}) // what an upper half is: its bits are those of an f32
    EXPECT_EQ(floatFromBFloat16(uint16_t(upper)), std::bit_cast<float>(upper << 16));
}

TEST(DataType, RealsOfAnyTypeAreRead) {
  const uint16_t half[] = {0x3c00, 0xfbff}, brain[] = {0x3f80, 0xff7f};
  float single[2];
  double wide[2];
  convertReals(DataType::F16, half, 2, DataType::F32, single);
  EXPECT_EQ(single[1], -65504.f);
  convertReals(DataType::BF16, brain, 2, DataType::F64, wide);
  EXPECT_EQ(wide[1], -0x1.fep127);
  convertReals(DataType::F64, wide, 2, DataType::F32, single);
  EXPECT_EQ(single[0], 1.f);
  EXPECT_EQ(numberAt(DataType::F16, half, 1), -65504);
}

TEST(Json, ReadsAndPrints) {
  const char *text = "{\"a\": [1, -2.5, true, null, \"x\\\"\\u00e9\\n\"], \"b\": {\"c\": 1e300, \"d\": 3.0}}";
  auto value = parseJson(text);
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(value->find("a")->elements[4].text, "x\"\xc3\xa9\n");
  auto again = parseJson(value->print());
  ASSERT_TRUE(again.ok()) << value->print();
  EXPECT_EQ(again->print(), value->print());
  EXPECT_EQ(again->find("b")->find("d")->kind, JsonValue::Kind::Real);
}

TEST(Json, Refuses) {
  struct Row {
    std::string text, message;
  };
  const Row rows[] = {{"", "not valid JSON"},
                      {"{\"a\": 1, \"a\": 2}", "the key \"a\" occurs twice"},
                      {"[1] 2", "not valid JSON near byte"},
                      {"[1,]", "not valid JSON"},
                      {"9223372036854775808", "too large"},
                      {"1e999", "not valid JSON"},
                      {"\"\xc3\"", "not valid JSON"},
                      {std::string(65, '[') + std::string(65, ']'), "nested deeper than 64"}};
  for (const Row &row : rows)
    expectError(parseJson(row.text).status(), ErrorKind::Input, row.message);
  expectError(parseJson("{\"a\": }").status(), ErrorKind::Input, "not valid JSON near byte 7: syntax error"); // no second place
  JsonLimits few;
  few.values = 3;
  expectError(parseJson("[1, 2, 3]", few).status(), ErrorKind::Input, "more than 3 JSON values");
  few.bytes = 4;
  expectError(parseJson("[1, 2, 3]", few).status(), ErrorKind::Input, "at most 4");
}

/// A file from a header and a number of data bytes.
static std::string safetensors(const std::string &header, size_t dataBytes, uint64_t length = UINT64_MAX) {
  if (length == UINT64_MAX)
    length = header.size();
  std::string bytes;
  for (int i = 0; i < 8; ++i)
    bytes += static_cast<char>(length >> 8 * i & 255);
  return bytes + header + std::string(dataBytes, '\1');
}

namespace {

struct BrokenFile {
  std::string bytes, message;
};

/// A tensor of a header: 24 bytes.
const std::string tensor = "\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]";

/// Files that break one rule each, and what the error says of it.
std::vector<BrokenFile> brokenFiles() {
  return {
      {"", "only 0 bytes"},
      {"1234567", "only 7 bytes"},
      {safetensors("{}", 0, 3), "truncated"},
      {std::string("PK\3\4\0\0\b\b\0\0", 10), "is of torch.save"},
      {std::string("\x80\2\x8a\nl\xfc\x9c\x46\xf9 j", 11), "is of torch.save"},
      {safetensors("{}", 0, 100'000'001), "truncated"},
      {safetensors("{}", 0, UINT64_MAX - 7), "truncated"},
      {safetensors("", 0), "does not start with '{'"},
      {safetensors(" {}", 0), "does not start with '{'"},
      {safetensors("\xef\xbb\xbf{}", 0), "does not start with '{'"},
      {safetensors("{} x", 0), "not valid JSON"},
      {safetensors("{\"a\"", 0), "not valid JSON"},
      {safetensors("{\"\xff\":{" + tensor + "}}", 24), "not valid JSON"},
      {safetensors("{\"a\":{" + tensor + "},\"a\":{" + tensor + "}}", 24), "the key \"a\" occurs twice"},
      {safetensors("{\"a\":{" + tensor + ",\"shape\":[6]}}", 24), "'shape' occurs twice"},
      {safetensors("{\"a\":{" + tensor + ",\"file\":\"x\"}}", 24), "unknown key \"file\""},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[2,3]}}", 24), "needs dtype, shape"},
      {safetensors("{\"a\":{\"dtype\":\"F33\",\"shape\":[6],\"data_offsets\":[0,24]}}", 24), "'F33'"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[-6],\"data_offsets\":[0,24]}}", 24), "unexpected a negative number"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[6.0],\"data_offsets\":[0,24]}}", 24), "unexpected the number 6.0"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[[6]],\"data_offsets\":[0,24]}}", 24), "unexpected an array"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[0,24,24]}}", 24), "too many numbers"},
      {safetensors("{\"a\":{\"dtype\":4,\"shape\":[6],\"data_offsets\":[0,24]}}", 24), "unexpected a number"},
      {safetensors("{\"a\":5}", 0), "expected an object for \"a\""},
      {safetensors("[]", 0), "does not start with '{'"},
      {safetensors("{\"a\":{" + tensor + "}}", 23), "lies at bytes 0 .. 24 of 23"},
      {safetensors("{\"a\":{" + tensor + "}}", 25), "end at byte 24 of 25"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[6],\"data_offsets\":[24,0]}}", 24), "lies at bytes 24 .. 0"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[5],\"data_offsets\":[0,24]}}", 24),
       "has 24 bytes, its shape and type need 20"},
      {safetensors("{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,24]}}", 24), "overflows"},
      {safetensors("{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]}}", 0), "overflows"},
      {safetensors("{\"a\":{" + tensor + "},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[20,24]}}", 24), "overlaps"},
      {safetensors("{\"a\":{" + tensor + "},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[28,32]}}", 32),
       "leaves a gap"},
      {safetensors("{\"__metadata__\":{\"a\":1}}", 0), "maps strings to strings"},
      {safetensors("{\"__metadata__\":{\"a\":{}}}", 0), "unexpected"},
      {safetensors("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0), "occurs twice"},
      {safetensors("{\"__metadata__\":[]}", 0), "an array"},
  };
}

} // namespace

TEST(Safetensors, RefusesEveryBrokenRule) {
  TemporaryFolder folder;
  for (const BrokenFile &row : brokenFiles()) {
    writeFile(folder / "x.safetensors", row.bytes);
    auto file = SafetensorsFile::open(folder / "x.safetensors");
    ASSERT_FALSE(file.ok()) << row.message;
    if (row.message == "unexpected")
      continue; // refused, in whatever words
    expectError(file.status(), ErrorKind::Input, row.message);
  }
  expectError(SafetensorsFile::open(folder / "none").status(), ErrorKind::Input, "cannot open");
  std::filesystem::create_directory(folder / "empty");
  expectError(SafetensorsFile::open(folder / "empty").status(), ErrorKind::Input, "has no weights");
  // The good form of the rows above does open.
  std::filesystem::create_directory(folder / "torch");
  writeFile(folder / "torch/pytorch_model.bin", std::string("PK\3\4\0\0\b\b\0\0", 10));
  expectError(SafetensorsFile::open(folder / "torch").status(), ErrorKind::Input, "is of torch.save");
  writeFile(folder / "x.safetensors",
            safetensors("{\"a\":{" + tensor + "},\"e\":{\"dtype\":\"I64\",\"shape\":[0,7],\"data_offsets\":[24,24]}}  ", 24));
  EXPECT_TRUE(SafetensorsFile::open(folder / "x.safetensors").ok());
}

TEST(Safetensors, WritesAndReadsBack) {
  TemporaryFolder folder;
  SafetensorsWriter writer;
  writer.declare("first \"quoted\"", DataType::F64, {2, 2});
  writer.declare("halves", DataType::F16, {5});
  writer.declare("brains", DataType::BF16, {2});
  writer.declare("scalar", DataType::F32, {});
  writer.note("who", "me");
  double first[] = {1, -2, 0.1, 1e300};
  uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00}, brains[] = {0x3f80, 0xc2c8};
  float scalar = 7;
  auto file = File::create(folder / "w.safetensors");
  ASSERT_TRUE(file.ok());
  FileSink sink(*file);
  ASSERT_TRUE(writer.begin(sink).ok());
  ASSERT_TRUE(writer.write(first, sizeof first).ok());
  ASSERT_TRUE(writer.write(halves, sizeof halves).ok());
  expectError(writer.finish(), ErrorKind::Bug, "got 42 bytes of 50");
  ASSERT_TRUE(writer.write(brains, sizeof brains).ok());
  ASSERT_TRUE(writer.write(&scalar, sizeof scalar).ok());
  ASSERT_TRUE(writer.finish().ok());
  auto size = File::openForReading(folder / "w.safetensors")->size();
  EXPECT_EQ(*size, writer.fileBytes());
  auto read = SafetensorsFile::open(folder / "w.safetensors");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->metadata().at("who"), "me");
  std::vector<float> wide(5);
  const SafetensorsEntry *entry = read->find("halves");
  ASSERT_NE(entry, nullptr);
  ASSERT_TRUE(read->readReals(*entry, 0, 5, DataType::F32, wide.data()).ok());
  EXPECT_EQ(wide[1], -2);
  EXPECT_EQ(wide[2], 0x1p-24f);
  EXPECT_EQ(wide[3], 65504);
  EXPECT_TRUE(std::isinf(wide[4]));
  std::vector<double> part(1);
  ASSERT_TRUE(read->readReals(*read->find("brains"), 1, 1, DataType::F64, part.data()).ok());
  EXPECT_EQ(part[0], -100);
  ASSERT_TRUE(read->readReals(*read->find("first \"quoted\""), 2, 1, DataType::F64, part.data()).ok());
  EXPECT_EQ(part[0], 0.1);
  // A file that shrinks after it was checked is an error, never a crash.
  ASSERT_EQ(truncate((folder / "w.safetensors").c_str(), 200), 0);
  expectError(read->read(*read->find("scalar"), &scalar), ErrorKind::Input, "too early");
}

static std::string npy(const std::string &header, size_t dataBytes, int version = 1, size_t length = SIZE_MAX) {
  if (length == SIZE_MAX)
    length = header.size();
  std::string bytes("\x93NUMPY", 6);
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(length >> 8 * i & 255);
  return bytes + header + std::string(dataBytes, '\0');
}

TEST(Npy, RefusesWhatItCannotRead) {
  TemporaryFolder folder;
  struct Row {
    std::string bytes, message;
  };
  const std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  const Row rows[] = {
      {"", "not a .npy file"},
      {"PK\3\4 an archive", "not a .npy file"},
      {npy(head, 24, 4), "version 4"},
      {npy(head, 24, 1, 60000), "truncated or too long"},
      {npy(head, 24, 2, 0xffffffff), "truncated or too long"},
      {npy(head, 23), "has 23 bytes of data, its shape [2, 3] needs 24"},
      {npy(head, 25), "has 25 bytes of data"},
      {npy("{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24), "element type '>f4'"},
      {npy("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }\n", 24), "element type '|O'"},
      {npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }\n", 24), "structured"},
      {npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", 24), "Fortran order"},
      {npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }\n", 24), "neither True nor False"},
      {npy("{'descr': '<f4', 'shape': (2, 3), }\n", 24), "lacks"},
      {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24), "repeated key"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }\n", 24), "shape is damaged"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,), }\n", 24), "too large"},
      {npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", 24), "more than there can be"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x\n", 24), "text behind"},
      {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", 24), "damaged"},
      {npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }\n", 0) + "\7", "neither 0 nor 1"},
  };
  for (const Row &row : rows) {
    writeFile(folder / "x.npy", row.bytes);
    expectError(readNpy(folder / "x.npy").status(), ErrorKind::Input, row.message);
  }
  writeFile(folder / "x.npy", npy(head, 24, 2));
  EXPECT_TRUE(readNpy(folder / "x.npy").ok());
}

TEST(Npy, WritesAndConverts) {
  TemporaryFolder folder;
  std::string path = folder / "x.npy";
  int64_t shape[] = {2, 2}, wide[] = {1, -5, 1 << 30, 7};
  ASSERT_TRUE(writeNpy(path, DataType::I64, shape, wide).ok());
  auto array = readNpy(path);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape, (std::vector<uint64_t>{2, 2}));
  int32_t narrow[4];
  ASSERT_TRUE(npyToInput(*array, "ids", DataType::I32, shape, narrow).ok());
  EXPECT_EQ(narrow[1], -5);
  int64_t other[] = {4};
  expectError(npyToInput(*array, "ids", DataType::I32, other, narrow), ErrorKind::Input, "has shape [2, 2], expected [4]");
  float reals[4];
  expectError(npyToInput(*array, "x", DataType::F32, shape, reals), ErrorKind::Input,
              "element [1, 0] is 1073741824, more than real numbers");
  wide[3] = int64_t(1) << 31;
  ASSERT_TRUE(writeNpy(path, DataType::I64, shape, wide).ok());
  expectError(npyToInput(*readNpy(path), "ids", DataType::I32, shape, narrow), ErrorKind::Input,
              "element [1, 1] is 2147483648, outside of 32 bits");
  int64_t none[] = {0, 3}, one[] = {1};
  double value = 0.5;
  ASSERT_TRUE(writeNpy(path, DataType::F64, none, nullptr).ok());
  EXPECT_EQ(readNpy(path)->elements(), 0u);
  ASSERT_TRUE(writeNpy(path, DataType::F64, {}, &value).ok());
  EXPECT_TRUE(readNpy(path)->shape.empty());
  ASSERT_TRUE(writeNpy(path, DataType::F64, one, &value).ok());
  float single;
  ASSERT_TRUE(npyToInput(*readNpy(path), "x", DataType::F32, one, &single).ok());
  EXPECT_EQ(single, 0.5f);
  int32_t whole;
  expectError(npyToInput(*readNpy(path), "x", DataType::I32, one, &whole), ErrorKind::Input, "element type f64, expected i32");
  expectError(writeNpy(folder / "none/x.npy", DataType::F64, one, &value), ErrorKind::Input, "cannot create");
}

} // namespace tenon::runtime::test
