// tenon.gemm of f32 and f64 as a kernel: a block per tile of rows and columns, whose operands go through shared memory a few
// steps of the depth at a time. Each sum is one chain of fused multiply-adds in the order of the depth, so that tiles change no
// bits. Under `tf32` those of f32 go by tensor cores (TensorGemm.cpp).
#include "lowering/gpu/GemmForm.h"
#include "lowering/target/RoundedFactors.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tenon::gpu {
namespace {

/// Rows and columns of a block's tile, steps of the depth at a time, and rows and columns of a thread, which lie `rows / own`
/// apart.
struct Tile {
  int64_t rows, columns, depth, own;
  int64_t threads() const { return rows / own * (columns / own); }
};
constexpr Tile kLarge{64, 64, 16, 4}, kLargeDouble{64, 64, 8, 4}, kSmall{16, 16, 16, 2};

class GemmKernel {
public:
  GemmKernel(const GemmForm &form, const Tile &tile) : form(form), element(form.element), tile(tile) {}

  LogicalResult generate(LaunchSequence &sequence) {
    Launch launch = form.launchOf("gemm", tile.rows, tile.columns);
    launch.threads = tile.threads();
    if (!element.isF64()) // else ptxas spills some for more blocks at a time
      launch.registers = 64;
    launch.body = [this](KernelCode &code) { emitTile(code); };
    sequence.add(launch);
    return success();
  }

private:
  /// Brings `count` lines x tile.depth elements into shared memory, the depth outermost. Threads beside each other take
  /// neighbours in memory.
  void fill(KernelCode &code, GemmCode &gemm, const GemmSide &side, int64_t count, Value first, Value step, Value memory) {
    auto &builder = code.builder;
    const bool alongDepth = form.isAlongDepth(side);
    code.overBlock(constant(builder, count * tile.depth), [&](Value number) {
      Value inner = constant(builder, alongDepth ? tile.depth : count);
      Value fast = remainder(builder, number, inner), slow = divide(builder, number, inner);
      Value line = alongDepth ? slow : fast, k = alongDepth ? fast : slow;
      Value value = gemm.elementAt(side, add(builder, first, line), add(builder, step, k));
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

  void emitTile(KernelCode &code) {
    auto &builder = code.builder;
    GemmCode gemm(form, code, tile.rows, tile.columns);
    Value across = constant(builder, tile.columns / tile.own);
    Value row = divide(builder, code.thread(), across), column = remainder(builder, code.thread(), across);
    Value memoryA = code.shared(element, tile.rows * tile.depth), memoryB = code.shared(element, tile.columns * tile.depth);
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(element));
    SmallVector<Value> sums(size_t(tile.own * tile.own), zero);
    auto loop = scf::ForOp::create(builder, constant(builder, 0), code.size(form.sizeOf(form.depth)),
                                   constant(builder, tile.depth), sums);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value step = loop.getInductionVar();
      Value isNext = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, step, constant(builder, 0));
      code.ifThen(isNext, [&] { code.barrier(); }); // the steps before have been multiplied
      fill(code, gemm, form.a, tile.rows, gemm.firstRow, step, memoryA);
      fill(code, gemm, form.b, tile.columns, gemm.firstColumn, step, memoryB);
      code.barrier();
      scf::YieldOp::create(builder, multiplySteps(code, memoryA, memoryB, row, column, loop.getRegionIterArgs()));
    }
    emitResults(code, gemm, loop.getResults(), row, column);
  }

  /// The sums go through shared memory, so that the code behind them stands once and threads beside each other store neighbours.
  void emitResults(KernelCode &code, GemmCode &gemm, ValueRange sums, Value row, Value column) {
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
    gemm.emitResults(memory, tile.columns, gemm.firstRow, tile.rows, tile.columns, 1); // registers are few
  }

  const GemmForm &form;
  Type element;
  const Tile tile;
};

constexpr llvm::StringLiteral kForm = "fma";

} // namespace

DictionaryAttr chooseGemm(GemmOp op, const Chip &chip) {
  const GemmForm form(op);
  const bool isRounded = form.stored.isF32() && op->getParentOfType<ModuleOp>()->hasAttr(kRoundsFactors);
  if (form.stored != form.element || isRounded)
    return chooseTensorGemm(form, chip);
  auto isSmall = [&](const Labels &labels) {
    auto known = dyn_cast<AffineConstantExpr>(form.sizeOf(labels));
    return known && known.getValue() <= kSmall.rows;
  };
  const Tile tile = isSmall(form.rows) && isSmall(form.columns) ? kSmall : form.element.isF64() ? kLargeDouble : kLarge;
  return makeChoice(op.getContext(), kForm,
                    {{"rows", tile.rows}, {"columns", tile.columns}, {"depth", tile.depth}, {"own", tile.own}});
}

LogicalResult generateGemm(GemmOp op, LaunchSequence &sequence) {
  if (failed(checkScalars(op)))
    return failure();
  const GemmForm form(op);
  if (form.stored != form.element)
    return generateTensorGemm(form, sequence);
  SmallVector<ChoiceForm> forms{
      {kForm, {{"rows", 16, 128, 1, true}, {"columns", 16, 128, 1, true}, {"depth", 4, 64, 1, true}, {"own", 1, 4, 1, true}}}};
  if (form.stored.isF32())
    forms.push_back(roundedForm());
  FailureOr<Choice> choice = sequence.choiceOf(op, forms);
  if (failed(choice))
    return failure();
  if (choice->form() == kRoundedForm)
    return generateTensorGemm(form, *choice, sequence);
  const Tile tile{*choice->number("rows"), *choice->number("columns"), *choice->number("depth"), *choice->number("own")};
  const int64_t shared =
      (tile.rows * tile.depth + tile.columns * tile.depth + tile.rows * tile.columns) * elementBytes(form.element);
  if (failed(checkBlock(op, tile.threads(), shared)))
    return failure();
  return GemmKernel(form, tile).generate(sequence);
}

} // namespace tenon::gpu
