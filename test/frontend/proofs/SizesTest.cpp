#include "dialect/Sizes.h"
#include "frontend/proofs/IndexProof.h"
#include <gtest/gtest.h>

using namespace tenon;

TEST(Sizes, ArithmeticOfForms) {
  Size M = Size::dim(0), T = Size::dim(1);
  Size S = *add(M, T);
  EXPECT_EQ(S, *add(T, M));
  EXPECT_NE(S, M);
  EXPECT_EQ(*subtract(S, T), M);
  EXPECT_EQ(subtract(S, S)->asConstant(), 0);
  EXPECT_FALSE(S.asConstant());
  EXPECT_EQ(*multiply(S, Size(3)), *add(*multiply(Size(3), M), *multiply(T, Size(3))));
  EXPECT_FALSE(multiply(M, T));
  EXPECT_EQ(multiply(M, Size(0))->asConstant(), 0);
  EXPECT_EQ((*subtract(*multiply(S, Size(2)), Size(1))).evaluate({5, 7}), 23);
}

TEST(Sizes, ExactDivision) {
  Size T = Size::dim(0);
  Size form = *add(*multiply(T, Size(4)), Size(6));
  EXPECT_EQ(*divideExactly(form, 2), *add(*multiply(T, Size(2)), Size(3)));
  EXPECT_FALSE(divideExactly(form, 4));
  EXPECT_FALSE(divideExactly(form, 0));
  EXPECT_EQ(*divideExactly(form, -2), *subtract(*multiply(T, Size(-2)), Size(3)));
}

TEST(Sizes, DivisionRoundsTheConstantDown) {
  Size T = Size::dim(0), four = *multiply(T, Size(4)), two = *multiply(T, Size(2));
  EXPECT_EQ(divideDown(*add(four, Size(3)), 2), add(two, Size(1)));
  EXPECT_EQ(divideDown(*subtract(four, Size(1)), 2), subtract(two, Size(1)));
  EXPECT_EQ(divideDown(*subtract(four, Size(7)), 4), subtract(T, Size(2)));
  EXPECT_EQ(divideDown(*add(four, Size(1)), -4), subtract(*multiply(T, Size(-1)), Size(1)));
  EXPECT_FALSE(divideDown(*add(four, T), 2));
  EXPECT_EQ(divideDown(Size(-7), 2), Size(-4));
  EXPECT_FALSE(divideDown(Size(INT64_MIN), -1));
}

TEST(Sizes, OverflowIsReported) {
  Size big(INT64_MAX), T = Size::dim(0);
  EXPECT_FALSE(add(big, Size(1)));
  EXPECT_FALSE(subtract(Size(INT64_MIN), Size(1)));
  EXPECT_FALSE(subtract(Size(0), Size(INT64_MIN)));
  EXPECT_FALSE(multiply(big, Size(2)));
  EXPECT_FALSE(multiply(*multiply(T, big), Size(2)));
  EXPECT_FALSE(add(*multiply(T, big), T));
  EXPECT_FALSE(divideExactly(Size(INT64_MIN), -1));
  EXPECT_EQ((*multiply(T, Size(INT64_MAX))).evaluate({3}), INT64_MAX);
}

TEST(Sizes, Text) {
  std::vector<std::string> names{"M", "T"};
  Size M = Size::dim(0), T = Size::dim(1);
  EXPECT_EQ(Size(0).text(names), "0");
  EXPECT_EQ(Size(-7).text(names), "-7");
  EXPECT_EQ(subtract(Size(1), T)->text(names), "1-T");
  EXPECT_EQ(subtract(Size(-1), T)->text(names), "-T-1");
  EXPECT_EQ(subtract(*add(M, T), Size(1))->text(names), "M+T-1");
  EXPECT_EQ(subtract(M, *multiply(T, Size(2)))->text(names), "M-2*T");
  EXPECT_EQ(add(*subtract(M, T), Size(4))->text(names), "M-T+4");
}
