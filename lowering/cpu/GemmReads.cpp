#include "lowering/cpu/GemmReads.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/ShortReals.h"

using namespace mlir;

namespace tenon::cpu {

Value GemmReads::sizeOf(FunctionCode &code, ArrayRef<int64_t> labels) const {
  SmallVector<AffineExpr> factors;
  for (int64_t label : labels)
    factors.push_back(sizes.lookup(label));
  return code.size(product(factors, code.sequence.function().getContext()));
}

LaneValue GemmReads::elementAt(const GemmSide &side, LaneCode &lanes, const IndicesOfLabels &indices) const {
  for (auto [argument, label] : llvm::zip(side.element->getArguments(), side.labels))
    lanes.bind(argument, indices.at(label));
  lanes.emitOps(*side.element);
  return lanes.get(side.element->getTerminator()->getOperand(0));
}

/// The labels at the end of the run over which lanes go without a division: those that lie behind each other, of code the last
/// one; all where each vector of lanes has one quotient.
Labels GemmReads::piecesOf(const GemmSide &side, const Run &run, const LaneCode &lanes) const {
  if (!side.element)
    return side.runOf(run.labels, sizes);
  Labels pieces;
  for (int64_t label : llvm::reverse(run.labels)) {
    pieces.insert(pieces.begin(), label);
    auto size = dyn_cast<AffineConstantExpr>(sizes.lookup(label));
    const bool isWhole = size && size.getValue() % lanes.lanes() == 0 && run.multiple % lanes.lanes() == 0;
    if (!isWhole && !isOneElement(sizes.lookup(label)))
      break;
  }
  return pieces;
}

void GemmReads::read(FunctionCode &code, LaneCode &lanes, const GemmSide &side, Value memory, const IndicesOfLabels &indices,
                     const Run &run) const {
  if (!side.ranges.empty())
    return readRanges(code, lanes, side, indices, run);
  auto &builder = code.builder;
  const Type storage = side.type.getElementType();
  const Labels pieces = piecesOf(side, run, lanes);
  const ArrayRef<int64_t> outer = run.labels.drop_back(pieces.size());
  auto readPiece = [&](Value number, Value from, Value count, Value target, int64_t multiple) {
    IndicesOfLabels at(indices);
    if (number)
      split(code, outer, LaneValue::uniform(number), lanes, at);
    Value start; // of what is in memory
    if (!side.element)
      start = startOf(code, side, at);
    lanes.forLanes(constant(builder, 0), count, [&](LaneValue place) {
      LaneValue inner = LaneValue::affine(add(builder, from, place.base), constant(builder, 1), multiple), value;
      if (side.element) {
        split(code, pieces, inner, lanes, at);
        value = elementAt(side, lanes, at);
      } else {
        LaneValue linear = lanes.multiplyValues(inner, LaneValue::uniform(code.size(side.strideOf(pieces, sizes))));
        value = lanes.load(storage, memory, lanes.addValues(LaneValue::uniform(start), linear));
      }
      lanes.store(storage, target, place, value);
    });
  };
  if (outer.empty())
    readPiece({}, run.first, run.count, run.target, run.multiple);
  else
    forPieces(code, run, outer.size(), storage,
              [&](Value number, Value from, Value count, Value target) { readPiece(number, from, count, target, 1); });
}

void GemmReads::forPieces(FunctionCode &code, const Run &run, size_t outer, Type element,
                          llvm::function_ref<void(Value, Value, Value, Value)> body) const {
  auto &builder = code.builder;
  Value length = sizeOf(code, run.labels.drop_front(outer)), end = add(builder, run.first, run.count);
  forLoop(builder, divide(builder, run.first, length), ceilDivide(builder, end, length), [&](Value number) {
    Value begin = multiply(builder, number, length);
    Value low = maximum(builder, run.first, begin), high = minimum(builder, end, add(builder, begin, length));
    Value target = elementAddress(builder, run.target, memoryType(element), subtract(builder, low, run.first));
    body(number, subtract(builder, low, begin), subtract(builder, high, low), target);
  });
}

Value GemmReads::startOf(FunctionCode &code, const GemmSide &side, const IndicesOfLabels &indices) const {
  auto &builder = code.builder;
  Value start = code.size(side.offset);
  for (auto &[label, index] : indices)
    start = add(builder, start, multiply(builder, index.base, code.size(side.strideOf(label))));
  return start;
}

// ---- ranges

/// The run in each range by itself: where it goes along what is joined, it is cut; otherwise it lies in one of them.
void GemmReads::readRanges(FunctionCode &code, LaneCode &lanes, const GemmSide &side, const IndicesOfLabels &indices,
                           const Run &run) const {
  auto &builder = code.builder;
  const Type storage = side.type.getElementType();
  auto atMost = [&](Value a, Value b) { return builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, a, b); };
  const auto *place = llvm::find(run.labels, side.joined);
  if (place == run.labels.end()) {
    Value index = indices.at(side.joined).base;
    for (auto [number, range] : llvm::enumerate(side.ranges)) {
      Value begins = atMost(code.size(side.starts[number]), index);
      Value lasts = atMost(add(builder, index, constant(builder, 1)), code.size(side.starts[number + 1]));
      ifThen(builder, builder.createOrFold<arith::AndIOp>(begins, lasts), {}, [&]() -> SmallVector<Value> {
        read(code, lanes, range, code.pointer(range.tensor), indices, run);
        return {};
      });
    }
    return;
  }
  const size_t outer = place - run.labels.begin();
  Value tail = sizeOf(code, run.labels.drop_front(outer + 1));
  auto readPiece = [&](Value number, Value from, Value count, Value target) {
    IndicesOfLabels at(indices);
    if (outer > 0)
      split(code, run.labels.take_front(outer), LaneValue::uniform(number), lanes, at);
    Value end = add(builder, from, count), none = constant(builder, 0);
    for (auto [part, range] : llvm::enumerate(side.ranges)) {
      Value low = maximum(builder, from, multiply(builder, code.size(side.starts[part]), tail));
      Value high = minimum(builder, end, multiply(builder, code.size(side.starts[part + 1]), tail));
      Value own = elementAddress(builder, target, memoryType(storage), subtract(builder, low, from));
      read(code, lanes, range, code.pointer(range.tensor), at,
           {run.labels.drop_front(outer), low, maximum(builder, subtract(builder, high, low), none), own});
    }
  };
  if (outer == 0)
    readPiece({}, run.first, run.count, run.target);
  else
    forPieces(code, run, outer, storage, readPiece);
}

void GemmReads::visitRanges(FunctionCode &code, LaneCode &lanes, const GemmSide &side, ArrayRef<int64_t> lines,
                            const IndicesOfLabels &indices, Value first, Value end, LinesInRange body) const {
  auto &builder = code.builder;
  const Type element = memoryType(side.type.getElementType());
  Value one = constant(builder, 1), count = constant(builder, side.ranges.size());
  Value period = maximum(builder, code.size(sizes.lookup(side.joined)), one);
  SmallVector<Value> starts;
  for (AffineExpr start : side.starts)
    starts.push_back(code.size(start));
  auto atMost = [&](Value a, Value b) { return builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, a, b); };
  auto either = [&](Value condition, Value a, Value b) { return builder.createOrFold<arith::SelectOp>(condition, a, b); };
  // Ranges are numbered on from one place of the outer labels to the next.
  auto numberOf = [&](Value line) {
    Value outer = divide(builder, line, period), rest = subtract(builder, line, multiply(builder, outer, period));
    Value number = multiply(builder, outer, count);
    for (Value start : ArrayRef<Value>(starts).drop_front().drop_back())
      number = add(builder, number, either(atMost(start, rest), one, constant(builder, 0)));
    return number;
  };
  Value last = maximum(builder, subtract(builder, end, one), first);
  forLoop(builder, numberOf(first), add(builder, numberOf(last), one), [&](Value number) {
    Value outer = divide(builder, number, count), part = subtract(builder, number, multiply(builder, outer, count));
    Value begin = multiply(builder, outer, period);
    IndicesOfLabels at(indices);
    split(code, lines.drop_back(), LaneValue::uniform(outer), lanes, at);
    Value low, high, memory, start;
    for (auto [index, range] : llvm::enumerate(side.ranges)) {
      Value isOwn = atMost(constant(builder, index), part);
      auto choose = [&](Value before, Value own) { return before ? either(isOwn, own, before) : own; };
      low = choose(low, starts[index]);
      high = choose(high, starts[index + 1]);
      memory = choose(memory, code.pointer(range.tensor));
      start = choose(start, startOf(code, range, at));
    }
    low = maximum(builder, first, add(builder, begin, low));
    high = minimum(builder, end, add(builder, begin, high));
    Value stride = code.size(side.ranges.front().strideOf(side.joined));
    start = add(builder, start, multiply(builder, subtract(builder, low, begin), stride));
    body(low, high, elementAddress(builder, memory, element, start));
  });
}

void GemmReads::order(FunctionCode &code, LaneCode &lanes, const GemmSide &side, Value memory, ArrayRef<int64_t> rows, Value low,
                      Value high, ArrayRef<int64_t> depth, Value target) const {
  auto &builder = code.builder;
  const Type storage = side.type.getElementType();
  const Labels pieces = side.runOf(depth, sizes);
  const ArrayRef<int64_t> outer = depth.drop_back(pieces.size());
  Value none = constant(builder, 0), length = sizeOf(code, depth), piece = sizeOf(code, pieces);
  Value stride = code.size(side.strideOf(pieces, sizes));
  if (asConstant(stride) == 1) {
    forLoop(builder, low, high, [&](Value row) {
      IndicesOfLabels indices;
      split(code, rows, LaneValue::uniform(row), lanes, indices);
      Value place = elementAddress(builder, target, memoryType(storage), multiply(builder, row, length));
      read(code, lanes, side, memory, indices, {depth, none, length, place, 16});
    });
    return;
  }
  // Lanes lie in as many pages: all that is wanted of these is read before the next ones.
  lanes.forLanes(none, piece, [&](LaneValue place) {
    LaneValue own = lanes.multiplyValues(place, LaneValue::uniform(stride));
    forLoop(builder, low, high, [&](Value row) {
      IndicesOfLabels indices;
      split(code, rows, LaneValue::uniform(row), lanes, indices);
      forLoop(builder, none, sizeOf(code, outer), [&](Value number) {
        split(code, outer, LaneValue::uniform(number), lanes, indices);
        Value start = startOf(code, side, indices);
        LaneValue value = lanes.load(storage, memory, lanes.addValues(LaneValue::uniform(start), own));
        Value first = add(builder, multiply(builder, row, length), multiply(builder, number, piece));
        lanes.store(storage, target, lanes.addValues(LaneValue::uniform(first), place), value);
      });
    });
  });
}

} // namespace tenon::cpu
