// tenon.nest as a kernel: rows cut into tiles (NestCut.h), the last inner dimension on the lanes.
#include "lowering/cpu/LaneCode.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/NestCut.h"
#include "lowering/cpu/RestRows.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

class NestKernel {
public:
  NestKernel(NestOp nest, KernelSequence &sequence) : nest(nest), sequence(sequence), block(nest.getBody().front()), cut(nest) {}

  LogicalResult generate() {
    if (failed(cut.take(sequence.tier())) || failed(checkScalars(nest)))
      return failure();
    Kernel kernel{"nest", nest.getLoc(), {}, {}, {}, {}, 0, {}, {}};
    llvm::SetVector<Value> read;
    nest.walk([&](AtOp at) { read.insert(at.getTensor()); });
    kernel.reads.append(read.begin(), read.end());
    kernel.writes.append(nest.getResults().begin(), nest.getResults().end());
    kernel.cut = cut.sides();
    kernel.tiles = [this](FunctionCode &code) {
      const NestCut::Tiles tiles = cut.tilesOf(code);
      return multiply(code.builder, tiles.rowTiles, tiles.parts);
    };
    kernel.body = [this](FunctionCode &code) { emitTile(code); };
    sequence.add(kernel);
    return success();
  }

private:
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

  void emitTile(FunctionCode &code) {
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
    if (leaves) {
      Value yes = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
      puts = builder.createOrFold<arith::XOrIOp>(areInPlace(code, leaves->kept), yes);
    }
    const NestCut::Tiles tile = cut.tilesOf(code);
    Value rowTile = divide(builder, code.tile, tile.parts), part = remainder(builder, code.tile, tile.parts);
    Value low = multiply(builder, rowTile, tile.rowsPerTile);
    Value high = minimum(builder, add(builder, low, tile.rowsPerTile), tile.rowCount);
    Value partLow, partHigh;
    if (cut.cutSize) {
      partLow = multiply(builder, part, tile.partSize);
      partHigh = minimum(builder, add(builder, partLow, tile.partSize), code.size(cut.cutSize));
    }
    forLoop(builder, low, high, [&](Value row) {
      for (int64_t dim = int64_t(cut.rows.size()) - 1; dim >= 0; --dim) {
        Value size = code.size(cut.rows[dim]);
        lanes.bind(block.getArgument(dim), LaneValue::uniform(dim == 0 ? row : remainder(builder, row, size)));
        row = dim == 0 ? row : divide(builder, row, size);
      }
      emitRow(code, lanes, partLow, partHigh);
    });
  }

  void emitRow(FunctionCode &code, LaneCode &lanes, Value low, Value high) {
    if (cut.lastOnLanes) {
      lanes.setGrouped(!block.getOps<RandomKeepOp>().empty());
      return lanes.forLanes(low, high, [&](LaneValue index) {
        lanes.bind(block.getArgument(cut.rows.size()), index);
        lanes.emitOps(block);
      });
    }
    emitFrom(block.begin(), code, lanes, cut.cutSize ? low : Value(), high);
  }

  /// A condition of rows without which inner loops put what lies there, if their results lie where these tensors lie.
  struct Leaving {
    Value condition;
    SmallVector<std::pair<Value, Value>> kept;
  };
  std::optional<Leaving> leaving() {
    SmallVector<PutOp> puts;
    nest.walk([&](PutOp put) { puts.push_back(put); });
    for (AtOp read : block.getOps<AtOp>()) {
      Leaving found{read.getElement(), {}};
      for (PutOp put : puts)
        if (Value tensor = keptWhereFails(put, {read.getTensor(), read.getIndices()}, {}); tensor && put->getBlock() != &block)
          found.kept.emplace_back(nest.getResult(put.getResult()), tensor);
      if (found.condition.getType().isInteger(1) && found.kept.size() == puts.size())
        return found;
    }
    return std::nullopt;
  }

  void emitFrom(Block::iterator first, FunctionCode &code, LaneCode &lanes, Value low, Value high) {
    for (Operation &op : llvm::make_range(first, block.end())) {
      if (auto ends = dyn_cast<RowIfOp>(op)) {
        ifThen(code.builder, lanes.get(ends.getCondition()).base, {}, [&]() -> SmallVector<Value> {
          emitFrom(std::next(op.getIterator()), code, lanes, low, high);
          return {};
        });
        return;
      }
      auto emit = [&] {
        if (auto each = dyn_cast<EachOp>(op); each && low)
          lanes.emitEach(each, low, high);
        else
          lanes.emitOp(op);
      };
      if (!isa<EachOp>(op) || !puts)
        emit();
      else
        ifThen(code.builder, arith::OrIOp::create(code.builder, puts, lanes.get(leaves->condition).base), {},
               [&]() -> SmallVector<Value> {
                 emit();
                 return {};
               });
    }
  }

  NestOp nest;
  KernelSequence &sequence;
  Block &block;
  NestCut cut;
  std::optional<Leaving> leaves = leaving();
  Value puts; ///< whether all rows are put; null: they are
};

} // namespace

DictionaryAttr chooseNest(Operation *op, Tier) { return NestCut(cast<NestOp>(op)).choose(); }
LogicalResult generateNest(Operation *op, KernelSequence &sequence) { return NestKernel(cast<NestOp>(op), sequence).generate(); }

} // namespace tenon::cpu
