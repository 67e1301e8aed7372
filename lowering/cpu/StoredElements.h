// Elements of a matrix between memory and registers: widened, or rounded, as they are loaded.
#pragma once
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Gemm.h"
#include "lowering/cpu/ShortReals.h"

namespace tenon::cpu {

/// Elements in memory: where they are, and as what they are computed in.
struct StoredElements {
  /// `rounding`: bf16 or f16, to which f32 is rounded on its way; null: as it is.
  StoredElements(Emitter &emit, Tier tier, mlir::Type storage, mlir::Type rounding = {})
      : emit(emit), tier(tier), storage(storage), rounding(rounding) {
    assert((!rounding || storage.isF32()) && "f32 is rounded");
  }
  mlir::Value at(mlir::Value pointer, mlir::Value index) { return emit.at(pointer, memoryType(storage), index); }
  /// A `type` of the computed elements: one or a vector, of which `mask` may leave out lanes.
  mlir::Value load(mlir::Type type, mlir::Value pointer, mlir::Value mask = {}) {
    auto vector = mlir::dyn_cast<mlir::VectorType>(type);
    mlir::Type inMemory = vector ? mlir::Type(vector.clone(memoryType(storage))) : memoryType(storage);
    mlir::Value loaded = vector
                             ? emitVectorLoad(emit.builder, emit.location, mlir::cast<mlir::VectorType>(inMemory), pointer, mask)
                             : emit.load(inMemory, pointer, elementBytes(storage));
    if (rounding)
      return widenBits(emit.builder, emit.location, tier, rounding,
                       narrowToBits(emit.builder, emit.location, tier, rounding, loaded));
    return isShortReal(storage) ? widenBits(emit.builder, emit.location, tier, storage, loaded) : loaded;
  }
  Emitter &emit;
  Tier tier;
  mlir::Type storage, rounding;
};

} // namespace tenon::cpu
