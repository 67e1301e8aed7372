// Mixed precision: what is multiplied and what is saved gets 16 bits, sums f64. See Passes.td.
#include "lowering/tensor/ApplyNumerics.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Rounds.h"
#include "lowering/Declined.h"
#include "lowering/Passes.h"
#include "lowering/tensor/AttentionStored.h"
#include "lowering/tensor/WidenParameters.h"
#include "lowering/tensor/WidenSums.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_APPLYNUMERICS
#include "lowering/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral kRewrite = "apply-numerics";

/// Whether it lies in a state that is kept in place, of which fewer places are read than there is room for.
bool isKept(Value value) {
  auto memory = value.getDefiningOp<MemoryOpInterface>();
  std::optional<Buffer> place = memory ? memory.placeOfResult() : std::nullopt;
  return place && place->base == Memory::KeptStates;
}

/// Of the contractions that multiply `narrow`: all of a module in mixed precision but those that say f32, or those alone that say
/// so themselves.
class Narrowing {
public:
  Narrowing(func::FuncOp function, Type narrow)
      : function(function), narrow(narrow), ofModule(narrowType(function->getParentOfType<ModuleOp>())),
        wide(Float32Type::get(function.getContext())) {}

  void run() {
    function.walk([&](MixedPrecisionOpInterface op) {
      if (multiplies(op, narrow))
        narrowOp(op);
    });
    function.walk([&](StackOp stack) { narrowSaved(stack); });
    shareRounded();
    dropJoins();
    foldConversions();
  }

private:
  bool isWide(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getElementType() == wide;
  }

  /// Whether it is a contraction in this type.
  static bool multiplies(Operation *op, Type type) {
    auto mixed = dyn_cast_or_null<MixedPrecisionOpInterface>(op);
    return mixed && !mixed.narrowOperands().empty() && computeType(op) == type;
  }

  /// Whether it is one in another type than `narrow`, of 16 bits, too.
  bool multipliesOther(Operation *op) {
    auto mixed = dyn_cast_or_null<MixedPrecisionOpInterface>(op);
    return mixed && !mixed.narrowOperands().empty() && computeType(op) != narrow;
  }

  void narrowOp(MixedPrecisionOpInterface op) {
    for (OpOperand *operand : op.narrowOperands())
      if (isWide(operand->get()) && !(op.roundsWhatItReads(*operand) && isKept(operand->get())))
        operand->set(rounded(operand->get()));
    for (OpResult result : op.narrowResults())
      if (isWide(result))
        changeType(result);
  }

  /// Behind the value; of a carry that is read behind the skips of its round alone, behind these.
  static void setBehind(OpBuilder &builder, Value value) {
    builder.setInsertionPointAfterValue(value);
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || !isa<StackOp>(argument.getOwner()->getParentOp()))
      return;
    Block *body = argument.getOwner();
    for (SkipOp skip : body->getOps<SkipOp>())
      if (llvm::all_of(value.getUsers(),
                       [&](Operation *user) { return skip->isBeforeInBlock(body->findAncestorOpInBlock(*user)); }))
        builder.setInsertionPointAfter(skip);
  }

  /// `value` in 16 bits, made once, where it is defined: a loop does not round again what stands outside of it.
  Value rounded(Value value) {
    if (auto it = roundedOf.find(value); it != roundedOf.end())
      return it->second;
    OpBuilder builder(function.getContext());
    setBehind(builder, value);
    Value narrowed = shortParameter(value, builder);
    if (Operation *op = value.getDefiningOp(); !narrowed && op && op->hasTrait<View>())
      narrowed = widenedSource(value, builder);
    if (auto view = value.getDefiningOp<ElementOpInterface>(); !narrowed && view && view.enlargesOperand()) {
      IRMapping mapping; // what it shows is rounded, once
      mapping.map(view->getOperand(0), rounded(view->getOperand(0)));
      setBehind(builder, value);
      narrowed = builder.clone(*view, mapping)->getResult(0);
      narrowed.setType(withElement(tensorOf(value), narrow));
    }
    if (!narrowed && isJoin(value)) { // each part by itself: it may be rounded already, and need not be joined to be read
      IRMapping mapping;
      for (Value part : value.getDefiningOp()->getOperands())
        mapping.map(part, rounded(part));
      builder.setInsertionPointAfterValue(value);
      narrowed = builder.clone(*value.getDefiningOp(), mapping)->getResult(0);
      narrowed.setType(withElement(tensorOf(value), narrow));
    }
    return roundedOf[value] = narrowed ? narrowed : Build(builder, value.getLoc()).convert(value, narrow);
  }

  /// A view of what was widened, as a view of that: there is nothing to round. Null: it is none.
  Value widenedSource(Value value, OpBuilder &builder) {
    Operation *op = value.getDefiningOp();
    if (auto convert = dyn_cast_or_null<ConvertOp>(op))
      return tensorOf(convert.getX()).getElementType() == narrow ? convert.getX() : Value();
    if (!op || !op->hasTrait<View>() || op->getNumOperands() != 1)
      return {};
    IRMapping mapping;
    Value source = widenedSource(op->getOperand(0), builder);
    if (!source)
      return {};
    mapping.map(op->getOperand(0), source);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op);
    Value view = builder.clone(*op, mapping)->getResult(0);
    view.setType(withElement(tensorOf(value), narrow));
    return view;
  }

  /// Whether its elements are those of several tensors.
  static bool isJoin(Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->hasTrait<Moves>() && op->getNumOperands() > 1;
  }

  /// A parameter that nothing but views changed, or a slice of it for each round of a loop, is read as it lies in memory in this
  /// type, or from its copy, which is rounded once a step. Null: it is none.
  Value shortParameter(Value value, OpBuilder &builder) {
    Operation *op = value.getDefiningOp();
    IRMapping mapping;
    if (op && ((op->hasTrait<View>() && op->getNumOperands() == 1) || isa<AtDepthOp>(op))) {
      OpBuilder::InsertionGuard guard(builder);
      if (isa<AtDepthOp>(op)) // the whole is read in front of the loop
        builder.setInsertionPointAfterValue(op->getOperand(0));
      else
        builder.setInsertionPoint(op);
      Value source = shortParameter(op->getOperand(0), builder);
      if (!source)
        return {};
      mapping.map(op->getOperand(0), source);
    } else if (auto read = dyn_cast_or_null<ReadParameterOp>(op); !read || readOtherwise(read) != narrow) {
      return {};
    }
    Operation *clone = builder.clone(*op, mapping);
    clone->getResult(0).setType(withElement(tensorOf(value), narrow));
    return clone->getResult(0);
  }

  /// The value gets 16 bits; who read it reads it widened.
  Value changeType(Value value) {
    value.setType(withElement(tensorOf(value), narrow));
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(value);
    Value widened = Build(builder, value.getLoc()).convert(value, wide);
    value.replaceAllUsesExcept(widened, widened.getDefiningOp());
    return widened;
  }

  // ---- what a stack saves

  /// The loads of a result; none, if something else reads it, too.
  static SmallVector<AtDepthOp> loadsOf(Value result) {
    if (!llvm::all_of(result.getUsers(), llvm::IsaPred<AtDepthOp>))
      return {};
    return llvm::map_to_vector(result.getUsers(), [](Operation *user) { return cast<AtDepthOp>(user); });
  }

  /// Whether an op behind `value`, through elementwise ops and views, tests it for being equal to another number.
  static bool isCompared(Value value) {
    SmallVector<Value> work{value};
    llvm::DenseSet<Operation *> seen;
    while (!work.empty())
      for (Operation *user : work.pop_back_val().getUsers()) {
        auto element = dyn_cast<ElementOpInterface>(user);
        if (!element || !seen.insert(user).second)
          continue;
        if (element.comparesExactly())
          return true;
        if (user->hasTrait<Elementwise>() || user->hasTrait<View>())
          llvm::append_range(work, user->getResults());
      }
    return false;
  }

  /// Whether a contraction in another type reads `value`, or what is made of it element by element.
  bool isReadByOther(Value value) {
    SmallVector<Value> work{value};
    llvm::DenseSet<Operation *> seen;
    while (!work.empty())
      for (Operation *user : work.pop_back_val().getUsers()) {
        if (multipliesOther(user))
          return true;
        if ((user->hasTrait<Elementwise>() || user->hasTrait<View>()) && seen.insert(user).second)
          llvm::append_range(work, user->getResults());
      }
    return false;
  }

  /// Whether `value` of a forward body is saved in 16 bits: a product rounds it, here or in the backward pass, or it is said to
  /// be good enough.
  bool isSavedNarrow(Value value, ArrayRef<AtDepthOp> loads) {
    if (roundedOf.contains(value) || llvm::any_of(loads, [&](AtDepthOp load) { return roundedOf.contains(load.getResult()); }))
      return true;
    if (auto convert = value.getDefiningOp<ConvertOp>(); convert && tensorOf(convert.getX()).getElementType() == narrow)
      return true;
    auto saysSo = [&](Operation *op) {
      auto mixed = dyn_cast_or_null<MixedPrecisionOpInterface>(op);
      return ofModule == narrow && mixed && mixed.isSavedNarrow(value);
    };
    return saysSo(value.getDefiningOp()) || llvm::any_of(value.getUsers(), saysSo);
  }

  /// Whether `value`, which a stack saves for `loads`, is to have 16 bits there.
  bool narrows(Value value, ArrayRef<AtDepthOp> loads) {
    Operation *op = value.getDefiningOp(), *place = op ? op : value.getParentBlock()->getParentOp();
    if (loads.empty())
      return declined(place, kRewrite, "it is saved in f32: it is read elsewhere than at its depth");
    if (llvm::any_of(loads, [](AtDepthOp load) { return isCompared(load.getResult()); }))
      return declined(place, kRewrite, "it is saved in f32: it is tested for being equal to another number");
    if (multipliesOther(op)) // f32 is kept so, the other 16 bits are its own affair
      return declined(place, kRewrite, "it is saved in f32: a contraction in another type makes it");
    if (op && op->hasTrait<Contraction>())
      return true;
    if (llvm::any_of(loads, [&](AtDepthOp load) { return isReadByOther(load.getResult()); }))
      return declined(place, kRewrite, "it is saved in f32: a contraction in another type reads it");
    return isSavedNarrow(value, loads) ||
           declined(place, kRewrite, "it is saved in f32: no product rounds it, and no op says that 16 bits are enough");
  }

  void narrowSaved(StackOp stack) {
    auto yield = cast<YieldOp>(stack.getBody().front().getTerminator());
    for (unsigned i = stack.getCarries().size(); i < stack.getNumResults(); ++i) {
      Value result = stack.getResult(i), value = yield.getOperand(i);
      const SmallVector<AtDepthOp> loads = loadsOf(result);
      if (!isWide(value) || !narrows(value, loads))
        continue;
      if (Operation *op = value.getDefiningOp(); op && op->hasTrait<Contraction>())
        roundForAll(value);
      yield.setOperand(i, rounded(value));
      result.setType(withElement(tensorOf(result), narrow));
      for (AtDepthOp load : loads)
        changeType(load.getResult());
    }
  }

  /// A sum that is saved is rounded before anything is made of it, so that what the backward pass computes again from it has the
  /// bits of the forward pass (the operands of attention, whose statistics are saved).
  void roundForAll(Value sum) {
    Value narrowed = rounded(sum);
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(narrowed);
    Value widened = Build(builder, sum.getLoc()).convert(narrowed, wide);
    sum.replaceAllUsesExcept(widened, narrowed.getDefiningOp());
  }

  /// What reads the rounded numbers beside a product reads those.
  void shareRounded() {
    for (auto [value, narrowed] : roundedOf) {
      Value widened;
      for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
        auto reader = dyn_cast<MixedPrecisionOpInterface>(use.getOwner());
        if (!reader || !reader.readsRounded())
          continue;
        if (!widened) {
          OpBuilder builder(function.getContext());
          builder.setInsertionPointAfterValue(narrowed);
          widened = Build(builder, value.getLoc()).convert(narrowed, wide);
        }
        use.set(widened);
      }
    }
  }

  /// Joins that are read rounded alone.
  void dropJoins() {
    for (auto [value, narrowed] : llvm::reverse(roundedOf))
      if (value.use_empty() && isJoin(value))
        value.getDefiningOp()->erase();
    roundedOf.clear();
  }

  /// Widened and rounded again is what it was: such pairs, and what nobody reads of them, go.
  void foldConversions() {
    SmallVector<ConvertOp> conversions;
    function.walk([&](ConvertOp op) { conversions.push_back(op); });
    for (ConvertOp op : conversions)
      if (auto inner = op.getX().getDefiningOp<ConvertOp>();
          inner && tensorOf(op.getY()).getElementType() == narrow && inner.getX().getType() == op.getType())
        op.getY().replaceAllUsesWith(inner.getX());
    for (ConvertOp op : llvm::reverse(conversions))
      if (op->use_empty())
        op->erase();
  }

  func::FuncOp function;
  Type narrow, ofModule, wide;
  llvm::MapVector<Value, Value> roundedOf; // in the order of making
};

/// Keys and values that a state keeps in 16 bits are widened as attention of f32 reads them: not all places that there is room
/// for, and nothing of them lies in memory twice.
void readKept(AttentionOp attention) {
  for (OpOperand *operand : {&attention.getKeyMutable(), &attention.getValueMutable()}) {
    auto widened = operand->get().getDefiningOp<ConvertOp>();
    const Type computed = tensorOf(attention.getQuery()).getElementType();
    if (widened && isKept(widened.getX()) && tensorOf(operand->get()).getElementType() == computed &&
        elementModel(tensorOf(widened.getX()).getElementType()).compute == computed)
      operand->set(widened.getX());
  }
}

/// A parameter, or a slice of it for each round of a loop, that is rounded to the type in which it lies in memory, or has a copy
/// there, is read so.
void readAsStored(func::FuncOp function) {
  function.walk([&](ConvertOp convert) {
    auto load = convert.getX().getDefiningOp<AtDepthOp>();
    auto read = (load ? load.getX() : convert.getX()).getDefiningOp<ReadParameterOp>();
    const Type stored = tensorOf(convert.getY()).getElementType();
    if (!read || readOtherwise(read) != stored)
      return;
    IRMapping mapping;
    for (Operation *op : {read.getOperation(), load ? load.getOperation() : nullptr})
      if (op) {
        Operation *clone = OpBuilder(op).clone(*op, mapping);
        clone->getResult(0).setType(withElement(tensorOf(op->getResult(0)), stored));
      }
    convert.getY().replaceAllUsesWith(mapping.lookup(convert.getX()));
    convert.erase();
  });
}

bool isUsed(func::FuncOp function, Type narrow) {
  return function
      .walk([&](MixedPrecisionOpInterface op) {
        return !op.narrowOperands().empty() && computeType(op) == narrow ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct ApplyNumerics : impl::ApplyNumericsBase<ApplyNumerics> {
  void runOnOperation() override { applyNumerics(getOperation()); }
};

} // namespace

void applyNumerics(func::FuncOp function) {
  for (StringRef name : runtime::namesThat(runtime::isStoredReal))
    if (Type narrow = elementNamed(name, function.getContext()); isUsed(function, narrow))
      Narrowing(function, narrow).run();
  function.walk(readKept);
  readPairsAsStored(function);
  auto module = function->getParentOfType<ModuleOp>();
  if (shortParameterType(module))
    readAsStored(function);
  if (Type stored = parameterType(module))
    widenParameters(function, stored, hasRemainders(module));
  if (Type reduce = reduceType(module))
    widenSums(function, reduce);
}

} // namespace tenon
