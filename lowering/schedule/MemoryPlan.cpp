#include "lowering/schedule/MemoryPlan.h"
#include "dialect/ElementModel.h"

using namespace mlir;

namespace tenon {

void readStates(func::FuncOp entry, Arenas &arenas) {
  if (auto states = entry->getAttrOfType<ArrayAttr>("tenon.states"))
    for (Attribute state : states)
      arenas.stateBytes.push_back(tensorBytes(cast<RankedTensorType>(cast<TypeAttr>(state).getValue())));
  arenas.inPlace.assign(arenas.stateBytes.size(), false);
  if (auto inPlace = entry->getAttrOfType<DenseBoolArrayAttr>("tenon.in_place"))
    arenas.inPlace.assign(inPlace.asArrayRef().begin(), inPlace.asArrayRef().end());
}

} // namespace tenon
