#include "lowering/gpu/RowLoops.h"
#include "dialect/TensorSizes.h"
#include "lowering/gpu/OnlineFolds.h"
#include "lowering/gpu/Places.h"

using namespace mlir;

namespace tenon::gpu {

/// As kApart where a block has a long row, whose memory it waits for (measured: gradients of logits in 2.0 ms with 4 of them, 1.6
/// with 8, 1.5 with 12).
constexpr int64_t kApartOfRow = 12;

/// How many places of its dimensions beside each other a thread can have.
static int64_t mostLanesOf(Operation *op) {
  auto fold = dyn_cast<FoldOp>(op);
  if (fold && !isComputed(fold.getType()))
    return 1;
  AffineMap inside = fold ? fold.getSizes() : cast<EachOp>(op).getSizes();
  Block &body = op->getRegion(0).front();
  return inside.getNumResults() == 0 ? 1 : lanesOf({&body}, body.getArguments().back(), inside.getResults().back());
}

RowLoops::RowLoops(NestOp nest) : nest(nest) {
  for (Operation &op : nest.getBody().front()) {
    if (auto fold = dyn_cast<FoldOp>(op))
      folds.push_back(fold);
    else if (auto each = dyn_cast<EachOp>(op))
      eaches.push_back(each);
    else
      continue;
    ops.push_back(&op);
  }
}

int64_t RowLoops::mostLanes() const {
  int64_t most = 1;
  for (Operation *op : ops)
    most = std::max(most, mostLanesOf(op));
  return most;
}

int64_t RowLoops::lanesOfOp(Operation *op, ArrayRef<int64_t> lanes) const {
  return lanes[size_t(llvm::find(ops, op) - ops.begin())];
}

/// One number for all loops that have places for it.
SmallVector<int64_t> RowLoops::chooseApart(int64_t threads, ArrayRef<int64_t> lanes) const {
  auto mayHave = [&](EachOp each, int64_t number) {
    return mayLieApart(ownOps(each.getBody().front()), lanesOfOp(each, lanes)) && hasPlacesFor(each, threads, number);
  };
  int64_t most = 1;
  for (int64_t number : {kApart, kApartOfRow})
    if (llvm::any_of(eaches, [&](EachOp each) { return mayHave(each, number); }))
      most = number;
  return llvm::map_to_vector(eaches, [&](EachOp each) { return mayHave(each, most) ? most : 1; });
}

/// Whether a fold can be made in the loop of these: it stands behind them, has their space and their vectors, and needs none of
/// them.
bool RowLoops::mayShare(ArrayRef<FoldOp> pass, FoldOp next, ArrayRef<int64_t> lanes) const {
  FoldOp first = pass.front(), last = pass.back();
  llvm::DenseSet<Value> made;
  for (FoldOp fold : pass)
    made.insert(fold.getValue());
  const int64_t ofFirst = lanesOfOp(first, lanes);
  return last->getNextNode() == next.getOperation() && next.getSizes() == first.getSizes() && ofFirst > 1 &&
         lanesOfOp(next, lanes) == ofFirst && !readsAny(*next, made);
}

/// A maximum and the sum under it are made together place by place.
SmallVector<int64_t> RowLoops::choosePasses(MutableArrayRef<int64_t> lanes) const {
  SmallVector<int64_t> passes;
  for (size_t first = 0, end; first < folds.size(); first = end) {
    const int64_t number = passes.empty() ? 0 : passes.back() + 1;
    end = first + 1;
    if (FoldOp sum = sumUnder(folds[first])) {
      for (FoldOp fold : {folds[first], sum})
        lanes[size_t(llvm::find(ops, fold.getOperation()) - ops.begin())] = 1;
      ++end;
    } else {
      while (end < folds.size() && mayShare(ArrayRef(folds).slice(first, end - first), folds[end], lanes))
        ++end;
    }
    passes.append(end - first, number);
  }
  return passes;
}

/// Whether the first thread of a row alone needs a value of it. (Others may divide whole numbers by what they have.)
bool RowLoops::isOnlyPut(Value value) const {
  return isa<FloatType>(value.getType()) && llvm::all_of(value.getUsers(), [&](Operation *user) {
           return user->getParentOp() == nest &&
                  (isa<PutOp>(user) || (user->getNumRegions() == 0 && !isa<AtOp>(user) &&
                                        llvm::all_of(user->getResults(), [&](Value of) { return isOnlyPut(of); })));
         });
}

SmallVector<int64_t> RowLoops::chooseBroadcasts() const {
  return llvm::map_to_vector(folds, [&](FoldOp fold) { return int64_t(!isOnlyPut(FoldOp(fold).getValue())); });
}

SmallVector<ChosenList> RowLoops::chooseRow(int64_t threads, int64_t lanes) {
  vector = llvm::map_to_vector(ops, [&](Operation *op) { return std::min(lanes, mostLanesOf(op)); });
  apart = chooseApart(threads, vector);
  pass = choosePasses(vector);
  broadcast = chooseBroadcasts();
  return {{"vector", vector}, {"apart", apart}, {"pass", pass}, {"broadcast", broadcast}};
}

SmallVector<ChosenList> RowLoops::chooseRows(int64_t threads) {
  vector.assign(ops.size(), 1);
  apart = chooseApart(threads, vector);
  pass = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(folds.size())));
  broadcast = chooseBroadcasts();
  return {{"apart", apart}, {"broadcast", broadcast}};
}

SmallVector<ChoiceList> RowLoops::listsOfRows() const {
  auto ofEach = llvm::map_to_vector(eaches, [](EachOp each) {
    return ChoiceNumber{"apart", 1, mayLieApart(ownOps(each.getBody().front()), 1) ? kMostApart : 1};
  });
  return {{"apart", "loop of puts", ofEach},
          {"broadcast", "fold", SmallVector<ChoiceNumber>(folds.size(), ChoiceNumber{"broadcast", 0, 1})}};
}

SmallVector<ChoiceList> RowLoops::listsOfRow() const {
  SmallVector<ChoiceList> lists = listsOfRows();
  lists.push_back({"vector", "fold and loop of puts",
                   llvm::map_to_vector(ops, [](Operation *op) { return ChoiceNumber{"vector", 1, mostLanesOf(op), 1, true}; })});
  lists.push_back({"pass", "fold", llvm::map_to_vector(llvm::seq<int64_t>(0, int64_t(folds.size())), [](int64_t i) {
                     return ChoiceNumber{"pass", 0, i};
                   })});
  return lists;
}

LogicalResult RowLoops::read(const Choice &choice) {
  auto listOr = [&](StringRef name, size_t count) {
    ArrayRef<int64_t> list = choice.list(name);
    return list.empty() ? SmallVector<int64_t>(count, 1) : SmallVector<int64_t>(list);
  };
  vector = listOr("vector", ops.size());
  apart = listOr("apart", eaches.size());
  pass = llvm::to_vector(choice.list("pass"));
  if (pass.empty()) // each fold by itself
    llvm::append_range(pass, llvm::seq<int64_t>(0, int64_t(folds.size())));
  broadcast = llvm::to_vector(choice.list("broadcast"));
  return success(succeeded(checkApart(*choice.number("threads"))) && succeeded(checkPasses()) && succeeded(checkBroadcasts()));
}

LogicalResult RowLoops::checkApart(int64_t threads) const {
  auto refuse = [&] { return NestOp(nest).emitOpError("expects in ") << kChosen; }; // S11
  for (auto [each, number] : llvm::zip_equal(eaches, apart)) {
    if (number > 1 && vectorOf(each) > 1)
      return refuse() << " elements either beside each other or apart, got vector " << vectorOf(each) << " and apart " << number;
    if (number > 1 && !hasPlacesFor(each, threads, number))
      return refuse() << " at most so many places apart as each of " << threads << " threads is known to have of the loop, got "
                      << number;
  }
  return success();
}

LogicalResult RowLoops::checkPasses() const {
  auto refuse = [&] { return NestOp(nest).emitOpError("expects in ") << kChosen; }; // S11
  for (size_t first = 0, end; first < folds.size(); first = end) {
    for (end = first + 1; end < folds.size() && pass[end] == pass[first]; ++end)
      if (!mayShare(ArrayRef(folds).slice(first, end - first), folds[end], vector) && !isOnline({folds[first], folds[end]}))
        return refuse() << " in one pass folds beside each other over one space, with vectors alike of several places, of "
                           "which none needs another, or a maximum and the sum under it, which have one place each, got fold "
                        << end << " in pass " << pass[end];
    if (end < folds.size() && pass[end] != pass[first] + 1)
      return refuse() << " passes that count on by 1, got " << pass[end] << " behind " << pass[first];
  }
  return success();
}

LogicalResult RowLoops::checkBroadcasts() const {
  for (auto [i, fold] : llvm::enumerate(folds))
    if (!isBroadcast(fold) && !isOnlyPut(FoldOp(fold).getValue()))
      return NestOp(nest).emitOpError("expects in ") // S11
             << kChosen << " broadcast 1 for a fold whose value other threads read than the one that puts it, got 0 for fold "
             << i;
  return success();
}

int64_t RowLoops::vectorOf(Operation *op) const { return lanesOfOp(op, vector); }

int64_t RowLoops::apartOf(EachOp op) const { return apart[size_t(llvm::find(eaches, op) - eaches.begin())]; }

bool RowLoops::isBroadcast(FoldOp fold) const { return broadcast[size_t(llvm::find(folds, fold) - folds.begin())] != 0; }

SmallVector<FoldOp> RowLoops::passOf(FoldOp first) const {
  const size_t begin = size_t(llvm::find(folds, first) - folds.begin());
  size_t end = begin + 1;
  while (end < folds.size() && pass[end] == pass[begin])
    ++end;
  return SmallVector<FoldOp>(ArrayRef(folds).slice(begin, end - begin));
}

bool RowLoops::isOnline(ArrayRef<FoldOp> folds) const {
  return folds.size() == 2 && sumUnder(folds[0]) == folds[1] && vectorOf(folds[0]) == 1 && vectorOf(folds[1]) == 1;
}

} // namespace tenon::gpu
