#include "lowering/cpu/GemmCopies.h"
#include "dialect/TensorSizes.h"
#include "lowering/cpu/CopyRows.h"
#include "lowering/cpu/Loops.h"
#include "lowering/cpu/ShortReals.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// Where elements of a side are: linear in the indices of its labels, where conditions hold.
class Places {
public:
  Places(const GemmSide &side, const SizesOfLabels &sizes) : side(side), sizes(sizes) {}

  AffineExpr strideOf(const Labels &run) const {
    if (!side.guarded)
      return side.strideOf(run, sizes);
    int64_t wide = run.back();
    for (int64_t label : run)
      if (!isOneElement(sizes.lookup(label)))
        wide = label;
    return strideOf(wide);
  }
  AffineExpr strideOf(int64_t label) const {
    const auto *place = llvm::find(side.labels, label);
    if (!side.guarded || place == side.labels.end())
      return side.strideOf(label);
    return side.guarded->read.strides[place - side.labels.begin()];
  }
  AffineExpr offset() const { return side.guarded ? side.guarded->read.offset : side.offset; }
  Value tensor() const { return side.guarded ? side.guarded->read.tensor : side.tensor; }
  ArrayRef<LinearForm> conditions() const {
    return side.guarded ? ArrayRef<LinearForm>(side.guarded->conditions) : ArrayRef<LinearForm>();
  }
  AffineExpr growth(const LinearForm &form, int64_t label) const {
    const auto *place = llvm::find(side.labels, label);
    return place == side.labels.end() ? getAffineConstantExpr(0, side.type.getContext())
                                      : form.factors[place - side.labels.begin()];
  }

  /// The labels at the end of `run` whose places are one row of a copy: one that has neighbours, with conditions.
  Labels columnsOf(ArrayRef<int64_t> run) const {
    if (!side.guarded)
      return side.runOf(run, sizes);
    Labels columns;
    for (int64_t label : llvm::reverse(run)) {
      columns.insert(columns.begin(), label);
      if (!isOneElement(sizes.lookup(label)))
        break;
    }
    return columns;
  }
  /// Of those, the one that has neighbours.
  int64_t columnOf(const Labels &columns) const {
    for (int64_t label : columns)
      if (!isOneElement(sizes.lookup(label)))
        return label;
    return columns.back();
  }

private:
  const GemmSide &side;
  const SizesOfLabels &sizes;
};

std::optional<int64_t> numberOf(AffineExpr form) {
  auto number = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(form, 64, 0));
  return number ? std::optional(number.getValue()) : std::nullopt;
}

constexpr int64_t kNone = -1; // no label

/// The label that the rows of a copy go along: the outermost of lines, of each of which there is one row, or the one in front of
/// the columns, of which a line has several rows.
int64_t rowOf(ArrayRef<int64_t> lines, ArrayRef<int64_t> run, size_t columns, bool alongDepth) {
  if (!alongDepth)
    return lines.front();
  return run.size() > columns ? run[run.size() - columns - 1] : kNone;
}

class BlockCopy {
public:
  BlockCopy(FunctionCode &code, const SizesOfLabels &sizes, const GemmSide &side, Value memory, const IndicesOfLabels &fixed,
            const BlockOfSide &block)
      : code(code), builder(code.builder), sizes(sizes), side(side), places(side, sizes), block(block),
        storage(side.type.getElementType()), columns(places.columnsOf(block.run)),
        row(rowOf(block.lines, block.run, columns.size(), block.alongDepth)), zero(constant(builder, 0)),
        one(constant(builder, 1)), memory(memory ? memory : code.pointer(places.tensor())) {
    for (auto &[label, index] : fixed)
      indices[label] = index.base;
    fill = arith::ConstantOp::create(builder, fillOf());
  }

  void run() { block.alongDepth ? copyAlongLines() : copyAcrossLines(); }

private:
  TypedAttr fillOf() {
    Type stored = memoryType(storage);
    if (!side.guarded)
      return builder.getZeroAttr(stored);
    if (isShortReal(storage))
      return IntegerAttr::get(stored, cast<FloatAttr>(side.guarded->fill).getValue().bitcastToAPInt());
    return side.guarded->fill;
  }

  Value sizeOf(ArrayRef<int64_t> labels) {
    Value size = one;
    for (int64_t label : labels)
      size = multiply(builder, size, code.size(sizes.lookup(label)));
    return size;
  }
  void split(ArrayRef<int64_t> labels, Value number) {
    for (size_t i = labels.size(); i-- > 0;) {
      Value size = code.size(sizes.lookup(labels[i]));
      indices[labels[i]] = i == 0 ? number : remainder(builder, number, size);
      if (i > 0)
        number = divide(builder, number, size);
    }
  }
  Value targetAt(Value place) { return elementAddress(builder, block.target, memoryType(storage), place); }

  /// Calls `body` with the parts of [first, end) that are within one period: its number, from where on and up to where in it.
  void forPeriods(Value period, Value first, Value end, llvm::function_ref<void(Value, Value, Value)> body) {
    forLoop(builder, divide(builder, first, period), ceilDivide(builder, end, period), [&](Value number) {
      Value begin = multiply(builder, number, period);
      Value low = maximum(builder, first, begin), high = minimum(builder, end, add(builder, begin, period));
      body(number, subtract(builder, low, begin), subtract(builder, high, begin));
    });
  }

  /// Of each piece of the run that lies within one row of a copy all lines: for one place each of the inner labels of lines, the
  /// rows go along the outermost one. So what is inside of the tensor is asked once for these. Of places that the block has: it
  /// may be shorter than all of them are.
  void copyAcrossLines() {
    const ArrayRef<int64_t> outer = block.run.drop_back(columns.size()), inner = block.lines.drop_front();
    Value end = add(builder, block.first, block.count), length = sizeOf(columns), kinds = sizeOf(inner);
    Value endLine = add(builder, block.firstLine, block.lineCount), stride = multiply(builder, kinds, block.pitch);
    forPeriods(length, block.first, end, [&](Value number, Value low, Value high) {
      split(outer, number);
      Value column = subtract(builder, add(builder, multiply(builder, number, length), low), block.first);
      forLoop(builder, zero, minimum(builder, kinds, block.lineCount), [&](Value place) {
        Value kind = remainder(builder, add(builder, block.firstLine, place), kinds);
        split(inner, kind);
        auto firstFrom = [&](Value line) {
          return divide(builder, add(builder, line, subtract(builder, subtract(builder, kinds, one), kind)), kinds);
        };
        Value firstRow = firstFrom(block.firstLine), rows = subtract(builder, firstFrom(endLine), firstRow);
        Value line = subtract(builder, add(builder, multiply(builder, firstRow, kinds), kind), block.firstLine);
        Value to = targetAt(add(builder, multiply(builder, line, block.pitch), column));
        copyRows(firstRow, rows, low, subtract(builder, high, low), to, stride);
      });
    });
  }

  void copyAlongLines() {
    Labels rest(block.run.drop_back(columns.size()));
    if (row != kNone)
      rest.pop_back();
    Value end = add(builder, block.first, block.count), length = sizeOf(columns);
    Value period = row == kNone ? length : multiply(builder, length, code.size(sizes.lookup(row)));
    forLoop(builder, zero, block.lineCount, [&](Value number) {
      split(block.lines, add(builder, block.firstLine, number));
      Value line = targetAt(multiply(builder, number, block.pitch));
      auto copyPart = [&](Value begin, Value low, Value high) {
        Value from = subtract(builder, add(builder, begin, low), block.first);
        Value to = elementAddress(builder, line, memoryType(storage), from);
        row == kNone ? copyRows({}, one, low, subtract(builder, high, low), to, length) : copyPieces(low, high, length, to);
      };
      if (rest.empty())
        return copyPart(zero, block.first, end);
      forPeriods(period, block.first, end, [&](Value outer, Value low, Value high) {
        split(rest, outer);
        copyPart(multiply(builder, outer, period), low, high);
      });
    });
  }

  /// Places [low, high) of rows of `length` each: what is left of the first one, whole ones, and the beginning of the last one.
  void copyPieces(Value low, Value high, Value length, Value to) {
    forLoop(builder, zero, constant(builder, 3), one, low, [&](Value, ValueRange carried) -> SmallVector<Value> {
      Value place = carried[0], left = subtract(builder, high, place);
      Value firstRow = divide(builder, place, length), from = subtract(builder, place, multiply(builder, firstRow, length));
      auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
        return builder.createOrFold<arith::CmpIOp>(predicate, a, b);
      };
      Value isPart = builder.createOrFold<arith::OrIOp>(compare(arith::CmpIPredicate::ne, from, zero),
                                                        compare(arith::CmpIPredicate::slt, left, length));
      auto either = [&](Value a, Value b) -> Value { return builder.createOrFold<arith::SelectOp>(isPart, a, b); };
      Value rows = either(minimum(builder, left, one), divide(builder, left, length));
      Value count = either(minimum(builder, left, subtract(builder, length, from)), length);
      Value target = elementAddress(builder, to, memoryType(storage), subtract(builder, place, low));
      copyRows(firstRow, rows, from, count, target, length);
      return {add(builder, place, multiply(builder, rows, count))};
    });
  }

  /// `rows` (none: one) from `firstRow` on, `count` columns from `from` on of each.
  void copyRows(Value firstRow, Value rows, Value from, Value count, Value to, Value targetStride) {
    Value start = code.size(places.offset());
    const int64_t column = places.columnOf(columns);
    for (int64_t label : side.labels)
      if (label != row && !llvm::is_contained(columns, label))
        start = add(builder, start, multiply(builder, indices.at(label), code.size(places.strideOf(label))));
    start = add(builder, start, multiply(builder, from, code.size(places.strideOf(columns))));
    Value sourceStride = zero;
    if (row != kNone) {
      sourceStride = code.size(places.strideOf(row));
      start = add(builder, start, multiply(builder, firstRow, sourceStride));
    }
    Bounds ofRows{zero, rows}, ofColumns{zero, count};
    for (const LinearForm &condition : places.conditions()) {
      Value value = code.size(condition.rest);
      for (int64_t label : side.labels)
        if (label != row && !llvm::is_contained(columns, label))
          value = add(builder, value, multiply(builder, indices.at(label), code.size(places.growth(condition, label))));
      const int64_t alongColumns = *numberOf(places.growth(condition, column));
      const int64_t alongRows = row == kNone ? 0 : *numberOf(places.growth(condition, row));
      value = add(builder, value, multiply(builder, from, constant(builder, alongColumns)));
      if (row != kNone)
        value = add(builder, value, multiply(builder, firstRow, constant(builder, alongRows)));
      narrow(alongColumns != 0 ? ofColumns : ofRows, value, alongColumns != 0 ? alongColumns : alongRows);
    }
    const int64_t step = *numberOf(places.strideOf(columns));
    func::FuncOp function = getCopyRows(builder, builder.getLoc(), {code.tier, storage, step, block.alongDepth});
    func::CallOp::create(builder, function,
                         ValueRange{rows, ofRows.low, ofRows.high, count, ofColumns.low, ofColumns.high, memory, start,
                                    sourceStride, to, targetStride, fill});
  }

  struct Bounds {
    Value low, high;
  };
  /// To the numbers i for which value + growth * i is at least 0.
  void narrow(Bounds &bounds, Value value, int64_t growth) {
    if (growth == 0) {
      Value isOutside = builder.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, value, zero);
      bounds.high = builder.createOrFold<arith::SelectOp>(isOutside, zero, bounds.high);
      return;
    }
    Value whole = builder.createOrFold<arith::FloorDivSIOp>(value, constant(builder, std::abs(growth)));
    if (growth > 0)
      bounds.low = maximum(builder, bounds.low, subtract(builder, zero, whole));
    else
      bounds.high = minimum(builder, bounds.high, add(builder, whole, one));
  }

  FunctionCode &code;
  ImplicitLocOpBuilder &builder;
  const SizesOfLabels &sizes;
  const GemmSide &side;
  const Places places;
  const BlockOfSide &block;
  Type storage;
  const Labels columns; ///< labels of a row of a copy
  const int64_t row;
  Value zero, one, memory, fill;
  DenseMap<int64_t, Value> indices;
};

} // namespace

bool GemmCopies::mayCopy(const GemmSide &side, ArrayRef<int64_t> lines, ArrayRef<int64_t> run, bool alongDepth) const {
  if ((side.element && !side.guarded) || !side.ranges.empty() || run.empty() || (!alongDepth && lines.empty()))
    return false;
  const Places places(side, sizes);
  const Labels columns = places.columnsOf(run);
  const std::optional<int64_t> step = numberOf(places.strideOf(columns));
  if (!step || *step < 1 || *step > CopyRows::kMostStep)
    return false;
  const int64_t row = rowOf(lines, run, columns.size(), alongDepth), column = places.columnOf(columns);
  return llvm::all_of(places.conditions(), [&](const LinearForm &condition) {
    const std::optional<int64_t> alongColumns = numberOf(places.growth(condition, column));
    const std::optional<int64_t> alongRows = row == kNone ? 0 : numberOf(places.growth(condition, row));
    return alongColumns && alongRows && (*alongColumns == 0 || *alongRows == 0);
  });
}

void GemmCopies::copy(FunctionCode &code, const GemmSide &side, Value memory, const IndicesOfLabels &fixed,
                      const BlockOfSide &block) const {
  BlockCopy(code, sizes, side, memory, fixed, block).run();
}

} // namespace tenon::cpu
