// Opening of artifacts, tiers, the manifest's checks, contexts.
#include "runtime/device/Cpu.h"
#include "test/runtime/Support.h"
#include <cstring>
#include <xmmintrin.h>

namespace tenon::runtime::test {

TEST(Artifact, OpensAndMatchesTheManifest) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  const Manifest &manifest = (*artifact)->manifest();
  EXPECT_EQ(manifest.model, "FAKE");
  ASSERT_EQ(manifest.parameters.size(), 3u);
  EXPECT_EQ(manifest.parameters[0].elements, 60);
  EXPECT_EQ(manifest.parameters[0].elementName(1), "blocks.1.weight");
  EXPECT_EQ((*artifact)->entryIndex("train"), 1);
  EXPECT_EQ((*artifact)->entryIndex("nothing"), -1);
}

TEST(Artifact, RefusesWhatIsNotOne) {
  TemporaryFolder folder;
  expectError(Artifact::open(folder / "none").status(), ErrorKind::Input, "does not exist");
  expectError(Artifact::open(folder.path).status(), ErrorKind::Input, "has no libNAME.so");
  writeFile(folder / "libtext.so", "not a library");
  expectError(Artifact::open(folder.path).status(), ErrorKind::Input,
              "is not an artifact: neither a directory nor a shared library");
  writeFile(folder / "libtext2.so", "not a library");
  expectError(Artifact::open(folder.path).status(), ErrorKind::Input, "several libraries");
}

TEST(Artifact, RefusesAnotherAbi) {
  expectError(Artifact::open(fakeLibrary("fake-abi")).status(), ErrorKind::Input, "ABI version 99, this runtime has 11");
}

TEST(Artifact, RefusesCodeOfAnotherBuild) {
  expectError(Artifact::open(fakeLibrary("fake-build")).status(), ErrorKind::Input, "from different builds");
}

TEST(Artifact, PicksAndForcesTiers) {
  auto best = Artifact::open(fakeLibrary());
  ASSERT_TRUE(best.ok());
  EXPECT_EQ((*best)->tier(), nameOf(machineTier()));
  auto forced = Artifact::open(fakeLibrary(), "portable");
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ((*forced)->tier(), "portable");
  setenv("TENON_TIER", "portable", 1);
  auto byEnvironment = Artifact::open(fakeLibrary()), bestAgain = Artifact::open(fakeLibrary(), kBestTier);
  setenv("TENON_TIER", "best", 1);
  auto bestByEnvironment = Artifact::open(fakeLibrary());
  setenv("TENON_TIER", "fast", 1);
  auto unknown = Artifact::open(fakeLibrary());
  unsetenv("TENON_TIER");
  ASSERT_TRUE(byEnvironment.ok());
  EXPECT_EQ((*byEnvironment)->tier(), "portable");
  ASSERT_TRUE(bestAgain.ok() && bestByEnvironment.ok());
  EXPECT_EQ((*bestAgain)->tier(), nameOf(machineTier()));
  EXPECT_EQ((*bestByEnvironment)->tier(), nameOf(machineTier()));
  expectError(unknown.status(), ErrorKind::Usage, "unknown tier 'fast'");
  expectError(Artifact::open(fakeLibrary("fake-portable"), "x86-64-v3").status(), ErrorKind::Input, "no code for tier x86-64-v3");
}

// Of a compiler that knows more tiers than this runtime.
TEST(Artifact, PassesOverVariantsThatItDoesNotKnow) {
  auto newer = Artifact::open(fakeLibrary("fake-newer"));
  ASSERT_TRUE(newer.ok()) << newer.status().message();
  EXPECT_EQ((*newer)->tier(), "portable");
  auto parameters = Parameters::create(*newer);
  ASSERT_TRUE(parameters.ok());
  auto context = Context::create(*parameters, "infer", {{"B", 3}}, makePool(1));
  ASSERT_TRUE(context.ok());
  EXPECT_TRUE((*context)->run().ok()); // the unknown one fails a check
  expectError(Artifact::open(fakeLibrary("fake-newer"), "x86-64-v9").status(), ErrorKind::Usage, "unknown tier 'x86-64-v9'");
  expectError(Artifact::open(fakeLibrary("fake-unknown")).status(), ErrorKind::Input,
              "the artifact has no tier that covers all its entries");
  expectError(Artifact::open(fakeLibrary("fake-portable"), "x86-64-v4").status(), ErrorKind::Input, "no code for tier x86-64-v4");
}

TEST(Artifact, RefusesCodeOfAnotherDevice) {
  expectError(Artifact::open(fakeLibrary("fake-device")).status(), ErrorKind::Input,
              "the artifact is for the device 'elsewhere', this one is 'host'");
}

TEST(Cpu, TiersIncludeEachOther) {
  EXPECT_TRUE(missingFeature(Tier::Portable).empty());
  if (missingFeature(Tier::Avx512).empty()) {
    EXPECT_TRUE(missingFeature(Tier::Avx2).empty());
  }
  if (missingFeature(Tier::Avx512Bf16).empty()) {
    EXPECT_TRUE(missingFeature(Tier::Avx512).empty());
  }
  if (missingFeature(Tier::Amx).empty()) {
    EXPECT_TRUE(missingFeature(Tier::Avx512Bf16).empty());
  }
}

// What one bit, or a refusal, takes away; on this machine or another.
TEST(Cpu, ChoosesByBitsAndPermission) {
  static int asked = 0;
  Processor all{{0, 0, ~0u, 0}, {0, ~0u, 0, ~0u}, {~0u, 0, 0, 0}, {0, 0, ~0u, 0}, 0x600e7, [] { return ++asked > 0; }};
  EXPECT_EQ(nameOf(tierOf(all)), "x86-64-v4-amx");
  EXPECT_EQ(asked, 1);
  struct Row {
    void (*take)(Processor &);
    std::string_view lacks;
    Tier best;
  };
  const Row rows[] = {
      {[](Processor &p) { p.askForTiles = [] { return false; }; }, "permission of the operating system to use AMX tiles",
       Tier::Avx512Bf16},
      {[](Processor &p) { p.savedRegisters = 0xe7; }, "operating system support for AMX tiles", Tier::Avx512Bf16},
      {[](Processor &p) { p.savedRegisters = 0x400e7; }, "operating system support for AMX tiles", Tier::Avx512Bf16},
      {[](Processor &p) { p.seven.d &= ~(1u << 22); }, "AMX-BF16", Tier::Avx512Bf16},
      {[](Processor &p) { p.seven.d &= ~(1u << 24); }, "AMX-TILE", Tier::Avx512Bf16},
      {[](Processor &p) { p.sevenOne.a = 0; }, "AVX512_BF16", Tier::Avx512},
      {[](Processor &p) { p.savedRegisters = 0x60007; }, "operating system support for AVX-512 registers", Tier::Avx2},
      {[](Processor &p) { p.seven.b &= ~(1u << 16); }, "AVX512F", Tier::Avx2},
      {[](Processor &p) { p.one.c &= ~(1u << 27); }, "OSXSAVE", Tier::Portable},
  };
  for (const Row &row : rows) {
    Processor processor = all;
    row.take(processor);
    EXPECT_EQ(missingFeature(Tier::Amx, processor), row.lacks);
    EXPECT_EQ(nameOf(tierOf(processor)), nameOf(row.best));
  }
  EXPECT_EQ(asked, 1) << "asked although something else is missing";
}

// A tier that the machine lacks is refused by the name of what it lacks, and is not taken by itself.
TEST(Artifact, SaysWhatATierLacks) {
  if (std::string_view lacks = missingFeature(Tier::Amx); !lacks.empty()) {
    expectError(Artifact::open(fakeLibrary(), "x86-64-v4-amx").status(), ErrorKind::Input,
                concat("this machine cannot run tier x86-64-v4-amx: it lacks ", lacks));
  } else {
    auto amx = Artifact::open(fakeLibrary());
    ASSERT_TRUE(amx.ok());
    EXPECT_EQ((*amx)->tier(), "x86-64-v4-amx");
  }
}

// Each row breaks the manifest of the fake artifact in one place: the error must name it.
TEST(Manifest, RefusesMistakes) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok());
  std::string good((*artifact)->manifestText());
  ASSERT_TRUE(parseManifest(good).ok());
  struct Row {
    const char *from, *to, *message;
  };
  const Row rows[] = {
      {"\"format\": 1", "\"format\": 2", "format 2 is not known"},
      {"\"abi\": 11", "\"abi\": 8", "ABI version 8, this runtime has 11"},
      {"\"name\": \"fake\"", "\"name\": 5", "name: expected a string"},
      {"\"dtype\": \"f32\", \"param_bytes\"", "\"dtype\": \"f8\", \"param_bytes\"", "element type 'f8' is not supported"},
      {"\"param_bytes\": 1084", "\"param_bytes\": 1083", "leaves the 1083 bytes of the arena"},
      {"\"param_bytes\": 1084", "\"param_bytes\": -1", "param_bytes: expected 0"},
      {"\"shape\": [20, 3]", "\"shape\": [20]", "axes and shape differ in length"},
      {"\"shape\": [20, 3]", "\"shape\": [1099511627776, 1099511627776]", "product of the sizes is too large"},
      {"\"stride\": 384", "\"stride\": 236", "less than the 240 bytes"},
      {"\"stride\": 384", "\"stride\": 9223372036854775800", "leaves the 1084 bytes"},
      {"\"offset\": 768", "\"offset\": 770", "not aligned"},
      {"\"stack\": [2]", "\"stack\": [2, 2]", "one * per size of its stack"},
      {"[0.25, 0.5]", "[0.25]", "expected 2 values of a"},
      {"\"kind\": \"normal\"", "\"kind\": \"gauss\"", "expected one of normal"},
      {"\"part\": 1, \"parts\": 2", "\"part\": 2, \"parts\": 2", "expected 0 .. 1, got 2"},
      {"rows.#.v", "rows.v", "needs '#'"},
      {"{\"name\": \"layers.0.bias\"}, ", "", "expected 2 names"},
      {"\"name\": \"blocks.*.bias\"", "\"name\": \"blocks.*.weight\"", "occurs twice"},
      {"\"name\": \"train\"", "\"name\": \"infer\"", "occurs twice"},
      {"{\"B\": 1}", "{\"T\": 1}", "'T' is not a dim of this entry"},
      {"\"shape\": [3], \"initial\"", "\"shape\": [{\"const\": 0, \"terms\": {\"B\": 1}}], \"initial\"",
       "cannot depend on a run-time dim"},
      {"\"max\": 1000", "\"max\": -2", "expected -1"},
      {"\"model\": \"FAKE\"", "\"model\": \"FAKE\", \"model\": \"FAKE\"", "occurs twice"},
      {"\"model\": \"FAKE\"", "\"model\": \"FA\xff\"", "not valid JSON"},
      {"\"abi\": 11", "\"abi\": 18446744073709551616", "is too large"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f32\", \"param_dtype\": \"bf16\", \"copies\": \"bf16\"", "have no copies"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f64\", \"param_dtype\": \"f16\"", "are of a model of f32"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f64\", \"split\": \"bf16\"", "are of a model of f32"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f32\", \"split\": \"f16\"", "f16"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f32\", \"split\": \"bf16\", \"copies\": \"bf16\"", "have no copies"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f32\", \"split\": \"bf16\", \"param_dtype\": \"bf16\"", "no `param_dtype`"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f32\", \"param_dtype\": \"f32\"", "f32"},
      {"\"parameter\": \"table\"", "\"parameter\": \"tables\"", "there is no parameter 'tables'"},
      {"\"group\": 1", "\"group\": 2", "it leaves the groups or the stack of its parameter"},
      {"\"elements\": -1", "\"elements\": 1", "it leaves the groups or the stack of its parameter"},
      {"\"count\": 2", "\"count\": 3", "it leaves the groups or the stack of its parameter"},
      {"\"count\": 2, \"groups\": 1, \"elements\": -1", "\"count\": 1000000, \"groups\": 1, \"elements\": 0",
       "it leaves the groups or the stack of its parameter"},
  };
  for (const Row &row : rows) {
    std::string bad = good;
    size_t at = bad.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    bad.replace(at, std::strlen(row.from), row.to);
    expectError(parseManifest(bad).status(), ErrorKind::Input, row.message);
  }
  expectError(parseManifest(good.substr(0, good.size() / 2)).status(), ErrorKind::Input, "not valid JSON");
  expectError(parseManifest(std::string(100000, '[')).status(), ErrorKind::Input, "nested deeper");
}

/// The manifest of the fake artifact with an eval entry: a loss by this formula, and two parts, one of rows and classes.
static std::string withAverage(std::string manifest, const std::string &formula) {
  const std::string before = "\"entries\": [";
  const std::string entry =
      R"({"name": "eval", "kind": "eval", "dims": [{"name": "B", "max": -1}], "inputs": [], "states": [], "outputs": [
    {"name": "l", "dtype": "f64", "axes": [], "shape": [], "average": )" +
      formula + R"(},
    {"name": "part.0", "dtype": "f32", "axes": ["B", "C"], "shape": [{"const": 0, "terms": {"B": 1}}, 3], "rows": 0},
    {"name": "part.1", "dtype": "i32", "axes": ["C"], "shape": [4]}]}, )";
  const size_t at = manifest.find(before);
  return at == std::string::npos ? "" : manifest.insert(at + before.size(), entry);
}

// Whoever evaluates relies on it: formulas are numbers, their outputs exist and their axes agree.
TEST(Manifest, RefusesFormulasOfAverages) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok());
  const std::string good((*artifact)->manifestText());
  const std::string kept = R"({"sum": "part.0", "axes": ["C"]})";
  for (const std::string &formula :
       {R"({"sum_along": [)" + kept + R"(], "axes": ["C"]})", R"({"slice": [)" + kept + R"(], "axes": ["C"], "sizes": [0, 1]})",
        R"({"mean_along": [{"rename": [)" + kept + R"(], "axes": ["C"], "to": ["K"]}], "axes": ["K"]})",
        R"({"max_along": [{"select": [{"less": [0, )" + kept +
            R"(]}, {"expand": [2], "axes": ["C"], "sizes": [3]}, 1]}], "axes": ["C"]})"})
    EXPECT_TRUE(parseManifest(withAverage(good, formula)).ok())
        << formula << parseManifest(withAverage(good, formula)).status().message();
  const std::pair<std::string, const char *> mistakes[] = {
      {kept, "the formula is no number, it has axis C"},
      {R"({"sum": "part.0"})", "axis C of 'part.0' remains"},
      {R"({"sum": "part.0", "axes": ["B", "C"]})", "axis B of 'part.0' does not remain"},
      {R"({"sum": "part.0", "axes": ["C", "D"]})", "has no such axes"},
      {R"({"count": "part.0", "sizes": [3], "axes": ["C"]})", "axis C of 'part.0' does not remain"},
      {R"({"sum": "part.1"})", "'part.1' is no part with rows"},
      {R"({"mean": "part.0"})", "'part.0' is a part with rows"},
      {R"({"greatest": "part.2"})", "there is no output 'part.2'"},
      {R"({"sum_along": [{"mul": [)" + kept + R"(, {"mean": "part.1"}]}], "axes": ["C"]})", "axis C has two sizes"},
      {R"({"sum_along": [)" + kept + R"(], "axes": ["D"]})", "there is no axis D"},
      {R"({"sum_along": [)" + kept + R"(], "axes": ["C", "C"]})", "an axis occurs twice"},
      {R"({"expand": [)" + kept + R"(], "axes": ["C"], "sizes": [3]})", "there is an axis C"},
      {R"({"slice": [)" + kept + R"(], "axes": ["C"], "sizes": [0]})", "do not fit together"},
      {R"({"rename": [)" + kept + R"(], "axes": ["C"]})", "do not fit together"},
      {R"({"select": [1, 2]})", "select takes 3 values"},
      {R"({"median": [1]})", "expected a number, sum, greatest, least, count, mean or an operation"}};
  for (const auto &[formula, message] : mistakes)
    expectError(parseManifest(withAverage(good, formula)).status(), ErrorKind::Input, message);
}

TEST(Context, RunsTheSameForAnyNumberOfThreads) {
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(5).ok());
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 3, 8}) {
    auto context = Context::create(parameters, "infer", {{"B", 137}}, makePool(threads));
    ASSERT_TRUE(context.ok()) << context.status().message();
    auto *ids = static_cast<int32_t *>((*context)->input(0));
    for (int i = 0; i < 137; ++i)
      ids[i] = i * 7 % 5;
    ASSERT_TRUE((*context)->run().ok());
    const float *y = static_cast<const float *>(*(*context)->output(0));
    results.emplace_back(y, y + 137 * 20);
  }
  for (size_t i = 1; i < results.size(); ++i)
    EXPECT_EQ(0, std::memcmp(results[0].data(), results[i].data(), results[0].size() * 4));
  // The value itself, computed from the published tensors.
  std::vector<float> weight(60), table(15), other(60);
  ASSERT_TRUE(parameters->get("blocks.0.weight", weight.data(), 240).ok());
  ASSERT_TRUE(parameters->get("blocks.1.weight", other.data(), 240).ok());
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  for (int o = 0; o < 20; ++o) {
    double sum = 0.75; // biases of 0.25 and 0.5
    for (int i = 0; i < 3; ++i)
      sum += (double(weight[o * 3 + i]) + other[o * 3 + i]) * table[2 * 3 + i]; // row 1 has id 7 % 5 = 2
    EXPECT_NEAR(results[0][20 + o], sum, 1e-6);
  }
}

TEST(Context, ChecksDimsAndIndices) {
  auto parameters = fakeParameters();
  auto pool = makePool(1);
  using Dims = std::map<std::string, int64_t>;
  expectError(Context::create(parameters, "infer", Dims{}, pool).status(), ErrorKind::Usage, "needs a value for the dim B");
  expectError(Context::create(parameters, "infer", Dims{{"B", 2}, {"T", 3}}, pool).status(), ErrorKind::Usage, "has no dim T");
  expectError(Context::create(parameters, "infer", Dims{{"B", 0}}, pool).status(), ErrorKind::Input, "at least 1");
  expectError(Context::create(parameters, "infer", Dims{{"B", 1001}}, pool).status(), ErrorKind::Input, "at most 1000");
  expectError(Context::create(parameters, "encode", Dims{{"B", 2}}, pool).status(), ErrorKind::Usage,
              "no entry 'encode', only infer, train");
  auto context = Context::create(parameters, "infer", Dims{{"B", 4}}, pool);
  ASSERT_TRUE(context.ok());
  int32_t *ids = static_cast<int32_t *>((*context)->input(0));
  for (int32_t bad : {5, -1, INT32_MIN, INT32_MAX}) {
    ids[2] = bad;
    expectError((*context)->run(), ErrorKind::Input, concat("input 'ids' holds ", bad, " at [2], expected 0 .. 4"));
  }
  ids[2] = 4;
  EXPECT_TRUE((*context)->run().ok());
}

TEST(Context, SwapsStatesAfterSuccessOnly) {
  auto parameters = fakeParameters();
  auto pool = makePool(2);
  auto context = Context::create(parameters, "infer", {{"B", 3}}, pool);
  ASSERT_TRUE(context.ok());
  auto count = [&](Context &c) { return reinterpret_cast<const float *>(c.state(0).hostView())[2]; };
  EXPECT_EQ(count(**context), 7);
  ASSERT_TRUE((*context)->run().ok());
  ASSERT_TRUE((*context)->run().ok());
  EXPECT_EQ(count(**context), 9);
  auto copy = Context::create(parameters, "infer", {{"B", 3}}, pool);
  ASSERT_TRUE((*copy)->copyStatesFrom(**context).ok());
  EXPECT_EQ(count(**copy), 9);
  auto other = Context::create(parameters, "infer", {{"B", 4}}, pool);
  expectError((*other)->copyStatesFrom(**context), ErrorKind::Usage, "differs in shape");
  (*context)->resetStates();
  EXPECT_EQ(count(**context), 7);
  // B = 999 makes the fake entry fail after it has written its states.
  auto failing = Context::create(parameters, "infer", {{"B", 999}}, pool);
  expectError((*failing)->run(), ErrorKind::Input, "run-time check number 3");
  EXPECT_EQ(count(**failing), 7);
}

TEST(Context, SharesStatesOfTheModel) {
  auto parameters = fakeParameters();
  auto pool = makePool(1);
  auto train = Context::create(parameters, "train", {{"B", 2}}, pool);
  auto infer = Context::create(parameters, "infer", {{"B", 2}}, pool);
  ASSERT_TRUE(train.ok() && infer.ok());
  ASSERT_TRUE((*train)->run().ok());
  ASSERT_TRUE((*train)->run().ok());
  ASSERT_TRUE((*infer)->run().ok());
  EXPECT_EQ(reinterpret_cast<const float *>((*infer)->state(1).hostView())[5], 4); // doubled twice
  (*infer)->resetStates();
  EXPECT_EQ(reinterpret_cast<const float *>((*infer)->state(1).hostView())[5], 4); // not the context's to reset
}

TEST(Context, TrainsOrGivesGradientsOnly) {
  auto parameters = fakeParameters();
  auto train = Context::create(parameters, "train", {{"B", 2}}, makePool(1));
  ASSERT_TRUE(train.ok());
  (*train)->setFlags(1);
  ASSERT_TRUE((*train)->run().ok());
  std::vector<float> table(15), gradient(15);
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  ASSERT_TRUE(parameters->get("table", gradient.data(), 60, ParameterArena::Gradients).ok());
  EXPECT_EQ(table[14], 0);
  EXPECT_EQ(gradient[14], 1);
  (*train)->setFlags(0);
  ASSERT_TRUE((*train)->run().ok());
  ASSERT_TRUE(parameters->get("table", table.data(), 60).ok());
  EXPECT_EQ(table[14], -0.5f);
  expectError(parameters->get("table", table.data(), 60, ParameterArena::Moment1), ErrorKind::Usage, "not allocated");
}

// One half leaves what the other one reads, and nothing else is touched by it.
TEST(Context, RunsAStepInHalves) {
  auto parameters = fakeParameters();
  auto train = Context::create(parameters, "train", {{"B", 2}}, makePool(1));
  auto infer = Context::create(parameters, "infer", {{"B", 2}}, makePool(1));
  ASSERT_TRUE(train.ok() && infer.ok());
  auto valueOf = [&](ParameterArena arena) {
    std::vector<float> table(15);
    EXPECT_TRUE(parameters->get("table", table.data(), 60, arena).ok());
    return table[14];
  };
  ASSERT_TRUE((*train)->runGradients().ok());
  EXPECT_EQ(valueOf(ParameterArena::Values), 0);
  EXPECT_EQ(valueOf(ParameterArena::Gradients), 1);
  std::vector<float> doubled(15, 2);
  ASSERT_TRUE(parameters->set("table", doubled.data(), 60, ParameterArena::Gradients).ok());
  const uint64_t states = (*train)->state(0).address();
  ASSERT_TRUE((*train)->runUpdate().ok());
  EXPECT_EQ(valueOf(ParameterArena::Values), -1);
  EXPECT_EQ((*train)->state(0).address(), states);
  EXPECT_EQ(reinterpret_cast<const float *>((*train)->state(0).hostView())[5], 2); // doubled once
  expectError((*infer)->runUpdate(), ErrorKind::Usage, "entry 'infer' has no update half: it does not train");
  expectError((*infer)->runGradients(), ErrorKind::Usage, "entry 'infer' has no gradient half: it does not train");
  (*train)->setFlags(3);
  expectError((*train)->run(), ErrorKind::Usage, "runs one half alone, or both without a flag");
}

TEST(Context, TellsWhenGradientsAreReady) {
  auto parameters = fakeParameters();
  auto train = Context::create(parameters, "train", {{"B", 2}}, makePool(1));
  auto infer = Context::create(parameters, "infer", {{"B", 2}}, makePool(1));
  ASSERT_TRUE(train.ok() && infer.ok());
  EXPECT_TRUE((*infer)->groups().empty());
  std::vector<std::vector<std::string>> groups;
  for (const std::vector<int> &group : (*train)->groups()) {
    groups.emplace_back();
    for (int number : group)
      groups.back().push_back(parameters->names()[static_cast<size_t>(number)]);
  }
  EXPECT_EQ(groups, (std::vector<std::vector<std::string>>{{"table"}, {"blocks.1.bias"}, {"blocks.0.bias"}}));
  struct Told {
    std::vector<int> groups;
    unsigned mode = 0;
  } told;
  const unsigned before = _mm_getcsr();
  (*train)->onGroup(
      [](void *user, int group) {
        static_cast<Told *>(user)->groups.push_back(group);
        static_cast<Told *>(user)->mode = _mm_getcsr();
      },
      &told);
  ASSERT_TRUE((*train)->runGradients().ok());
  EXPECT_EQ(told.groups, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(told.mode & 0xffc0u, before & 0xffc0u); // numbers that are not normal are the caller's again
  ASSERT_TRUE((*train)->runUpdate().ok());
  EXPECT_EQ(told.groups.size(), 3u);
  (*train)->onGroup(nullptr, nullptr);
  ASSERT_TRUE((*train)->run().ok());
  EXPECT_EQ(told.groups.size(), 3u);
}

TEST(Context, LendsBuffers) {
  auto parameters = fakeParameters();
  ASSERT_TRUE(parameters->initialize(1).ok());
  auto context = Context::create(parameters, "infer", {{"B", 16}}, makePool(2));
  ASSERT_TRUE(context.ok());
  alignas(64) int32_t ids[32] = {3};
  alignas(64) float y[320] = {};
  ASSERT_TRUE((*context)->borrowInput(0, ids).ok());
  ASSERT_TRUE((*context)->borrowOutput(0, y).ok());
  expectError((*context)->borrowInput(0, ids + 1), ErrorKind::Usage, "64-byte aligned");
  expectError((*context)->borrowInput(1, ids), ErrorKind::Usage, "no input number 1");
  ASSERT_TRUE((*context)->run().ok());
  EXPECT_NE(y[0], y[20]); // ids 3 and 0
  ASSERT_TRUE((*context)->borrowInput(0, nullptr).ok());
  EXPECT_NE((*context)->input(0), static_cast<void *>(ids));
}

TEST(Context, RestoresTheCallersFloatingPointMode) {
  auto parameters = fakeParameters();
  auto context = Context::create(parameters, "infer", {{"B", 16}}, makePool(2));
  ASSERT_TRUE(context.ok());
  unsigned odd = 0x1f80u | _MM_ROUND_DOWN;
  unsigned before = _mm_getcsr();
  _mm_setcsr(odd);
  Status status = (*context)->run();
  unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(after & 0xffc0u, odd & 0xffc0u);
}

TEST(Memory, ComparesWithWhatIsFree) {
  uint64_t available = availableBytes();
  ASSERT_GT(available, 0u);
  EXPECT_TRUE(checkMemory({{"a little", 1 << 20}}).ok());
  expectError(checkMemory({{"parameters", available}, {"workspace", 1 << 20}}), ErrorKind::Resource, "workspace");
  expectError(checkMemory({{"wraps", UINT64_MAX}, {"around", 2}}), ErrorKind::Resource, "not enough memory");
  auto arena = Arena::allocate(8 << 20, 3, "test");
  ASSERT_TRUE(arena.ok());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena->data()) % (2 << 20), 3 * 257 * 1024u);
  std::memset(arena->data(), 1, arena->size());
  EXPECT_GE(peakResidentBytes(), arena->size());
  expectError(Arena::allocate(UINT64_MAX - 5, 0, "test").status(), ErrorKind::Resource, "address space");
}

} // namespace tenon::runtime::test
