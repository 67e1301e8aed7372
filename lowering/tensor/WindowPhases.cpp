// The gradient of the input of a convolution with steps of s, and other contractions of windows between whose elements zeros lie.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "lowering/tensor/WindowContractions.h"

#include <numeric>

using namespace mlir;

namespace tenon {
namespace {

/// A phase is a contraction of its own, so code grows by the steps: of 16 x 16 patches it would be 256 times that of one.
constexpr int64_t kMostPhases = 4;

/// Which places k of a window that element i = s i' + phase reads are not empty: first + step n, n < count.
struct Taps {
  int64_t first = 0, step = 1, count = 0;
};

/// `j = (i + dilation k - pad) / s` is whole for these k.
Taps tapsOf(int64_t phase, int64_t steps, int64_t dilation, int64_t pad, int64_t places) {
  Taps taps{0, steps / std::gcd(steps, dilation), 0};
  while (taps.first < taps.step && (phase + dilation * taps.first - pad) % steps != 0)
    ++taps.first;
  if (taps.first < std::min(taps.step, places))
    taps.count = (places - taps.first + taps.step - 1) / taps.step;
  return taps;
}

/// y[.., i, ..] = sum over k of w[.., (i + d k - p) / s, k, ..] f[.., k, ..], where the quotient is whole for one k in s alone:
/// the elements with i = s i' + r are a contraction of windows without a divisor and of every s-th f, so no zero is multiplied.
/// Every sum has the same terms in the same order. One dimension at a time; the next one splits what this one leaves.
class ContractByPhase : public OpRewritePattern<DotOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DotOp dot, PatternRewriter &rewriter) const override {
    for (Sides sides : {Sides{dot.getA(), dot.getB(), dot.getALabels(), dot.getBLabels()},
                        Sides{dot.getB(), dot.getA(), dot.getBLabels(), dot.getALabels()}}) {
      auto window = sides.windows.getDefiningOp<WindowOp>();
      if (!window || window.getPaired() || !window.getFill().isZero())
        continue;
      for (size_t entry = 0; entry < window.getDims().size(); ++entry)
        if (isSplit(dot, sides, window, entry)) {
          rewriter.replaceOp(dot, interleaved(dot, sides, window, entry, rewriter));
          return success();
        }
    }
    return rewriter.notifyMatchFailure(dot, "no windows with zeros between what they show");
  }

private:
  struct Sides {
    Value windows, factor;
    ArrayRef<int64_t> windowLabels, factorLabels;
  };

  static std::optional<int64_t> placesOf(WindowOp window, size_t entry) {
    auto size = dyn_cast<AffineConstantExpr>(sizesOf(tensorOf(window.getY()))[window.placeDim(entry)]);
    return size ? std::optional(size.getValue()) : std::nullopt;
  }

  static bool isSplit(DotOp dot, const Sides &sides, WindowOp window, size_t entry) {
    const int64_t steps = window.getDivisor()[entry], rank = tensorOf(dot.getY()).getRank();
    const int64_t element = sides.windowLabels[window.windowDim(entry)], place = sides.windowLabels[window.placeDim(entry)];
    return steps > 1 && steps <= kMostPhases && window.getStride()[entry] == 1 && placesOf(window, entry) && element < rank &&
           place >= rank && !llvm::is_contained(sides.factorLabels, element) && llvm::is_contained(sides.factorLabels, place);
  }

  static RankedTensorType resized(Value value, int64_t dim, AffineExpr size, unsigned dimCount) {
    SmallVector<AffineExpr> sizes = sizesOf(tensorOf(value));
    sizes[dim] = size;
    return tensorType(sizes, tensorOf(value).getElementType(), dimCount);
  }

  /// Every `step`-th element of the factor along the places.
  static Value factorOf(const Taps &taps, Value factor, int64_t dim, OpBuilder &builder, Location location) {
    SmallVector<AffineExpr> sizes = sizesOf(tensorOf(factor));
    auto number = [&](int64_t value) { return getAffineConstantExpr(value, builder.getContext()); };
    sizes[dim] = number(taps.count);
    sizes.insert(sizes.begin() + dim + 1, number(1));
    const unsigned dimCount = dimCountOf(tensorOf(factor));
    auto one = [&](int64_t value) { return builder.getDenseI64ArrayAttr(value); };
    Value picked =
        WindowOp::create(builder, location, tensorType(sizes, tensorOf(factor).getElementType(), dimCount), factor, one(dim),
                         one(taps.step), one(1), one(-taps.first), one(1), builder.getF64FloatAttr(0), UnitAttr());
    SmallVector<int64_t> groups(tensorOf(factor).getRank(), 1);
    groups[dim] = -2;
    return ReshapeOp::create(builder, location, resized(factor, dim, number(taps.count), dimCount), picked,
                             builder.getDenseI64ArrayAttr(groups));
  }

  /// The elements s i' + phase of the result.
  static Value ofPhase(DotOp dot, const Sides &sides, WindowOp window, size_t entry, int64_t phase, RankedTensorType type,
                       OpBuilder &builder) {
    const int64_t steps = window.getDivisor()[entry], dilation = window.getDilation()[entry], pad = window.getPad()[entry];
    const Taps taps = tapsOf(phase, steps, dilation, pad, *placesOf(window, entry));
    if (taps.count == 0)
      return Build(builder, dot.getLoc()).constant(type, 0);
    const int64_t element = sides.windowLabels[window.windowDim(entry)], place = sides.windowLabels[window.placeDim(entry)];
    auto changed = [&](ArrayRef<int64_t> numbers, int64_t value) {
      SmallVector<int64_t> all(numbers);
      all[entry] = value;
      return builder.getDenseI64ArrayAttr(all);
    };
    SmallVector<AffineExpr> sizes = sizesOf(tensorOf(window.getY()));
    sizes[window.windowDim(entry)] = sizesOf(type)[element];
    sizes[window.placeDim(entry)] = getAffineConstantExpr(taps.count, builder.getContext());
    const unsigned dimCount = std::max(dimCountOf(tensorOf(window.getY())), dimCountOf(type));
    Value shown = WindowOp::create(
        builder, window.getLoc(), tensorType(sizes, tensorOf(window.getY()).getElementType(), dimCount), window.getX(),
        window.getDimsAttr(), window.getStrideAttr(), changed(window.getDilation(), dilation * taps.step / steps),
        changed(window.getPad(), -(phase + dilation * taps.first - pad) / steps), changed(window.getDivisor(), 1),
        window.getFillAttr(), UnitAttr());
    Value factor =
        factorOf(taps, sides.factor, llvm::find(sides.factorLabels, place) - sides.factorLabels.begin(), builder, dot.getLoc());
    const bool isA = sides.windows == dot.getA();
    auto sum = DotOp::create(builder, dot.getLoc(), type, isA ? shown : factor, isA ? factor : shown, dot.getALabels(),
                             dot.getBLabels());
    return multiplyingIn(dot->getAttr(kCompute), sum);
  }

  static Value interleaved(DotOp dot, const Sides &sides, WindowOp window, size_t entry, OpBuilder &builder) {
    const int64_t steps = window.getDivisor()[entry], dim = sides.windowLabels[window.windowDim(entry)];
    Location location = dot.getLoc();
    auto whole = tensorOf(dot.getY());
    const unsigned dimCount = dimCountOf(whole);
    AffineExpr size = sizesOf(whole)[dim], count = simplifyAffineExpr((size + (steps - 1)).floorDiv(steps), dimCount, 0);
    SmallVector<AffineExpr> apart = sizesOf(whole);
    apart[dim] = count;
    auto type = tensorType(apart, whole.getElementType(), dimCount);
    apart.insert(apart.begin() + dim + 1, getAffineConstantExpr(1, builder.getContext()));
    auto typeApart = tensorType(apart, whole.getElementType(), dimCount);
    SmallVector<int64_t> groups(whole.getRank(), 1);
    groups[dim] = 2;
    SmallVector<Value> phases;
    for (int64_t phase = 0; phase < steps; ++phase)
      phases.push_back(ReshapeOp::create(builder, location, typeApart, ofPhase(dot, sides, window, entry, phase, type, builder),
                                         builder.getDenseI64ArrayAttr(groups)));
    Value joined = ConcatOp::create(builder, location, dim + 1, phases);
    groups[dim] = -2;
    AffineExpr merged = simplifyAffineExpr(count * steps, dimCount, 0);
    Value all = ReshapeOp::create(builder, location, resized(dot.getY(), dim, merged, dimCount), joined,
                                  builder.getDenseI64ArrayAttr(groups));
    if (merged == size)
      return all;
    auto first = AffineMap::get(dimCount, 0, getAffineConstantExpr(0, builder.getContext()));
    return SliceOp::create(builder, location, whole, all, dim, first);
  }
};

} // namespace

void addWindowPhases(RewritePatternSet &patterns) { patterns.add<ContractByPhase>(patterns.getContext()); }

} // namespace tenon
