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

/// Thread i adds what thread i + n/2 has, then i + n/4 and so on.
Value KernelCode::combineBlock(Reduction kind, Value value, int64_t groups, bool onlyFirst) {
  if (threads <= groups)
    return value;
  const Type element = value.getType();
  const Type stored = element.isInteger(1) ? Type(builder.getI8Type()) : element;
  const int64_t places = int64_t(llvm::PowerOf2Ceil(uint64_t(threads)));
  Value memory = shared(stored, places);
  auto at = [&](Value index) { return elementAddress(builder, memory, stored, index); };
  auto put = [&](Value index, Value one) {
    if (stored != element)
      one = arith::ExtUIOp::create(builder, stored, one);
    LLVM::StoreOp::create(builder, one, at(index));
  };
  auto get = [&](Value index) -> Value {
    Value one = LLVM::LoadOp::create(builder, stored, at(index));
    return stored == element ? one : arith::TruncIOp::create(builder, element, one).getResult();
  };
  put(thread(), value);
  barrier();
  for (int64_t half = places / 2; half >= groups; half /= 2) {
    Value other = add(builder, thread(), constant(builder, half));
    const int64_t end = std::min(half, threads - half);
    Value takesPart = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, thread(), constant(builder, end));
    auto both = [&] { return combine(builder, kind, get(thread()), get(other)); };
    if (onlyFirst && half == groups) {
      auto last = scf::IfOp::create(builder, element, takesPart, true);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(last.thenBlock());
      scf::YieldOp::create(builder, both());
      builder.setInsertionPointToStart(last.elseBlock());
      scf::YieldOp::create(builder, value);
      return last.getResult(0);
    }
    ifThen(takesPart, [&] { put(thread(), both()); });
    barrier();
  }
  return get(remainder(builder, thread(), constant(builder, groups)));
}

} // namespace tenon::gpu
