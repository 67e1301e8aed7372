// Checks of the manifest.
#include "test/runtime/Support.h"
#include "test/runtime/abi_text.h"
#include <cstring>
#include <span>

namespace tenon::runtime::test {

/// Breaks the manifest of the fake artifact in one place: the error must name it.
struct Row {
  const char *from, *to, *message;
};
static std::string fakeManifest() {
  auto artifact = Artifact::open(fakeLibrary());
  EXPECT_TRUE(artifact.ok());
  return std::string((*artifact)->manifestText());
}
static void refuse(const std::string &good, std::span<const Row> rows) {
  ASSERT_TRUE(parseManifest(good).ok());
  for (const Row &row : rows) {
    std::string bad = good;
    size_t at = bad.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    bad.replace(at, std::strlen(row.from), row.to);
    expectError(parseManifest(bad).status(), ErrorKind::Input, row.message);
  }
}

TEST(Manifest, RefusesMistakesInStates) {
  const Row rows[] = {
      {"\"shape\": [3], \"initial\"", "\"shape\": [{\"const\": 0, \"terms\": {\"B\": 1}}], \"initial\"",
       "cannot depend on a run-time dim"},
      {"\"initial\": 7", "\"initial\": {\"kind\": \"normal\", \"a\": 1}",
       "that is not of the model, or of no reals, starts from"},
      {"\"initial\": 1, \"of_model\"", "\"initial\": {\"kind\": \"normal\", \"a\": 1, \"as\": \"w\"}, \"of_model\"",
       "the name 'w' needs one * per size of its stack"},
      {"\"initial\": 1, \"of_model\"", "\"initial\": \"one\", \"of_model\"", "expected a number"},
      {"\"initial\": 1, \"of_model\"", "\"names\": {\"hf\": []}, \"initial\": 1, \"of_model\"",
       "names 'hf' need one for each of"},
      {"\"initial\": 1, \"of_model\"",
       "\"names\": {\"hf\": [{\"name\": \"a\", \"transform\": \"transpose\"}]}, \"initial\": 1, \"of_model\"",
       "a state of the model is a whole tensor"},
  };
  refuse(fakeManifest(), rows);
}

TEST(Manifest, RefusesMistakes) {
  const std::string good = fakeManifest();
  const Row rows[] = {
      {"\"format\": 1", "\"format\": 2", "format 2 is not known"},
      {"\"abi\": " ABI_TEXT, "\"abi\": 8", "ABI version 8, this runtime has " ABI_TEXT},
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
      {"\"max\": 1000", "\"max\": -2", "expected -1"},
      {"\"model\": \"FAKE\"", "\"model\": \"FAKE\", \"model\": \"FAKE\"", "occurs twice"},
      {"\"model\": \"FAKE\"", "\"model\": \"FA\xff\"", "not valid JSON"},
      {"\"abi\": " ABI_TEXT, "\"abi\": 18446744073709551616", "is too large"},
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
  refuse(good, rows);
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

TEST(Manifest, ProductsAreOfDims) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok());
  const std::string plain = "{\"B\": 1}";
  for (const auto &[terms, message] :
       {std::pair("{\"B*T\": 1}", "'T' is not a dim"), std::pair("{\"B*\": 1}", "'' is not a dim")}) {
    std::string text((*artifact)->manifestText());
    text.replace(text.find(plain), plain.size(), terms);
    expectError(parseManifest(text).status(), ErrorKind::Input, message);
  }
}

TEST(Manifest, SizesAreSumsOfProducts) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok());
  std::string text((*artifact)->manifestText());
  const std::string plain = "{\"B\": 1}";
  text.replace(text.find(plain), plain.size(), "{\"B\": 2, \"B*B\": 3}");
  auto manifest = parseManifest(text);
  ASSERT_TRUE(manifest.ok());
  for (const EntryInfo &entry : manifest->entries)
    for (const TensorInfo &input : entry.inputs)
      for (const SizeForm &size : input.shape)
        if (!size.products.empty()) {
          EXPECT_EQ(size.print(std::vector<std::string>{"B", "T"}), "2*B+3*B*B");
          EXPECT_EQ(size.evaluate(std::vector<int64_t>{5, 1}), 85);
          EXPECT_EQ(size.evaluate(std::vector<int64_t>{int64_t(1) << 40, 1}), std::nullopt);
          EXPECT_TRUE(size.dependsOn(0) && !size.dependsOn(1) && !size.isOfOneDim() && !size.isConstant());
          return;
        }
  FAIL() << "no input has the size";
}

} // namespace tenon::runtime::test
