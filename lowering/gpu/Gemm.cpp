// tenon.gemm as a kernel: a block per tile of rows and columns, whose operands go through shared memory a few steps of the depth
// at a time. Each sum is one chain of fused multiply-adds in the order of the depth, so that tiles change no bits.
#include "dialect/TensorSizes.h"
#include "lowering/gpu/ScalarCode.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

using Labels = SmallVector<int64_t, 4>;

/// Rows and columns of a block's tile, steps of the depth at a time, and rows and columns of a thread, which lie `rows / own`
/// apart.
struct Tile {
  int64_t rows, columns, depth, own;
  int64_t threads() const { return rows / own * (columns / own); }
};
constexpr Tile kLarge{64, 64, 16, 4}, kLargeDouble{64, 64, 8, 4}, kSmall{16, 16, 16, 2};

struct Side {
  Value tensor; // null: computed
  RankedTensorType type;
  ArrayRef<int64_t> labels;
  Block *element;
  bool has(int64_t label) const { return llvm::is_contained(labels, label); }
};

class GemmKernel {
public:
  GemmKernel(GemmOp op, LaunchSequence &sequence)
      : op(op), sequence(sequence), block(op.getBody().front()), rank(op.getRank()),
        a{op.getA(), op.typeOfA(), op.getALabels(), op.elementOfA()},
        b{op.getB(), op.typeOfB(), op.getBLabels(), op.elementOfB()}, element(op.typeOfA().getElementType()) {
    for (const Side *side : {&a, &b})
      for (auto [dim, label] : llvm::enumerate(side->labels))
        sizes.try_emplace(label, sizesOf(side->type)[dim]);
    sortLabels();
    auto isSmall = [&](const Labels &labels) {
      auto known = dyn_cast<AffineConstantExpr>(sizeOf(labels));
      return known && known.getValue() <= kSmall.rows;
    };
    tile = isSmall(rows) && isSmall(columns) ? kSmall : element.isF64() ? kLargeDouble : kLarge;
  }

  LogicalResult generate() {
    llvm::SetVector<Value> read(op->operand_begin(), op->operand_end());
    op.walk([&](AtOp at) { read.insert(at.getTensor()); });
    Launch launch{"gemm", op.getLoc(), llvm::to_vector(read), llvm::to_vector_of<Value>(op->getResults()), {}, {}, {}, {}, 1,
                  false,  {}};
    op.walk([&](Operation *inner) { launch.draws |= isa<RandomKeepOp, RandomBitsOp>(inner); });
    launch.threads = tile.threads();
    if (!element.isF64()) // else ptxas spills some for more blocks at a time
      launch.registers = 64;
    launch.blocks = [this](EntryCode &code) {
      auto &builder = code.builder;
      auto tiles = [&](const Labels &labels, int64_t size) {
        return ceilDivide(builder, code.size(sizeOf(labels)), constant(builder, size));
      };
      return multiply(builder, code.size(sizeOf(batch)), multiply(builder, tiles(rows, tile.rows), tiles(columns, tile.columns)));
    };
    bool good = true;
    launch.body = [&](KernelCode &code) { good = emitTile(code); };
    sequence.add(launch);
    return success(good);
  }

private:
  AffineExpr sizeOf(const Labels &labels) {
    SmallVector<AffineExpr> factors;
    for (int64_t label : labels)
      factors.push_back(sizes.lookup(label));
    return product(factors, op.getContext());
  }
  SmallVector<AffineExpr> sizesOfLabels(const Labels &labels) {
    return llvm::map_to_vector(labels, [&](int64_t label) { return sizes.lookup(label); });
  }

  /// Threads beside each other store neighbouring columns: these are the labels of the operand along which the result is
  /// contiguous.
  void sortLabels() {
    int64_t last = rank - 1;
    for (PutOp put : block.getOps<PutOp>())
      if (!put.getIndices().empty())
        if (auto index = dyn_cast<BlockArgument>(put.getIndices().back()); index && index.getOwner() == &block) {
          last = index.getArgNumber();
          break;
        }
    if (!b.has(last) && a.has(last))
      std::swap(a, b);
    for (int64_t label : a.labels)
      (label >= rank ? depth : b.has(label) ? batch : rows).push_back(label);
    for (int64_t label : b.labels)
      if (!a.has(label))
        columns.push_back(label);
  }

  /// Of a side at a place in its lines (rows or columns) and in the depth; 0 beyond either.
  Value elementAt(KernelCode &code, ScalarCode &scalars, const Side &side, const Labels &lines, Value line, Value step) {
    auto &builder = code.builder;
    auto below = [&](Value index, const Labels &labels) -> Value {
      return arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, index, code.size(sizeOf(labels)));
    };
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(element));
    Value inside = arith::AndIOp::create(builder, below(line, lines), below(step, depth));
    auto branch = scf::IfOp::create(builder, TypeRange(element), inside, true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    llvm::DenseMap<int64_t, Value> indices(batchIndices);
    for (auto [labels, number] : {std::pair<const Labels *, Value>(&lines, line), std::pair<const Labels *, Value>(&depth, step)})
      for (auto [label, index] : llvm::zip_equal(*labels, scalars.split(number, sizesOfLabels(*labels))))
        indices[label] = index;
    SmallVector<Value> places = llvm::map_to_vector(side.labels, [&](int64_t label) { return indices.lookup(label); });
    Value value = zero;
    if (!side.element) {
      value = scalars.load(element, code.pointer(side.tensor), scalars.linearIndex(side.type, places));
    } else {
      for (auto [source, index] : llvm::zip_equal(side.element->getArguments(), places))
        scalars.bind(source, index);
      good &= scalars.emitOps(*side.element);
      value = good ? scalars.get(cast<YieldOp>(side.element->getTerminator()).getOperand(0)) : zero;
    }
    scf::YieldOp::create(builder, ValueRange{value});
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, ValueRange{zero});
    return branch.getResult(0);
  }

  /// Brings `lines` x tile.depth elements into shared memory, the depth outermost. Threads beside each other take neighbours in
  /// memory.
  void fill(KernelCode &code, ScalarCode &scalars, const Side &side, const Labels &lines, int64_t count, Value first, Value step,
            Value memory) {
    auto &builder = code.builder;
    const bool alongDepth = !side.labels.empty() && llvm::is_contained(depth, side.labels.back());
    code.overBlock(constant(builder, count * tile.depth), [&](Value number) {
      Value inner = constant(builder, alongDepth ? tile.depth : count);
      Value fast = remainder(builder, number, inner), slow = divide(builder, number, inner);
      Value line = alongDepth ? slow : fast, k = alongDepth ? fast : slow;
      Value value = elementAt(code, scalars, side, lines, add(builder, first, line), add(builder, step, k));
      Value place = add(builder, multiply(builder, k, constant(builder, count)), line);
      LLVM::StoreOp::create(builder, value, elementAddress(builder, memory, element, place));
    });
  }

  /// acc[i][j] += a[row + i * apart][k] b[column + j * apart][k] for the steps that are in shared memory.
  SmallVector<Value> multiplySteps(KernelCode &code, Value memoryA, Value memoryB, Value row, Value column, ValueRange before) {
    auto &builder = code.builder;
    auto loop = scf::ForOp::create(builder, constant(builder, 0), constant(builder, tile.depth), constant(builder, 1), before);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto read = [&](Value memory, int64_t count, Value first) {
      SmallVector<Value> values;
      Value base = add(builder, multiply(builder, loop.getInductionVar(), constant(builder, count)), first);
      for (int64_t i = 0; i < tile.own; ++i) {
        Value place = add(builder, base, constant(builder, i * (count / tile.own)));
        values.push_back(LLVM::LoadOp::create(builder, element, elementAddress(builder, memory, element, place)));
      }
      return values;
    };
    SmallVector<Value> ofRows = read(memoryA, tile.rows, row), ofColumns = read(memoryB, tile.columns, column), after;
    for (int64_t i = 0; i < tile.own; ++i)
      for (int64_t j = 0; j < tile.own; ++j)
        after.push_back(math::FmaOp::create(builder, ofRows[size_t(i)], ofColumns[size_t(j)],
                                            loop.getRegionIterArgs()[unsigned(i * tile.own + j)]));
    scf::YieldOp::create(builder, after);
    return llvm::to_vector_of<Value>(loop.getResults());
  }

  bool emitTile(KernelCode &code) {
    auto &builder = code.builder;
    ScalarCode scalars(code, op->getResults());
    scalars.bindOutside(op);
    Value columnTiles = ceilDivide(builder, code.size(sizeOf(columns)), constant(builder, tile.columns));
    Value rowTiles = ceilDivide(builder, code.size(sizeOf(rows)), constant(builder, tile.rows));
    Value rest = divide(builder, code.block(), columnTiles);
    Value firstColumn = multiply(builder, remainder(builder, code.block(), columnTiles), constant(builder, tile.columns));
    Value firstRow = multiply(builder, remainder(builder, rest, rowTiles), constant(builder, tile.rows));
    for (auto [label, index] : llvm::zip_equal(batch, scalars.split(divide(builder, rest, rowTiles), sizesOfLabels(batch))))
      batchIndices[label] = index;
    Value across = constant(builder, tile.columns / tile.own);
    Value row = divide(builder, code.thread(), across), column = remainder(builder, code.thread(), across);
    Value memoryA = code.shared(element, tile.rows * tile.depth), memoryB = code.shared(element, tile.columns * tile.depth);
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(element));
    SmallVector<Value> sums(size_t(tile.own * tile.own), zero);
    auto loop = scf::ForOp::create(builder, constant(builder, 0), code.size(sizeOf(depth)), constant(builder, tile.depth), sums);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value step = loop.getInductionVar();
      fill(code, scalars, a, rows, tile.rows, firstRow, step, memoryA);
      fill(code, scalars, b, columns, tile.columns, firstColumn, step, memoryB);
      code.barrier();
      SmallVector<Value> after = multiplySteps(code, memoryA, memoryB, row, column, loop.getRegionIterArgs());
      code.barrier(); // before the next steps come
      scf::YieldOp::create(builder, after);
    }
    emitResults(code, scalars, loop.getResults(), row, column, firstRow, firstColumn);
    return good;
  }

  /// The sums go through shared memory, so that the code behind them stands once and threads beside each other store neighbours.
  void emitResults(KernelCode &code, ScalarCode &scalars, ValueRange sums, Value row, Value column, Value firstRow,
                   Value firstColumn) {
    auto &builder = code.builder;
    Value memory = code.shared(element, tile.rows * tile.columns);
    for (int64_t i = 0; i < tile.own; ++i)
      for (int64_t j = 0; j < tile.own; ++j) {
        Value ownRow = add(builder, row, constant(builder, i * (tile.rows / tile.own)));
        Value ownColumn = add(builder, column, constant(builder, j * (tile.columns / tile.own)));
        Value place = add(builder, multiply(builder, ownRow, constant(builder, tile.columns)), ownColumn);
        LLVM::StoreOp::create(builder, sums[unsigned(i * tile.own + j)], elementAddress(builder, memory, element, place));
      }
    code.barrier();
    code.overBlock(constant(builder, tile.rows * tile.columns), [&](Value number) {
      Value size = constant(builder, tile.columns);
      Value m = add(builder, firstRow, divide(builder, number, size)),
            n = add(builder, firstColumn, remainder(builder, number, size));
      Value inside =
          arith::AndIOp::create(builder, arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, m, code.size(sizeOf(rows))),
                                arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, n, code.size(sizeOf(columns))));
      code.ifThen(inside, [&] {
        llvm::DenseMap<int64_t, Value> indices(batchIndices);
        for (auto [labels, index] : {std::pair<const Labels *, Value>(&rows, m), std::pair<const Labels *, Value>(&columns, n)})
          for (auto [label, one] : llvm::zip_equal(*labels, scalars.split(index, sizesOfLabels(*labels))))
            indices[label] = one;
        for (int64_t label = 0; label < rank; ++label)
          scalars.bind(block.getArgument(unsigned(label)), indices.lookup(label));
        scalars.bind(block.getArgument(unsigned(rank)),
                     LLVM::LoadOp::create(builder, element, elementAddress(builder, memory, element, number)));
        good &= scalars.emitOps(block);
      });
    });
  }

  GemmOp op;
  LaunchSequence &sequence;
  Block &block;
  int64_t rank;
  Side a, b;
  Type element;
  llvm::DenseMap<int64_t, AffineExpr> sizes;
  Labels rows, columns, depth, batch;
  Tile tile = kLarge;
  llvm::DenseMap<int64_t, Value> batchIndices;
  bool good = true; // false: reported
};

} // namespace

LogicalResult generateGemm(GemmOp op, LaunchSequence &sequence) { return GemmKernel(op, sequence).generate(); }

} // namespace tenon::gpu
