#include "lowering/gpu/MaskWords.h"
#include "dialect/TensorSizes.h"

using namespace mlir;

namespace tenon::gpu {

// A square has 4 x 4 parts. Bit 4 r + c of its word says that a pair of part (r, c) is visible, bit 16 more that one is hidden;
// parts without pairs say neither.
constexpr int64_t kPart = 16, kParts = 4, kSquare = kPart * kParts, kHidden = 16;
constexpr int64_t kWordBytes = 4, kWarp = 32, kThreads = 128;

namespace {

/// The kernel: a warp for each square, whose lanes have two keys each.
class Words {
public:
  Words(KernelCode &code, Value mask, const AttentionOperands &operands)
      : code(code), builder(code.builder), scalars(code, ValueRange()), mask(mask), queries(code.size(operands.queries())),
        keys(code.size(operands.keys())) {}

  void emit() {
    Value across = ceilDivide(builder, keys, number(kSquare)), down = ceilDivide(builder, queries, number(kSquare));
    Value square =
        add(builder, multiply(builder, code.block(), number(kThreads / kWarp)), divide(builder, code.thread(), number(kWarp)));
    lane = remainder(builder, code.thread(), number(kWarp));
    firstQuery = multiply(builder, divide(builder, square, across), number(kSquare));
    firstKey = multiply(builder, remainder(builder, square, across), number(kSquare));
    code.ifThen(less(square, multiply(builder, down, across)), [&] {
      Value word = wordOfLane();
      for (int64_t bit = 1; bit < kWarp; bit *= 2)
        word = arith::OrIOp::create(builder, word, code.ofPartner(word, bit));
      code.ifThen(builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, lane, number(0)), [&] {
        LLVM::StoreOp::create(builder, word, elementAddress(builder, code.temporary(0), word.getType(), square), kWordBytes);
      });
    });
  }

private:
  Value wordOfLane() {
    Value word = bits(0);
    for (int64_t row = 0; row < kParts; ++row)
      for (int64_t half = 0; half < kSquare / kWarp; ++half) {
        Value key = add(builder, firstKey, add(builder, lane, number(kWarp * half))), exists = less(key, keys);
        const auto [some, all] = overQueries(add(builder, firstQuery, number(kPart * row)), key);
        const int64_t place = kParts * row + kWarp / kPart * half;
        auto join = [&](Value says, int64_t bit) {
          says = arith::AndIOp::create(builder, exists, says);
          word = arith::OrIOp::create(builder, word, arith::SelectOp::create(builder, says, bits(int64_t(1) << bit), bits(0)));
        };
        join(some, place);
        join(arith::XOrIOp::create(builder, all, flag(true)), place + kHidden);
      }
    Value part = arith::TruncIOp::create(builder, word.getType(), divide(builder, lane, number(kPart)));
    return arith::ShLIOp::create(builder, word, part);
  }

  /// Of a key's 16 queries, those that exist.
  TileVisibility overQueries(Value first, Value key) {
    Value inside = minimum(builder, key, subtract(builder, keys, number(1)));
    Value end = minimum(builder, add(builder, first, number(kPart)), queries);
    auto loop = scf::ForOp::create(builder, first, end, number(1), ValueRange{flag(false), flag(true)});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto type = cast<RankedTensorType>(mask.getType());
    Value index = scalars.linearIndex(type, {loop.getInductionVar(), inside});
    Value shows = scalars.load(type.getElementType(), code.pointer(mask), index);
    scf::YieldOp::create(builder, ValueRange{arith::OrIOp::create(builder, loop.getRegionIterArg(0), shows),
                                             arith::AndIOp::create(builder, loop.getRegionIterArg(1), shows)});
    return {loop.getResult(0), loop.getResult(1)};
  }

  Value number(int64_t value) { return constant(builder, value); }
  Value bits(int64_t value) { return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(value))); }
  Value flag(bool value) { return arith::ConstantOp::create(builder, builder.getBoolAttr(value)); }
  Value less(Value a, Value b) { return builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b); }

  KernelCode &code;
  ImplicitLocOpBuilder &builder;
  ScalarCode scalars;
  Value mask, queries, keys, lane, firstQuery, firstKey;
};

} // namespace

static void collectStored(OperandLabels labels, const Mask &mask, SmallVectorImpl<int64_t> &stored) {
  if (mask.kind == Mask::Kind::Holds && isOfPairs(labels, mask.operand) && !llvm::is_contained(stored, mask.operand))
    stored.push_back(mask.operand);
  for (const Mask &part : mask.parts)
    collectStored(labels, part, stored);
}

void addMaskWords(Location location, AttentionOperands &operands, LaunchSequence &sequence) {
  const SmallVector<Mask> tests = operands.testsOfTiles();
  if (llvm::none_of(tests, [&](const Mask &mask) { return decidesTiles(operands.labels, mask, false, /*readsPairs=*/true); }))
    return;
  SmallVector<int64_t> stored;
  for (const Mask &mask : tests)
    collectStored(operands.labels, mask, stored);
  const AffineExpr squares = operands.queries().ceilDiv(kSquare) * operands.keys().ceilDiv(kSquare);
  for (int64_t operand : stored) {
    const unsigned words = sequence.temporary(squares * kWordBytes);
    Value mask = operands.indexOperands[size_t(operand)];
    Launch launch{"attention_mask", location, {mask}, {}, {}, {words}, {}, {}, kThreads, false, {}};
    launch.blocks = [squares](EntryCode &code) {
      return ceilDivide(code.builder, code.size(squares), constant(code.builder, kThreads / kWarp));
    };
    launch.body = [&operands, mask](KernelCode &code) { Words(code, mask, operands).emit(); };
    sequence.add(launch);
    operands.stored.push_back({operand, words});
  }
}

/// The first and the last part of a square in which a range of queries or keys has a share.
static std::pair<Value, Value> partsIn(ImplicitLocOpBuilder &builder, Interval range, Value square) {
  Value start = multiply(builder, square, constant(builder, kSquare));
  auto part = [&](Value index) {
    index = maximum(builder, subtract(builder, index, start), constant(builder, 0));
    return divide(builder, minimum(builder, index, constant(builder, kSquare - 1)), constant(builder, kPart));
  };
  return {part(range.low), part(range.high)};
}

/// Of groups of `width` bits those from the first to the last part; none where a tile lies behind all queries or keys.
static Value bitsOf(ImplicitLocOpBuilder &builder, std::pair<Value, Value> parts, int64_t width) {
  auto below = [&](Value part) -> Value {
    Value shift = multiply(builder, part, constant(builder, width));
    return subtract(builder, builder.createOrFold<arith::ShLIOp>(constant(builder, 1), shift), constant(builder, 1));
  };
  Value before = arith::XOrIOp::create(builder, below(parts.first), constant(builder, -1));
  return arith::AndIOp::create(builder, below(add(builder, parts.second, constant(builder, 1))), before);
}

TileVisibility visibilityByWords(AttentionCode &on, int64_t operand, Interval queries, Interval keys) {
  auto &builder = on.builder;
  const auto *found = llvm::find_if(on.operands.stored, [&](const StoredMask &mask) { return mask.operand == operand; });
  Value words = on.code.temporary(unsigned(found - on.operands.stored.begin()));
  Value one = on.number(1), across = ceilDivide(builder, on.keys, on.number(kSquare));
  OpBuilder::InsertionGuard guard(builder);
  auto overSquares = [&](Interval range, Value before) {
    Value end = add(builder, divide(builder, range.high, on.number(kSquare)), one);
    auto loop = scf::ForOp::create(builder, divide(builder, range.low, on.number(kSquare)), end, one, ValueRange{before});
    builder.setInsertionPointToStart(loop.getBody());
    return loop;
  };
  scf::ForOp down = overSquares(queries, on.number(0));
  scf::ForOp along = overSquares(keys, down.getRegionIterArg(0));
  Value square = add(builder, multiply(builder, down.getInductionVar(), across), along.getInductionVar());
  Value word = LLVM::LoadOp::create(builder, builder.getI32Type(), elementAddress(builder, words, builder.getI32Type(), square),
                                    kWordBytes);
  Value rows = bitsOf(builder, partsIn(builder, queries, down.getInductionVar()), kParts);
  Value columns = bitsOf(builder, partsIn(builder, keys, along.getInductionVar()), 1);
  Value asked = arith::AndIOp::create(builder, rows, multiply(builder, columns, on.number(0x1111)));
  asked = arith::OrIOp::create(builder, asked, arith::ShLIOp::create(builder, asked, on.number(kHidden)));
  Value says = arith::AndIOp::create(builder, asked, arith::ExtUIOp::create(builder, builder.getI64Type(), word));
  scf::YieldOp::create(builder, ValueRange{arith::OrIOp::create(builder, along.getRegionIterArg(0), says)});
  builder.setInsertionPointAfter(along);
  scf::YieldOp::create(builder, along.getResults());
  builder.setInsertionPointAfter(down);
  auto has = [&](int64_t bits, arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(builder, predicate, arith::AndIOp::create(builder, down.getResult(0), on.number(bits)),
                                 on.number(0));
  };
  return {has((int64_t(1) << kHidden) - 1, arith::CmpIPredicate::ne),
          has(((int64_t(1) << kHidden) - 1) << kHidden, arith::CmpIPredicate::eq)};
}

} // namespace tenon::gpu
