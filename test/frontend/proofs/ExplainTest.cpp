// Every error code that the sources of the checker mention has a page, and every page belongs to a code that is mentioned.
#include "frontend/explain/Explain.h"
#include "frontend/Diagnostics.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

using namespace tenon;

static std::set<std::string> codesInSources() {
  std::set<std::string> codes;
  const std::regex code("\"(T0[0-9]{3})\"");
  for (const auto &file : std::filesystem::recursive_directory_iterator(TENON_FRONTEND)) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() != ".cpp" || name.rfind("Explain", 0) == 0)
      continue;
    std::ifstream stream(file.path());
    std::ostringstream text;
    text << stream.rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator match(source.begin(), source.end(), code), end; match != end; ++match)
      codes.insert((*match)[1]);
  }
  return codes;
}

TEST(Explain, EveryCodeOfTheCheckerHasAPage) {
  unsigned count = 0;
  for (const std::string &code : codesInSources())
    if (code >= "T0101") {
      EXPECT_NE(explanation(code), "") << code;
      ++count;
    }
  EXPECT_GE(count, 30u);
  EXPECT_EQ(explanation("T9999"), "");
}

TEST(Explain, NoPageTwice) {
  std::set<std::string> seen;
  for (ExplainPages area : explainAreas())
    for (const ExplainPage &page : area)
      EXPECT_TRUE(seen.insert(page.code).second) << page.code;
}
