#include "lowering/gpu/OnlineFolds.h"
#include "dialect/ElementModel.h"
#include "dialect/TensorSizes.h"
#include "lowering/code/Reductions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon::gpu {

/// Whether `other` is the same op, with operands that `same` says.
static bool isSame(Operation &one, Operation &other, IRMapping &same) {
  if (one.getName() != other.getName() || one.getAttrDictionary() != other.getAttrDictionary() || one.getNumRegions() != 0 ||
      one.getResultTypes() != other.getResultTypes() || one.getNumOperands() != other.getNumOperands())
    return false;
  for (auto [a, b] : llvm::zip_equal(one.getOperands(), other.getOperands()))
    if (same.lookupOrDefault(a) != b)
      return false;
  same.map(one.getResults(), other.getResults());
  return true;
}

FoldOp sumUnder(FoldOp maximum) {
  auto sum = dyn_cast_or_null<FoldOp>(maximum->getNextNode());
  const Type type = maximum.getType();
  if (!sum || maximum.getKind() != Reduction::max || sum.getKind() != Reduction::sum || sum.getSizes() != maximum.getSizes() ||
      !isComputed(type) || sum.getType() != type)
    return {};
  Block &of = maximum.getBody().front(), &under = sum.getBody().front();
  IRMapping same;
  same.map(of.getArguments(), under.getArguments());
  auto next = under.begin();
  for (Operation &op : of.without_terminator()) {
    if (next == under.end() || !isSame(op, *next, same))
      return {};
    ++next;
  }
  // What is left is exp(x - maximum).
  auto yield = cast<YieldOp>(under.getTerminator());
  auto exp = yield.getOperand(0).getDefiningOp<math::ExpOp>();
  auto difference = exp ? exp.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  const bool fits = difference && difference.getRhs() == maximum.getValue() &&
                    difference.getLhs() == same.lookupOrDefault(cast<YieldOp>(of.getTerminator()).getOperand(0)) &&
                    std::distance(next, under.end()) == 3;
  return fits ? sum : FoldOp();
}

/// With e = exp(-|x - m|): a larger x makes e of what was summed, another one adds e.
MaximumAndSum foldOnline(KernelCode &code, ScalarCode &scalars, FoldOp maximum, bool onlyFirst) {
  auto &builder = code.builder;
  const Type element = maximum.getType();
  SmallVector<AffineExpr> sizes = llvm::to_vector(maximum.getSizes().getResults());
  Block &block = maximum.getBody().front();
  Value one = arith::ConstantOp::create(builder, builder.getOneAttr(element));
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(element));
  auto loop =
      scf::ForOp::create(builder, code.thread(), code.size(product(sizes, maximum.getContext())), constant(builder, code.threads),
                         ValueRange{neutralElement(builder, Reduction::max, element), zero});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    scalars.bindSplit(block.getArguments(), loop.getInductionVar(), sizes);
    scalars.emitOps(block);
    Value x = scalars.get(cast<YieldOp>(block.getTerminator()).getOperand(0));
    Value most = loop.getRegionIterArgs()[0], sum = loop.getRegionIterArgs()[1];
    Value size = math::AbsFOp::create(builder, arith::SubFOp::create(builder, x, most));
    Value e = exponentialAtMostOne(builder, arith::NegFOp::create(builder, size));
    // Two infinities have no difference.
    e = arith::SelectOp::create(builder, arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, x, most), one, e);
    Value isLarger = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, x, most);
    Value scaled = arith::AddFOp::create(builder, arith::MulFOp::create(builder, sum, e), one);
    sum = arith::SelectOp::create(builder, isLarger, scaled, arith::AddFOp::create(builder, sum, e));
    scf::YieldOp::create(builder, ValueRange{combine(builder, Reduction::max, most, x), sum});
  }
  Value own = loop.getResult(0), most = code.combineBlock(Reduction::max, own);
  Value factor = exponentialAtMostOne(builder, arith::SubFOp::create(builder, own, most));
  return {most, code.combineBlock(Reduction::sum, arith::MulFOp::create(builder, loop.getResult(1), factor), 1, onlyFirst)};
}

} // namespace tenon::gpu
