// tenon.nest as a kernel: rows cut into tiles by shape, the last inner dimension on the lanes.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// A tile is worth waking a thread for when it takes about 20 us. Costs are picoseconds of one core with 8 lanes: rough, and only
/// the shape enters, so that the cut never depends on the machine.
constexpr int64_t tilePicoseconds = 20'000'000;

int64_t opCost(Operation &op) {
  if (isa<AtOp>(op))
    return 100;
  if (isa<PutOp>(op))
    return 150;
  if (isa<RandomKeepOp, RandomBitsOp>(op))
    return 3000;
  if (isa<math::PowFOp>(op))
    return 6000;
  if (isa<math::MathDialect>(op.getDialect()))
    return 500;
  return 30;
}

/// Cost of running the block once, over the dims. `lanes`: the ops work on 16 elements at a time, else one by one.
AffineExpr blockCost(Block &block, bool lanes) {
  MLIRContext *context = block.getParentOp()->getContext();
  AffineExpr cost = getAffineConstantExpr(0, context);
  int64_t simple = 0;
  auto inner = [&](Region &region, AffineMap sizes) {
    cost = cost + product(llvm::to_vector(sizes.getResults()), context) * blockCost(region.front(), true) + 5000;
  };
  for (Operation &op : block) {
    if (auto each = dyn_cast<EachOp>(op))
      inner(each.getBody(), each.getSizes());
    else if (auto fold = dyn_cast<FoldOp>(op))
      inner(fold.getBody(), fold.getSizes());
    else
      simple += opCost(op) * (lanes ? 1 : 8);
  }
  return cost + simple;
}

class NestKernel {
public:
  NestKernel(NestOp nest, KernelSequence &sequence) : nest(nest), sequence(sequence), block(nest.getBody().front()) {
    sizes = nest.parallelDomain();
    bool loops = false;
    for (Operation &op : block)
      loops |= isa<EachOp, FoldOp>(op);
    lastOnLanes = !loops && !sizes.empty();
    rows = ArrayRef<AffineExpr>(sizes).drop_back(lastOnLanes ? 1 : 0);
    cost = blockCost(block, lastOnLanes);
    if (lastOnLanes) {
      cutSize = sizes.back();
      cost = cost * cutSize;
    } else if (EachOp each = onlyEach()) {
      cutSize = each.getSizes().getResult(0);
      cutStep = each.getSizes().getNumResults() == 1 ? 64 : 1;
    }
    if (cutStep == 64)
      nest.walk([&](RandomKeepOp) { cutStep = 128; }); // they share their random numbers
  }

  LogicalResult generate() {
    Kernel kernel{"nest", nest.getLoc(), {}, {}, {}, {}, 0, {}, {}};
    llvm::SetVector<Value> read;
    nest.walk([&](AtOp at) { read.insert(at.getTensor()); });
    kernel.reads.append(read.begin(), read.end());
    kernel.writes.append(nest.getResults().begin(), nest.getResults().end());
    kernel.tiles = [this](FunctionCode &code) { return multiply(code.builder, cut(code).rowTiles, cut(code).parts); };
    bool good = true;
    kernel.body = [&](FunctionCode &code) { good = emitTile(code); };
    sequence.add(kernel);
    return success(good);
  }

private:
  struct Cut {
    Value rowCount, rowsPerTile, rowTiles; // rows of a tile are consecutive
    Value parts, partSize;                 // each row is further cut along the first dimension of its each
  };

  /// The one each of a body that does nothing else of weight: its range may be shared out when there are few rows.
  EachOp onlyEach() {
    EachOp found;
    for (Operation &op : block) {
      if (isa<FoldOp, PutOp>(op) || (found && isa<EachOp>(op)))
        return {};
      if (auto each = dyn_cast<EachOp>(op))
        found = each;
    }
    return found && found.getSizes().getNumResults() > 0 ? found : EachOp();
  }

  Cut cut(FunctionCode &code) {
    auto &builder = code.builder;
    Value one = constant(builder, 1);
    Cut result;
    result.rowCount = code.size(product(rows, nest.getContext()));
    Value rowCost = code.size(cost);
    Value wanted =
        maximum(builder, divide(builder, multiply(builder, rowCost, result.rowCount), constant(builder, tilePicoseconds)), one);
    Value tiles = maximum(builder, minimum(builder, wanted, result.rowCount), one);
    result.rowsPerTile = maximum(builder, ceilDivide(builder, result.rowCount, tiles), one);
    result.rowTiles = ceilDivide(builder, result.rowCount, result.rowsPerTile);
    result.parts = one;
    result.partSize = constant(builder, 0);
    if (cutSize) {
      Value step = constant(builder, cutStep), size = code.size(cutSize);
      Value steps = maximum(builder, ceilDivide(builder, size, step), one);
      Value parts = maximum(builder, minimum(builder, divide(builder, wanted, tiles), steps), one);
      Value stepsPerPart = ceilDivide(builder, steps, parts);
      result.partSize = multiply(builder, stepsPerPart, step);
      result.parts = ceilDivide(builder, steps, stepsPerPart);
    }
    return result;
  }

  /// 16 lanes for elements of 32 bits, 8 where reals of 64 bits are stored or reduced.
  int64_t laneCount() {
    int64_t lanes = 16;
    auto look = [&](Type element) { lanes = isa<FloatType>(element) ? std::min(lanes, elementModel(element).lanes) : lanes; };
    nest.walk([&](Operation *op) {
      if (isa<AtOp, FoldOp>(op))
        look(op->getResult(0).getType());
      if (auto put = dyn_cast<PutOp>(op))
        look(put.getElement().getType());
    });
    return lanes;
  }

  bool emitTile(FunctionCode &code) {
    auto &builder = code.builder;
    SmallVector<std::pair<Value, RankedTensorType>> results;
    for (Value result : nest.getResults())
      results.push_back({code.pointer(result), cast<RankedTensorType>(result.getType())});
    LaneCode lanes(code, results, laneCount());
    // Scalars from outside are computed once, here, where they dominate every use.
    nest.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (!isa<RankedTensorType>(operand.getType()) && !nest.getBody().isAncestor(operand.getParentRegion()))
          lanes.get(operand);
    });
    Cut tile = cut(code);
    Value rowTile = divide(builder, code.tile, tile.parts), part = remainder(builder, code.tile, tile.parts);
    Value low = multiply(builder, rowTile, tile.rowsPerTile);
    Value high = minimum(builder, add(builder, low, tile.rowsPerTile), tile.rowCount);
    Value partLow, partHigh;
    if (cutSize) {
      partLow = multiply(builder, part, tile.partSize);
      partHigh = minimum(builder, add(builder, partLow, tile.partSize), code.size(cutSize));
    }
    bool good = true;
    forLoop(builder, low, high, [&](Value row) {
      for (int64_t dim = int64_t(rows.size()) - 1; dim >= 0; --dim) {
        Value size = code.size(rows[dim]);
        lanes.bind(block.getArgument(dim), LaneValue::uniform(dim == 0 ? row : remainder(builder, row, size)));
        row = dim == 0 ? row : divide(builder, row, size);
      }
      good = emitRow(lanes, partLow, partHigh);
    });
    return good;
  }

  bool emitRow(LaneCode &lanes, Value low, Value high) {
    if (lastOnLanes) {
      lanes.setGrouped(!block.getOps<RandomKeepOp>().empty());
      return lanes.forLanes(low, high, [&](LaneValue index) {
        lanes.bind(block.getArgument(rows.size()), index);
        return lanes.emitOps(block);
      });
    }
    if (!cutSize)
      return lanes.emitOps(block);
    for (Operation &op : block) {
      auto each = dyn_cast<EachOp>(op);
      if (each ? !lanes.emitEach(each, low, high) : !lanes.emitOp(op))
        return false;
    }
    return true;
  }

  NestOp nest;
  KernelSequence &sequence;
  Block &block;
  SmallVector<AffineExpr> sizes;
  ArrayRef<AffineExpr> rows;
  bool lastOnLanes = false; // no each, no fold: the last row dimension is the one on the lanes
  AffineExpr cost;          // picoseconds of a row
  AffineExpr cutSize;       // null: rows are not cut further
  int64_t cutStep = 64;
};

} // namespace

LogicalResult generateNest(Operation *op, KernelSequence &sequence) { return NestKernel(cast<NestOp>(op), sequence).generate(); }

} // namespace tenon::cpu
