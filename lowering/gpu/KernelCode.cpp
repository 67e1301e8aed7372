// What every kernel is written with: indices of threads, barriers, shared memory, a reduction over the threads of a block.
#include "lowering/code/Reductions.h"
#include "lowering/gpu/Launch.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tenon::gpu {

Value KernelCode::scalar(Value index) {
  return indexCode(builder, index, [&](BlockArgument argument) -> Value {
    return argument.getOwner()->getParentOp() == sequence.function() ? dims[argument.getArgNumber()]
                                                                     : loopIndices.lookup(argument);
  });
}

Value KernelCode::pointer(Value tensor) {
  Value found = pointers.lookup(tensor);
  assert(found && "a kernel touches only the tensors it states");
  return found;
}

const Chip &KernelCode::chip() const { return sequence.chip; }

void KernelCode::barrier() {
  Value first = arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0));
  LLVM::CallIntrinsicOp::create(builder, builder.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"), ValueRange{first});
}

/// A global of its own for each use, so that two uses never meet.
static LLVM::GlobalOp addGlobal(ModuleOp module, Location location, StringRef stem, LLVM::LLVMArrayType type, bool isConstant,
                                Attribute values, unsigned space) {
  std::string name = stem.str();
  for (unsigned i = 0; SymbolTable::lookupSymbolIn(module, name); ++i)
    name = (stem + "_" + Twine(i)).str();
  OpBuilder at = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::GlobalOp::create(at, location, type, isConstant, LLVM::Linkage::Internal, name, values, /*alignment=*/16, space);
}

Value KernelCode::shared(Type element, int64_t count) {
  auto kernel = builder.getInsertionBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  LLVM::GlobalOp global = addGlobal(sequence.device, builder.getLoc(), (kernel.getName() + "_shared").str(),
                                    LLVM::LLVMArrayType::get(element, count), false, Attribute(), kShared);
  {
    OpBuilder::InsertionGuard guard(builder); // shared memory starts with any bytes
    builder.setInsertionPointToStart(builder.createBlock(&global.getInitializerRegion()));
    Value any = LLVM::UndefOp::create(builder, global.getType());
    LLVM::ReturnOp::create(builder, any);
  }
  return LLVM::AddressOfOp::create(builder, LLVM::LLVMPointerType::get(builder.getContext(), kShared), global.getSymName());
}

Value KernelCode::dynamicShared() {
  constexpr StringLiteral name = "tenon_shared"; // of all kernels: a launch says how much it is
  constexpr unsigned border = 1024;              // of a tile with the widest swizzle
  auto global = dyn_cast_or_null<LLVM::GlobalOp>(SymbolTable::lookupSymbolIn(sequence.device, name));
  if (!global) {
    OpBuilder at = OpBuilder::atBlockBegin(sequence.device.getBody());
    global = LLVM::GlobalOp::create(at, builder.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), 0), /*isConstant=*/false,
                                    LLVM::Linkage::External, name, Attribute(), border, kShared);
  }
  return LLVM::AddressOfOp::create(builder, LLVM::LLVMPointerType::get(builder.getContext(), kShared), global.getSymName());
}

Value KernelCode::table(StringRef stem, Type element, DenseElementsAttr values) {
  LLVM::GlobalOp global;
  for (auto known : sequence.device.getOps<LLVM::GlobalOp>())
    if (known.getValueOrNull() == values)
      global = known;
  if (!global)
    global = addGlobal(sequence.device, builder.getLoc(), stem, LLVM::LLVMArrayType::get(element, values.getNumElements()), true,
                       values, kGlobal);
  return LLVM::AddressOfOp::create(builder, LLVM::LLVMPointerType::get(builder.getContext(), kGlobal), global.getSymName());
}

void KernelCode::strided(Value first, Value step, Value count, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, first, count, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void KernelCode::overGrid(Value count, llvm::function_ref<void(Value)> body) {
  Value size = constant(builder, threads);
  strided(add(builder, multiply(builder, block(), size), thread()), multiply(builder, blocks(), size), count, body);
}

void KernelCode::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, TypeRange(), condition, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

Value KernelCode::ofPartner(Value value, int64_t bit) {
  Type type = value.getType(), i32 = builder.getI32Type();
  auto number = [&](int64_t of) -> Value { return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(of))); };
  auto exchange = [&](Value own) -> Value {
    auto name = builder.getStringAttr(own.getType() == i32 ? "llvm.nvvm.shfl.sync.bfly.i32" : "llvm.nvvm.shfl.sync.bfly.f32");
    return LLVM::CallIntrinsicOp::create(builder, own.getType(), name, ValueRange{number(-1), own, number(bit), number(31)})
        .getResult(0);
  };
  if (type.isF32() || type == i32)
    return exchange(value);
  if (type.getIntOrFloatBitWidth() < 32)
    return arith::TruncIOp::create(builder, type, exchange(arith::ExtUIOp::create(builder, i32, value)));
  Type i64 = builder.getI64Type();
  Value bits = type == i64 ? value : LLVM::BitcastOp::create(builder, i64, value).getResult(), half = constant(builder, 32);
  auto part = [&](Value shifted) -> Value {
    return arith::ExtUIOp::create(builder, i64, exchange(arith::TruncIOp::create(builder, i32, shifted)));
  };
  Value low = part(bits), high = part(arith::ShRUIOp::create(builder, bits, half));
  Value both = arith::OrIOp::create(builder, low, arith::ShLIOp::create(builder, high, half));
  return type == i64 ? both : LLVM::BitcastOp::create(builder, type, both).getResult();
}

namespace {

/// What the first `groups` lanes of each warp have, in shared memory.
class PartsOfWarps {
public:
  PartsOfWarps(KernelCode &code, ArrayRef<Value> values, int64_t groups)
      : code(code), builder(code.builder), groups(groups), warps(code.threads / kLanes) {
    for (Value value : values)
      memory.push_back(code.shared(storedType(value.getType()), warps * groups));
  }
  static constexpr int64_t kLanes = 32;

  Value isBelow(Value index) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, index, constant(builder, groups));
  }
  void put(ArrayRef<Value> values) {
    Value lanes = constant(builder, kLanes), lane = remainder(builder, code.thread(), lanes);
    Value warp = divide(builder, code.thread(), lanes);
    auto store = [&] {
      for (auto [k, value] : llvm::enumerate(values)) {
        Type stored = storedType(value.getType());
        Value one = stored == value.getType() ? value : arith::ExtUIOp::create(builder, stored, value).getResult();
        LLVM::StoreOp::create(builder, one, at(k, stored, warp, lane));
      }
    };
    groups < kLanes ? code.ifThen(isBelow(lane), store) : store();
  }
  /// Of value number `k`, in the order of the warps.
  Value total(Reduction kind, size_t k, Type type) {
    Value group = remainder(builder, code.thread(), constant(builder, groups)), sum;
    for (int64_t i = 0; i < warps; ++i) {
      Type stored = storedType(type);
      Value one = LLVM::LoadOp::create(builder, stored, at(k, stored, constant(builder, i), group));
      if (stored != type)
        one = arith::TruncIOp::create(builder, type, one);
      sum = sum ? combine(builder, kind, sum, one) : one;
    }
    return sum;
  }

private:
  Type storedType(Type type) { return type.isInteger(1) ? Type(builder.getI8Type()) : type; }
  Value at(size_t k, Type stored, Value warp, Value group) {
    return elementAddress(builder, memory[k], stored, add(builder, multiply(builder, warp, constant(builder, groups)), group));
  }
  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  const int64_t groups, warps;
  SmallVector<Value> memory;
};

} // namespace

/// Lanes of a warp combine by shuffles: with the one that is 16 further, then 8 and so on. Then each thread goes through the
/// warps.
void KernelCode::combineBlock(Reduction kind, MutableArrayRef<Value> values, int64_t groups, bool onlyFirst) {
  if (threads <= groups)
    return;
  for (int64_t bit = PartsOfWarps::kLanes / 2; bit >= groups; bit /= 2)
    for (Value &value : values)
      value = combine(builder, kind, value, ofPartner(value, bit));
  PartsOfWarps parts(*this, values, groups);
  parts.put(values);
  barrier();
  auto totals = [&] {
    SmallVector<Value> all;
    for (auto [k, value] : llvm::enumerate(values))
      all.push_back(parts.total(kind, k, value.getType()));
    return all;
  };
  if (!onlyFirst) {
    llvm::copy(totals(), values.begin());
    return;
  }
  auto first = scf::IfOp::create(builder, ValueRange(values).getTypes(), parts.isBelow(thread()), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(first.thenBlock());
  scf::YieldOp::create(builder, totals());
  builder.setInsertionPointToStart(first.elseBlock());
  scf::YieldOp::create(builder, ValueRange(values));
  llvm::copy(first.getResults(), values.begin());
}

Value KernelCode::combineBlock(Reduction kind, Value value, int64_t groups, bool onlyFirst) {
  combineBlock(kind, MutableArrayRef<Value>(value), groups, onlyFirst);
  return value;
}

} // namespace tenon::gpu
