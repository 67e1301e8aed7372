#include "lowering/gpu/TileWalk.h"

using namespace mlir;

namespace tenon::gpu {

TileWalk::TileWalk(ImplicitLocOpBuilder &builder, IndexRange range, int64_t step, SeenTiles seen)
    : end(range.high), builder(builder), step(step), isSeen(std::move(seen)) {
  start = seenFrom(range.low);
}

Value TileWalk::seenFrom(Value number) {
  if (!isSeen)
    return number;
  auto loop = scf::WhileOp::create(builder, TypeRange(number.getType()), ValueRange{number});
  OpBuilder::InsertionGuard guard(builder);
  const SmallVector<Location> place{builder.getLoc()};
  Value tested = builder.createBlock(&loop.getBefore(), {}, number.getType(), place)->getArgument(0);
  Value no = arith::ConstantOp::create(builder, builder.getBoolAttr(false));
  Value hidden = builder.createOrFold<arith::SelectOp>(isSeen(tested), no, less(tested, end));
  scf::ConditionOp::create(builder, hidden, ValueRange{tested});
  Value passed = builder.createBlock(&loop.getAfter(), {}, number.getType(), place)->getArgument(0);
  scf::YieldOp::create(builder, ValueRange{tenon::add(builder, passed, constant(builder, step))});
  return loop.getResult(0);
}

SmallVector<Value> TileWalk::over(Value from, ValueRange carried,
                                  llvm::function_ref<SmallVector<Value>(Value, Value, ArrayRef<Value>)> body) {
  if (!isSeen) {
    Value by = constant(builder, step);
    auto loop = scf::ForOp::create(builder, from, end, by, carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar();
    scf::YieldOp::create(builder,
                         body(number, tenon::add(builder, number, by), llvm::to_vector_of<Value>(loop.getRegionIterArgs())));
    return llvm::to_vector_of<Value>(loop.getResults());
  }
  SmallVector<Value> all{from};
  llvm::append_range(all, carried);
  const SmallVector<Type> types(ValueRange(all).getTypes());
  const SmallVector<Location> places(types.size(), builder.getLoc());
  auto loop = scf::WhileOp::create(builder, types, all);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, places);
  scf::ConditionOp::create(builder, less(before->getArgument(0), end), before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, places);
  SmallVector<Value> now = llvm::to_vector_of<Value>(after->getArguments()), results{next(now[0])};
  llvm::append_range(results, body(now[0], results[0], ArrayRef(now).drop_front()));
  scf::YieldOp::create(builder, results);
  return llvm::to_vector_of<Value>(llvm::drop_begin(loop.getResults()));
}

} // namespace tenon::gpu
