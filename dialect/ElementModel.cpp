#include "dialect/ElementModel.h"
#include "dialect/TenonDialect.h"
#include "dialect/TensorSizes.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tenon {

using runtime::DataType;

/// What MLIR calls the types that tensors have.
struct TypeOfTensors {
  DataType type;
  bool (*is)(Type element);
  Type (*in)(MLIRContext *context);
};
template <typename Real> static constexpr TypeOfTensors reals(DataType type) {
  return {type, [](Type element) { return isa<Real>(element); }, [](MLIRContext *context) -> Type { return Real::get(context); }};
}
template <unsigned bits> static constexpr TypeOfTensors integers(DataType type) {
  return {type, [](Type element) { return element.isInteger(bits); },
          [](MLIRContext *context) -> Type { return IntegerType::get(context, bits); }};
}
static constexpr TypeOfTensors kTypes[] = {
    reals<Float64Type>(DataType::F64),   reals<Float32Type>(DataType::F32), reals<Float16Type>(DataType::F16),
    reals<BFloat16Type>(DataType::BF16), integers<64>(DataType::I64),       integers<32>(DataType::I32),
    integers<1>(DataType::Bool),
    integers<16>(DataType::I16), // remainders of parameters
    integers<8>(DataType::I8),   // truth values in memory
};

std::optional<DataType> dataTypeOf(Type element) {
  for (const TypeOfTensors &known : kTypes)
    if (known.is(element))
      return known.type;
  return std::nullopt;
}

static Type typeOf(DataType type, MLIRContext *context) {
  for (const TypeOfTensors &known : kTypes)
    if (known.type == type)
      return known.in(context);
  return {};
}

ElementModel elementModel(Type element) {
  constexpr int64_t rowBytes = 64;
  const std::optional<DataType> type = dataTypeOf(element);
  if (!type)
    llvm::report_fatal_error("no element of a tensor"); // in every build: a guess would be wrong bytes
  const DataType computed = runtime::rowOf(*type).computed;
  return {*type, computed == *type ? element : typeOf(computed, element.getContext()),
          runtime::isReal(*type) ? rowBytes / int64_t(runtime::byteSize(computed)) : 16};
}

Type elementNamed(StringRef name, MLIRContext *context) {
  for (const TypeOfTensors &known : kTypes)
    if (StringRef(runtime::nameOf(known.type)) == name)
      return known.in(context);
  return {};
}

Value convertReal(OpBuilder &builder, Location location, Value x, Type element) {
  const Type from = getElementTypeOrSelf(x.getType());
  if (from == element)
    return x;
  const bool widens = from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  // From and to 16 bits by way of what they are computed in, f32: from f64 that rounds twice.
  if (const Type computed = elementModel(widens ? from : element).compute; computed != from && computed != element)
    return convertReal(builder, location, convertReal(builder, location, x, computed), element);
  auto vector = dyn_cast<VectorType>(x.getType());
  const Type to = vector ? Type(vector.clone(element)) : element;
  if (widens)
    return arith::ExtFOp::create(builder, location, to, x);
  return arith::TruncFOp::create(builder, location, to, x);
}

static Type typeAttribute(Operation *op, StringRef name) {
  auto type = op ? op->getAttrOfType<TypeAttr>(name) : TypeAttr();
  return type ? type.getValue() : Type();
}

Type narrowType(ModuleOp module) { return typeAttribute(module, kCompute); }
Type parameterType(ModuleOp module) { return typeAttribute(module, kParameters); }
Type remainderType(MLIRContext *context) { return typeOf(DataType::I16, context); }
bool hasRemainders(ModuleOp module) { return bool(typeAttribute(module, kRemainders)); }
/// `type`, if it is one in which `element` is stored.
static Type ifStores(Type type, Type element) { return type && elementModel(type).compute == element ? type : Type(); }
Type storedParameter(ModuleOp module, Type element) {
  Type stored = module ? ifStores(parameterType(module), element) : Type();
  return stored ? stored : element;
}
Type copyType(ModuleOp module) { return parameterType(module) ? Type() : narrowType(module); }
Type copyType(ModuleOp module, Type element) { return ifStores(copyType(module), element); }
Type shortParameterType(ModuleOp module) {
  Type stored = parameterType(module);
  return stored ? stored : copyType(module);
}
Type reduceType(ModuleOp module) { return typeAttribute(module, kReduce); }

Type computeType(Operation *contraction) {
  if (Type own = getElementTypeOrSelf(contraction->getOperand(0).getType());
      isComputed(own) && elementBytes(own) > elementBytes(Float32Type::get(own.getContext())))
    return own;
  if (Type own = typeAttribute(contraction, kCompute))
    return own;
  Type ofModule = narrowType(contraction->getParentOfType<ModuleOp>());
  return ofModule ? ofModule : Float32Type::get(contraction->getContext());
}

void KeepCompute::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) {
  if (before)
    before->notifyOperationInserted(op, previous);
  auto mixed = dyn_cast<MixedPrecisionOpInterface>(op);
  if (own && mixed && !op->hasAttr(kCompute) && !mixed.narrowOperands().empty())
    op->setAttr(kCompute, own);
}

Value joinHalves(OpBuilder &builder, Location location, Value upper, Value remainder) {
  auto shaped = [&](Type element) {
    auto vector = dyn_cast<VectorType>(upper.getType());
    return vector ? Type(vector.clone(element)) : element;
  };
  const Type i32 = shaped(builder.getI32Type());
  TypedAttr places = builder.getI32IntegerAttr(16);
  if (auto vector = dyn_cast<VectorType>(i32))
    places = DenseElementsAttr::get(vector, Attribute(places));
  Value sixteen = arith::ConstantOp::create(builder, location, places);
  Value high = arith::ShLIOp::create(builder, location, arith::ExtUIOp::create(builder, location, i32, upper), sixteen);
  Value low = arith::ExtSIOp::create(builder, location, i32, remainder);
  return arith::BitcastOp::create(builder, location, shaped(builder.getF32Type()),
                                  arith::AddIOp::create(builder, location, high, low));
}

AffineExpr tensorBytes(RankedTensorType type) {
  return product(sizesOf(type), type.getContext()) * elementBytes(type.getElementType());
}

} // namespace tenon
