// What of tenon.optimize asks for the context: the place of the loss scale, libm.
#include "lowering/artifact/Abi.h"
#include "lowering/artifact/Scalars.h"
#include "lowering/cpu/Optimizer.h"

using namespace mlir;

namespace tenon::cpu {

LibraryCall libraryOf(FunctionCode &code) {
  return [&code](StringRef name, ArrayRef<Value> operands) -> Value {
    return LLVM::CallOp::create(code.builder, code.sequence.libraryFunction(name, unsigned(operands.size())), operands)
        .getResult();
  };
}

LossScale readLossScale(FunctionCode &code) {
  auto &builder = code.builder;
  Value place =
      LLVM::LoadOp::create(builder, pointer(builder),
                           byteAddress(builder, code.pointerField(abi::Arenas), constant(builder, 8 * TN_ARENA_LOSS_SCALE)), 8);
  return tenon::readLossScale(builder, place);
}

} // namespace tenon::cpu
