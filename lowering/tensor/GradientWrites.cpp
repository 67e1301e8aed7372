#include "lowering/tensor/GradientWrites.h"
#include "dialect/Build.h"
#include "dialect/DepthForm.h"
#include "lowering/tensor/SavedValues.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <set>

using namespace mlir;

namespace tenon {

namespace {

StackOp loopOf(BlockArgument depth) { return cast<StackOp>(depth.getOwner()->getParentOp()); }
int64_t low(StackOp loop) { return loop.getFirst(); }
int64_t high(StackOp loop) { return loop.getFirst() + *loop.countNumber(); } // parameters have a place for each depth

/// One depth of a write: over which loops, and what it is there.
struct Level {
  DepthForm form; // terms outermost first; loops are known by their arguments: making values available replaces the op
  std::set<int64_t> depths;

  explicit Level(Value depth) : form(*depthFormOf(depth)) {
    llvm::sort(form.terms, [](const DepthForm::Term &a, const DepthForm::Term &b) {
      return a.argument != b.argument && loopOf(a.argument)->isProperAncestor(loopOf(b.argument));
    });
    forEach([&](int64_t value, ArrayRef<int64_t>) { depths.insert(value); });
  }
  /// The depth of one loop, as it is.
  bool isPlain() const { return form.terms.size() == 1 && form.terms[0].factor == 1 && form.constant == 0; }
  /// Calls `visit(depth, depths of the loops)`.
  template <typename Visit> void forEach(Visit visit) const {
    SmallVector<int64_t> of(form.terms.size());
    auto next = [&](auto &self, size_t term, int64_t sum) -> void {
      if (term == of.size())
        return visit(sum, ArrayRef(of));
      StackOp loop = loopOf(form.terms[term].argument);
      for (of[term] = low(loop); of[term] < high(loop); ++of[term])
        self(self, term + 1, sum + form.terms[term].factor * of[term]);
    };
    next(next, 0, form.constant);
  }
  bool isLike(const Level &other) const {
    return form.constant == other.form.constant && form.terms.size() == other.form.terms.size() &&
           llvm::all_of_zip(form.terms, other.form.terms, [&](const DepthForm::Term &a, const DepthForm::Term &b) {
             StackOp x = loopOf(a.argument), y = loopOf(b.argument);
             return low(x) == low(y) && high(x) == high(y) && a.factor == b.factor;
           });
  }
  bool meets(const Level &other) const {
    return llvm::any_of(depths, [&](int64_t depth) { return other.depths.contains(depth); });
  }
};

SmallVector<Level> levelsOf(WriteGradientOp write) {
  return llvm::map_to_vector(write.getDepths(), [](Value depth) { return Level(depth); });
}
/// The loops over the depths of a write, outermost first.
SmallVector<StackOp> loopsOf(WriteGradientOp write) {
  SmallVector<StackOp> loops;
  for (const Level &level : levelsOf(write))
    for (const DepthForm::Term &term : level.form.terms)
      loops.push_back(loopOf(term.argument));
  return loops;
}
bool sameDepths(WriteGradientOp a, WriteGradientOp b) {
  return llvm::all_of_zip(levelsOf(a), levelsOf(b), [](const Level &x, const Level &y) { return x.isLike(y); });
}

/// Whether two writes share depths, but do not run over them alike.
bool overlap(WriteGradientOp a, WriteGradientOp b) {
  return llvm::all_of_zip(levelsOf(a), levelsOf(b), [](const Level &x, const Level &y) { return x.meets(y); }) &&
         !sameDepths(a, b);
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
    auto same = llvm::find_if(last, [&](WriteGradientOp other) { return sameDepths(other, write); });
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

/// Writes every depth once: where the writes begin and end, the sum of those that have it.
class Splitter {
public:
  Splitter(func::FuncOp function, ArrayRef<WriteGradientOp> writes) : function(function), writes(writes.begin(), writes.end()) {
    for (WriteGradientOp write : this->writes)
      levels.push_back(levelsOf(write));
  }

  void run() {
    SmallVector<Range> cell;
    visit(cell);
    for (WriteGradientOp write : writes)
      eraseWithEmptyLoops(write);
  }

private:
  using Range = std::pair<int64_t, int64_t>; // the second not included

  /// `cell`: ranges of the outer levels, cut where any write begins or ends, and at every depth where one runs in rounds.
  void visit(SmallVector<Range> &cell) {
    const size_t level = cell.size();
    if (level == levels.front().size())
      return write(cell);
    const bool byRange = llvm::all_of(levels, [&](ArrayRef<Level> each) { return each[level].isPlain(); });
    std::set<int64_t> cuts;
    for (ArrayRef<Level> each : levels) {
      const std::set<int64_t> &depths = each[level].depths;
      cuts.insert({*depths.begin(), *depths.rbegin() + 1});
      for (auto depth = depths.begin(); !byRange && depth != depths.end(); ++depth)
        cuts.insert({*depth, *depth + 1});
    }
    for (auto from = cuts.begin(), to = std::next(from); to != cuts.end(); ++from, ++to) {
      cell.emplace_back(*from, *to);
      visit(cell);
      cell.pop_back();
    }
  }

  StackOp openLoop(OpBuilder &builder, Location location, Range range) {
    auto loop = StackOp::create(builder, location, TypeRange(), range.second - range.first, ValueRange(), false, range.first);
    Block *body = new Block;
    loop.getBody().push_back(body);
    body->addArgument(builder.getIndexType(), location);
    builder.setInsertionPointToStart(body);
    builder.setInsertionPoint(YieldOp::create(builder, location, ValueRange()));
    return loop;
  }

  /// Loops that run as those of a write do at the depths of `cell`: `shared` where it has one per level, loops of its own where
  /// it has several.
  SmallVector<StackOp> loopsAt(ArrayRef<Range> cell, ArrayRef<Level> of, ArrayRef<StackOp> shared, OpBuilder &builder,
                               Location location) {
    SmallVector<StackOp> loops;
    for (auto [range, level, loop] : llvm::zip(cell, of, shared)) {
      if (level.isPlain()) {
        loops.push_back(loop);
        continue;
      }
      SmallVector<int64_t> at;
      level.forEach([&](int64_t depth, ArrayRef<int64_t> values) {
        if (depth == range.first)
          at.assign(values.begin(), values.end());
      });
      for (int64_t value : at)
        loops.push_back(openLoop(builder, location, {value, value + 1}));
    }
    return loops;
  }

  void write(ArrayRef<Range> cell) {
    SmallVector<size_t> covering;
    for (size_t i = 0; i < writes.size(); ++i)
      if (llvm::all_of_zip(levels[i], cell, [](const Level &level, Range range) { return level.depths.contains(range.first); }))
        covering.push_back(i);
    if (covering.empty())
      return;
    Location location = writes[covering.front()].getLoc();
    OpBuilder builder(function.getBody().front().getTerminator());
    SmallVector<StackOp> shared;
    SmallVector<Value> depths;
    for (Range range : cell) {
      shared.push_back(openLoop(builder, location, range));
      depths.push_back(shared.back().getBody().front().getArgument(0));
    }
    SmallVector<SmallVector<StackOp>> loops;
    Value sum;
    for (size_t i : covering)
      loops.push_back(loopsAt(cell, levels[i], shared, builder, location));
    for (size_t i : covering) {
      Value gradient = writes[i].getGradient();
      sum = sum ? Build(builder, location).add(sum, gradient) : gradient;
    }
    WriteGradientOp::create(builder, location, writes[covering.front()].getParameterAttr(), depths, sum);
    for (auto [i, own] : llvm::zip(covering, loops))
      bringInto(own, writes[i]);
  }

  func::FuncOp function;
  SmallVector<WriteGradientOp> writes;
  SmallVector<SmallVector<Level>> levels; // of each write
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
