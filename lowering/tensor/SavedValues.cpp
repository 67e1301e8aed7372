#include "lowering/tensor/SavedValues.h"
#include "dialect/Build.h"
#include "dialect/Rounds.h"
#include "lowering/Declined.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tenon {

constexpr llvm::StringLiteral kRewrite = "saved-values";

static bool isFree(Operation *op) {
  return op->hasTrait<ElementSource>() || op->hasTrait<Address>() || op->hasTrait<View>() || isScalarCode(op); // sums of depths
}

bool isRecomputed(Operation *op, bool saveOperands) {
  if (isFree(op))
    return true;
  const bool isMove = op->hasTrait<Moves>();
  if (!op->hasTrait<Elementwise>() && !isMove)
    return false;
  if (auto element = dyn_cast<ElementOpInterface>(op))
    if (std::optional<bool> settled = element.isMadeAgain())
      return *settled;
  // Predicates and integers are cheap to make and would be stored as whole tensors.
  if (!isa<FloatType>(tensorOf(op->getResult(0)).getElementType()))
    return true;
  return llvm::none_of(op->getResult(0).getUsers(), [&](Operation *user) {
    return user->getBlock() == op->getBlock() && user->hasTrait<ReadsMemory>() &&
           !(isMove && !saveOperands && user->hasTrait<Contraction>());
  });
}

namespace {

class Availability {
public:
  Availability(StackOp forward, StackOp reversed, bool saveOperands)
      : forward(forward), reversed(reversed), saveOperands(saveOperands), body(&forward.getBody().front()),
        front(OpBuilder::atBlockBegin(&reversed.getBody().front())) {
    for (SkipOp skip : reversed.getBody().front().getOps<SkipOp>()) // of a round that did not run nothing is there
      front.setInsertionPointAfter(skip);
  }
  void run();

private:
  void decide(ArrayRef<Operation *> users);
  void need(Value value);
  bool isMadeFromSums(Value value, unsigned &cost);
  bool isMadeAgain(Value value);
  Value available(Value value);
  bool isRecomputed(Operation *op) const { return tenon::isRecomputed(op, saveOperands); }
  Value saved(Value value);

  StackOp forward, reversed;
  const bool saveOperands;
  Block *body;
  OpBuilder front;
  static constexpr unsigned kMostCost = 100; ///< of an element made again, in additions
  llvm::SetVector<Value> kept;               ///< what is saved in any case
  llvm::SetVector<Value> open;               ///< elementwise values that contractions alone read from memory
  DenseSet<Operation *> again;               ///< the ops of those that are made again
  DenseMap<Value, Value> known;
  SmallVector<std::pair<Value, AtDepthOp>> loads; // forward value, its load in the reverse body
};

/// An operand of contractions that exists in memory in the forward pass, and would be saved although it may be cheap.
static bool isActivation(Operation *op) {
  return op->hasTrait<Elementwise>() && llvm::all_of(op->getResult(0).getUsers(), [&](Operation *user) {
           return user->getBlock() != op->getBlock() || !user->hasTrait<ReadsMemory>() || user->hasTrait<Contraction>();
         });
}

void Availability::need(Value value) {
  Operation *op = value.getDefiningOp();
  if (value.getParentBlock() != body || value == body->getArgument(0))
    return;
  if (op && isRecomputed(op))
    llvm::for_each(op->getOperands(), [&](Value operand) { need(operand); });
  else if (op && isActivation(op))
    open.insert(value);
  else
    kept.insert(value);
}

/// From sums that are saved anyway, and what is outside of the loop: the one kind of saved values that have the same bits in both
/// passes in mixed precision, too (normalizers and carries are rounded for the backward pass alone).
bool Availability::isMadeFromSums(Value value, unsigned &cost) {
  Operation *op = value.getDefiningOp();
  if (value.getParentBlock() != body || value == body->getArgument(0))
    return true;
  if (op && op->hasTrait<Contraction>())
    return kept.contains(value);
  if (!op || !(isRecomputed(op) || again.contains(op) || open.contains(value)))
    return false;
  if (auto element = dyn_cast<ElementOpInterface>(op))
    cost += element.elementCost();
  return cost <= kMostCost && llvm::all_of(op->getOperands(), [&](Value operand) { return isMadeFromSums(operand, cost); });
}

/// An activation whose sum is saved for its derivative is made again: half the memory of a feed-forward layer for a pass over
/// its elements, which contractions make where they pack it. Where they do not, that pass costs more than the memory is worth.
bool Availability::isMadeAgain(Value value) {
  Operation *op = value.getDefiningOp();
  unsigned cost = 0;
  if (saveOperands)
    return declined(op, kRewrite, "it is saved: contractions of the target read their operands from memory");
  if (isMadeFromSums(value, cost))
    return true;
  return declined(op, kRewrite,
                  cost > kMostCost ? "it is saved: an element costs too much to be made again"
                                   : "it is saved: it is made of more than sums that are saved anyway");
}

void Availability::decide(ArrayRef<Operation *> users) {
  for (Operation *op : users)
    llvm::for_each(op->getOperands(), [&](Value operand) { need(operand); });
  for (Value value : open)
    if (isMadeAgain(value))
      again.insert(value.getDefiningOp());
}

Value Availability::saved(Value value) {
  auto type = tensorOf(value);
  // The stacked value does not exist yet: the load is made on a stand-in that run() replaces.
  Value standIn = UnrealizedConversionCastOp::create(front, value.getLoc(), forward.stacked(type), ValueRange()).getResult(0);
  auto load =
      AtDepthOp::create(front, value.getLoc(), type, standIn, reversed.getBody().front().getArgument(0), forward.getFirstAttr());
  loads.emplace_back(value, load);
  return load;
}

Value Availability::available(Value value) {
  if (value.getParentBlock() != body)
    return value;
  if (auto it = known.find(value); it != known.end())
    return it->second;
  Value result;
  if (value == body->getArgument(0)) {
    result = reversed.getBody().front().getArgument(0);
  } else if (Operation *op = value.getDefiningOp(); op && (isRecomputed(op) || again.contains(op))) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, available(operand));
    result = front.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
  } else {
    result = saved(value);
  }
  return known[value] = result;
}

void Availability::run() {
  SmallVector<Operation *> users;
  reversed.getBody().walk([&](Operation *op) { users.push_back(op); });
  decide(users);
  for (Operation *op : users)
    for (OpOperand &operand : op->getOpOperands())
      operand.set(available(operand.get()));
  if (loads.empty())
    return;
  auto yield = cast<YieldOp>(body->getTerminator());
  SmallVector<Type> types(forward.getResultTypes());
  DenseMap<Value, unsigned> resultOf;
  for (unsigned i = forward.getCarries().size(); i < forward.getNumResults(); ++i)
    resultOf[yield.getOperand(i)] = i;
  SmallVector<Value> yielded(yield.getOperands());
  for (auto &[value, load] : loads)
    if (resultOf.try_emplace(value, types.size()).second) {
      types.push_back(load.getX().getType());
      yielded.push_back(value);
    }
  OpBuilder builder(forward);
  auto wider = StackOp::create(builder, forward.getLoc(), types, forward.getCount(), forward.getCarries(), forward.getReverse(),
                               forward.getFirst());
  wider.getBody().takeBody(forward.getBody());
  yield->setOperands(yielded);
  for (auto [old, fresh] : llvm::zip(forward.getResults(), wider.getResults()))
    old.replaceAllUsesWith(fresh);
  for (auto &[value, load] : loads) {
    Operation *standIn = load.getX().getDefiningOp();
    load.getXMutable().assign(wider.getResult(resultOf[value]));
    standIn->erase();
  }
  forward.erase();
}

} // namespace

void makeAvailable(StackOp forward, StackOp reversed, bool saveOperands) { Availability(forward, reversed, saveOperands).run(); }

} // namespace tenon
