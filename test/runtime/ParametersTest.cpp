// Initial values, layouts, names, safetensors of parameters.
#include "runtime/files/Safetensors.h"
#include "runtime/parameters/Initialize.h"
#include "runtime/parameters/NormalQuantile.h"
#include "runtime/parameters/Philox.h"
#include "runtime/parameters/PublicNames.h"
#include "test/runtime/Support.h"
#include <cmath>
#include <cstring>

namespace tenon::runtime::test {

// Known answers of Random123 (kat_vectors, philox4x32 10 rounds).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Values of torch.special.ndtri; the logarithm against the C library's.
TEST(NormalQuantile, KnownValues) {
  struct Row {
    double p, x;
  };
  for (Row row : {Row{0.5, 0}, Row{0.3, -0.5244005127080407}, Row{0.975, 1.959963984540054}, Row{0.075, -1.4395314709384563},
                  Row{0.0749, -1.4402382675279635}, Row{1e-5, -4.264890793922825}, Row{1e-10, -6.361340902404056},
                  Row{1e-15, -7.941345326170998}})
    EXPECT_NEAR(normalQuantile(row.p), row.x, 4e-15 * std::max(1.0, std::abs(row.x))) << row.p;
  for (double p = 1e-16; p < 0.5; p *= 1.37)
    EXPECT_NEAR(detail::logarithm(p), std::log(p), 4e-16 * std::abs(std::log(p))) << p;
}

// Every upper half with lower ones on both sides of the middle: what is split comes back, and the upper half is the nearest bf16,
// of two the one farther from zero.
TEST(Halves, ComeBackBitForBit) {
  auto bitsOf = [](float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  };
  auto realOf = [](uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
  };
  uint32_t drawn = 1;
  for (uint32_t upper = 0; upper < 0x10000; ++upper)
    for (uint32_t k = 0; k < 9; ++k) {
      drawn = drawn * 1664525 + 1013904223;
      const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, drawn >> 16, drawn >> 8 & 0xffff, drawn & 0xffff};
      const uint32_t bits = upper << 16 | lower[k];
      const FloatHalves halves = halvesOfFloat(realOf(bits));
      const uint32_t back = bitsOf(floatFromHalves(halves));
      if ((bits & 0x7fffffff) > 0x7f800000) { // NaN, before and after, as its upper half alone, too
        ASSERT_EQ(back, static_cast<uint32_t>(halves.upper) << 16);
        ASSERT_GT(back & 0x7fffffff, 0x7f800000u);
        continue;
      }
      ASSERT_EQ(back, bits);
      ASSERT_EQ(halves.upper, upper + (lower[k] >= 0x8000)) << bits;
    }
}

static ParameterInfo matrix(std::vector<int64_t> shape, InitializerInfo::Kind kind, double a) {
  ParameterInfo info;
  info.name = "w";
  info.shape = std::move(shape);
  for (int64_t size : info.shape)
    info.elements *= size;
  info.init.kind = kind;
  info.init.a = a;
  return info;
}

static std::vector<double> valuesOf(ParameterInfo info, const std::string &name, uint64_t seed) {
  info.name = name;
  std::vector<double> values(static_cast<size_t>(info.elements));
  initialValues({info.init, name, info.shape}, seed, 0, info.elements, values.data());
  return values;
}

struct Moments {
  double mean = 0, deviation = 0, largest = 0;
};
static Moments momentsOf(const std::vector<double> &values) {
  Moments m;
  for (double v : values) {
    m.mean += v / double(values.size());
    m.largest = std::max(m.largest, std::abs(v));
  }
  for (double v : values)
    m.deviation += (v - m.mean) * (v - m.mean) / double(values.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

TEST(Initialize, DistributionsHaveTheirMoments) {
  using Kind = InitializerInfo::Kind;
  auto moments = [&](const ParameterInfo &info) { return momentsOf(valuesOf(info, "w", 11)); };
  // 200 x 300 draws: the standard error of the mean is deviation / 245, of the deviation half a percent.
  Moments m = moments(matrix({200, 300}, Kind::Normal, 0.02));
  EXPECT_NEAR(m.mean, 0, 4e-4);
  EXPECT_NEAR(m.deviation, 0.02, 2e-4);
  EXPECT_GT(m.largest, 0.07);
  m = moments(matrix({200, 300}, Kind::TruncatedNormal, 0.02));
  EXPECT_LE(m.largest, 0.04);
  EXPECT_NEAR(m.deviation, 0.02 * 0.87963, 2e-4); // deviation of a normal cut at two
  m = moments(matrix({200, 300}, Kind::Uniform, 0.5));
  EXPECT_LT(m.largest, 0.5);
  EXPECT_NEAR(m.deviation, 0.5 / std::sqrt(3), 3e-3);
  m = moments(matrix({200, 300}, Kind::XavierUniform, 0.1)); // the compiler has resolved the fans
  EXPECT_NEAR(m.largest, 0.1, 1e-4);
  m = moments(matrix({40, 50, 3, 3}, Kind::KaimingNormal, 0.07));
  EXPECT_NEAR(m.deviation, 0.07, 1e-3);
  m = moments(matrix({7}, Kind::Constant, -3));
  EXPECT_NEAR(m.mean, -3, 1e-14);
  EXPECT_EQ(m.largest, 3);
}

TEST(Initialize, OrthogonalRowsOrColumns) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{5, 9}, {9, 5}, {6, 6}, {1, 4}}) {
    std::vector<double> values = valuesOf(matrix({rows, columns}, InitializerInfo::Kind::Orthogonal, 2), "w", 3);
    int64_t count = std::min(rows, columns), length = std::max(rows, columns);
    for (int64_t v = 0; v < count; ++v)
      for (int64_t w = 0; w < count; ++w) {
        double product = 0;
        for (int64_t i = 0; i < length; ++i)
          product += rows > columns ? values[i * columns + v] * values[i * columns + w]
                                    : values[v * columns + i] * values[w * columns + i];
        EXPECT_NEAR(product, v == w ? 4 : 0, 1e-12);
      }
  }
}

TEST(Initialize, DependsOnSeedNameAndIndexOnly) {
  ParameterInfo info = matrix({3, 4}, InitializerInfo::Kind::Normal, 1);
  std::vector<double> a = valuesOf(info, "w", 1), b = valuesOf(info, "w", 2), c = valuesOf(info, "v", 1);
  std::vector<double> d = valuesOf(matrix({12}, InitializerInfo::Kind::Normal, 1), "w", 1), part(5);
  initialValues({info.init, "w", info.shape}, 1, 4, 5, part.data());
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(a, d);
  EXPECT_EQ(part, std::vector<double>(a.begin() + 4, a.begin() + 9));
}

TEST(Parameters, GetSetByName) {
  auto parameters = fakeParameters();
  EXPECT_EQ(parameters->names(),
            (std::vector<std::string>{"blocks.0.weight", "blocks.1.weight", "blocks.0.bias", "blocks.1.bias", "table"}));
  std::vector<float> values(60), back(60);
  for (int i = 0; i < 60; ++i)
    values[i] = float(i);
  ASSERT_TRUE(parameters->set("blocks.1.weight", values.data(), 240).ok());
  ASSERT_TRUE(parameters->get("blocks.1.weight", back.data(), 240).ok());
  EXPECT_EQ(values, back);
  ASSERT_TRUE(parameters->get("blocks.0.weight", back.data(), 240).ok());
  EXPECT_EQ(back[59], 0);
  expectError(parameters->set("blocks.2.weight", values.data(), 240), ErrorKind::Input, "has no parameter 'blocks.2.weight'");
  expectError(parameters->set("blocks.1.weight", values.data(), 236), ErrorKind::Usage, "has 240 bytes, got 236");
}

static char *meansOf(Parameters &parameters) { return parameters.modelStates().at("norm.*.mean").memory.view().hostView(); }

TEST(Parameters, SavesAndLoads) {
  TemporaryFolder folder;
  auto one = fakeParameters(), two = fakeParameters();
  ASSERT_TRUE(one->initialize(9).ok());
  meansOf(*one)[3] = 64; // 2.0f instead of 1.0f in the first element
  for (const char *scheme : {"", "hf", "packed"}) {
    std::string path = folder / concat("w", scheme, ".safetensors");
    Status saved = one->save(path, ParameterArena::Values, scheme);
    ASSERT_TRUE(saved.ok()) << saved.message();
    ASSERT_TRUE(two->initialize(1).ok());
    EXPECT_NE(0, std::memcmp(one->arena(ParameterArena::Values).hostView(), two->arena(ParameterArena::Values).hostView(), 1084));
    auto report = two->load(path, {scheme, false, false});
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->loaded.size(), 5u);
    EXPECT_EQ(0, std::memcmp(one->arena(ParameterArena::Values).hostView(), two->arena(ParameterArena::Values).hostView(), 1084));
    EXPECT_EQ(*scheme == 0, std::memcmp(meansOf(*one), meansOf(*two), 24) == 0);
  }
  auto file = SafetensorsFile::open(folder / "whf.safetensors");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->find("layers.0.kernel")->shape, (std::vector<uint64_t>{3, 20}));
  file = SafetensorsFile::open(folder / "wpacked.safetensors");
  EXPECT_EQ(file->find("w")->shape, (std::vector<uint64_t>{40, 3}));
  EXPECT_EQ(file->find("rows.4.v")->shape, (std::vector<uint64_t>{3}));
  EXPECT_EQ(*File::openForReading(folder / "w.safetensors")->size(), one->fileBytes());
  expectError(one->save(folder / "x", ParameterArena::Values, "torch"), ErrorKind::Usage, "no names 'torch'");
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  expectError(one->save(folder / "x", ParameterArena::Moment1), ErrorKind::Bug, "not allocated");
}

/// A file from tensors of f32 values.
struct Tensors {
  struct Item {
    std::string name;
    std::vector<uint64_t> shape;
    std::vector<float> values;
  };
  std::vector<Item> items;
  void add(const std::string &name, std::vector<uint64_t> shape, float start = 0) {
    uint64_t count = 1;
    for (uint64_t size : shape)
      count *= size;
    std::vector<float> values(count);
    for (uint64_t i = 0; i < count; ++i)
      values[i] = start + float(i);
    items.push_back({name, std::move(shape), std::move(values)});
  }
  void write(const std::string &path) const {
    SafetensorsWriter writer;
    for (const Item &item : items)
      writer.declare(item.name, DataType::F32, item.shape);
    auto file = File::create(path);
    FileSink sink(*file);
    ASSERT_TRUE(writer.begin(sink).ok());
    for (const Item &item : items)
      ASSERT_TRUE(writer.write(item.values.data(), item.values.size() * 4).ok());
  }
};

TEST(Parameters, ReadsPublicForms) {
  TemporaryFolder folder;
  auto parameters = fakeParameters();
  Tensors tensors;
  tensors.add("layers.0.kernel", {3, 20}, 0);
  tensors.add("layers.1.kernel", {3, 20}, 100);
  tensors.add("layers.0.bias", {1, 20}, 200); // axes of size 1 do not matter
  tensors.add("layers.1.bias", {20}, 300);
  tensors.add("lm_head.weight", {5, 3}, 400); // the other name of the tied table
  tensors.add("copy.of.table", {5, 3}, 400);  // a tied copy: same type, shape and bytes
  tensors.write(folder / "hf");
  auto report = parameters->load(folder / "hf", {"hf", false, false});
  ASSERT_TRUE(report.ok()) << report.status().message();
  std::vector<float> weight(60), table(15);
  ASSERT_TRUE(parameters->get("blocks.1.weight", weight.data(), 240).ok());
  EXPECT_EQ(weight[3 * 7 + 2], 100 + 2 * 20 + 7); // [7, 2] of ours is [2, 7] of theirs
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  EXPECT_EQ(table[14], 414);
  // A different "copy" is an extra tensor.
  tensors.items.back().values[3] = -1;
  tensors.write(folder / "hf2");
  expectError(parameters->load(folder / "hf2", {"hf", false, false}).status(), ErrorKind::Input,
              "not in the model: copy.of.table");
  report = parameters->load(folder / "hf2", {"hf", false, true});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->extra, (std::vector<std::string>{"copy.of.table"}));
}

TEST(Parameters, NamesEveryProblemAndChangesNothing) {
  TemporaryFolder folder;
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(4).ok());
  std::vector<char> before(parameters->arena(ParameterArena::Values).hostView(),
                           parameters->arena(ParameterArena::Values).hostView() + 1084);
  Tensors tensors;
  tensors.add("blocks.0.weight", {20, 3});
  tensors.add("blocks.0.bias", {21});
  tensors.add("table", {3, 5});
  tensors.add("pooler", {2});
  tensors.write(folder / "bad");
  Status status = parameters->load(folder / "bad", {}).status();
  for (const char *text : {"blocks.0.bias has shape [21], expected [20]", "table has shape [3, 5], expected [5, 3]",
                           "missing: blocks.1.weight, blocks.1.bias, norm.0.mean, norm.1.mean", "not in the model: pooler"})
    expectError(status, ErrorKind::Input, text);
  EXPECT_EQ(0, std::memcmp(before.data(), parameters->arena(ParameterArena::Values).hostView(), before.size()));
  Tensors some;
  some.add("blocks.0.weight", {20, 3}, 5);
  some.write(folder / "some");
  auto report = parameters->load(folder / "some", {"", true, false});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->missing.size(), 6u);
  std::vector<float> weight(60);
  ASSERT_TRUE(parameters->get("blocks.0.weight", weight.data(), 240).ok());
  EXPECT_EQ(weight[59], 64);
}

TEST(Parameters, RefusesNumbersThatSinglesCannotHold) {
  TemporaryFolder folder;
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(4).ok());
  std::vector<char> before(parameters->arena(ParameterArena::Values).hostView(),
                           parameters->arena(ParameterArena::Values).hostView() + 1084);
  auto load = [&](double value) {
    std::vector<double> table(15, 0.5);
    table[7] = value;
    SafetensorsWriter writer;
    writer.declare("table", DataType::F64, {5, 3});
    auto file = File::create(folder / "w");
    FileSink sink(*file);
    EXPECT_TRUE(writer.begin(sink).ok() && writer.write(table.data(), 120).ok());
    return parameters->load(folder / "w", {"", true, false}).status();
  };
  expectError(load(1e39), ErrorKind::Input, "table: element [2, 1] is 1e+39, more than 32-bit numbers hold (3.4e38)");
  expectError(load(-1e300), ErrorKind::Input, "table: element [2, 1] is -1e+300");
  EXPECT_EQ(0, std::memcmp(before.data(), parameters->arena(ParameterArena::Values).hostView(), before.size()));
  std::vector<float> table(15);
  for (double fine : {3.4028234e38, -1.0, double(INFINITY)}) { // what is infinite already is the file's own
    EXPECT_TRUE(load(fine).ok());
    ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
    EXPECT_EQ(table[7], float(fine));
  }
}

TEST(Parameters, SignatureSeesShapesNotOffsets) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok());
  EXPECT_EQ(fakeParameters()->signature(), fakeParameters()->signature());
  EXPECT_EQ(fakeParameters()->signature().size(), 32u);
  EXPECT_TRUE(fakeParameters()->isSignature(fakeParameters()->signature()));
  EXPECT_FALSE(fakeParameters()->isSignature(std::string(32, '0')));
}

TEST(PublicNames, NeighbouringAxesMayBeMerged) {
  EXPECT_TRUE(mergesTo({16, 3, 2, 8}, {16, 48}));
  EXPECT_TRUE(mergesTo({3, 2, 8}, {48}));
  EXPECT_TRUE(mergesTo({2, 8}, {2, 8}));
  EXPECT_TRUE(mergesTo({1, 2, 8, 1}, {16}));
  EXPECT_TRUE(mergesTo({2, 8}, {2, 1, 8}));
  EXPECT_FALSE(mergesTo({16, 3, 2, 8}, {24, 32}));
  EXPECT_FALSE(mergesTo({2, 8}, {8, 2}));
  EXPECT_FALSE(mergesTo({2, 8}, {2, 4, 2}));
  EXPECT_FALSE(mergesTo({2, 8}, {15}));
  EXPECT_FALSE(mergesTo({2, 8}, {2}));
  EXPECT_TRUE(mergesTo({0, 4}, {0, 4}));
  EXPECT_TRUE(mergesTo({4, 0}, {0}));
  EXPECT_TRUE(mergesTo({0, 4, 3}, {0, 3}));
  EXPECT_TRUE(mergesTo({2, 0, 1}, {2, 0}));
  EXPECT_FALSE(mergesTo({0, 4}, {4, 0}));
  EXPECT_FALSE(mergesTo({2, 4}, {0}));
  EXPECT_FALSE(mergesTo({1ull << 40, 1ull << 40}, {1ull << 63}));
}

} // namespace tenon::runtime::test
