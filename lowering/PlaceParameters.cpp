// Where each parameter lies in the arenas. See Passes.td.
#include "dialect/TenonDialect.h"
#include "lowering/Passes.h"

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_PLACEPARAMETERS
#include "lowering/Passes.h.inc"

namespace {

/// How many elements the stacks around a parameter give it.
int64_t stackElements(ParameterOp parameter) {
  auto sizes = cast<RankedTensorType>(parameter.getType()).getShape();
  int64_t elements = 1;
  for (int64_t size : sizes.take_front(parameter.getStacked() ? parameter.getLevels() : 0))
    elements *= size;
  return elements;
}

struct PlaceParameters : impl::PlaceParametersBase<PlaceParameters> {
  void runOnOperation() override {
    constexpr uint64_t cacheLine = 64;
    uint64_t offset = 0;
    for (auto parameter : getOperation().getOps<ParameterOp>()) {
      auto type = cast<RankedTensorType>(parameter.getType());
      int64_t elements = stackElements(parameter);
      uint64_t bytes = uint64_t(type.getNumElements() / std::max<int64_t>(elements, 1)) * (type.getElementTypeBitWidth() / 8);
      parameter.setOffset(offset);
      parameter.setStride(llvm::alignTo(bytes, cacheLine));
      offset += parameter.getStride() * elements;
    }
  }
};

} // namespace

uint64_t parameterBytes(ModuleOp module) {
  uint64_t bytes = 0;
  for (auto parameter : module.getOps<ParameterOp>())
    bytes = std::max<uint64_t>(bytes, parameter.getOffset() + parameter.getStride() * stackElements(parameter));
  return bytes;
}

} // namespace tenon
