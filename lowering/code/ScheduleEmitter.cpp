#include "lowering/code/ScheduleEmitter.h"
#include "dialect/TensorSizes.h"
#include "lowering/artifact/Abi.h"
#include "lowering/schedule/Room.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tenon {

static void ifThen(ImplicitLocOpBuilder &builder, Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, TypeRange(), condition, false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

const ParameterTable &ScheduleEmitter::allParameters() {
  if (!parameters) {
    ownParameters = parametersOf(source->getParentOfType<ModuleOp>());
    parameters = &ownParameters;
  }
  return *parameters;
}

unsigned ScheduleEmitter::temporary(AffineExpr bytes) {
  if (needs)
    needs->temporaries.push_back(bytes);
  else if (auto given = current->getAttrOfType<ArrayAttr>("tenon.temporaries");
           !given || nextTemporary >= given.size() || !isa<PlaceAttr>(given[nextTemporary]))
    lacksTemporary = true;
  else
    checkTemporary(cast<PlaceAttr>(given[nextTemporary]), bytes);
  return nextTemporary++;
}

/// A text may say another choice than the one by which memory was planned.
void ScheduleEmitter::checkTemporary(PlaceAttr place, AffineExpr bytes) {
  if (place.getMemory() != Memory::Workspace || isRefused)
    return;
  const unsigned dims = llvm::count_if(source.getArgumentTypes(), [](Type type) { return type.isIndex(); });
  if (std::optional<Excess> excess = whereMore(bytes, arenas->slots[size_t(place.getSlot())].bytes, dims)) {
    current->emitOpError("expects for what is chosen a temporary of ")
        << excess->wanted << " bytes, got one of " << excess->given; // S14
    isRefused = true;
  }
}

Buffer ScheduleEmitter::temporaryPlace(unsigned number) const {
  auto places = current->getAttrOfType<ArrayAttr>("tenon.temporaries");
  return tenon::bufferOf(cast<PlaceAttr>(places[number]), current, *arenas);
}

AffineExpr ScheduleEmitter::temporaryBytes(unsigned number) const {
  auto place = cast<PlaceAttr>(current->getAttrOfType<ArrayAttr>("tenon.temporaries")[number]);
  return place.getMemory() == Memory::Workspace ? arenas->slots[size_t(place.getSlot())].bytes : AffineExpr();
}

std::optional<Buffer> ScheduleEmitter::bufferOf(Value tensor) {
  if (needs)
    return std::nullopt;
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    const int64_t dims = llvm::count_if(source.getArgumentTypes(), [](Type type) { return type.isIndex(); });
    return Buffer{Buffer::Base::Input, int64_t(argument.getArgNumber()) - dims, {}};
  }
  Operation *op = tensor.getDefiningOp();
  if (auto placed = dyn_cast<PlaceOp>(op))
    return tenon::bufferOf(placed.getPlace(), op, *arenas);
  auto places = op->getAttrOfType<ArrayAttr>("tenon.places");
  if (auto place = places ? dyn_cast<PlaceAttr>(places[cast<OpResult>(tensor).getResultNumber()]) : nullptr)
    return tenon::bufferOf(place, op, *arenas);
  return std::nullopt;
}

/// The gradients half is what stands before the optimizer, the update half the rest.
LogicalResult ScheduleEmitter::emitHalves() {
  Block &body = source.getBody().front();
  auto optimize = llvm::find_if(body, [](Operation &op) { return op.hasTrait<UpdatesParameters>(); });
  if (optimize == body.end())
    return emitOps(body.begin(), body.end());
  if (failed(emitHalf(body.begin(), optimize, TN_UPDATE_ONLY)))
    return failure();
  return emitHalf(optimize, body.end(), TN_GRADIENTS_ONLY);
}

/// Ops that run unless only the other half is asked for.
LogicalResult ScheduleEmitter::emitHalf(Block::iterator begin, Block::iterator end, int64_t otherHalf) {
  auto &builder = hostCode().builder;
  Value other = arith::AndIOp::create(builder, hostCode().field(abi::Flags), constant(builder, otherHalf));
  LogicalResult result = success();
  ifThen(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, other, constant(builder, 0)),
         [&] { result = emitOps(begin, end); });
  return result;
}

LogicalResult ScheduleEmitter::emitOps(Block::iterator begin, Block::iterator end) {
  for (Operation &op : llvm::make_range(begin, end)) {
    if (isa<func::ReturnOp>(op))
      continue;
    auto &builder = hostCode().builder;
    builder.setLoc(op.getLoc());
    if (auto skip = dyn_cast<SkipOp>(op)) {
      Value runs = goesOn(skip);
      if (!runs)
        return failure();
      LogicalResult rest = success();
      ifThen(builder, runs, [&] { rest = emitOps(std::next(op.getIterator()), end); });
      return rest;
    }
    current = &op;
    nextTemporary = 0;
    isRefused = false;
    if (failed(emitOp(op)) || isRefused)
      return failure();
    if (lacksTemporary)
      return op.emitOpError("expects places for at least ") << nextTemporary << " temporaries"; // S4
  }
  return success();
}

LogicalResult ScheduleEmitter::emitOp(Operation &op) {
  if (op.hasTrait<Address>() || isScalarCode(&op))
    return success(); // which kernels repeat
  if (auto loop = dyn_cast<LoopOp>(op))
    return emitLoop(loop);
  if (auto copy = dyn_cast<CopyOp>(op)) {
    emitCopy(copy);
    return success();
  }
  if (auto ready = dyn_cast<ReadyOp>(op)) {
    emitReady(ready);
    return success();
  }
  if (auto sum = dyn_cast<SumSlicesOp>(op)) {
    auto slices = source->getAttrOfType<IntegerAttr>(kSlices);
    emitSumSlices(sum, tenon::bufferOf(sum.getAt(), sum, *arenas), slices ? slices.getInt() : 1);
    return success();
  }
  return emitKernels(&op);
}

/// Tells whoever asked; else it costs a load and a branch.
void ScheduleEmitter::emitReady(ReadyOp ready) {
  ContextCode &code = hostCode();
  auto &builder = code.builder;
  Value asked = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, code.field(abi::GroupReady), constant(builder, 0));
  ifThen(builder, asked, [&] {
    SmallVector<Value> indices;
    for (Value index : ready.getIndices())
      indices.push_back(code.scalar(index));
    Value callee = code.pointerField(abi::GroupReady), number = evaluateSize(builder, ready.getNumber().getResult(0), indices);
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {callee.getType(), builder.getI64Type()});
    LLVM::CallOp::create(builder, type, ValueRange{callee, code.context, number});
  });
}

LogicalResult ScheduleEmitter::emitLoop(LoopOp loop) {
  auto &builder = hostCode().builder;
  Value count = hostCode().size(loop.getCount().getResult(0)), one = constant(builder, 1);
  auto rounds = scf::ForOp::create(builder, constant(builder, 0), count, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(rounds.getBody());
  Value round = rounds.getInductionVar();
  if (loop.getReverse())
    round = subtract(builder, subtract(builder, count, one), round);
  loops.push_back(loop);
  Block &body = loop.getBody().front();
  LogicalResult result = startRound(tenon::add(builder, constant(builder, loop.getFirst()), round));
  if (succeeded(result))
    result = emitOps(body.begin(), body.end());
  loops.pop_back();
  return result;
}

} // namespace tenon
