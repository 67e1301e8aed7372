// Where each parameter lies in the arenas. See Passes.td.
#include "dialect/Panels.h"
#include "dialect/Refusal.h"
#include "dialect/StoredParameter.h"
#include "dialect/TenonDialect.h"
#include "lowering/Passes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::AddOverflow;
using llvm::MulOverflow;

namespace tenon {
#define GEN_PASS_DEF_PLACEPARAMETERS
#include "lowering/Passes.h.inc"

namespace {

/// The bytes of one stack element up to the next multiple of `alignment`; nothing where 64 bits do not hold them.
std::optional<int64_t> strideOf(ParameterOp parameter, int64_t alignment) {
  int64_t bytes = arenaBytesOf(parameter);
  for (int64_t size : parameter.getType().getShape().drop_front(parameter.depthCount()))
    if (MulOverflow(bytes, size, bytes))
      return std::nullopt;
  if (AddOverflow(bytes, alignment - 1, bytes))
    return std::nullopt;
  return bytes / alignment * alignment;
}

struct PlaceParameters : impl::PlaceParametersBase<PlaceParameters> {
  void runOnOperation() override {
    constexpr uint64_t cacheLine = 64;
    int64_t end = 0;
    for (auto parameter : getOperation().getOps<ParameterOp>()) {
      if (parameter->hasAttr(kPanels) && AddOverflow(end, int64_t(end % (2 * cacheLine)), end)) // on a line in halves, too
        end = std::numeric_limits<int64_t>::max();
      std::optional<int64_t> stride = strideOf(parameter, cacheLine);
      int64_t bytes;
      parameter.setOffset(end);
      if (!stride || MulOverflow(*stride, parameter.stackElements(), bytes) || AddOverflow(end, bytes, end)) {
        notSupported(parameter) << "parameters of 2^63 bytes or more";
        return signalPassFailure();
      }
      parameter.setStride(*stride);
    }
  }
};

} // namespace

uint64_t parameterBytes(ModuleOp module) {
  uint64_t bytes = 0;
  for (auto parameter : module.getOps<ParameterOp>())
    bytes = std::max<uint64_t>(bytes, parameter.getOffset() + parameter.getStride() * parameter.stackElements());
  return bytes;
}

} // namespace tenon
