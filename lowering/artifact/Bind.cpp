#include "lowering/artifact/Bind.h"
#include "dialect/Rules.h"
#include "lowering/artifact/Scalars.h"

using namespace mlir;

namespace tenon {

std::string bindSymbol(llvm::StringRef entry) { return ("tn_bind_" + entry).str(); }

int32_t givenDims(func::FuncOp entry) {
  const auto factors = factorsOfDims(entry);
  return llvm::count_if(entry.getArgumentTypes(), [](Type type) { return type.isIndex(); }) -
         llvm::count_if(factors, [](ArrayRef<unsigned> each) { return each.size() > 1; });
}

SmallVector<Value> loadDims(ImplicitLocOpBuilder &builder, func::FuncOp entry, Value table) {
  const auto factors = factorsOfDims(entry);
  SmallVector<Value> dims;
  int64_t given = 0;
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes())) {
    if (!type.isIndex())
      break;
    if (i >= factors.size() || factors[i].size() == 1) {
      Value address = elementAddress(builder, table, builder.getI64Type(), constant(builder, given++));
      dims.push_back(LLVM::LoadOp::create(builder, builder.getI64Type(), address, 8));
      continue;
    }
    dims.push_back(dims[factors[i].front()]);
    for (unsigned factor : ArrayRef<unsigned>(factors[i]).drop_front())
      dims.back() = multiply(builder, dims.back(), dims[factor]);
  }
  return dims;
}

void emitBind(ModuleOp module, const ScheduledEntry &entry) {
  ImplicitLocOpBuilder builder(module.getLoc(), module.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  func::FuncOp source = entry.function;
  Type address = pointer(builder), i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {address, address, address});
  auto function = LLVM::LLVMFuncOp::create(builder, bindSymbol(source.getName()), type);
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  auto element = [&](int argument, int64_t index) {
    return elementAddress(builder, block->getArgument(argument), i64, constant(builder, index));
  };
  const SmallVector<Value> dims = loadDims(builder, source, block->getArgument(0));
  auto aligned = [&](Value bytes) {
    return multiply(builder, ceilDivide(builder, bytes, constant(builder, 64)), constant(builder, 64));
  };
  Value zero = constant(builder, 0), stateEnd = zero, keptEnd = zero, workspaceEnd = zero;
  for (auto [i, bytes] : llvm::enumerate(entry.arenas.stateBytes)) {
    bool inPlace = i < entry.arenas.inPlace.size() && entry.arenas.inPlace[i];
    Value &end = inPlace ? keptEnd : stateEnd;
    LLVM::StoreOp::create(builder, end, element(1, i), 8);
    end = add(builder, end, aligned(evaluateSize(builder, bytes, dims)));
  }
  SmallVector<Value> ends; // of the slots before this one
  auto emitSlot = [&](const Arenas::Slot &slot) {
    Value offset = zero;
    for (unsigned below : slot.after)
      offset = maximum(builder, offset, ends[below]);
    LLVM::StoreOp::create(builder, offset, element(1, entry.arenas.stateCount() + ends.size()), 8);
    ends.push_back(add(builder, offset, aligned(evaluateSize(builder, slot.bytes, dims))));
    workspaceEnd = maximum(builder, workspaceEnd, ends.back());
  };
  for (const Arenas::Slot &slot : entry.arenas.slots)
    emitSlot(slot);
  LLVM::StoreOp::create(builder, stateEnd, element(2, 0), 8);
  LLVM::StoreOp::create(builder, workspaceEnd, element(2, 1), 8);
  LLVM::StoreOp::create(builder, aligned(constant(builder, entry.arenas.scratchBytes)), element(2, 2), 8);
  LLVM::StoreOp::create(builder, keptEnd, element(2, 3), 8);
  LLVM::ReturnOp::create(builder, ValueRange());
}

} // namespace tenon
