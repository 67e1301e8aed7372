#include "lowering/tensor/SplitRounds.h"
#include "dialect/Blocks.h"
#include "dialect/Build.h"
#include "dialect/Rounds.h"
#include "lowering/Declined.h"

using namespace mlir;

namespace tenon {
namespace {

constexpr llvm::StringLiteral kRewrite = "split-rounds";

Block *bodyOf(StackOp stack) { return &stack.getBody().front(); }

/// What a loop reads at its own place of what is outside of it.
SmallVector<AtDepthOp> readsAtPlace(StackOp loop) {
  SmallVector<AtDepthOp> reads;
  loop.getBody().walk([&](AtDepthOp read) {
    if (read.getDepth() == bodyOf(loop)->getArgument(0))
      reads.push_back(read);
  });
  return reads;
}

bool canBeSplit(StackOp loop) {
  auto readsRow = [&](AtDepthOp read) {
    return read.getFirst() == 0 && sizesOf(tensorOf(read.getX())).front() == loop.countForm() &&
           !loop.getBody().isAncestor(read.getX().getParentRegion());
  };
  if (loop.getFirst() != 0)
    return declined(loop, kRewrite, "its first round is not number 0");
  if (mayEndEarly(loop))
    return declined(loop, kRewrite, "it may end early");
  return llvm::all_of(readsAtPlace(loop), readsRow) ||
         declined(loop, kRewrite, "it reads, by its round, what has not one row for each of them or is made inside of it");
}

/// A stack of layers has parameters for each of its depths.
bool hasParametersOfDepths(StackOp loop) {
  bool found = false;
  loop.getBody().walk([&](ReadParameterOp read) { found |= llvm::is_contained(read.getDepths(), bodyOf(loop)->getArgument(0)); });
  return found;
}

/// The value of all rounds in blocks, as it is seen from the body of the loop over blocks.
Value blocksOf(Value rows, int64_t steps, OpBuilder &builder) {
  RankedTensorType type = inBlocks(tensorOf(rows), steps);
  if (auto joined = rows.getDefiningOp<RegroupOp>(); joined && joined.getX().getType() == type)
    return joined.getX();
  return RegroupOp::create(builder, rows.getLoc(), type, rows);
}

class Split {
public:
  Split(StackOp loop, int64_t steps)
      : loop(loop), steps(steps), carries(loop.getCarries().size()), around(new Block), builder(loop), inside(loop.getContext()) {
    inside.setInsertionPointToEnd(around);
  }

  StackOp run() {
    block = around->addArgument(builder.getIndexType(), loop.getLoc());
    for (Value carry : loop.getCarries())
      around->addArgument(carry.getType(), loop.getLoc());
    readBlocks();
    StackOp inner = runThroughBlock();
    const AffineExpr rounds = loop.countForm();
    const unsigned dims = loop.getCount().getNumDims();
    const AffineMap count = AffineMap::get(dims, 0, simplifyAffineExpr(rounds.ceilDiv(steps), dims, 0));
    SmallVector<Type> types(loop.getCarries().getTypes());
    for (Type type : TypeRange(loop.getResultTypes()).drop_front(carries))
      types.push_back(inBlocks(cast<RankedTensorType>(type), steps));
    auto outer = StackOp::create(builder, loop.getLoc(), types, count, loop.getCarries(), loop.getReverse(), 0);
    outer.getBody().push_back(around);
    YieldOp::create(inside, loop.getLoc(), inner.getResults());
    for (auto [i, result] : llvm::enumerate(loop.getResults())) {
      if (i < carries)
        result.replaceAllUsesWith(outer.getResult(i));
      else if (!result.use_empty())
        result.replaceAllUsesWith(RegroupOp::create(builder, loop.getLoc(), result.getType(), outer.getResult(i)));
    }
    loop.erase();
    return outer;
  }

private:
  /// What is read at a round is read of the block, at the round in it.
  void readBlocks() {
    DenseMap<Value, Value> read;
    for (AtDepthOp at : readsAtPlace(loop)) {
      Value &ofBlock = read[at.getX()];
      if (!ofBlock)
        ofBlock = AtDepthOp::create(inside, at.getLoc(), blocksOf(at.getX(), steps, inside), block);
      at.getXMutable().assign(ofBlock);
      rounds.insert(at);
    }
  }

  StackOp runThroughBlock() {
    SmallVector<Type> types(loop.getCarries().getTypes());
    for (Type type : TypeRange(loop.getResultTypes()).drop_front(carries)) {
      RankedTensorType blocks = inBlocks(cast<RankedTensorType>(type), steps);
      types.push_back(tensorType(ArrayRef(sizesOf(blocks)).drop_front(), blocks.getElementType(), dimCountOf(blocks)));
    }
    auto inner = StackOp::create(inside, loop.getLoc(), types, steps, around->getArguments().drop_front(), loop.getReverse(), 0);
    inner.getBody().takeBody(loop.getBody());
    Block *body = bodyOf(inner);
    OpBuilder front = OpBuilder::atBlockBegin(body);
    const Location location = loop.getLoc();
    Value first = arith::MulIOp::create(front, location, block, arith::ConstantIndexOp::create(front, location, steps));
    Value place = arith::AddIOp::create(front, location, first, body->getArgument(0));
    body->getArgument(0).replaceUsesWithIf(
        place, [&](OpOperand &use) { return use.getOwner() != place.getDefiningOp() && !rounds.contains(use.getOwner()); });
    skipWhatIsNotThere(place, front);
    return inner;
  }

  void skipWhatIsNotThere(Value place, OpBuilder &front) {
    const std::optional<int64_t> count = loop.countNumber();
    if (count && *count % steps == 0)
      return;
    const Location location = loop.getLoc();
    auto scalar = RankedTensorType::get({}, front.getI32Type());
    Value here = DepthValueOp::create(front, location, scalar, place), end;
    if (count)
      end = Build(front, location).constant(scalar, double(*count));
    else
      end = SizeOp::create(front, location, scalar, loop.getCountAttr());
    SkipOp::create(front, location, Build(front, location).compare(Comparison::le, end, here), Value());
  }

  StackOp loop;
  const int64_t steps;
  const unsigned carries;
  Block *around; // of the loop over blocks
  OpBuilder builder, inside;
  Value block;
  DenseSet<Operation *> rounds; // that count within their block
};

} // namespace

bool isRecurrence(ArrayRef<StackOp> forwards, StackOp reversed) {
  if (forwards.empty())
    return declined(reversed, kRewrite, "it runs back through no loop of as many rounds beside it");
  return canBeSplit(reversed) && llvm::all_of(forwards, [](StackOp forward) {
           if (readsAtPlace(forward).empty())
             return declined(forward, kRewrite, "it reads no row of its own in a round");
           if (hasParametersOfDepths(forward))
             return declined(forward, kRewrite, "it is a stack of layers: each round has parameters of its own");
           return canBeSplit(forward);
         });
}

StackOp splitRounds(StackOp loop, int64_t steps) { return Split(loop, steps).run(); }

/// `user` reads of the rows that carry `number` had in all rounds: of the last one it reads what the loop gives.
static bool readLastCarry(Operation *user, StackOp loop, unsigned number) {
  auto slice = dyn_cast<SliceOp>(user);
  RankedTensorType type = slice ? tensorOf(slice.getY()) : RankedTensorType();
  if (!slice || slice.getDim() != 0 || type.getDimSize(0) != 1 ||
      simplifyAffineExpr(slice.getLow().getResult(0) + 1 - loop.countForm(), slice.getLow().getNumDims(), 0) !=
          getAffineConstantExpr(0, loop.getContext()))
    return declined(user, kRewrite, "it reads more or other rows of a carry than the last one");
  OpBuilder builder(slice);
  const SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()));
  slice.getY().replaceAllUsesWith(Build(builder, slice.getLoc()).broadcast(loop.getResult(number), dims, type));
  slice.erase();
  return true;
}

void readLastCarries(StackOp loop) {
  auto yield = cast<YieldOp>(bodyOf(loop)->getTerminator());
  const unsigned carries = loop.getCarries().size();
  for (unsigned j = carries; j < loop.getNumResults(); ++j)
    for (unsigned i = 0; i < carries; ++i) {
      if (yield.getOperand(j) != yield.getOperand(i))
        continue;
      for (Operation *user : llvm::make_early_inc_range(loop.getResult(j).getUsers()))
        readLastCarry(user, loop, i);
    }
}

} // namespace tenon
