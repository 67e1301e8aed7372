// Parameters, states, stacks, depths, outputs: verifiers and element code.
#include "dialect/Build.h"
#include "dialect/DepthForm.h"
#include "dialect/ElementModel.h"
#include "dialect/Packs.h"
#include "dialect/Rules.h"
#include "dialect/StoredParameter.h"
#include "dialect/TenonDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;

/// `type` without its first `count` sizes, or nothing where it has fewer.
static RankedTensorType withoutLeading(RankedTensorType type, size_t count) {
  SmallVector<AffineExpr> sizes = sizesOf(type);
  if (count > sizes.size())
    return {};
  return tensorType(ArrayRef(sizes).drop_front(count), type.getElementType(), dimCountOf(type));
}

/// What lies in a stack has a place for each of its depths, so these are known.
static LogicalResult verifyDepths(Operation *op, ValueRange depths) {
  auto isKnown = [](Value depth) {
    std::optional<DepthForm> form = depthFormOf(depth);
    return form && llvm::all_of(form->terms, [](const DepthForm::Term &term) {
             auto stack = dyn_cast<StackOp>(term.argument.getOwner()->getParentOp());
             return !stack || stack.countNumber();
           });
  };
  if (!llvm::all_of(depths, isKnown)) // C4 of read_parameter, C3 of read_state
    return op->emitOpError("expects depths of the stacks around it whose height is a number, and sums of them");
  return success();
}

// ---- parameters

int64_t ParameterOp::stackElements() { return ShapedType::getNumElements(stackSizes()); }

LogicalResult ParameterOp::verify() {
  if (!getType().hasStaticShape()) // C1
    return emitOpError("expects numbers as sizes, got ") << getType();
  if (depthCount() > getType().getRank()) // C2
    return emitOpError("expects the sizes of ") << depthCount() << " stacks, got " << getType();
  for (StringRef name : {"lr", "gradient", "decay", "clip", "clip_group", "frozen_at"}) {
    Attribute values = (*this)->getDiscardableAttr(name);
    auto numbers = dyn_cast_or_null<DenseF64ArrayAttr>(values);
    if (values && (!numbers || (numbers.size() != 1 && numbers.size() != stackElements()))) // C3
      return emitOpError("expects one f64 or one for each of ")
             << stackElements() << " stack elements as " << name << ", got " << values;
  }
  constexpr int64_t kMostBytes = int64_t(1) << 62;
  if (int64_t(getOffset()) > kMostBytes ||
      int64_t(getStride()) > (kMostBytes - int64_t(getOffset())) / std::max<int64_t>(stackElements(), 1)) // C4
    return emitOpError("expects offset and stride of an arena that ends below byte ")
           << kMostBytes << ", got " << getOffset() << " and " << getStride();
  if (Attribute whole = (*this)->getDiscardableAttr(kWhole); whole && !isa<UnitAttr>(whole))
    return emitOpError("expects no value of ") << kWhole << ", got " << whole; // C5
  return success();
}

/// C1 to C4 of read_parameter. `isRead`: it may have the other element type, too, in which the parameter can be read.
/// `isRest`: it has that of its remainder.
template <typename OpTy>
static FailureOr<ParameterOp> verifyUse(OpTy op, SymbolTableCollection &symbols, Value value, bool isRead, bool isRest) {
  auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(op, op.getParameterAttr());
  if (!parameter) // C1
    return op.emitOpError("expects the name of a parameter, got ") << op.getParameterAttr();
  if (int64_t(op.getDepths().size()) != parameter.depthCount()) // C2
    return op.emitOpError("expects ") << parameter.depthCount() << " depths for " << op.getParameterAttr() << ", got "
                                      << op.getDepths().size();
  if (failed(verifyDepths(op, op.getDepths()))) // C4
    return failure();
  RankedTensorType wanted = withoutLeading(parameter.getType(), parameter.depthCount());
  if (isRest)
    wanted = withElement(wanted, remainderType(op.getContext()));
  const Type other = isRead ? otherReadType(parameter) : Type();
  if (value.getType() != wanted && (!other || value.getType() != withElement(wanted, other))) // C3
    return op.emitOpError("expects a value of ") << wanted << " for " << op.getParameterAttr() << ", got " << value.getType();
  return parameter;
}
LogicalResult ReadParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  const Type rest = remainderType(getContext());
  const bool isRemainder = tensorOf(getValue()).getElementType() == rest;
  FailureOr<ParameterOp> parameter = verifyUse(*this, symbols, getValue(), !isRemainder, isRemainder);
  if (succeeded(parameter) && (getRemainder() != isRemainder || (isRemainder && !isSplit(*parameter)))) // C5
    return emitOpError("expects a remainder to be a value of ")
           << rest << ", and that to be the remainder of a parameter that lies in two halves, got " << getValue().getType();
  const Attribute panels = succeeded(parameter) ? (*parameter)->getAttr(kPanels) : Attribute();
  auto isRight = [&](OpOperand &use) { return panelsTaken(use) == panels; };
  if (panels && !getRemainder() && !llvm::all_of(getValue().getUses(), isRight)) // C6
    return emitOpError("expects to be read as it lies, in tenon.panels = ") << panels;
  return parameter;
}
LogicalResult WriteGradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<ParameterOp> parameter = verifyUse(*this, symbols, getGradient(), false, false);
  if (succeeded(parameter) && parameter->getFrozen()) // C5
    return emitOpError("expects a parameter that is trained, got ") << getParameterAttr() << ", which is frozen";
  return parameter;
}

LogicalResult ReadLossScaleOp::verify() {
  auto scalar = RankedTensorType::get({}, Float32Type::get(getContext()));
  if (getScale().getType() != scalar) // C1
    return emitOpError("expects a scale of ") << scalar << ", got " << getScale().getType();
  return success();
}

// ---- states

/// C1 to C3 of read_state.
template <typename OpTy> static LogicalResult verifyState(OpTy op, Value value) {
  auto function = op->template getParentOfType<FunctionOpInterface>();
  auto states = function ? function->template getAttrOfType<ArrayAttr>("tenon.states") : ArrayAttr();
  if (!states || op.getIndex() >= states.size()) // C1
    return op.emitOpError("expects a state of the entry, which has ")
           << (states ? states.size() : 0) << ", got number " << op.getIndex();
  auto type = dyn_cast<TypeAttr>(states[op.getIndex()]);
  auto whole = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  if (!whole || value.getType() != withoutLeading(whole, op.getDepths().size())) // C2
    return op.emitOpError("expects the type of state ")
           << op.getIndex() << ", " << states[op.getIndex()] << ", without a size for each of " << op.getDepths().size()
           << " depths, got " << value.getType();
  return verifyDepths(op, op.getDepths()); // C3
}
LogicalResult ReadStateOp::verify() { return verifyState(*this, getValue()); }
LogicalResult WriteStateOp::verify() { return verifyState(*this, getValue()); }

LogicalResult AppendStateOp::verify() {
  auto rows = cast<RankedTensorType>(getRows().getType()), whole = cast<RankedTensorType>(getWhole().getType());
  int64_t dim = getDim();
  if (dim >= whole.getRank()) // C1
    return emitOpError("expects a dimension of ") << whole << ", got " << dim;
  SmallVector<AffineExpr> sizes = sizesOf(rows), all = sizesOf(whole);
  if (sizes.size() == all.size())
    sizes[dim] = all[dim];
  if (sizes != all) // C2
    return emitOpError("expects rows of the shape of ") << whole << " but for dimension " << dim << ", got " << rows;
  if (rows.getElementType() != whole.getElementType()) // C3
    return emitOpError("expects rows of ") << whole.getElementType() << ", got " << rows.getElementType();
  if (cast<RankedTensorType>(getPosition().getType()).getRank() != 0) // C4
    return emitOpError("expects a scalar as position, got ") << getPosition().getType();
  return verifyState(*this, getWhole()); // C5, C6, C7
}

// ---- where they lie

/// In an arena whose offsets are those of the parameters, or their part in the arena of what is of type `stored`.
static Buffer placeInArena(Operation *op, Memory memory, FlatSymbolRefAttr name, ValueRange depths, Type stored) {
  auto parameter = op->getParentOfType<ModuleOp>().lookupSymbol<ParameterOp>(name);
  const int64_t part = arenaPart(stored);
  Buffer buffer{memory, int64_t(parameter.getOffset()) / part, {}};
  buffer.steps =
      depthSteps(depths, parameter.getType().getShape(), getAffineConstantExpr(parameter.getStride() / part, op->getContext()));
  return buffer;
}
std::optional<Buffer> ReadParameterOp::placeOfResult() {
  auto module = (*this)->getParentOfType<ModuleOp>();
  if (!getRemainder() && tensorOf(getValue()).getElementType() == copyType(module))
    return placeInArena(*this, Memory::Copies, getParameterAttr(), getDepths(), copyType(module));
  return placeInArena(*this, getRemainder() ? Memory::Remainders : Memory::Parameters, getParameterAttr(), getDepths(),
                      parameterType(module));
}
std::optional<Buffer> ReadLossScaleOp::placeOfResult() { return Buffer{Memory::LossScale, 0, {}}; }
std::optional<Delivery> WriteGradientOp::delivery() {
  return Delivery{getGradient(), placeInArena(*this, Memory::Gradients, getParameterAttr(), getDepths(), {})};
}

/// `element`: of a depth.
static Buffer placeOfState(Operation *op, Memory memory, int64_t index, ValueRange depths, Value element) {
  Buffer buffer{memory, index, {}};
  if (depths.empty())
    return buffer;
  auto states = op->getParentOfType<FunctionOpInterface>()->getAttrOfType<ArrayAttr>("tenon.states");
  auto whole = cast<RankedTensorType>(cast<TypeAttr>(states[index]).getValue());
  buffer.steps = depthSteps(depths, whole.getShape(), tensorBytes(tensorOf(element)));
  return buffer;
}
std::optional<Buffer> ReadStateOp::placeOfResult() {
  auto inPlace = (*this)->getParentOfType<FunctionOpInterface>()->getAttrOfType<DenseBoolArrayAttr>("tenon.in_place");
  const bool isKept = inPlace && inPlace[getIndex()];
  return placeOfState(*this, isKept ? Memory::KeptStates : Memory::States, getIndex(), getDepths(), getValue());
}
std::optional<Delivery> WriteStateOp::delivery() {
  return Delivery{getValue(), placeOfState(*this, Memory::NextStates, getIndex(), getDepths(), getValue())};
}
std::optional<Buffer> AppendStateOp::placeOfResult() {
  return placeOfState(*this, Memory::KeptStates, getIndex(), getDepths(), getWhole());
}

std::optional<Part> AtDepthOp::partOf() {
  return Part{getX(), {getDepth(), tensorBytes(tensorOf(getY())), -int64_t(getFirst())}};
}
std::optional<Delivery> OutputOp::delivery() { return Delivery{getValue(), {Memory::Output, int64_t(getIndex()), {}}}; }

// ---- stacks

void StackOp::build(OpBuilder &builder, OperationState &state, TypeRange results, int64_t count, ValueRange carries, bool reverse,
                    int64_t first) {
  build(builder, state, results, AffineMap::getConstantMap(count, builder.getContext()), carries, reverse, first);
}

RankedTensorType StackOp::stacked(RankedTensorType value) {
  SmallVector<AffineExpr> sizes = sizesOf(value);
  sizes.insert(sizes.begin(), countForm());
  return tensorType(sizes, value.getElementType(), std::max(dimCountOf(value), getCount().getNumDims()));
}

LogicalResult StackOp::verify() {
  if (failed(verifyForm(*this, getCount()))) // C6
    return failure();
  if (countNumber().value_or(0) < 0) // C5
    return emitOpError("expects a count from 0 on, got ") << *countNumber();
  unsigned carries = getCarries().size();
  SmallVector<Type> arguments{IndexType::get(getContext())};
  llvm::append_range(arguments, getCarries().getTypes());
  TypeRange own = getBody().front().getArgumentTypes();
  if (own != TypeRange(arguments)) // C1
    return emitOpError("expects a body with the depth and ") << carries << " carries as arguments, got (" << own << ")";
  if (getNumResults() < carries) // C2
    return emitOpError("expects a result for each of ") << carries << " carries, got " << getNumResults();
  for (unsigned i = 0; i < carries; ++i) // C2
    if (getResult(i).getType() != getCarries()[i].getType())
      return emitOpError("expects carry ") << i << " to keep its type " << getCarries()[i].getType() << ", got "
                                           << getResult(i).getType();
  return success();
}
LogicalResult StackOp::verifyRegions() {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  unsigned carries = getCarries().size();
  if (yield.getNumOperands() != getNumResults()) // C3
    return emitOpError("expects one yielded value per result, got ") << yield.getNumOperands() << " for " << getNumResults();
  for (unsigned i = 0; i < getNumResults(); ++i) {
    Type type = yield.getOperand(i).getType();
    if (i < carries) {
      if (type != getCarries()[i].getType()) // C3
        return emitOpError("expects carry ") << i << " to keep its type " << getCarries()[i].getType() << ", got " << type;
      continue;
    }
    auto yielded = dyn_cast<RankedTensorType>(type);
    if (!yielded || !hasSizes(yielded)) // C3
      return emitOpError("expects a tensor as saved value ") << i << ", got " << type;
    if (getResult(i).getType() != stacked(yielded)) // C4
      return emitOpError("expects saved value ")
             << i << " of " << yielded << " to be stacked " << textOf(countForm()) << " times, got " << getResult(i).getType();
  }
  return success();
}

LogicalResult AtDepthOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(adaptor.getX().getType());
  if (x.getRank() == 0) // C1
    return emitOptionalError(location, "'tenon.at_depth' op expects a value that was stacked, got ", x);
  types.push_back(withoutLeading(x, 1));
  return success();
}
Value AtDepthOp::buildElement(OpBuilder &builder, unsigned, ValueRange indices, ElementReader read) {
  Value place = getDepth();
  if (getFirst() != 0)
    place = arith::SubIOp::create(builder, getLoc(), place, arith::ConstantIndexOp::create(builder, getLoc(), getFirst()));
  SmallVector<Value> all{place};
  all.append(indices.begin(), indices.end());
  return read(getX(), all);
}

LogicalResult DepthValueOp::verify() {
  if (cast<RankedTensorType>(getY().getType()).getRank() != 0) // C1
    return emitOpError("expects a scalar, got ") << getY().getType();
  return success();
}
Value DepthValueOp::buildElement(OpBuilder &builder, unsigned, ValueRange, ElementReader) {
  return arith::IndexCastOp::create(builder, getLoc(), cast<RankedTensorType>(getY().getType()).getElementType(), getDepth());
}

// ---- results

/// The way back to the output before is short for all outputs together: none looks further than the next one.
LogicalResult OutputOp::verify() {
  if (!isa_and_nonnull<FunctionOpInterface>((*this)->getParentOp())) // C1
    return emitOpError("expects to stand at the top of a function, got ") << (*this)->getParentOp()->getName() << " around it";
  Operation *before = (*this)->getPrevNode();
  while (before && !isa<OutputOp>(before))
    before = before->getPrevNode();
  uint64_t wanted = before ? cast<OutputOp>(before).getIndex() + 1 : 0;
  if (getIndex() != wanted) // C2
    return emitOpError("expects number ") << wanted << ", got " << getIndex();
  return success();
}
