#include "lowering/tensor/WidenParameters.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/StoredParameter.h"

using namespace mlir;

namespace tenon {

Type readOtherwise(ReadParameterOp read) {
  return otherReadType(read->getParentOfType<ModuleOp>().lookupSymbol<ParameterOp>(read.getParameter()));
}

namespace {

/// A value of f32 as it lies in memory: in 16 bits, with or without a remainder.
struct Stored {
  Value upper, remainder;

  Value widened(OpBuilder &builder, RankedTensorType wide) const {
    if (remainder)
      return JoinOp::create(builder, upper.getLoc(), wide, upper, remainder);
    return Build(builder, upper.getLoc()).convert(upper, wide.getElementType());
  }
};

/// Views and slices that whatever multiplies them reads in another type by now.
void dropUnread(Value whole) {
  for (Operation *user : llvm::make_early_inc_range(whole.getUsers()))
    if (user->hasTrait<View>() || isa<AtDepthOp>(user)) {
      dropUnread(user->getResult(0));
      if (user->use_empty())
        user->erase();
    }
}

/// The slices of `whole`, of which a loop reads one a round, are read as they lie and widened there: f32 of the whole has no
/// memory that they could be parts of.
void widenSlices(Value whole, const Stored &stored) {
  for (Operation *user : llvm::make_early_inc_range(whole.getUsers())) {
    auto load = dyn_cast<AtDepthOp>(user);
    if (!load)
      continue;
    OpBuilder builder(load);
    auto slice = [&](Value of) -> Value {
      return of ? AtDepthOp::create(builder, load.getLoc(), of, load.getDepth(), load.getFirst()) : Value();
    };
    const Stored part{slice(stored.upper), slice(stored.remainder)};
    load.getY().replaceAllUsesWith(part.widened(builder, load.getY().getType()));
    load.erase();
  }
}

} // namespace

void widenParameters(func::FuncOp function, Type stored, bool hasRemainders) {
  SmallVector<ReadParameterOp> reads;
  function.walk([&](ReadParameterOp read) { reads.push_back(read); });
  for (ReadParameterOp read : reads) {
    Value value = read.getValue();
    const RankedTensorType wide = tensorOf(value);
    if (read.getRemainder() || wide.getElementType() == stored || readOtherwise(read) != stored)
      continue;
    dropUnread(value);
    value.setType(withElement(wide, stored));
    if (value.use_empty())
      continue;
    OpBuilder builder(read->getContext());
    builder.setInsertionPointAfter(read);
    Stored halves{value, {}};
    if (hasRemainders)
      halves.remainder = ReadParameterOp::create(builder, read.getLoc(), withElement(wide, remainderType(read->getContext())),
                                                 read.getParameterAttr(), read.getDepths(), builder.getUnitAttr());
    Value widened = halves.widened(builder, wide);
    value.replaceAllUsesExcept(widened, widened.getDefiningOp());
    widenSlices(widened, halves);
    if (widened.use_empty())
      widened.getDefiningOp()->erase();
  }
}

} // namespace tenon
