// Bounds between formulas and their maxima, against values of the formulas at many dims: a bound that does not hold would make an
// arena of the manifest too small.
#include "dialect/Formula.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/artifact/Formula.h"
#include "gtest/gtest.h"
#include <random>

using namespace tenon;

namespace {

using Dims = std::map<std::string, int64_t, std::less<>>;

int64_t valueOf(const std::string &text, const Dims &dims) { return **runtime::evaluateFormula(text, dims); }

/// Random sums of products, of rounded divisions and of cache lines, over B, T and K.
class Formulas : public testing::Test {
protected:
  Polynomial draw() {
    auto number = [this](int64_t most) { return int64_t(generator() % uint64_t(most)); };
    auto dim = [&] { return mlir::getAffineDimExpr(unsigned(number(3)), &context); };
    mlir::AffineExpr sum = mlir::getAffineConstantExpr(number(3) * 64, &context);
    for (int64_t term = number(3); term >= 0; --term)
      sum = sum + dim() * (1 + number(5)) * (number(2) ? 64 : 1);
    if (number(3) == 0)
      sum = sum.ceilDiv(1 + number(7)) + dim();
    Polynomial result = space.of(sum);
    if (number(3) == 0)
      result = result * space.of(dim());
    return number(2) ? space.aligned(result) : result;
  }
  /// Calls `check` at small, odd and large dims, each by itself.
  template <typename Check> void atDims(Check check) {
    for (int64_t B : {1, 2, 7, 5000})
      for (int64_t T : {1, 3, 64, 4097})
        for (int64_t K : {1, 19, 100000})
          check(Dims{{"B", B}, {"T", T}, {"K", K}});
  }
  mlir::MLIRContext context;
  FormulaSpace space{{"B", "T", "K"}};
  std::mt19937_64 generator{1};
};

TEST_F(Formulas, BoundsHold) {
  int proved = 0, apart = 0;
  for (int pair = 0; pair < 3000; ++pair) {
    const Polynomial left = draw(), right = pair % 3 ? draw() : left + draw();
    const std::string less = space.text(left), more = space.text(right);
    bool holds = true;
    atDims([&](const Dims &dims) { holds &= valueOf(less, dims) <= valueOf(more, dims); });
    if (space.atMost(left, right)) {
      ++proved;
      EXPECT_TRUE(holds) << less << " is not at most " << more;
    }
    apart += !holds;
  }
  // Both kinds of pairs were there.
  EXPECT_GT(proved, 1000);
  EXPECT_GT(apart, 500);
}

TEST_F(Formulas, MaximumIsThatOfItsParts) {
  for (int round = 0; round < 60; ++round) {
    const bool isLong = round % 4 == 0; // more cases than a formula keeps apart
    Maximum first, both;
    std::vector<std::string> parts;
    const Polynomial plus = draw();
    for (int i = isLong ? 80 : 6; i > 0; --i) {
      const Polynomial part = draw();
      first.add(space, part);
      parts.push_back(space.text(part + plus));
    }
    both.add(space, first, plus);
    const Polynomial alone = draw();
    both.add(space, alone);
    parts.push_back(space.text(alone));
    const std::string text = both.text(space);
    atDims([&](const Dims &dims) {
      int64_t most = 0;
      for (const std::string &part : parts)
        most = std::max(most, valueOf(part, dims));
      EXPECT_EQ(valueOf(text, dims), most) << text;
    });
  }
}

} // namespace
