// Attention and its gradient: verifiers, what is narrowed, gradient rule.
#include "dialect/AttentionMasks.h"
#include "dialect/AttentionPairs.h"
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "dialect/Rules.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tenon;

// ---- attention: the forward op and its gradient have the same operands and attributes, so that checks are written once

/// C6, C7.
template <typename OpTy> static LogicalResult verifyIndexOperands(OpTy op, ArrayRef<AffineExpr> sizes) {
  if (op.getIndexLabels().size() != op.getIndexOperands().size())
    return op.emitOpError("expects labels for each of ")
           << op.getIndexOperands().size() << " index operands, got " << op.getIndexLabels().size(); // C4
  for (auto [operand, attribute] : llvm::zip(op.getIndexOperands(), op.getIndexLabels())) {
    if (!isLabels(attribute))
      return op.emitOpError("expects labels as lists of numbers, got ") << attribute; // C7
    SmallVector<int64_t> labels = labelsOf(attribute);
    auto type = tensorOf(operand);
    if (isa<FloatType>(type.getElementType()))
      return op.emitOpError("expects index operands of integers or truth values, got ") << type; // C7
    if (int64_t(labels.size()) != type.getRank())
      return op.emitOpError("expects one label per dimension of ") << type; // C7
    for (auto [label, size] : llvm::zip(labels, sizesOf(type)))
      if (label < 0 || label > 2 || sizes[label] != size || llvm::count(labels, label) > 1)
        return op.emitOpError("expects index operand ") << type << " to have the sizes of its labels"; // C7
  }
  return success();
}

static bool isTruth(Value value) { return tensorOf(value).getElementType().isInteger(1); }

static void forEachForm(const Mask &mask, llvm::function_ref<void(const MaskForm &)> visit) {
  for (const Mask &part : mask.parts)
    forEachForm(part, visit);
  forEachForm(mask.form, visit);
}
static void forEachHolds(const Mask &mask, llvm::function_ref<void(int64_t)> visit) {
  for (const Mask &part : mask.parts)
    forEachHolds(part, visit);
  if (mask.kind == Mask::Kind::Holds)
    visit(mask.operand);
}

/// C6 for one mask.
template <typename OpTy> static LogicalResult verifyMask(OpTy op, Attribute attribute) {
  int64_t count = op.getIndexOperands().size();
  std::string problem;
  std::optional<Mask> mask = toMask(attribute, problem);
  if (!mask)
    return op.emitOpError("has a mask that is none: ") << problem; // C6
  bool known = true, truth = true;
  forEachOperand(*mask, [&](int64_t operand) { known &= operand >= 0 && operand < count; });
  if (!known)
    return op.emitOpError("has a mask that names an operand beyond the ") << count << " it has"; // C6
  bool fits = true;
  forEachForm(*mask, [&](const MaskForm &form) { fits &= fitsEntry(op, form.dimCount); });
  if (!fits)
    return op.emitOpError("expects a mask over the dims of its entry, got ") << attribute; // C6
  forEachHolds(*mask, [&](int64_t operand) { truth &= isTruth(op.getIndexOperands()[operand]); });
  return truth ? success()
               : LogicalResult(op.emitOpError("has a mask whose test `holds` names an operand without truth values")); // C6
}

/// C3 for a place that is no form.
template <typename OpTy> static LogicalResult verifyPlaceCode(OpTy op) {
  if (op->getNumRegions() == 0)
    return op.emitOpError("expects a region of the place with `computes_place`"); // C3
  if ((!op.getTable() && !op.getScoreTable()) || op.getValueTable() || op.getKeyTable() || !op.getPlace().empty() || op.getBack())
    return op.emitOpError("expects `computes_place` beside a table or score_table alone, without other places"); // C3
  Region &code = *op.getPlaceCode();
  auto yield = code.hasOneBlock() && !code.front().empty() ? dyn_cast<YieldOp>(code.front().back()) : YieldOp();
  bool fits = yield && code.getNumArguments() == op.getIndexOperands().size() && yield->getNumOperands() > 0 &&
              llvm::all_of(yield->getOperandTypes(), [](Type type) { return type.isInteger(32) || type.isInteger(64); });
  if (fits)
    for (auto [argument, operand] : llvm::zip(code.getArguments(), op.getIndexOperands()))
      fits &= argument.getType() == tensorOf(operand).getElementType();
  if (!fits)
    return op.emitOpError("expects the code of its place to take an element of each index operand and to yield integers"); // C3
  if (Operation *inner = findNoScalarCode(code.front()))
    return op.emitOpError("expects scalar code of its place, got ") << inner->getName(); // C3
  return success();
}

/// C3, C4.
template <typename OpTy> static LogicalResult verifyPlaces(OpTy op) {
  bool hasTable = op.getTable() || op.getScoreTable() || op.getValueTable() || op.getKeyTable();
  if (op.getComputesPlace())
    return verifyPlaceCode(op);
  size_t wanted = !hasTable ? 0 : op.getBack() ? 2 : 1;
  if (op.getPlace().size() != wanted)
    return op.emitOpError("expects ") << wanted << " places (one with a table, two with `back`), got "
                                      << op.getPlace().size(); // C3
  int64_t count = op.getIndexOperands().size();
  for (Attribute attribute : op.getPlace()) {
    std::string problem;
    std::optional<MaskForm> form = toForm(attribute, problem);
    if (!form)
      return op.emitOpError("has a place that is none: ") << problem; // C3
    if (!fitsEntry(op, form->dimCount))
      return op.emitOpError("expects a place over the dims of its entry, got ") << attribute; // C6
    if (!form->isLinear())
      return op.emitOpError("expects a place that is linear in the query and the key, got ") << attribute; // C3
    if (form->key != 1 && form->key != -1)
      return op.emitOpError("expects a place whose key coefficient is 1 or -1, got ") << form->key; // C3
    for (const MaskForm::Term &term : form->terms) {
      if (term.operand < 0 || term.operand >= count)
        return op.emitOpError("has a place that names an operand beyond the ") << count << " it has"; // C3
      if (llvm::is_contained(labelsOf(op.getIndexLabels()[term.operand]), kKeyLabel))
        return op.emitOpError("has a place that reads an operand over the key"); // C3
    }
  }
  if (!op.getBack())
    return success();
  int64_t back = *op.getBack();
  if (!hasTable || back < 0 || back >= count || !isTruth(op.getIndexOperands()[back]) ||
      labelsOf(op.getIndexLabels()[back]) != SmallVector<int64_t>{kBatchLabel})
    return op.emitOpError("expects `back` to name an index operand of truth values over the batch, and a table"); // C4
  return success();
}

/// C10.
template <typename OpTy> static LogicalResult verifyStep(OpTy op, Type element) {
  auto steps = op.getStep();
  if (steps.empty())
    return success();
  Region &step = steps.front();
  auto yield =
      steps.size() == 1 && step.hasOneBlock() && !step.front().empty() ? dyn_cast<YieldOp>(step.front().back()) : YieldOp();
  if (!yield || step.getNumArguments() != 1 || step.getArgument(0).getType() != element || yield->getNumOperands() != 2 ||
      !llvm::all_of(yield->getOperandTypes(), [&](Type type) { return type == element; }))
    return op.emitOpError("expects one step that takes a scalar of ") << element << " and yields two"; // C10
  if (Operation *inner = findNoScalarCode(step.front()))
    return op.emitOpError("expects scalar code in its step, got ") << inner->getName(); // C10
  return success();
}

/// C11.
template <typename OpTy> static LogicalResult verifyDrawn(OpTy op) {
  if (bool(op.getDrawnAt()) != bool(op.getDrawnOf()))
    return op.emitOpError("expects `drawn_at` together with `drawn_of`, the number of queries of the whole"); // C11
  if (!op.getDrawnAt())
    return success();
  const int64_t number = *op.getDrawnAt(), count = op.getIndexOperands().size();
  if (number < 0 || number >= count || isTruth(op.getIndexOperands()[number]))
    return op.emitOpError("expects `drawn_at` to name an index operand of integers, got number ")
           << number << " of " << count; // C11
  SmallVector<int64_t> labels = labelsOf(op.getIndexLabels()[number]);
  if (!llvm::is_contained(labels, kQueryLabel) || llvm::is_contained(labels, kKeyLabel))
    return op.emitOpError("expects `drawn_at` to name an index operand over the query, or the batch and the query"); // C11
  return verifyForm(op, *op.getDrawnOf());                                                                           // C11
}

/// Whether a tensor has these sizes and elements.
static bool has(Value tensor, ArrayRef<AffineExpr> sizes, Type element) {
  return sizesOf(tensorOf(tensor)) == sizes && tensorOf(tensor).getElementType() == element;
}

/// C2. `q`, `k`: sizes of query and key.
template <typename OpTy>
static LogicalResult verifyTables(OpTy op, ArrayRef<AffineExpr> q, ArrayRef<AffineExpr> k, AffineExpr valueWidth) {
  const Type element = tensorOf(op.getQuery()).getElementType(), compute = elementModel(element).compute;
  if (bool(op.getPositionQuery()) != bool(op.getTable()) ||
      (op.getPositionQuery() && !has(op.getPositionQuery(), q, element))) // C2
    return op.emitOpError("expects position_query [B, I, H, E] together with a table");
  if (bool(op.getPositionKey()) != bool(op.getKeyTable()) || (op.getPositionKey() && !has(op.getPositionKey(), k, element))) // C2
    return op.emitOpError("expects position_key [B, J, K, E] together with a key_table");
  AffineExpr places;
  for (Value table : {op.getTable(), op.getScoreTable(), op.getValueTable(), op.getKeyTable()})
    if (table && tensorOf(table).getRank() > 0 && !places)
      places = sizesOf(tensorOf(table))[0];
  if (op.getTable() && !has(op.getTable(), {places, q[2], q[3]}, element)) // C2
    return op.emitOpError("expects a table [P, H, E], got ") << op.getTable().getType();
  if (op.getScoreTable() && !has(op.getScoreTable(), {places, q[2]}, compute)) // C2
    return op.emitOpError("expects a score_table [P, H], got ") << op.getScoreTable().getType();
  if (op.getValueTable() && !has(op.getValueTable(), {places, q[2], valueWidth}, element)) // C2
    return op.emitOpError("expects a value_table [P, H, F], got ") << op.getValueTable().getType();
  if (op.getKeyTable() && !has(op.getKeyTable(), {places, q[2], q[3]}, element)) // C2
    return op.emitOpError("expects a key_table [P, H, E], got ") << op.getKeyTable().getType();
  return success();
}

/// C12.
template <typename OpTy> static LogicalResult verifyPairs(OpTy op) {
  if (op.getPairBatch() && (!op.getPairScores() || op.getPairBatch()->getNumResults() != 2))
    return op.emitOpError("expects pair_batch = (outer, inner) beside pair_scores alone"); // C12
  if (op.getPairBatch() && failed(verifyForms(op, *op.getPairBatch())))                    // C12
    return failure();
  if (op.getPairScores() && !isPairScores(op.getPairScores(), op.getPairBatch(), op.getQuery(), op.getKey()))
    return op.emitOpError("expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed "
                          "in or shorter, got ")
           << op.getPairScores().getType(); // C12
  return success();
}

/// C1 .. C12.
template <typename OpTy> static LogicalResult verifyAttention(OpTy op) {
  auto query = tensorOf(op.getQuery()), key = tensorOf(op.getKey()), value = tensorOf(op.getValue()), y = tensorOf(op.getY());
  // Keys and values of a forward kernel may be kept unrounded, or in 16 bits of what the query is computed in.
  auto isKept = [&](RankedTensorType type) {
    const Type own = type.getElementType(), computed = elementModel(query.getElementType()).compute;
    return std::is_same_v<OpTy, AttentionOp> && (type == key || type == value) && isa<FloatType>(own) &&
           (own == computed || (query.getElementType() == computed && elementModel(own).compute == computed));
  };
  for (RankedTensorType type : {query, y, key, value})
    if (type.getRank() != 4 || (type.getElementType() != query.getElementType() && !isKept(type)))
      return op.emitOpError("expects query, key, value and result of rank 4 and one element type, got ") << type; // C1
  SmallVector<AffineExpr> q = sizesOf(query), k = sizesOf(key), v = sizesOf(value), out = sizesOf(y);
  bool agree = q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3];
  agree &= out[0] == q[0] && out[1] == q[1] && out[2] == q[2] && out[3] == v[3];
  if (!agree) // C1
    return op.emitOpError("expects query [B, I, H, E], key [B, J, K, E], value [B, J, K, F] and result [B, I, H, F]");
  if (query.isDynamicDim(2) || key.isDynamicDim(2) || query.isDynamicDim(3) || value.isDynamicDim(3)) // C1
    return op.emitOpError("expects numbers of heads and widths that are known");
  if (key.getDimSize(2) == 0 || query.getDimSize(2) % key.getDimSize(2) != 0) // C1
    return op.emitOpError("expects a number of heads that is a multiple of that of the keys, got ")
           << query.getDimSize(2) << " and " << key.getDimSize(2);
  const Type compute = elementModel(query.getElementType()).compute;
  if (failed(verifyTables(op, q, k, v[3])) || failed(verifyPairs(op)))
    return failure();
  bool selects = bool(op.getSelectedScores());
  if (selects != bool(op.getSelectAttr()) ||
      (selects && !has(op.getSelectedScores(), {q[0], q[1], q[2], getAffineConstantExpr(2, op.getContext())}, compute))) // C5
    return op.emitOpError("expects selected_scores [B, I, H, 2] together with `select`");
  if (failed(verifyIndexOperands(op, {q[0], q[1], k[1]})))
    return failure();
  for (Attribute mask : op.getMask())
    if (failed(verifyMask(op, mask)))
      return failure();
  if ((selects && failed(verifyMask(op, op.getSelectAttr()))) || failed(verifyPlaces(op)))
    return failure();
  if (failed(verifyDrawn(op)))
    return failure();
  double rate = op.getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1)) // C8
    return op.emitOpError("expects a rate in 0 .. 1 (1 excluded), got ") << rate;
  for (Value statistic : {op.getRowMax(), op.getRowSumInverse()})
    if (!has(statistic, {q[0], q[2], q[1]}, compute)) // C9
      return op.emitOpError("expects row statistics of shape [B, H, I], got ") << statistic.getType();
  return verifyStep(op, compute);
}

LogicalResult AttentionOp::verify() { return verifyAttention(*this); }

/// The type of a gradient that is kept per row of the batch.
static Type perBatchRow(Value table, Value query) {
  if (!table)
    return {};
  SmallVector<AffineExpr> sizes = sizesOf(tensorOf(table));
  sizes.insert(sizes.begin(), sizesOf(tensorOf(query))[0]);
  return tensorType(sizes, elementModel(tensorOf(table).getElementType()).compute,
                    std::max(dimCountOf(tensorOf(table)), dimCountOf(tensorOf(query))));
}
static Type typeOf(Value value) { return value ? value.getType() : Type(); }

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyAttention(*this))) // C1
    return failure();
  if (getDy().getType() != getY().getType()) // C2
    return emitOpError("expects dy of the type of y");
  std::pair<Value, Type> wanted[] = {{getDquery(), getQuery().getType()},
                                     {getDkey(), getKey().getType()},
                                     {getDvalue(), getValue().getType()},
                                     {getDpositionQuery(), typeOf(getPositionQuery())},
                                     {getDtable(), perBatchRow(getTable(), getQuery())},
                                     {getDselectedScores(), typeOf(getSelectedScores())},
                                     {getDscoreTable(), perBatchRow(getScoreTable(), getQuery())},
                                     {getDvalueTable(), perBatchRow(getValueTable(), getQuery())},
                                     {getDpositionKey(), typeOf(getPositionKey())},
                                     {getDkeyTable(), perBatchRow(getKeyTable(), getQuery())}};
  for (auto [number, pair] : llvm::enumerate(wanted))
    if (typeOf(pair.first) != pair.second) // C3
      return emitOpError("expects gradient ")
             << number << " exactly with its operand and of its type, those of tables with the batch in front";
  const Value pairs = getDpairScores();
  if (bool(pairs) != bool(getPairScores()) || (pairs && !isGradientOfPairs(pairs, getPairScores(), getQuery(), getKey()))) // C4
    return emitOpError("expects dpair_scores [B, H, I, J] exactly with pair_scores, real as what is computed in or shorter");
  return success();
}

/// The operands of `op` that are these, each place once; absent ones are null.
static SmallVector<OpOperand *> placesOf(Operation *op, ArrayRef<Value> wanted) {
  SmallVector<OpOperand *> places;
  for (OpOperand &place : op->getOpOperands())
    if (llvm::is_contained(wanted, place.get()))
      places.push_back(&place);
  return places;
}
static SmallVector<OpResult> present(ArrayRef<Value> results) {
  SmallVector<OpResult> there;
  for (Value result : results)
    if (result)
      there.push_back(cast<OpResult>(result));
  return there;
}
SmallVector<OpOperand *> AttentionOp::narrowOperands() {
  return placesOf(*this, {getQuery(), getKey(), getValue(), getPositionQuery(), getTable(), getValueTable(), getPositionKey(),
                          getKeyTable()});
}
SmallVector<OpResult> AttentionOp::narrowResults() { return present({getY()}); }
bool AttentionOp::isReduction() { return true; }
bool AttentionGradOp::isReduction() { return true; }
bool AttentionOp::roundsWhatItReads(OpOperand &operand) {
  return llvm::is_contained({getKeyMutable().getOperandNumber(), getValueMutable().getOperandNumber()},
                            operand.getOperandNumber());
}
SmallVector<OpOperand *> AttentionGradOp::narrowOperands() {
  return placesOf(*this, {getDy(), getY(), getQuery(), getKey(), getValue(), getPositionQuery(), getTable(), getValueTable(),
                          getPositionKey(), getKeyTable()});
}
/// The gradient of pair_scores as it is: what is summed is not rounded before.
SmallVector<OpResult> AttentionGradOp::narrowResults() {
  const bool isWhole = getDpairScores() && sizesOf(tensorOf(getDpairScores())) == sizesOf(tensorOf(getPairScores()));
  return present(
      {getDquery(), getDkey(), getDvalue(), getDpositionQuery(), getDpositionKey(), isWhole ? getDpairScores() : Value()});
}

SmallVector<Value> AttentionOp::buildVjp(OpBuilder &builder, ArrayRef<Value> resultGradients) {
  SmallVector<Value> gradients(getOperation()->getNumOperands());
  if (!resultGradients[0])
    return gradients; // the statistics are constants of the gradient
  const Type compute = elementModel(tensorOf(getQuery()).getElementType()).compute;
  const Type ofPairs = getPairScores() ? typeOfEveryPair(getPairScores(), getQuery(), getKey(), compute) : Type();
  auto grad = AttentionGradOp::create(
      builder, getLoc(), getQuery().getType(), getKey().getType(), getValue().getType(), typeOf(getPositionQuery()),
      perBatchRow(getTable(), getQuery()), typeOf(getSelectedScores()), perBatchRow(getScoreTable(), getQuery()),
      perBatchRow(getValueTable(), getQuery()), typeOf(getPositionKey()), perBatchRow(getKeyTable(), getQuery()), ofPairs,
      resultGradients[0], getY(), getRowMax(), getRowSumInverse(), getQuery(), getKey(), getValue(), getPositionQuery(),
      getTable(), getSelectedScores(), getScoreTable(), getValueTable(), getPositionKey(), getKeyTable(), getPairScores(),
      getIndexOperands(), getDepth(), getScaleAttr(), getPlaceAttr(), getComputesPlaceAttr(), getBackAttr(), getSelectAttr(),
      getMaskAttr(), getIndexLabelsAttr(), getRateAttr(), getSiteAttr(), getDrawnAtAttr(), getDrawnOfAttr(), getPairBatchAttr(),
      getCode().size());
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(getCode(), grad.getCode()))
    from.cloneInto(&to, mapping);
  Build build(builder, getLoc());
  auto put = [&](Value operand, Value gradient, bool perRow) {
    if (!operand)
      return;
    // An operand may stand in two places, as query and position_query without biases: the places are told apart by number.
    for (OpOperand &place : getOperation()->getOpOperands())
      if (place.get() == operand && !gradients[place.getOperandNumber()]) {
        gradients[place.getOperandNumber()] =
            perRow ? build.convert(build.reduce(Reduction::sum, gradient, {0}), tensorOf(operand).getElementType()) : gradient;
        return;
      }
  };
  put(getQuery(), grad.getDquery(), false);
  put(getKey(), grad.getDkey(), false);
  put(getValue(), grad.getDvalue(), false);
  put(getPositionQuery(), grad.getDpositionQuery(), false);
  put(getTable(), grad.getDtable(), true);
  put(getSelectedScores(), grad.getDselectedScores(), false);
  put(getScoreTable(), grad.getDscoreTable(), true);
  put(getValueTable(), grad.getDvalueTable(), true);
  put(getPositionKey(), grad.getDpositionKey(), false);
  put(getKeyTable(), grad.getDkeyTable(), true);
  if (getPairScores())
    put(getPairScores(), sumOfPairs(builder, grad.getDpairScores(), getPairScores(), getPairBatch()), false);
  return gradients;
}
