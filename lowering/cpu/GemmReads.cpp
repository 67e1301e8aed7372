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

std::optional<LaneValue> GemmReads::elementAt(const GemmSide &side, LaneCode &lanes, const IndicesOfLabels &indices) const {
  for (auto [argument, label] : llvm::zip(side.element->getArguments(), side.labels))
    lanes.bind(argument, indices.at(label));
  if (!lanes.emitOps(*side.element))
    return std::nullopt;
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

bool GemmReads::read(FunctionCode &code, LaneCode &lanes, const GemmSide &side, Value memory, const IndicesOfLabels &indices,
                     const Run &run) const {
  auto &builder = code.builder;
  const Type storage = side.type.getElementType();
  const Labels pieces = piecesOf(side, run, lanes);
  const ArrayRef<int64_t> outer = run.labels.drop_back(pieces.size());
  bool good = true;
  auto readPiece = [&](Value number, Value from, Value count, Value target, int64_t multiple) {
    IndicesOfLabels at(indices);
    if (number)
      split(code, outer, LaneValue::uniform(number), lanes, at);
    Value start; // of what is in memory
    if (!side.element) {
      start = code.size(side.offset);
      for (auto &[label, index] : at)
        start = add(builder, start, multiply(builder, index.base, code.size(side.strideOf(label))));
    }
    good &= lanes.forLanes(constant(builder, 0), count, [&](LaneValue place) {
      LaneValue inner = LaneValue::affine(add(builder, from, place.base), constant(builder, 1), multiple);
      std::optional<LaneValue> value;
      if (side.element) {
        split(code, pieces, inner, lanes, at);
        value = elementAt(side, lanes, at);
      } else {
        LaneValue linear = lanes.multiplyValues(inner, LaneValue::uniform(code.size(side.strideOf(pieces, sizes))));
        value = lanes.load(storage, memory, lanes.addValues(LaneValue::uniform(start), linear));
      }
      if (value)
        lanes.store(storage, target, place, *value);
      return value.has_value();
    });
  };
  if (outer.empty()) {
    readPiece({}, run.first, run.count, run.target, run.multiple);
    return good;
  }
  Value length = sizeOf(code, pieces), end = add(builder, run.first, run.count);
  forLoop(builder, divide(builder, run.first, length), ceilDivide(builder, end, length), [&](Value number) {
    Value begin = multiply(builder, number, length);
    Value low = maximum(builder, run.first, begin), high = minimum(builder, end, add(builder, begin, length));
    Value target = elementAddress(builder, run.target, memoryType(storage), subtract(builder, low, run.first));
    readPiece(number, subtract(builder, low, begin), subtract(builder, high, low), target, 1);
  });
  return good;
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
        Value start = code.size(side.offset);
        for (auto &[label, index] : indices)
          start = add(builder, start, multiply(builder, index.base, code.size(side.strideOf(label))));
        LaneValue value = lanes.load(storage, memory, lanes.addValues(LaneValue::uniform(start), own));
        Value first = add(builder, multiply(builder, row, length), multiply(builder, number, piece));
        lanes.store(storage, target, lanes.addValues(LaneValue::uniform(first), place), value);
      });
    });
    return true;
  });
}

} // namespace tenon::cpu
