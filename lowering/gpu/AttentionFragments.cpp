#include "lowering/gpu/AttentionFragments.h"
#include "dialect/TensorSizes.h"
#include <limits>

using namespace mlir;

namespace tenon::gpu {

constexpr int64_t kWarp = 32, kSide = 16; // lanes; lines and steps of a fragment

TileRows::TileRows(int64_t rows, int64_t width)
    : rows(rows), width(width), tile{int64_t(llvm::PowerOf2Ceil(uint64_t(width / SharedTile::kChunk)))} {}

AttentionFragments::AttentionFragments(KernelCode &code, const AttentionOperands &operands)
    : AttentionCode(code, operands), stored(operands.storage()), lane(remainder(builder, code.thread(), number(kWarp))),
      warp(divide(builder, code.thread(), number(kWarp))) {}

Value AttentionFragments::word(int64_t value) {
  return arith::ConstantOp::create(builder, builder.getI32IntegerAttr(int32_t(value)));
}

// ---- vectors

/// One chunk of 16 bytes for each thread, from chunk `first` on. Where the threads fill whole lines of the banks' order, they are
/// a constant apart from those of first = 0.
void AttentionFragments::bringChunk(Value memory, const TileRows &rows, const RowSource &source, int64_t first) {
  constexpr int64_t ofChunk = SharedTile::kChunk, order = 8;
  const int64_t across = rows.width / ofChunk;
  const bool isApart = first % (across * order) == 0;
  Value chunk = add(builder, code.thread(), number(isApart ? 0 : first));
  Value row = divide(builder, chunk, number(across)), column = remainder(builder, chunk, number(across));
  const int64_t further = isApart ? first / across : 0; // rows
  Value to = elementAddress(builder, memory, stored, rows.tile.place(builder, row, column));
  to = elementAddress(builder, to, stored, number(further * rows.tile.chunks * ofChunk));
  Value from = add(builder, source.begin, tenon::multiply(builder, row, source.stride));
  from = add(builder, from, tenon::multiply(builder, column, number(ofChunk)));
  from = add(builder, from, tenon::multiply(builder, source.stride, number(further)));
  Value which = wordOf(row), inside = less(add(builder, which, word(further)), source.high);
  if (source.low)
    inside =
        both(inside, arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, add(builder, which, word(further)), source.low));
  const Type element = storedType(source.tensor);
  Value base = code.pointer(source.tensor);
  if (element == stored)
    return copyAsync(builder, to, elementAddress(builder, base, stored, from), 2 * ofChunk, inside);
  from = select(inside, from, number(0));
  Value none = arith::ConstantOp::create(builder, builder.getFloatAttr(stored, 0));
  for (int64_t i = 0; i < ofChunk; ++i) {
    Value one = scalars.load(element, base, add(builder, from, number(i)));
    one = select(inside, arith::TruncFOp::create(builder, stored, one), none);
    LLVM::StoreOp::create(builder, one, elementAddress(builder, to, stored, number(i)), 2);
  }
}

void AttentionFragments::bring(Value memory, const TileRows &rows, const RowSource &source) {
  const int64_t chunks = rows.rows * rows.width / SharedTile::kChunk;
  for (int64_t first = 0; first < chunks; first += code.threads) {
    if (first + code.threads <= chunks)
      bringChunk(memory, rows, source, first);
    else
      code.ifThen(less(code.thread(), number(chunks - first)), [&] { bringChunk(memory, rows, source, first); });
  }
}

void AttentionFragments::bringQueries(Value memory, const TileRows &rows, Value tensor, Value first) {
  bring(memory, rows,
        {tensor, offsetOfQuery(first, rows.width), number(operands.heads() * rows.width),
         wordOf(subtract(builder, queries, first))});
}
void AttentionFragments::bringKeys(Value memory, const TileRows &rows, Value tensor, Value first) {
  bring(
      memory, rows,
      {tensor, offsetOfKey(first, rows.width), number(operands.keyHeads() * rows.width), wordOf(subtract(builder, keys, first))});
}

// ---- products

AttentionFragments::Fragments AttentionFragments::linesOf(Value memory, const TileRows &rows, Value line) {
  Fragments steps;
  for (int64_t step = 0; step < rows.width; step += kSide)
    steps.push_back(loadFragments(builder, stored, memory, rows.tile, {true, true}, lane, line, step));
  return steps;
}

Value AttentionFragments::pack(Value low, Value high) {
  auto name = builder.getStringAttr("llvm.nvvm.ff2" + elementModel(stored).name() + "x2.rn");
  Value both = LLVM::CallIntrinsicOp::create(builder, VectorType::get({2}, stored), name, ValueRange{high, low}).getResult(0);
  return LLVM::BitcastOp::create(builder, builder.getI32Type(), both);
}

AttentionFragments::Fragments AttentionFragments::rounded(ArrayRef<Value> numbers) {
  Fragments steps;
  for (; !numbers.empty(); numbers = numbers.drop_front(8)) { // two blocks of 8 columns
    Fragment &step = steps.emplace_back();
    for (size_t i = 0; i < 8; i += 2)
      step.push_back(pack(numbers[i], numbers[i + 1]));
  }
  return steps;
}

void AttentionFragments::multiplyTransposed(MutableArrayRef<Numbers> sums, ArrayRef<Fragments> lines, Value memory,
                                            const TileRows &rows, Value firstRow) {
  const size_t columns = sums.front().size() / 4; // blocks of 8
  for (size_t block = 0; block < columns; block += 2)
    for (size_t step = 0; step < lines.front().size(); ++step) {
      Fragment second = loadFragments(builder, stored, memory, rows.tile, {false, true}, lane,
                                      add(builder, firstRow, number(8 * int64_t(block))), kSide * int64_t(step));
      for (size_t group = 0; group < sums.size(); ++group)
        for (size_t half = 0; half < std::min<size_t>(2, columns - block); ++half)
          multiplyAccumulate(builder, stored, lines[group][step], ArrayRef(second).slice(2 * half, 2),
                             MutableArrayRef(sums[group]).slice(4 * (block + half), 4));
    }
}

void AttentionFragments::multiply(MutableArrayRef<Numbers> sums, ArrayRef<Fragments> lines, Value memory, const TileRows &rows) {
  for (size_t step = 0; step < lines.front().size(); ++step)
    for (int64_t column = 0; column < rows.width; column += kSide) {
      Fragment second =
          loadFragments(builder, stored, memory, rows.tile, {false, false}, lane, number(column), kSide * int64_t(step));
      for (size_t group = 0; group < sums.size(); ++group)
        for (size_t half = 0; half < 2; ++half)
          multiplyAccumulate(builder, stored, lines[group][step], ArrayRef(second).slice(2 * half, 2),
                             MutableArrayRef(sums[group]).slice(size_t(column / 2) + 4 * half, 4));
    }
}

// ---- pairs

Value AttentionFragments::lineOf(const WarpPairs &pairs, int64_t which) {
  return add(builder, pairs.firstLine, add(builder, divide(builder, lane, number(4)), number(8 * which)));
}
Value AttentionFragments::columnOf(const WarpPairs &pairs, int64_t count) {
  Value ofLane = tenon::multiply(builder, remainder(builder, lane, number(4)), number(2));
  return add(builder, pairs.firstColumn, add(builder, ofLane, number(count / 4 * 8 + count % 2)));
}
Value AttentionFragments::ofLine(bool isLine, const WarpPairs &pairs, int64_t count) {
  Value index = isLine ? lineOf(pairs, count % 4 / 2) : columnOf(pairs, count);
  return within(index, pairs.linesAreQueries == isLine ? queries : keys);
}
Value AttentionFragments::queryOf(const WarpPairs &pairs, int64_t count) { return ofLine(pairs.linesAreQueries, pairs, count); }
Value AttentionFragments::keyOf(const WarpPairs &pairs, int64_t count) { return ofLine(!pairs.linesAreQueries, pairs, count); }

LineLimits AttentionFragments::limitsOf(const WarpPairs &pairs) {
  const int64_t label = pairs.linesAreQueries ? kKeyLabel : kQueryLabel; // of columns
  Value count = pairs.linesAreQueries ? keys : queries, none = number(0);
  LineLimits limits;
  Value low[2], high[2] = {count, count};
  SmallVector<Mask> parts;
  collectParts(operands.masks, parts);
  for (const Mask &mask : parts) {
    SmallVector<MaskForm> bounds;
    collectBounds(mask, bounds);
    const int64_t sign = bounds.empty() ? 0 : pairs.linesAreQueries ? bounds[0].key : bounds[0].query;
    if ((sign != 1 && sign != -1) || operands.dependsOn(bounds[0], label)) {
      limits.others.push_back(mask);
      continue;
    }
    for (int64_t which : {0, 1}) { // sign * column + rest <= 0
      Value line = within(lineOf(pairs, which), pairs.linesAreQueries ? queries : keys);
      Value rest = form(bounds[0], pairs.linesAreQueries ? line : none, pairs.linesAreQueries ? none : line);
      if (sign == 1)
        high[which] = minimum(builder, high[which], subtract(builder, number(1), rest));
      else
        low[which] = low[which] ? maximum(builder, low[which], rest) : rest;
    }
  }
  auto inside = [&](Value limit) { return wordOf(maximum(builder, minimum(builder, limit, count), none)); };
  for (int64_t which : {0, 1}) {
    limits.high[which] = inside(high[which]);
    limits.low[which] = low[which] ? inside(low[which]) : Value();
  }
  return limits;
}

Value AttentionFragments::isFull(const WarpPairs &pairs, const LineLimits &limits) {
  Value first = wordOf(pairs.firstColumn), end = add(builder, first, word(8 * pairs.blocks));
  Value all = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  auto atMost = [&](Value a, Value b) { return arith::CmpIOp::create(builder, arith::CmpIPredicate::sle, a, b); };
  for (int64_t which : {0, 1}) {
    all = both(all, atMost(end, limits.high[which]));
    if (limits.low[which])
      all = both(all, atMost(limits.low[which], first));
  }
  all = LLVM::CallIntrinsicOp::create(builder, builder.getI1Type(), builder.getStringAttr("llvm.nvvm.vote.all.sync"),
                                      ValueRange{word(-1), all})
            .getResult(0);
  if (limits.others.empty())
    return all;
  Value ofLines = pairs.linesAreQueries ? queries : keys, ofColumns = pairs.linesAreQueries ? keys : queries;
  auto interval = [&](Value from, int64_t most, Value count) {
    return Interval{within(from, count), within(add(builder, from, number(most - 1)), count)};
  };
  const Interval lines = interval(pairs.firstLine, kSide, ofLines),
                 columns = interval(pairs.firstColumn, 8 * pairs.blocks, ofColumns);
  return both(all,
              visibilityOf(limits.others, pairs.linesAreQueries ? lines : columns, pairs.linesAreQueries ? columns : lines).all);
}

void AttentionFragments::hide(Numbers &scores, const WarpPairs &pairs, const LineLimits &limits) {
  Value infinity = real(-std::numeric_limits<double>::infinity());
  auto hideAll = [&] {
    Value first = wordOf(columnOf(pairs, 0));
    Value low[2], high[2]; // against the column in the tile
    for (int64_t which : {0, 1}) {
      high[which] = subtract(builder, limits.high[which], first);
      low[which] = limits.low[which] ? subtract(builder, limits.low[which], first) : Value();
    }
    Numbers hidden;
    for (auto [index, score] : llvm::enumerate(scores)) {
      const int64_t count = int64_t(index), which = count % 4 / 2;
      Value column = word(count / 4 * 8 + count % 2), seen = less(column, high[which]);
      if (low[which])
        seen = both(seen, arith::CmpIOp::create(builder, arith::CmpIPredicate::sle, low[which], column));
      for (const Mask &mask : limits.others)
        seen = both(seen, test(mask, queryOf(pairs, count), keyOf(pairs, count)));
      hidden.push_back(select(seen, score, infinity));
    }
    return hidden;
  };
  if (!knowsFull(limits.others)) {
    scores = hideAll();
    return;
  }
  auto branch = scf::IfOp::create(builder, ValueRange(scores).getTypes(), isFull(pairs, limits), true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, scores);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, hideAll());
  llvm::copy(branch.getResults(), scores.begin());
}

/// Numbers of columns 16 apart in the tile stand 16 apart in the tensor, too, where dropout takes 8 of these from one counter, 16
/// bits each: those of a run are in the words of one counter and the next.
void AttentionFragments::keepRun(const WarpPairs &pairs, int64_t first, MutableArrayRef<Value> results) {
  Type i64 = builder.getI64Type();
  Value line = within(lineOf(pairs, first % 4 / 2), queries);
  Value index = add(builder, firstDrawn(line), columnOf(pairs, first));
  Value which = remainder(builder, divide(builder, index, number(16)), number(8));
  Value counter = add(builder, tenon::multiply(builder, divide(builder, index, number(128)), number(16)),
                      remainder(builder, index, number(16)));
  auto draw = [&](Value at) {
    std::array<Value, 4> words = scalars.drawWords(at, operands.depth ? code.scalar(operands.depth) : Value(), operands.site);
    SmallVector<Value> halves;
    for (size_t half : {0, 2})
      halves.push_back(arith::OrIOp::create(
          builder, arith::ExtUIOp::create(builder, i64, words[half]),
          arith::ShLIOp::create(builder, arith::ExtUIOp::create(builder, i64, words[half + 1]), number(32))));
    return halves;
  };
  SmallVector<Value> own = draw(counter);
  Value crosses = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt, which, number(8 - int64_t(results.size())));
  auto branch = scf::IfOp::create(builder, i64, crosses, true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, draw(add(builder, counter, number(16)))[0]);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, own[0]);
  }
  Value isLate = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, which, number(4));
  Value shift = tenon::multiply(builder, remainder(builder, which, number(4)), number(16));
  Value bits = LLVM::FshrOp::create(builder, select(isLate, branch.getResult(0), own[1]), select(isLate, own[1], own[0]), shift);
  for (size_t i = 0; i < results.size(); ++i) {
    Value one = wordOf(arith::ShRUIOp::create(builder, bits, number(16 * int64_t(i))));
    one = arith::AndIOp::create(builder, one, word(0xffff));
    results[i] = arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, one, word(operands.threshold()));
  }
}

SmallVector<Value> AttentionFragments::kept(const WarpPairs &pairs) {
  SmallVector<Value> result(size_t(4 * pairs.blocks));
  if (!pairs.linesAreQueries) {
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = keeps(queryOf(pairs, int64_t(i)), keyOf(pairs, int64_t(i)));
    return result;
  }
  constexpr int64_t most = 8; // blocks of a run, of 4 numbers
  for (int64_t block = 0; block < pairs.blocks; block += block % most == 0 ? 1 : most - 1)
    for (int64_t first = 4 * block; first < 4 * block + 4; ++first) {
      SmallVector<Value> run(size_t(std::min(pairs.blocks - block, most - block % most) + 1) / 2);
      keepRun(pairs, first, run);
      for (size_t i = 0; i < run.size(); ++i)
        result[size_t(first) + 8 * i] = run[i];
    }
  return result;
}

Value AttentionFragments::power(Value x) {
  return LLVM::CallIntrinsicOp::create(builder, x.getType(), builder.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), ValueRange{x})
      .getResult(0);
}

} // namespace tenon::gpu
