#include "frontend/names/Names.h"
#include "frontend/syntax/Parse.h"
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

using namespace tenon;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The tables of a text, in the order in which they stand.
struct Tables {
  SourceFiles sources;
  Diagnostics diagnostics;
  NameTables tables;

  void add(const std::string &path, const std::string &text, std::set<std::string> &seen) {
    if (!seen.insert(path).second)
      return;
    sources.files.push_back({path, text});
    ast::File file = parse(sources, uint32_t(sources.files.size() - 1), diagnostics);
    for (const ast::Item &item : file.items)
      if (item.kind == ast::Item::Kind::Import)
        add(item.import.path, readFile(std::string(TENON_SPECS) + "/" + item.import.path), seen);
    for (const ast::Item &item : file.items) {
      if (item.kind == ast::Item::Kind::Model)
        owners.push_back(item.model->name.text);
      if (item.kind == ast::Item::Kind::Callable)
        owners.push_back(item.callable->name.text);
      if (item.kind == ast::Item::Kind::Model)
        for (const ast::StmtPtr &statement : item.model->body)
          if (statement->callable)
            owners.push_back(statement->callable->name.text);
    }
    for (const ast::Item &item : file.items)
      if (item.kind == ast::Item::Kind::Recipe && item.recipe->kind == ast::Recipe::Kind::Names)
        tables.add(*item.recipe, owners, diagnostics);
  }
  explicit Tables(const std::string &path, const std::string &text) {
    std::set<std::string> seen;
    add(path, text, seen);
  }
  std::vector<std::string> owners;
};

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

const char *const kHead = "layer Block(x: [D]) -> [D] { return x }\nmodel M { dim D }\n";

std::string codeOf(const std::string &table) {
  Tables tables("test.tn", kHead + table);
  return tables.diagnostics.all().empty() ? "" : tables.diagnostics.all()[0].code;
}

} // namespace

TEST(Names, AgreeWithTheReferenceEvaluator) {
  std::map<std::string, std::unique_ptr<Tables>> specs;
  unsigned compared = 0;
  for (const std::string &line : split(readFile(std::string(TENON_PROOFS_INPUTS) + "/names.tsv"), '\n')) {
    if (line.empty() || line[0] == '#')
      continue;
    std::vector<std::string> field = split(line, '\t');
    field.resize(7);
    auto &tables = specs[field[0]];
    if (!tables)
      tables = std::make_unique<Tables>(field[0], readFile(std::string(TENON_SPECS) + "/" + field[0]));
    ASSERT_TRUE(tables->diagnostics.all().empty()) << field[0] << ": " << tables->diagnostics.all()[0].message;
    std::vector<UseStep> chain;
    std::vector<int64_t> counts;
    for (const std::string &use : split(field[3], ';')) {
      std::vector<std::string> part = split(use, ':');
      chain.push_back({part[0], part[1], part.size() > 2});
      if (part.size() > 2)
        counts.push_back(std::stoll(part[2]) + 1); // the last element in row-major order is the wanted one
    }
    const PublicName name = tables->tables.publicNames(field[2], field[1], chain, field[4], counts).back();
    EXPECT_EQ(name.name, field[5]) << line;
    const std::string part = name.transform.empty() ? "" : "part " + std::to_string(name.part) + " " + std::to_string(name.parts);
    EXPECT_EQ(part, field[6]) << line;
    ++compared;
  }
  EXPECT_EQ(compared, 1220u);
}

TEST(Names, StackedElementsInRowMajorOrder) {
  Tables t("test.tn", std::string(kHead) + R"(names Block as hf { "w" = stacked("experts.#.w")  "v" = transpose("v_t") }
names M as hf { "outer.*.inner.*" = "h.{2}.{1+1}" })");
  ASSERT_TRUE(t.diagnostics.all().empty());
  std::vector<UseStep> chain = {{"Outer", "outer", true}, {"Block", "inner", true}};
  std::vector<PublicName> names = t.tables.publicNames("hf", "M", chain, "w", {2, 2});
  ASSERT_EQ(names.size(), 4u);
  EXPECT_EQ(names[1].name, "h.1.1.experts.#.w");
  EXPECT_EQ(names[2].name, "h.0.2.experts.#.w");
  EXPECT_EQ(names[2].transform, "stacked");
  EXPECT_EQ(t.tables.publicNames("hf", "M", chain, "v", {1, 1})[0].transform, "transpose");
}

TEST(Names, CopiesOfEveryForm) {
  Tables t("test.tn", std::string(kHead) + R"(names Block as hf { "w" = stacked("experts.#.w")  "v" = copy(transpose("v_t")) }
names M as hf { "first" = "h"  "second" = copy("h") })");
  ASSERT_TRUE(t.diagnostics.all().empty());
  auto of = [&](const char *use, const char *leaf) { return t.tables.publicNames("hf", "M", {{"Block", use}}, leaf, {})[0]; };
  for (const char *leaf : {"w", "v", "u"}) { // of a layer that is a copy all is one
    EXPECT_TRUE(of("second", leaf).copy) << leaf;
    EXPECT_EQ(of("second", leaf).name, of("first", leaf).name);
    EXPECT_EQ(of("second", leaf).transform, of("first", leaf).transform);
  }
  EXPECT_EQ(of("second", "w").name, "h.experts.#.w");
  EXPECT_FALSE(of("first", "w").copy);
  EXPECT_TRUE(of("first", "v").copy);
  EXPECT_EQ(of("first", "v").transform, "transpose");
}

TEST(Names, MistakesInTables) {
  EXPECT_EQ(codeOf(R"(names Block as hf { "up.*" = copy("dense.*")  "v" = copy(part("a", 1, 2)) })"), "");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = copy(copy("a")) })"), "T0656");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = copy("a", 1) })"), "T0656");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = copy(3) })"), "T0652");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = stacked(copy("a.#")) })"), "T0656");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up.*" = "dense.*" })"), "");
  EXPECT_EQ(codeOf(R"(names Blok as hf { "up.*" = "dense.*" })"), "T0650");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up..w" = "dense" })"), "T0651");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up.*" = prt("dense", 0, 3) })"), "T0652");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up.*" = 3 })"), "T0652");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up.*" = "dense.*.*" })"), "T0653");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up.*" = "dense.{2}" })"), "T0653");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up.*" = "dense.{1+x}" })"), "T0653");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = "a" } names Block as hf { "up" = "b" })"), "T0654");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = "a"  "up" = "b" })"), "T0655");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = part("a", 3, 3) })"), "T0656");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = part("a", 3) })"), "T0656");
  EXPECT_EQ(codeOf(R"(names Block as hf { "up" = stacked("a") })"), "T0656");
}
