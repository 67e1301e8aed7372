// Parameters that lie in panels: their places, their files, what a manifest may say of them, and of their own type.
#include "runtime/parameters/PanelLayout.h"
#include "test/runtime/Support.h"
#include <cstring>

namespace tenon::runtime::test {

/// Of [rows][columns] values their places in panels, from the definition.
static std::vector<uint32_t> inPanels(const PanelInfo &panels, const std::vector<uint32_t> &values, uint64_t rows,
                                      uint64_t columns) {
  std::vector<uint32_t> memory(values.size());
  for (uint64_t row = 0; row < rows; ++row)
    for (uint64_t column = 0; column < columns; ++column) {
      const uint64_t line = panels.transposed ? column : row, inPanel = panels.transposed ? row : column;
      const uint64_t panel = inPanel / panels.width, group = line / panels.steps;
      const uint64_t place =
          ((panel * (panels.lines / panels.steps) + group) * panels.width + inPanel % panels.width) * panels.steps;
      memory[place + line % panels.steps] = values[row * columns + column];
    }
  return memory;
}

TEST(Panels, HaveTheirPlaces) {
  std::vector<uint32_t> values(12 * 20);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<uint32_t>(i);
  for (const PanelInfo &panels : {PanelInfo{12, 20, 4, 1, false}, PanelInfo{12, 20, 10, 2, false}, PanelInfo{20, 12, 4, 1, true},
                                  PanelInfo{20, 12, 6, 5, true}, PanelInfo{12, 20, 20, 12, false}}) {
    const std::vector<uint32_t> expected = inPanels(panels, values, 12, 20);
    std::vector<uint32_t> memory(values.size()), back(values.size());
    writePanels(panels, 4, reinterpret_cast<const char *>(values.data()), reinterpret_cast<char *>(memory.data()));
    EXPECT_EQ(memory, expected);
    readPanels(panels, 4, reinterpret_cast<const char *>(memory.data()), 0, values.size(), reinterpret_cast<char *>(back.data()));
    EXPECT_EQ(back, values);
    for (uint64_t first : {0, 7, 19, 33}) {
      std::vector<uint32_t> part(41);
      readPanels(panels, 4, reinterpret_cast<const char *>(memory.data()), first, part.size(),
                 reinterpret_cast<char *>(part.data()));
      EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin() + static_cast<int64_t>(first)));
    }
    PanelInfo wrong = panels; // another permutation is seen
    wrong.width = panels.width == 4 ? 2 : panels.width / 2;
    if (panels.lines > panels.steps) { // else all columns are one behind the other, whatever the width
      writePanels(wrong, 4, reinterpret_cast<const char *>(values.data()), reinterpret_cast<char *>(memory.data()));
      EXPECT_NE(memory, expected);
    }
  }
}

// Files, names and values are those of row-major parameters; memory is not.
TEST(Panels, AreNoAffairOfFiles) {
  TemporaryFolder folder;
  auto plain = fakeParameters(), inPanels = fakeParameters("fake-panels"), back = fakeParameters("fake-panels");
  ASSERT_TRUE(plain->initialize(9).ok() && inPanels->initialize(9).ok());
  auto memory = [](const Parameters &of) { return of.arena(ParameterArena::Values).hostView(); };
  EXPECT_NE(0, std::memcmp(memory(*plain), memory(*inPanels), 240));
  EXPECT_EQ(0, std::memcmp(memory(*plain) + 768, memory(*inPanels) + 768, 1084 - 768));
  const float *first = reinterpret_cast<const float *>(memory(*plain)),
              *second = reinterpret_cast<const float *>(memory(*inPanels));
  EXPECT_EQ(first[3], second[1]); // row 1 of column 0 is beside row 0
  EXPECT_EQ(plain->signature(), inPanels->signature());
  for (const char *scheme : {"", "hf", "packed"}) {
    const std::string one = folder / concat("one", scheme), two = folder / concat("two", scheme);
    ASSERT_TRUE(plain->save(one, ParameterArena::Values, scheme).ok() &&
                inPanels->save(two, ParameterArena::Values, scheme).ok());
    auto a = File::openForReading(one), b = File::openForReading(two);
    ASSERT_TRUE(a.ok() && b.ok());
    std::vector<char> left(*a->size()), right(*b->size());
    ASSERT_TRUE(a->readAt(0, left.data(), left.size()).ok() && b->readAt(0, right.data(), right.size()).ok());
    EXPECT_EQ(left, right);
    ASSERT_TRUE(back->initialize(1).ok());
    ASSERT_TRUE(back->load(one, {scheme, false, false}).ok());
    EXPECT_EQ(0, std::memcmp(memory(*back), memory(*inPanels), 1084));
  }
  std::vector<float> values(60), others(60);
  ASSERT_TRUE(plain->get("blocks.1.weight", values.data(), 240).ok());
  ASSERT_TRUE(inPanels->get("blocks.1.weight", others.data(), 240).ok());
  EXPECT_EQ(values, others);
}

// A layout that the runtime does not know, or that leaves a rest, is refused, and a type that does not fit.
TEST(Panels, RefusesMistakes) {
  auto artifact = Artifact::open(fakeLibrary());
  ASSERT_TRUE(artifact.ok());
  const std::string good((*artifact)->manifestText());
  struct Row {
    const char *from, *to, *message;
  };
  const Row rows[] = {
      {"\"offset\": 0", "\"offset\": 0, \"layout\": {\"form\": \"tiles\"}", "layout.form: expected one of panels"},
      {"\"offset\": 0",
       "\"offset\": 0, \"layout\": {\"form\": \"panels\", \"leading\": 2, \"width\": 3, \"steps\": 1, \"transposed\": false}",
       "layout.leading: expected 1 .. 1, got 2"},
      {"\"offset\": 0",
       "\"offset\": 0, \"layout\": {\"form\": \"panels\", \"leading\": 1, \"width\": 2, \"steps\": 1, \"transposed\": false}",
       "panels that do not cut the parameter without rest"},
      {"\"offset\": 0",
       "\"offset\": 0, \"layout\": {\"form\": \"panels\", \"leading\": 1, \"width\": 3, \"steps\": 3, \"transposed\": false}",
       "panels that do not cut the parameter without rest"},
      {"\"stride\": 384", "\"stride\": 384, \"dtype\": \"bf16\"", "element type 'bf16' is not supported here"},
      {"\"stride\": 384", "\"stride\": 384, \"dtype\": \"f64\"", "less than the 480 bytes"},
  };
  for (const Row &row : rows) {
    std::string text = good;
    const size_t at = text.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    expectError(parseManifest(text.replace(at, strlen(row.from), row.to)).status(), ErrorKind::Input, row.message);
  }
}

} // namespace tenon::runtime::test
