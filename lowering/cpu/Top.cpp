// tenon.top: the k best of each row so far in a heap whose root is the worst of them; most elements are dismissed 16 at a time.
#include "dialect/TensorSizes.h"
#include "lowering/cpu/Cut.h"
#include "lowering/cpu/Emitter.h"
#include "lowering/cpu/Kernel.h"
#include "lowering/cpu/Loops.h"

using namespace mlir;

namespace tenon::cpu {
namespace {

/// One number orders elements and places: above, the element as an integer of its own width that compares as it does; below, the
/// place counted down, so that of equal elements the first is the larger one. The order is that of integers: the same everywhere.
class TopKernel {
public:
  explicit TopKernel(TopOp op) : op(op) {
    size = sizesOf(cast<RankedTensorType>(op.getX().getType())).back();
    rows = product(op.parallelDomain(), op.getContext());
    best = sizesOf(cast<RankedTensorType>(op.getY().getType())).back();
    element = cast<RankedTensorType>(op.getX().getType()).getElementType();
    width = element.getIntOrFloatBitWidth();
    ranked = IntegerType::get(op.getContext(), unsigned(2 * width));
    rowCut = {rows, size};
  }

  DictionaryAttr choose() { return rowCut.choose(); }

  LogicalResult generate(KernelSequence &sequence) {
    if (failed(rowCut.take(op, sequence.tier())))
      return failure();
    Kernel kernel{"top", op.getLoc(), {op.getX()}, {op.getY()}, {}, {}, 0, {}, {}};
    kernel.temporaries.push_back(sequence.temporary(rows * best * (width / 4)));
    kernel.cut = {rowCut.side()};
    kernel.tiles = [&](FunctionCode &code) { return ceilDivide(code.builder, code.size(rows), rowCut.rowsOfTile(code)); };
    kernel.body = [&](FunctionCode &code) { emitTile(code); };
    sequence.add(kernel);
    return success();
  }

private:
  static constexpr int64_t lastPlace = 0xffffffff;

  Type elementType(Type scalar, Value like) {
    auto vector = dyn_cast<VectorType>(like.getType());
    return vector ? Type(VectorType::get(vector.getShape(), scalar)) : scalar;
  }
  Value number(OpBuilder &builder, Type type, const APInt &value) {
    auto vector = dyn_cast<VectorType>(type);
    auto attribute = builder.getIntegerAttr(vector ? vector.getElementType() : type, value);
    return arith::ConstantOp::create(builder, op.getLoc(),
                                     vector ? cast<TypedAttr>(DenseElementsAttr::get(vector, Attribute(attribute)))
                                            : cast<TypedAttr>(attribute));
  }

  /// Integers that compare as the elements do: negative numbers have their bits turned over, -0 becomes 0, a NaN the least one.
  Value keyOf(OpBuilder &builder, Value x) {
    if (isa<IntegerType>(element))
      return x;
    Location location = op.getLoc();
    Type type = elementType(builder.getIntegerType(unsigned(width)), x);
    auto zero = cast<TypedAttr>(builder.getZeroAttr(x.getType()));
    x = arith::AddFOp::create(builder, location, x, arith::ConstantOp::create(builder, location, zero));
    Value bits = arith::BitcastOp::create(builder, location, type, x);
    Value sign = arith::ShRSIOp::create(builder, location, bits, number(builder, type, APInt(unsigned(width), width - 1)));
    Value turned =
        arith::AndIOp::create(builder, location, sign, number(builder, type, APInt::getSignedMaxValue(unsigned(width))));
    Value isNone = arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNO, x, x);
    return arith::SelectOp::create(builder, location, isNone, number(builder, type, APInt::getSignedMinValue(unsigned(width))),
                                   arith::XOrIOp::create(builder, location, bits, turned));
  }
  Value widened(Emitter &emit, Value value, bool isSigned) {
    if (value.getType() == ranked)
      return value;
    return isSigned ? Value(arith::ExtSIOp::create(emit.builder, emit.location, ranked, value))
                    : Value(arith::ExtUIOp::create(emit.builder, emit.location, ranked, value));
  }
  Value rankOf(Emitter &emit, Value x, Value place) {
    Value above = arith::ShLIOp::create(emit.builder, emit.location, widened(emit, keyOf(emit.builder, x), true),
                                        number(emit.builder, ranked, APInt(unsigned(2 * width), width)));
    return arith::OrIOp::create(emit.builder, emit.location, above,
                                widened(emit, emit.sub(emit.constant(lastPlace), place), false));
  }

  unsigned alignment() const { return unsigned(width / 4); }
  Value load(Emitter &emit, Value heap, Value place) { return emit.load(ranked, emit.at(heap, ranked, place), alignment()); }
  void store(Emitter &emit, Value value, Value heap, Value place) {
    emit.store(value, emit.at(heap, ranked, place), alignment());
  }

  /// (heap, count, place, value): `value` goes to the free `place`, or below it, past what is smaller.
  func::FuncOp siftFunction(FunctionCode &code) {
    Type i64 = code.builder.getI64Type();
    std::string name = ("tn_top_sift_" + helperTierName(code.tier) + "_" + Twine(width)).str();
    return getOrCreateKernel(
        code.builder, op.getLoc(), name, {pointer(code.builder), i64, i64, ranked}, [&](Emitter &emit, ValueRange arguments) {
          Value heap = arguments[0], count = arguments[1], value = arguments[3];
          Value last = emit.sub(count, 1);
          auto isAbove = [&](OpBuilder &, Location, ValueRange carried) {
            Value left = emit.add(emit.mul(carried[0], 2), 1), right = emit.min(emit.add(left, 1), last);
            Value isInside = emit.less(left, count);
            left = emit.min(left, last);
            Value first = load(emit, heap, left), second = load(emit, heap, right), isRight = emit.less(second, first);
            Value child = emit.select(isRight, right, left), smaller = emit.select(isRight, second, first);
            Value moves = arith::AndIOp::create(emit.builder, emit.location, isInside, emit.less(smaller, value));
            scf::ConditionOp::create(emit.builder, emit.location, moves, ValueRange{child, smaller, carried[0]});
          };
          auto move = [&](OpBuilder &, Location, ValueRange carried) {
            store(emit, carried[1], heap, carried[2]);
            scf::YieldOp::create(emit.builder, emit.location, ValueRange{carried[0]});
          };
          auto loop = scf::WhileOp::create(emit.builder, emit.location, TypeRange{i64, ranked, i64}, ValueRange{arguments[2]},
                                           isAbove, move);
          store(emit, value, heap, loop.getResult(2));
        });
  }

  void emitTile(FunctionCode &code) {
    Emitter emit(code.builder, op.getLoc());
    Value low = emit.mul(code.tile, rowCut.rowsOfTile(code)),
          high = emit.min(emit.add(low, rowCut.rowsOfTile(code)), code.size(rows));
    emit.branch(emit.less(emit.constant(0), code.size(best)),
                [&] { emit.loop(low, high, 1, [&](Value row) { emitRow(code, emit, row); }); });
  }

  void emitRow(FunctionCode &code, Emitter &emit, Value row) {
    func::FuncOp sift = siftFunction(code);
    Value count = code.size(best), length = code.size(size), zero = emit.constant(0);
    Value heap = emit.at(code.temporary(0), ranked, emit.mul(row, count));
    Value x = emit.at(code.pointer(op.getX()), element, emit.mul(row, length));
    auto sifted = [&](Value places, Value place, Value value) {
      func::CallOp::create(emit.builder, emit.location, sift, ValueRange{heap, places, place, value});
    };
    auto rankAt = [&](Value place) {
      return rankOf(emit, emit.load(element, emit.at(x, element, place), unsigned(width / 8)), place);
    };
    emit.loop(zero, count, 1, [&](Value place) { store(emit, rankAt(place), heap, place); });
    Value half = emit.div(count, 2);
    emit.loop(zero, half, 1, [&](Value i) {
      Value place = emit.sub(emit.sub(half, 1), i);
      sifted(count, place, load(emit, heap, place));
    });
    emitOthers(code, emit, x, heap, [&](Value place) {
      Value value = rankAt(place);
      emit.branch(emit.less(load(emit, heap, zero), value), [&] { sifted(count, zero, value); });
    });
    // The worst of those left goes behind them.
    emit.loop(zero, emit.sub(count, 1), 1, [&](Value i) {
      Value last = emit.sub(emit.sub(count, 1), i), value = load(emit, heap, last);
      store(emit, load(emit, heap, zero), heap, last);
      sifted(last, zero, value);
    });
    Type stored = cast<RankedTensorType>(op.getY().getType()).getElementType(), i64 = emit.builder.getI64Type();
    Value y = emit.at(code.pointer(op.getY()), stored, emit.mul(row, count));
    emit.loop(zero, count, 1, [&](Value i) {
      Value below = load(emit, heap, i);
      if (ranked != i64)
        below = arith::TruncIOp::create(emit.builder, emit.location, i64, below);
      below = arith::AndIOp::create(emit.builder, emit.location, below, emit.constant(lastPlace));
      Value place = emit.sub(emit.constant(lastPlace), below);
      if (stored != i64)
        place = arith::TruncIOp::create(emit.builder, emit.location, stored, place);
      emit.store(place, emit.at(y, stored, i), elementBytes(stored));
    });
  }

  /// Elements behind the first `best`: those above the worst of the heap are inserted. An equal one comes later and is none.
  void emitOthers(FunctionCode &code, Emitter &emit, Value x, Value heap, llvm::function_ref<void(Value)> insert) {
    const int64_t lanes = 512 / width;
    Value count = code.size(best), length = code.size(size);
    Value whole = emit.sub(length, emit.rem(emit.sub(length, count), emit.constant(lanes)));
    auto vector = VectorType::get({lanes}, element);
    emit.loop(count, whole, lanes, [&](Value first) {
      Value keys = keyOf(emit.builder, emit.load(vector, emit.at(x, element, first), unsigned(width / 8)));
      Value above = arith::ShRSIOp::create(emit.builder, emit.location, load(emit, heap, emit.constant(0)),
                                           number(emit.builder, ranked, APInt(unsigned(2 * width), width)));
      Value worst = vector::BroadcastOp::create(
          emit.builder, emit.location, keys.getType(),
          arith::TruncIOp::create(emit.builder, emit.location, emit.builder.getIntegerType(unsigned(width)), above));
      Value isBetter = emit.compare(arith::CmpIPredicate::sgt, keys, worst);
      Type mask = emit.builder.getIntegerType(unsigned(lanes));
      Value some = LLVM::BitcastOp::create(emit.builder, emit.location, mask, isBetter);
      emit.branch(emit.compare(arith::CmpIPredicate::ne, some, number(emit.builder, mask, APInt(unsigned(lanes), 0))),
                  [&] { emit.loop(first, emit.add(first, lanes), 1, insert); });
    });
    emit.loop(whole, length, 1, insert);
  }

  TopOp op;
  RowCut rowCut;
  AffineExpr rows, size, best;
  Type element;
  int64_t width; // of an element, in bits
  Type ranked;
};

} // namespace

DictionaryAttr chooseTop(Operation *op, Tier) { return TopKernel(cast<TopOp>(op)).choose(); }
LogicalResult generateTop(Operation *op, KernelSequence &sequence) { return TopKernel(cast<TopOp>(op)).generate(sequence); }

} // namespace tenon::cpu
