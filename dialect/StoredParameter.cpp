#include "dialect/StoredParameter.h"
#include "dialect/ElementModel.h"

using namespace mlir;

namespace tenon {

static ModuleOp moduleOf(ParameterOp parameter) { return parameter->getParentOfType<ModuleOp>(); }
static Type elementOf(ParameterOp parameter) { return parameter.getType().getElementType(); }

Type storedType(ParameterOp parameter) {
  return parameter->hasAttr(kWhole) ? elementOf(parameter) : storedParameter(moduleOf(parameter), elementOf(parameter));
}
bool isSplit(ParameterOp parameter) {
  return storedType(parameter) != elementOf(parameter) && hasRemainders(moduleOf(parameter));
}
Type copyTypeOf(ParameterOp parameter) { return copyType(moduleOf(parameter), elementOf(parameter)); }
Type otherReadType(ParameterOp parameter) {
  const Type stored = storedType(parameter);
  return stored != elementOf(parameter) ? stored : copyTypeOf(parameter);
}
int64_t arenaPart(Type stored) { return stored ? elementBytes(elementModel(stored).compute) / elementBytes(stored) : 1; }
int64_t arenaBytesOf(ParameterOp parameter) {
  return std::max(elementBytes(elementOf(parameter)),
                  elementBytes(storedType(parameter)) * arenaPart(parameterType(moduleOf(parameter))));
}

} // namespace tenon
