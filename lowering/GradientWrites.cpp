#include "lowering/GradientWrites.h"
#include "dialect/Build.h"
#include "lowering/SavedValues.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <set>

using namespace mlir;

namespace tenon {

namespace {

/// The loops over the depths of a write, outermost first.
SmallVector<StackOp> loopsOf(WriteGradientOp write) {
  return llvm::map_to_vector(write.getDepths(), [](Value depth) { return cast<StackOp>(cast<BlockArgument>(depth).getOwner()->getParentOp()); });
}
int64_t low(StackOp loop) { return loop.getFirst(); }
int64_t high(StackOp loop) { return loop.getFirst() + loop.getCount(); }
bool sameDepths(StackOp a, StackOp b) { return low(a) == low(b) && high(a) == high(b); }
bool meet(StackOp a, StackOp b) { return low(a) < high(b) && low(b) < high(a); }

/// Whether two writes share depths, but not all of them.
bool overlap(WriteGradientOp a, WriteGradientOp b) {
  SmallVector<StackOp> first = loopsOf(a), second = loopsOf(b);
  return llvm::all_of_zip(first, second, meet) && !llvm::all_of_zip(first, second, sameDepths);
}

void eraseWithEmptyLoops(WriteGradientOp write) {
  SmallVector<StackOp> loops = loopsOf(write);
  write.erase();
  for (StackOp loop : llvm::reverse(loops)) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(loop.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    if (loop.getNumResults() > 0 || !llvm::hasSingleElement(loop.getBody().front()))
      return;
    loop.erase();
  }
}

/// The value of `of`, which is computed in its loops, in the same depths of `loops`.
void bringInto(SmallVector<StackOp> loops, WriteGradientOp of) {
  for (size_t k = loops.size(); k-- > 0;)
    makeAvailable(loopsOf(of)[k], loops[k]); // replaces the forward loop
}

/// All ranges are equal or apart: the sum is written in the last loop.
void joinInPlace(ArrayRef<WriteGradientOp> writes) {
  SmallVector<WriteGradientOp> last; // one per range of depths
  for (WriteGradientOp write : writes) {
    auto same = llvm::find_if(last, [&](WriteGradientOp other) { return llvm::all_of_zip(loopsOf(other), loopsOf(write), sameDepths); });
    if (same == last.end()) {
      last.push_back(write);
      continue;
    }
    OpBuilder builder(write);
    write.getGradientMutable().assign(Build(builder, write.getLoc()).add(same->getGradient(), write.getGradient()));
    bringInto(loopsOf(write), *same);
    eraseWithEmptyLoops(*same);
    *same = write;
  }
}

class Splitter {
public:
  Splitter(func::FuncOp function, ArrayRef<WriteGradientOp> writes) : function(function), writes(writes), levels(loopsOf(writes.front()).size()) {}

  void run() {
    SmallVector<std::pair<int64_t, int64_t>> cell;
    visit(cell);
    for (WriteGradientOp write : writes)
      eraseWithEmptyLoops(write);
  }

private:
  /// `cell`: ranges of the outer levels, cut where any write begins or ends.
  void visit(SmallVector<std::pair<int64_t, int64_t>> &cell) {
    if (cell.size() == levels)
      return write(cell);
    std::set<int64_t> cuts;
    for (WriteGradientOp each : writes) {
      StackOp loop = loopsOf(each)[cell.size()];
      cuts.insert({low(loop), high(loop)});
    }
    for (auto from = cuts.begin(), to = std::next(from); to != cuts.end(); ++from, ++to) {
      cell.emplace_back(*from, *to);
      visit(cell);
      cell.pop_back();
    }
  }

  void write(ArrayRef<std::pair<int64_t, int64_t>> cell) {
    SmallVector<WriteGradientOp> covering;
    for (WriteGradientOp each : writes)
      if (llvm::all_of_zip(loopsOf(each), cell, [](StackOp loop, std::pair<int64_t, int64_t> range) { return low(loop) <= range.first && range.second <= high(loop); }))
        covering.push_back(each);
    if (covering.empty())
      return;
    Location location = covering.front().getLoc();
    OpBuilder builder(function.getBody().front().getTerminator());
    SmallVector<StackOp> loops;
    SmallVector<Value> depths;
    for (auto [from, to] : cell) {
      loops.push_back(StackOp::create(builder, location, TypeRange(), to - from, ValueRange(), false, from));
      Block *body = new Block;
      loops.back().getBody().push_back(body);
      depths.push_back(body->addArgument(builder.getIndexType(), location));
      builder.setInsertionPointToStart(body);
      builder.setInsertionPoint(YieldOp::create(builder, location, ValueRange()));
    }
    Value sum = covering.front().getGradient();
    for (WriteGradientOp each : ArrayRef(covering).drop_front())
      sum = Build(builder, location).add(sum, each.getGradient());
    WriteGradientOp::create(builder, location, covering.front().getParameterAttr(), depths, sum);
    for (WriteGradientOp each : covering)
      bringInto(loops, each);
  }

  func::FuncOp function;
  ArrayRef<WriteGradientOp> writes;
  size_t levels;
};

} // namespace

void joinGradientWrites(func::FuncOp function) {
  llvm::MapVector<StringAttr, SmallVector<WriteGradientOp>> byParameter;
  function.walk([&](WriteGradientOp write) { byParameter[write.getParameterAttr().getAttr()].push_back(write); });
  for (auto &[parameter, writes] : byParameter) {
    bool split = false;
    for (size_t i = 0; i < writes.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        split |= overlap(writes[j], writes[i]);
    if (split)
      Splitter(function, writes).run();
    else if (writes.size() > 1)
      joinInPlace(writes);
  }
}

} // namespace tenon
