// What the attributes of an entry and of a module say; TenonDialect.td has the tables.
#include "dialect/ElementModel.h"
#include "dialect/Panels.h"
#include "dialect/Rules.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tenon {

static bool isTensorOf(FunctionOpInterface entry, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && hasSizes(tensor) && fitsEntry(entry, dimCountOf(tensor));
}

static LogicalResult verifyDims(FunctionOpInterface entry, Attribute value) {
  auto names = dyn_cast<ArrayAttr>(value);
  if (!names || !llvm::all_of(names, [](Attribute name) { return isa<StringAttr>(name); }))
    return entry.emitOpError("expects names as tenon.dims, got ") << value; // E1
  llvm::SmallDenseSet<StringRef> known;                                     // a product of them is a dim, too: "B*T"
  for (StringRef name : names.getAsValueRange<StringAttr>()) {
    SmallVector<StringRef> factors;
    name.split(factors, '*');
    if (factors.size() > 1 && !llvm::all_of(factors, [&](StringRef factor) { return known.contains(factor); }))
      return entry.emitOpError("expects products of dims in front of them in tenon.dims, got ") << name; // E1
    if (factors.size() == 1)
      known.insert(name);
  }
  ArrayRef<Type> arguments = entry.getArgumentTypes();
  if (arguments.size() < names.size() ||
      !llvm::all_of(arguments.take_front(names.size()), [](Type type) { return type.isIndex(); }))
    return entry.emitOpError("expects the sizes of its ")
           << names.size() << " dims as first arguments, got (" << arguments << ")"; // E1
  for (Type type : arguments.drop_front(names.size()))
    if (!isTensorOf(entry, type))
      return entry.emitOpError("expects tensors over its dims as further arguments, got ") << type; // E1
  return success();
}

static LogicalResult verifyStates(FunctionOpInterface entry, Attribute value) {
  auto types = dyn_cast<ArrayAttr>(value);
  for (Attribute type : types ? types.getValue() : ArrayRef<Attribute>(value))
    if (!isa<TypeAttr>(type) || !isTensorOf(entry, cast<TypeAttr>(type).getValue()))
      return entry.emitOpError("expects types of tensors over its dims as tenon.states, got ") << type; // E3
  return success();
}

static size_t stateCount(FunctionOpInterface entry) {
  auto states = entry->getAttrOfType<ArrayAttr>("tenon.states");
  return states ? states.size() : 0;
}

static LogicalResult verifyInPlace(FunctionOpInterface entry, Attribute value) {
  auto flags = dyn_cast<DenseBoolArrayAttr>(value);
  if (!flags || size_t(flags.size()) != stateCount(entry))
    return entry.emitOpError("expects a truth value for each of ")
           << stateCount(entry) << " states as tenon.in_place, got " << value; // E4
  return success();
}

static LogicalResult verifyWalk(FunctionOpInterface entry, Attribute value) {
  auto walk = dyn_cast<DictionaryAttr>(value);
  auto below = [&](StringRef name, size_t bound) {
    auto number = walk.getAs<IntegerAttr>(name);
    return number && number.getType().isSignlessInteger(64) && number.getInt() >= 0 && uint64_t(number.getInt()) < bound;
  };
  auto dims = entry->getAttrOfType<ArrayAttr>("tenon.dims");
  auto capacity = walk ? walk.getAs<AffineMapAttr>("capacity") : AffineMapAttr();
  if (!capacity || !below("position", stateCount(entry)) || !below("count", dims ? dims.size() : 0))
    return entry.emitOpError(
               "expects the number of a state as position, of a dim as count and a form as capacity of tenon.walk, got ")
           << value; // E5
  return verifyForm(entry, capacity.getValue());
}

/// What things are computed in: of a module, and of a contraction.
static LogicalResult verifyNumerics(Operation *op, StringRef name, Attribute value) {
  auto given = dyn_cast<TypeAttr>(value);
  const Type type = given ? given.getValue() : Type();
  if (isa<ModuleOp>(op)) {
    if (name == kRemainders) {
      const Type upper = parameterType(cast<ModuleOp>(op)), rest = remainderType(op->getContext());
      if (type != rest || !upper || !isUpperHalf(upper)) // E11
        return op->emitOpError("expects ") << elementModel(rest).name() << " as " << name << ", beside tenon.parameters of "
                                           << runtime::listThat(runtime::isUpperHalf) << ", got " << value;
      return success();
    }
    const auto expected = name == kReduce ? runtime::isWideReal : runtime::isStoredReal;
    if (!type || !tableSays(type, expected)) // E7, E9, E10
      return op->emitOpError("expects ") << runtime::listThat(expected) << " as " << name << ", got " << value;
    return success();
  }
  auto mixed = dyn_cast<MixedPrecisionOpInterface>(op);
  if (name != kCompute || !(isa<AttendOp>(op) || (mixed && !mixed.narrowOperands().empty())))
    return op->emitOpError("expects ") << name << " of a module" << (name != kCompute ? "" : " or a contraction"); // E8 to E11
  if (!type || !tableSays(type, runtime::isComputedInF32))
    return op->emitOpError("expects ") << runtime::listThat(runtime::isComputedInF32) << " as tenon.compute, got " << value; // E8
  return success();
}

LogicalResult TenonDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (StringRef name = attribute.getName(); name == kCompute || name == kParameters || name == kRemainders || name == kReduce)
    return verifyNumerics(op, name, attribute.getValue());
  if (attribute.getName() == kPanels)
    return verifyPanels(op, attribute.getValue());
  auto entry = dyn_cast<FunctionOpInterface>(op);
  if (!entry)
    return success();
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == "tenon.dims")
    return verifyDims(entry, value);
  if (name == "tenon.states")
    return verifyStates(entry, value);
  if (name == "tenon.in_place")
    return verifyInPlace(entry, value);
  if (name == "tenon.walk")
    return verifyWalk(entry, value);
  if (auto slices = dyn_cast<IntegerAttr>(value); name == kSlices && (!slices || slices.getInt() < 1))
    return op->emitOpError("expects a number of 1 or more as ") << kSlices << ", got " << value; // E6
  auto kind = dyn_cast<StringAttr>(value);
  if (name == "tenon.kind" && (!kind || !llvm::is_contained({"out", "eval", "train"}, kind.getValue())))
    return op->emitOpError("expects out, eval or train as tenon.kind, got ") << value; // E2
  return success();
}

} // namespace tenon
