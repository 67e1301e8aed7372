#include "runtime/artifact/Formula.h"
#include <gtest/gtest.h>

namespace tenon::runtime::test {

static std::string valueOf(std::string_view text) {
  auto value = evaluateFormula(text, {{"B", 3}, {"T", 70}, {"max", 5}});
  if (!value.ok())
    return value.status().message();
  return *value ? std::to_string(**value) : "too large";
}

TEST(Formula, Values) {
  EXPECT_EQ(valueOf("0"), "0");
  EXPECT_EQ(valueOf("2*B*T - 4*(T + 1) + 7"), "143");
  EXPECT_EQ(valueOf("-B + T"), "67");
  EXPECT_EQ(valueOf("max(B, 64*ceil((4*T + 1) / 64), 9)"), "320");
  EXPECT_EQ(valueOf("floor(T / 64)*64 + mod(T, 64)"), "70");
  EXPECT_EQ(valueOf("max + max(max, 4)"), "10");
  EXPECT_EQ(valueOf("%0 = max(B, 2); %7 = max(%0 + T, 2*%0) ; %7 + %0"), "76");
  EXPECT_EQ(valueOf("%0 = B; %0"), "3");
}

TEST(Formula, Overflow) {
  EXPECT_EQ(valueOf("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(valueOf("9223372036854775807 + B"), "too large");
  EXPECT_EQ(valueOf("9223372036854775808"), "too large");
  EXPECT_EQ(valueOf("4611686018427387904*B"), "too large");
}

TEST(Formula, Mistakes) {
  for (const char *text :
       {"",       "2*", "B T", "X",   "max(", "max(B", "ceil(B)", "ceil(B / 0)",       "ceil(B / T)", "ceil((0 - B) / 2)",
        "exp(B)", "(B", "B)",  "2.5", "+",    "%0",    "%0 = 1",  "%0 = 1; %0 = 2; 3", "% = 1; 2",    "%0 = %0; 1"})
    EXPECT_NE(valueOf(text).find("is no formula"), std::string::npos) << text;
  EXPECT_NE(valueOf(std::string(100000, '(')).find("too many brackets"), std::string::npos);
}

} // namespace tenon::runtime::test
