#include "lowering/gpu/OnlineSoftmax.h"
#include "dialect/Places.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace tenon::gpu {

static constexpr double kInfinity = std::numeric_limits<double>::infinity(), kLog2OfE = 1.4426950408889634;

OnlineSoftmax::OnlineSoftmax(AttentionOp op, AttentionFragments &on)
    : op(op), on(on), builder(on.builder), operands(on.operands), isLate(scalesLate(operands)),
      factor((isLate ? operands.scale : 1.0) * kLog2OfE) {}

bool OnlineSoftmax::scalesLate(const AttentionOperands &operands) {
  return !operands.step && !operands.selectedScores && !operands.scoreTable && operands.scale > 0;
}

OnlineSoftmax::Rows OnlineSoftmax::start() {
  Value none = on.real(-kInfinity), zero = on.real(0);
  return {{none, none}, {zero, zero}};
}

std::array<Value, 2> OnlineSoftmax::weigh(Numbers &scores, Rows &rows) {
  Value scale = on.real(factor), none = on.real(-kInfinity), zero = on.real(0);
  std::array<Value, 2> rescale;
  auto isOf = [](size_t index, size_t which) { return index % 4 / 2 == which; };
  for (size_t which : {0, 1}) {
    Value now = none;
    for (size_t index = 0; index < scores.size(); ++index)
      if (isOf(index, which))
        now = LLVM::MaxNumOp::create(builder, now, scores[index]);
    now = LLVM::MaxNumOp::create(builder, on.acrossLine(Reduction::max, now), rows.largest[which]);
    Value isNone = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, now, none);
    Value shift = on.select(isNone, zero, now);
    Value difference = arith::SubFOp::create(builder, rows.largest[which], shift), sum = zero;
    rescale[which] = on.power(arith::MulFOp::create(builder, difference, scale));
    Value minus = arith::MulFOp::create(builder, shift, on.real(-factor));
    for (size_t index = 0; index < scores.size(); ++index)
      if (isOf(index, which)) {
        scores[index] = on.power(math::FmaOp::create(builder, scores[index], scale, minus));
        sum = arith::AddFOp::create(builder, sum, scores[index]);
      }
    rows.total[which] = math::FmaOp::create(builder, rows.total[which], rescale[which], sum);
    rows.largest[which] = now;
  }
  return rescale;
}

void OnlineSoftmax::rescale(ImplicitLocOpBuilder &builder, Numbers &sums, const std::array<Value, 2> &factors) {
  for (auto [index, sum] : llvm::enumerate(sums))
    sum = arith::MulFOp::create(builder, sum, factors[index % 4 / 2]);
}

OnlineSoftmax::Fragments OnlineSoftmax::weights(Numbers &scores, const WarpPairs &pairs) {
  Value zero = on.real(0);
  if (on.drops)
    for (auto [score, keep] : llvm::zip_equal(scores, on.kept(pairs)))
      score = on.select(keep, score, zero);
  return on.rounded(scores);
}

void OnlineSoftmax::store(const WarpPairs &pairs, const Rows &rows, const Numbers &sums) {
  for (size_t which : {0, 1})
    storeRow(on.lineOf(pairs, int64_t(which)), rows, sums, which);
}

void OnlineSoftmax::storeRow(Value query, const Rows &rows, const Numbers &sums, size_t which) {
  KernelCode &code = on.code;
  Value zero = on.real(0), largest = rows.largest[which];
  Value total = on.acrossLine(Reduction::sum, rows.total[which]);
  Value isNone = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, total, zero);
  Value inverse = on.select(isNone, zero, arith::DivFOp::create(builder, on.real(1), total));
  Value unseen = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, largest, on.real(-kInfinity));
  if (isLate)
    largest = arith::MulFOp::create(builder, largest, on.real(operands.scale));
  Value ofRow = remainder(builder, on.lane, on.number(4));
  Value isFirst = builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, ofRow, on.number(0));
  code.ifThen(on.less(query, on.queries), [&] {
    code.ifThen(isFirst, [&] {
      if (isRead(op.getRowMax()))
        LLVM::StoreOp::create(builder, on.select(unseen, zero, largest), on.statistic(op.getRowMax(), query));
      if (isRead(op.getRowSumInverse()))
        LLVM::StoreOp::create(builder, inverse, on.statistic(op.getRowSumInverse(), query));
    });
    if (!isRead(op.getY()))
      return;
    const double grown = 65536.0 / double(65536 - operands.threshold());
    Value scale = arith::MulFOp::create(builder, inverse, on.real(grown));
    Value at = add(builder, on.offsetOfQuery(query, operands.valueWidth()), multiply(builder, ofRow, on.number(2)));
    Value base = elementAddress(builder, code.pointer(op.getY()), on.stored, at);
    for (int64_t column = 0; column < operands.valueWidth(); column += 8) {
      auto one = [&](int64_t i) -> Value {
        return arith::MulFOp::create(builder, sums[size_t(column / 2 + 2 * int64_t(which) + i)], scale);
      };
      LLVM::StoreOp::create(builder, on.pack(one(0), one(1)), elementAddress(builder, base, on.stored, on.number(column)), 4);
    }
  });
}

} // namespace tenon::gpu
