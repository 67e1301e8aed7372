#include "lowering/cpu/AttentionTables.h"
#include "dialect/TensorSizes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tenon::cpu {

AttentionTables::AttentionTables(const AttentionOperands &operands, const IndexOperands &indices, bool forGradient)
    : operands(operands), indices(indices), forGradient(forGradient) {
  std::string problem;
  for (Attribute form : operands.place)
    forms.push_back(*toForm(form, problem)); // verified
  if (Value table = operands.anyTable())
    count = sizesOf(cast<RankedTensorType>(table.getType()))[0];
}

// Elements of one copy, the same in every tier: what its widest vectors need.
static AffineExpr roundedUp(AffineExpr size, int64_t to) { return size.ceilDiv(to) * to; }
AffineExpr AttentionTables::columnElements(Value table) const {
  return table ? roundedUp(count, 32) * AttentionCode::roundUp(operands.keyWidth(), 16)
               : getAffineConstantExpr(0, operands.query.getContext());
}
AffineExpr AttentionTables::rowElements(Value table) const {
  bool needed = table && forGradient;
  return needed ? roundedUp(count, 16) * AttentionCode::roundUp(operands.keyWidth(), 32)
                : getAffineConstantExpr(0, operands.query.getContext());
}
AffineExpr AttentionTables::scoreElements() const {
  return operands.scoreTable ? roundedUp(count, 16) : getAffineConstantExpr(0, operands.query.getContext());
}
AffineExpr AttentionTables::valueElements() const {
  if (!operands.valueTable)
    return getAffineConstantExpr(0, operands.query.getContext());
  return forGradient ? roundedUp(count, 32) * AttentionCode::roundUp(operands.valueWidth(), 16)
                     : roundedUp(count, 16) * AttentionCode::roundUp(operands.valueWidth(), 32);
}
AffineExpr AttentionTables::copyElements() const {
  return keysAt() + columnElements(operands.keyTable) + rowElements(operands.keyTable);
}

AttentionTables::Head AttentionTables::head(AttentionCode &on, Value packed, Value batch, Value head) const {
  Emitter &emit = on.emit;
  Head result;
  result.falls = emit.flag(falling(0));
  Value copy = emit.constant(0);
  if (copies() == 2) {
    Value back = emit.compare(arith::CmpIPredicate::ne, indices.scalar(on.code, *operands.back, {batch, emit.constant(0)}),
                              emit.constant(0));
    result.falls = falling(1) ? back : Value(arith::XOrIOp::create(on.builder, back, emit.flag(true)));
    copy = emit.select(result.falls, emit.constant(1), emit.constant(0));
  }
  Value base = on.at(packed, emit.mul(emit.add(emit.mul(copy, on.heads), head), on.code.size(copyElements())));
  if (operands.table) {
    result.columns = base;
    result.rows = on.at(base, on.code.size(columnElements(operands.table)));
  }
  if (operands.keyTable) {
    result.keyColumns = on.at(base, on.code.size(keysAt()));
    result.keyRows = on.at(base, on.code.size(keysAt() + columnElements(operands.keyTable)));
  }
  result.rowStride = on.panelStride(places(on));
  if (operands.scoreTable)
    result.scores = on.at(base, on.code.size(scoresAt()));
  if (operands.valueTable) {
    result.values = on.at(base, on.code.size(valuesAt()));
    result.valueStride = forGradient ? on.panelStride(on.valueWidth) : on.panelStride(places(on));
  }
  return result;
}

unsigned AttentionTables::pack(KernelSequence &sequence, Location location) const {
  const int64_t count = copies() * operands.heads();
  unsigned packed = sequence.temporary(copyElements() * (count * elementBytes(operands.element())));
  Kernel kernel{"attention_tables", location, {}, {}, {}, {packed}, 0, {}, {}};
  for (Value table : {operands.table, operands.scoreTable, operands.valueTable, operands.keyTable})
    if (table)
      kernel.reads.push_back(table);
  kernel.tiles = [count](FunctionCode &code) { return constant(code.builder, count); };
  kernel.body = [&](FunctionCode &code) {
    AttentionCode on(code, operands);
    packHead(on, code.temporary(0));
  };
  sequence.add(kernel);
  return packed;
}

/// A table [P, H, E]: panels over places and, for gradients, behind them those over the width.
void AttentionTables::packVectors(AttentionCode &on, Value table, Value head, Value falls, Value columns) const {
  Emitter &emit = on.emit;
  const int64_t stride = on.heads * on.keyWidth;
  Value zero = emit.constant(0), last = emit.sub(places(on), 1);
  Elements source = on.row(table, zero, zero, emit.select(falls, last, zero), head, on.keyWidth);
  Value step = emit.select(falls, emit.constant(-stride), emit.constant(stride));
  on.packColumns(source, places(on), on.keyWidth, columns, step);
  if (forGradient)
    on.packRows(source, places(on), on.keyWidth, on.at(columns, on.code.size(columnElements(table))), on.panelStride(places(on)),
                step);
}

/// One tile of the packing kernel: a head of a copy.
void AttentionTables::packHead(AttentionCode &on, Value packed) const {
  Emitter &emit = on.emit;
  Value copy = emit.div(on.code.tile, on.heads), head = emit.sub(on.code.tile, emit.mul(copy, on.heads));
  Value falls = copies() == 2 ? emit.equal(copy, emit.constant(1)) : emit.flag(falling(0));
  Value last = emit.sub(places(on), 1), zero = emit.constant(0);
  Value base = on.at(packed, emit.mul(on.code.tile, on.code.size(copyElements())));
  if (operands.table)
    packVectors(on, operands.table, head, falls, base);
  if (operands.keyTable)
    packVectors(on, operands.keyTable, head, falls, on.at(base, on.code.size(keysAt())));
  if (operands.valueTable) {
    const int64_t stride = on.heads * on.valueWidth;
    Elements source = on.row(operands.valueTable, zero, zero, emit.select(falls, last, zero), head, on.valueWidth);
    Value step = emit.select(falls, emit.constant(-stride), emit.constant(stride)), to = on.at(base, on.code.size(valuesAt()));
    if (forGradient)
      on.packColumns(source, places(on), on.valueWidth, to, step);
    else
      on.packRows(source, places(on), on.valueWidth, to, on.panelStride(places(on)), step);
  }
  if (!operands.scoreTable)
    return;
  Value to = on.at(base, on.code.size(scoresAt()));
  emit.loop(zero, places(on), 1, [&](Value place) {
    Value d = emit.select(falls, emit.sub(last, place), place);
    on.storeScalar(on.loadScalar(on.at(on.code.pointer(operands.scoreTable), emit.add(emit.mul(d, on.heads), head))),
                   on.at(to, place));
  });
}

Value AttentionTables::placeOf(AttentionCode &on, const Head &head, QueryPlace query) const {
  Emitter &emit = on.emit;
  if (computes())
    return emit.constant(0);
  Value d = indices.withoutKey(on.code, forms[0], query);
  if (forms.size() == 2) {
    Value back = emit.compare(arith::CmpIPredicate::ne, indices.scalar(on.code, *operands.back, query), emit.constant(0));
    d = emit.select(back, indices.withoutKey(on.code, forms[1], query), d);
  }
  return emit.select(head.falls, emit.sub(emit.sub(places(on), 1), d), d);
}

int64_t AttentionTables::knownSpread() const {
  int64_t step = 0;
  for (const MaskForm &form : forms)
    step = std::max<int64_t>(step, std::abs(form.query));
  return step * (AttentionCode::stripLimit - 1);
}

/// Places are linear in the query, and a strip's differ little enough.
bool AttentionTables::known() const {
  return knownSpread() <= kSpread &&
         llvm::none_of(forms, [&](const MaskForm &form) { return indices.dependsOn(form, kQueryLabel); });
}

std::optional<int64_t> AttentionTables::step() const {
  if (forms.size() != 1 || !known())
    return std::nullopt;
  return falling(0) ? -forms[0].query : forms[0].query;
}

void AttentionTables::forGroups(AttentionCode &on, const Head &head, Value batch, Value first, Value rows,
                                llvm::function_ref<void(Value, Value, Value, Value)> body) const {
  Emitter &emit = on.emit;
  auto &builder = on.builder;
  auto placeAt = [&](Value query) { return placeOf(on, head, {batch, query}); };
  Value end = emit.add(first, rows);
  if (known()) {
    Value a = placeAt(first), b = placeAt(emit.sub(end, 1));
    Value least = emit.min(a, b);
    body(first, rows, least, emit.sub(emit.max(a, b), least));
    return;
  }
  Type i64 = builder.getI64Type();
  auto outer = scf::WhileOp::create(builder, TypeRange{i64}, ValueRange{first});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&outer.getBefore(), {}, {i64}, {builder.getLoc()});
  scf::ConditionOp::create(builder, emit.less(before->getArgument(0), end), before->getArguments());
  Block *after = builder.createBlock(&outer.getAfter(), {}, {i64}, {builder.getLoc()});
  Value begin = after->getArgument(0), place = placeAt(begin);
  // Extends the group as long as the next query's place is near enough.
  SmallVector<Type> types(3, i64);
  SmallVector<Location> locations(3, builder.getLoc());
  auto grow = scf::WhileOp::create(builder, types, ValueRange{emit.add(begin, 1), place, place});
  Block *test = builder.createBlock(&grow.getBefore(), {}, types, locations);
  Value next = test->getArgument(0);
  Value here = placeAt(emit.min(next, emit.sub(end, 1)));
  Value least = emit.min(test->getArgument(1), here), most = emit.max(test->getArgument(2), here);
  Value fits = emit.select(emit.less(next, end), emit.lessEqual(emit.sub(most, least), emit.constant(kSpread)), emit.flag(false));
  Value keptLeast = emit.select(fits, least, test->getArgument(1)), keptMost = emit.select(fits, most, test->getArgument(2));
  scf::ConditionOp::create(builder, fits, ValueRange{next, keptLeast, keptMost});
  Block *extend = builder.createBlock(&grow.getAfter(), {}, types, locations);
  scf::YieldOp::create(builder, ValueRange{emit.add(extend->getArgument(0), 1), extend->getArgument(1), extend->getArgument(2)});
  builder.setInsertionPointAfter(grow);
  Value stop = grow.getResult(0);
  body(begin, emit.sub(stop, begin), grow.getResult(1), emit.sub(grow.getResult(2), grow.getResult(1)));
  scf::YieldOp::create(builder, ValueRange{stop});
}

} // namespace tenon::cpu
