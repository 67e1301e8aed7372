// attend: verifier, and its decomposition, which is its meaning.
#include "dialect/AttentionMasks.h"
#include "dialect/Build.h"
#include "dialect/Rules.h"

using namespace mlir;
using namespace tenon;

/// The labels of p: of scores and masks, the key last.
static SmallVector<int64_t> spaceOf(AttendOp attend) {
  SmallVector<int64_t> space;
  for (Attribute own : attend.getLabels().getValue().take_front(attend.getScores().size() + attend.getMasks().size()))
    for (int64_t label : labelsOf(own))
      if (!llvm::is_contained(space, label))
        space.push_back(label);
  llvm::sort(space);
  return space;
}

/// C7, behind C4.
static LogicalResult verifyDrawn(AttendOp attend) {
  if (bool(attend.getDrawnAt()) != bool(attend.getDrawnOf()))
    return attend.emitOpError("expects drawn_at together with drawn_of, the size of the whole"); // C7
  if (!attend.getDrawnAt())
    return success();
  SmallVector<int64_t> labels = labelsOf(attend.getLabels().getValue().back()), space = spaceOf(attend);
  if (labels.empty() ||
      !llvm::all_of(labels, [&](int64_t label) { return llvm::is_contained(ArrayRef(space).drop_back(), label); }))
    return attend.emitOpError("expects drawn_at over dimensions of a score or mask, without the key"); // C7
  return verifyForm(attend, *attend.getDrawnOf());                                                     // C7
}

LogicalResult AttendOp::verify() {
  int64_t key = tensorOf(getY()).getRank();
  llvm::SmallDenseMap<int64_t, AffineExpr> sizes;
  for (auto [i, size] : llvm::enumerate(sizesOf(tensorOf(getY()))))
    sizes[i] = size;
  llvm::SmallDenseSet<int64_t> mentioned;
  SmallVector<Value> operands(getScores());
  llvm::append_range(operands, getMasks());
  operands.push_back(getValue());
  if (getFactor())
    operands.push_back(getFactor());
  if (getDrawnAt())
    operands.push_back(getDrawnAt());
  if (getLabels().size() != operands.size())
    return emitOpError("expects labels for each of ") << operands.size() << " operands, got " << getLabels().size(); // C4
  for (auto [operand, attribute] : llvm::zip(operands, getLabels())) {
    if (!isLabels(attribute)) // C4
      return emitOpError("expects labels as lists of numbers, got ") << attribute;
    SmallVector<int64_t> labels = labelsOf(attribute);
    auto type = tensorOf(operand);
    if (int64_t(labels.size()) != type.getRank()) // C4
      return emitOpError("expects one label per dimension of ") << type << ", got " << labels.size();
    if (operand != getDrawnAt() && !type.getElementType().isInteger(1) &&
        type.getElementType() != tensorOf(getY()).getElementType()) // C5
      return emitOpError("expects reals of ") << tensorOf(getY()).getElementType() << ", got " << type;
    if (operand != getFactor() && operand != getDrawnAt() && !llvm::is_contained(labels, key)) // C1
      return emitOpError("expects every score, mask and value to have the key dimension, label ") << key;
    for (auto [label, size] : llvm::zip(labels, sizesOf(type))) {
      if (label < 0 || label > key || llvm::count(labels, label) > 1) // C4
        return emitOpError("expects different labels from 0 to ") << key << ", got " << label << " for " << type;
      auto [it, inserted] = sizes.try_emplace(label, size);
      if (!inserted && it->second != size) // C2
        return emitOpError("expects label ")
               << label << " to have one size, got " << textOf(it->second) << " and " << textOf(size);
      mentioned.insert(label);
    }
  }
  for (int64_t i = 0; i < key; ++i)
    if (!mentioned.contains(i)) // C3
      return emitOpError("expects result dimension ") << i << " in an operand";
  if (failed(verifyDrawn(*this)))
    return failure();
  double rate = getRate().convertToDouble();
  if (!(rate >= 0 && rate < 1)) // C6
    return emitOpError("expects a rate in 0 .. 1 (1 excluded), got ") << rate;
  return success();
}

/// Whether a score is more than a product of queries and keys, such as one by relative position, or values differ by query:
/// fusion knows these by the places of the queries, which rows that data name do not have any more.
static bool readsPlaces(AttendOp attend) {
  SmallVector<int64_t> ofValue = labelsOf(attend.getLabels()[attend.getScores().size() + attend.getMasks().size()]);
  auto isProduct = [](Value score) {
    Operation *maker = score.getDefiningOp();
    return maker && maker->hasTrait<Contraction>();
  };
  return !llvm::all_of(attend.getScores(), isProduct) ||
         llvm::any_of(attend.getQueries().value_or(ArrayRef<int64_t>()),
                      [&](int64_t query) { return llvm::is_contained(ofValue, query); });
}

std::optional<SmallVector<int64_t>> AttendOp::dimsInResults(OpOperand &operand) {
  if (readsPlaces(*this))
    return std::nullopt;
  return labelsOf(getLabels()[operand.getOperandNumber()]);
}

/// Rows of the one dimension that the language binds as a place, by which alone fusion knows the queries, and lists for each
/// index of the first dimension, which are then of the batch whatever masks depend on: dimensions have the same order in rows
/// and in the whole, and so have draws.
bool AttendOp::mayDrawAt(int64_t dim, ArrayRef<int64_t> batch) {
  return getRate().convertToDouble() == 0 ||
         (getQueries() == ArrayRef<int64_t>(dim) && (batch.empty() || (batch == ArrayRef<int64_t>(0) && dim > 0)) &&
          llvm::is_contained(spaceOf(*this), dim));
}

void AttendOp::drawAt(Value at, ArrayRef<int64_t> dims, AffineMapAttr size) {
  if (getRate().convertToDouble() == 0 || getDrawnAt()) // of rows of rows, places in the whole are operands already
    return;
  SmallVector<Attribute> labels(getLabels().getValue());
  labels.push_back(DenseI64ArrayAttr::get(getContext(), dims));
  getDrawnAtMutable().assign(at);
  setLabelsAttr(ArrayAttr::get(getContext(), labels));
  setDrawnOfAttr(size);
}

/// p behind dropout, over these labels: for rows of a whole all that it draws, and of that the rows.
static Value dropped(OpBuilder &builder, AttendOp attend, Value p, ArrayRef<int64_t> space) {
  auto drawn = [&](Value x) -> Value {
    return DropoutOp::create(builder, attend.getLoc(), x.getType(), x, attend.getDepth(), attend.getRateAttr(),
                             attend.getSiteAttr(), builder.getDenseI64ArrayAttr({}));
  };
  if (!attend.getDrawnAt())
    return drawn(p);
  Build g(builder, attend.getLoc());
  RankedTensorType type = tensorOf(p);
  SmallVector<int64_t> pDims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())), dims;
  for (int64_t label : labelsOf(attend.getLabels().getValue().back()))
    dims.push_back(llvm::find(space, label) - space.begin());
  SmallVector<AffineExpr> sizes = sizesOf(type);
  sizes[dims.back()] = attend.getDrawnOf()->getResult(0);
  pDims[dims.back()] = -1;
  const unsigned dimCount = std::max(dimCountOf(type), attend.getDrawnOf()->getNumDims());
  Value factor = drawn(g.constant(tensorType(sizes, type.getElementType(), dimCount), 1));
  return g.mul(p, GatherOp::create(builder, attend.getLoc(), type, factor, attend.getDrawnAt(),
                                   builder.getI64IntegerAttr(dims.back()), builder.getDenseI64ArrayAttr(pDims),
                                   builder.getDenseI64ArrayAttr(dims), UnitAttr()));
}

/// The general form in elementwise ops, reductions and a contraction, over the index space of scores and masks.
SmallVector<Value> AttendOp::decompose(OpBuilder &builder) {
  Build g(builder, getLoc());
  int64_t key = tensorOf(getY()).getRank();
  SmallVector<Value> operands(getScores());
  llvm::append_range(operands, getMasks());
  SmallVector<SmallVector<int64_t>> labels;
  for (Attribute attribute : getLabels())
    labels.push_back(labelsOf(attribute));
  // The space of p: the union of the labels of scores and masks, the key last.
  SmallVector<int64_t> space;
  llvm::SmallDenseMap<int64_t, AffineExpr> sizes;
  unsigned dimCount = 0;
  for (auto [operand, own] : llvm::zip(operands, labels)) {
    dimCount = std::max(dimCount, dimCountOf(tensorOf(operand)));
    for (auto [label, size] : llvm::zip(own, sizesOf(tensorOf(operand)))) {
      sizes[label] = size;
      if (label != key && !llvm::is_contained(space, label))
        space.push_back(label);
    }
  }
  llvm::sort(space);
  space.push_back(key);
  SmallVector<AffineExpr> spaceSizes;
  for (int64_t label : space)
    spaceSizes.push_back(sizes[label]);
  auto real = tensorType(spaceSizes, tensorOf(getValue()).getElementType(), dimCount);
  auto spread = [&](Value x, ArrayRef<int64_t> own) {
    SmallVector<int64_t> dims;
    for (int64_t label : own)
      dims.push_back(llvm::find(space, label) - space.begin());
    return g.broadcast(x, dims, withElement(real, tensorOf(x).getElementType()));
  };
  Value score, visible;
  for (size_t i = 0; i < getScores().size(); ++i) {
    Value term = spread(getScores()[i], labels[i]);
    score = score ? g.add(score, term) : term;
  }
  score = g.scale(score, getScale().convertToDouble());
  if (getFactor())
    score = g.mul(score, spread(getFactor(), labels[getScores().size() + getMasks().size() + 1]));
  for (size_t i = 0; i < getMasks().size(); ++i) {
    Value term = spread(getMasks()[i], labels[getScores().size() + i]);
    visible = visible ? Value(AndOp::create(builder, getLoc(), term.getType(), visible, term)) : term;
  }
  // A row that sees no key: its maximum is replaced, its sum is 0 and gives p = 0.
  double lowest = -1e30;
  Value shown = visible ? g.select(visible, score, g.constant(real, lowest)) : score;
  // softmax is invariant under the shift: no gradient flows through the maximum.
  Value maximum = g.unary<StopGradientOp>(g.reduceLast(Reduction::max, shown));
  Value p = g.unary<ExpOp>(g.sub(shown, g.alongLast(maximum, real)));
  if (visible)
    p = g.select(visible, p, g.constant(real, 0));
  Value sum = g.reduceLast(Reduction::sum, p), zero = g.zerosLike(sum);
  Value safe = g.select(g.compare(Comparison::lt, zero, sum), sum, g.constant(sum.getType(), 1));
  p = g.div(p, g.alongLast(safe, real));
  if (getRate().convertToDouble() > 0)
    p = dropped(builder, *this, p, space);
  return {g.dot(p, space, getValue(), labels[getScores().size() + getMasks().size()], tensorOf(getY()))};
}
