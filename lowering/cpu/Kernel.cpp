#include "lowering/cpu/Kernel.h"
#include "dialect/TensorSizes.h"
#include "lowering/artifact/Abi.h"
#include "lowering/cpu/Cut.h"
#include "lowering/cpu/Generators.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {

FunctionCode::FunctionCode(KernelSequence &sequence, ImplicitLocOpBuilder &builder, Value context)
    : ContextCode(sequence.function(), builder, context), tier(sequence.tier()), sequence(sequence) {}

Value FunctionCode::loopIndex(BlockArgument argument) {
  Operation *loop = argument.getOwner()->getParentOp();
  if (!isa<LoopOp>(loop) || argument.getArgNumber() != 0)
    return {};
  int64_t level = 0;
  for (Operation *outer = loop->getParentOp(); outer; outer = outer->getParentOp())
    level += isa<LoopOp>(outer);
  return field(abi::DepthValues + 8 * level);
}

Value FunctionCode::pointer(Value tensor) {
  if (isEntry)
    return address(*sequence.bufferOf(tensor));
  Value found = pointers.lookup(tensor);
  assert(found && "a kernel touches only the tensors it states");
  return found;
}
Value FunctionCode::place(unsigned index) { return placePointers[index]; }
Value FunctionCode::temporary(unsigned index) { return temporaryPointers[index]; }

KernelSequence::KernelSequence(ModuleOp target, const ScheduledEntry &entry, const ParameterTable &parameters, Tier tier,
                               SharedBodies &bodies)
    : ScheduleEmitter(entry, parameters), target(target), targetTier(tier), bodies(&bodies) {}

KernelSequence::KernelSequence(func::FuncOp entry, Tier tier, KernelNeeds &needs)
    : ScheduleEmitter(entry, needs), targetTier(tier) {}

std::string KernelSequence::uniqueName(StringRef stem) {
  std::string name = stem.str();
  // A look-up walks over all symbols: trying 1, 2, .. anew for every kernel would take cubic time.
  for (unsigned &i = lastSuffix[stem]; SymbolTable::lookupSymbolIn(target, name);)
    name = (stem + "_" + Twine(++i)).str();
  return name;
}

LLVM::LLVMFuncOp KernelSequence::libraryFunction(StringRef name, unsigned arguments) {
  if (auto known = dyn_cast_or_null<LLVM::LLVMFuncOp>(SymbolTable::lookupSymbolIn(target, name)))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(target.getBody());
  Type f64 = builder.getF64Type();
  return LLVM::LLVMFuncOp::create(builder, target.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(f64, SmallVector<Type>(arguments, f64)));
}

/// What a tile's function is given: first the tensors of the kernel, then its places, then its temporaries.
struct KernelSequence::TileArguments {
  struct Address {
    Buffer buffer;
    bool alone; ///< nothing else that the kernel touches lies there
  };
  SmallVector<Address> addresses;
  DenseMap<Value, unsigned> ofTensor; ///< index into `addresses`
  unsigned firstPlace = 0, firstTemporary = 0;
};

KernelSequence::TileArguments KernelSequence::argumentsOf(const Kernel &kernel) {
  TileArguments arguments;
  SmallVector<Buffer> written, read;
  for (Value tensor : kernel.writes)
    written.push_back(*bufferOf(tensor));
  llvm::append_range(written, kernel.places);
  for (Value tensor : kernel.reads)
    read.push_back(*bufferOf(tensor));
  auto count = [](ArrayRef<Buffer> in, const Buffer &buffer) {
    return llvm::count_if(in, [&](const Buffer &b) { return b.samePlace(buffer); });
  };
  auto addTensor = [&](Value tensor, bool write) {
    if (!arguments.ofTensor.try_emplace(tensor, arguments.addresses.size()).second)
      return;
    Buffer buffer = *bufferOf(tensor);
    bool alone = write ? count(written, buffer) == 1 && count(read, buffer) == 0 : count(written, buffer) == 0;
    arguments.addresses.push_back({buffer, alone});
  };
  for (Value tensor : kernel.writes)
    addTensor(tensor, true);
  for (Value tensor : kernel.reads)
    addTensor(tensor, false);
  arguments.firstPlace = arguments.addresses.size();
  for (const Buffer &buffer : kernel.places)
    arguments.addresses.push_back({buffer, false});
  arguments.firstTemporary = arguments.addresses.size();
  for (unsigned number : kernel.temporaries)
    arguments.addresses.push_back({temporaryPlace(number), true});
  return arguments;
}

/// NAME.body(context, tile, scratch, addresses...): the work of one tile.
LLVM::LLVMFuncOp KernelSequence::emitTileBody(const Kernel &kernel, StringRef name, const TileArguments &arguments,
                                              ImplicitLocOpBuilder &builder) {
  constexpr unsigned first = 3; // argument of the first address
  Type address = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types{address, builder.getI64Type(), address};
  types.append(arguments.addresses.size(), address);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
  auto body = LLVM::LLVMFuncOp::create(builder, (name + ".body").str(), type, LLVM::Linkage::Internal);
  for (auto [i, entry] : llvm::enumerate(arguments.addresses)) {
    if (entry.alone)
      body.setArgAttr(first + i, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    const bool ofParameters = entry.buffer.base == Buffer::Base::Parameters;
    const bool isShort = entry.buffer.base == Buffer::Base::Copies || entry.buffer.base == Buffer::Base::Remainders ||
                         (ofParameters && hasShortParameters());
    const bool inArena = ofParameters || entry.buffer.base == Buffer::Base::Gradients;
    if (entry.buffer.steps.empty())
      body.setArgAttr(first + i, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(isShort   ? 2
                                                : inArena ? 4
                                                          : 64));
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *block = body.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  FunctionCode code(*this, builder, block->getArgument(0));
  code.tile = block->getArgument(1);
  code.scratch = block->getArgument(2);
  for (auto [tensor, index] : arguments.ofTensor)
    code.pointers[tensor] = block->getArgument(first + index);
  for (unsigned i = 0; i < kernel.places.size(); ++i)
    code.placePointers.push_back(block->getArgument(first + arguments.firstPlace + i));
  for (unsigned i = 0; i < kernel.temporaries.size(); ++i)
    code.temporaryPointers.push_back(block->getArgument(first + arguments.firstTemporary + i));
  kernel.body(code);
  LLVM::ReturnOp::create(builder, ValueRange());
  return body;
}

/// NAME(context, tile, worker) computes the addresses and calls NAME.body, or the body of an earlier kernel that does the same.
/// Its pointer arguments say that they do not overlap: inlining keeps that as metadata, which loads from one arena could not
/// have.
LLVM::LLVMFuncOp KernelSequence::emitTileFunction(const Kernel &kernel) {
  ImplicitLocOpBuilder builder(kernel.location, target.getContext());
  builder.setInsertionPointToEnd(target.getBody());
  TileArguments given = argumentsOf(kernel);
  std::string name = uniqueName(prefix + "." + kernel.name);
  LLVM::LLVMFuncOp body = emitTileBody(kernel, name, given, builder);
  if (LLVM::LLVMFuncOp same = bodies->findOrKeep(body)) {
    body.erase();
    body = same;
  }
  Type address = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {address, i64, i64});
  auto function = LLVM::LLVMFuncOp::create(builder, name, type, LLVM::Linkage::Internal);
  function.setNoInline(true);
  Block *block = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  FunctionCode code(*this, builder, block->getArgument(0));
  Value offset = multiply(builder, block->getArgument(2), code.field(abi::ScratchStride));
  SmallVector<Value> operands{code.context, block->getArgument(1), byteAddress(builder, code.pointerField(abi::Scratch), offset)};
  for (const TileArguments::Address &entry : given.addresses)
    operands.push_back(code.address(entry.buffer));
  LLVM::CallOp::create(builder, body, operands);
  LLVM::ReturnOp::create(builder, ValueRange());
  return function;
}

LogicalResult KernelSequence::generate(Operation *op) {
  current = op;
  hasKernels = isRefused = false;
  cut.clear();
  if (failed(cast<CpuKernelOpInterface>(op).generate(*this)) || isRefused)
    return failure();
  return hasKernels ? checkCut(cast<KernelOpInterface>(op), cut) : success();
}

/// A text may say another choice than the one by which memory was planned.
void KernelSequence::checkRoom(const Kernel &kernel) {
  if (kernel.scratchBytes <= arenas->scratchBytes || isRefused)
    return;
  current->emitOpError("expects for what is chosen ")
      << kernel.scratchBytes << " bytes of scratch, got " << arenas->scratchBytes << " as tenon.scratch"; // S14
  isRefused = true;
}

void KernelSequence::checkTiles(const Kernel &kernel, std::optional<int64_t> tiles) {
  std::optional<int64_t> blocks = blocksOf(kernel.cut);
  if (!tiles || !blocks || *tiles == *blocks || isRefused)
    return;
  current->emitOpError("expects a tile for each of ") << *blocks << " blocks of its parallel domain, got " << *tiles; // S13
  isRefused = true;
}

void KernelSequence::add(const Kernel &kernel) {
  hasKernels = true;
  if (!kernel.cut.empty())
    cut = kernel.cut;
  if (needs) {
    needs->launches.push_back(kernel.name);
    needs->scratchBytes = std::max(needs->scratchBytes, kernel.scratchBytes);
    return;
  }
  checkRoom(kernel);
  if (lacksTemporary || isRefused) // which the op is refused for
    return;
  LLVM::LLVMFuncOp function = emitTileFunction(kernel);
  auto &builder = entry->builder;
  Value zero = constant(builder, 0);
  auto direct = [&]() -> SmallVector<Value> {
    LLVM::CallOp::create(builder, function, ValueRange{call, zero, zero});
    return {};
  };
  Value tiles = kernel.tiles ? kernel.tiles(*entry) : constant(builder, 1);
  auto number = asConstant(tiles);
  checkTiles(kernel, number);
  if (number == 1) {
    direct();
    return;
  }
  auto parallel = [&]() -> SmallVector<Value> {
    Value callee = LLVM::AddressOfOp::create(builder, function);
    Value parallelFor = entry->pointerField(abi::ParallelFor);
    Type address = callee.getType();
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {address, address, builder.getI64Type()});
    LLVM::CallOp::create(builder, type, ValueRange{parallelFor, call, callee, tiles});
    return {};
  };
  if (number) {
    parallel();
    return;
  }
  Value one = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, tiles, constant(builder, 1));
  ifThen(builder, one, {}, direct);
  ifThen(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, tiles, constant(builder, 1)), {}, parallel);
}

} // namespace tenon::cpu
