// tenon.attend to tenon.attention. See Passes.td.
#include "dialect/Build.h"
#include "dialect/ElementModel.h"
#include "lowering/Passes.h"
#include "lowering/tensor/AttentionStep.h"
#include "lowering/tensor/AttentionTerms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

using namespace mlir;

namespace tenon {
#define GEN_PASS_DEF_FUSEATTENTION
#include "lowering/Passes.h.inc"

namespace {

class Fuser {
public:
  /// `without`: terms that no kernel computes yet.
  Fuser(AttendOp attend, ArrayRef<std::string> without) : attend(attend), without(without) {}
  /// Empty if the op was replaced, else why not.
  std::string run();

private:
  std::string checkOutside();
  size_t valueNumber() { return attend.getScores().size() + attend.getMasks().size(); }
  std::string readScores(ScoreReader &reader, const AttentionSpace &space);
  std::string readMasks(IndexReader &indices, const AttentionSpace &space, SmallVector<Attribute> &masks);
  std::string readPlaces(IndexReader &indices, const AttentionSpace &space);
  void replace(OpBuilder &builder, AttentionSpace &space, const ScoreReader &scores, IndexReader &indices,
               ArrayRef<Attribute> masks);

  AttendOp attend;
  ArrayRef<std::string> without;
  std::optional<AttentionStep> step;
  IntegerAttr drawnAt;
};

/// What has nothing to do with single terms.
std::string Fuser::checkOutside() {
  if (attend.getRate().convertToDouble() >= 1)
    return "everything is dropped";
  return {};
}

std::string Fuser::readScores(ScoreReader &reader, const AttentionSpace &space) {
  if (attend.getFactor())
    if (std::string why = reader.scale(attend.getFactor(), space.labels(valueNumber() + 1)); !why.empty())
      return why;
  for (auto [number, score] : llvm::enumerate(attend.getScores())) {
    Labelled term{score, space.labels(number)};
    std::string why;
    if ((step = ScoreReader::isStored(term) ? std::nullopt : stepOf(term));
        step && (attend.getScores().size() > 1 || attend.getFactor()))
      why = attend.getFactor()
                ? "not supported yet: a function of the score beside a scale that is a tensor; multiply the score inside of it"
                : "not supported yet: a function of one term of several; apply it to the sum of all terms, in one score";
    else
      why = reader.add(step ? step->inner : term);
    if (why.empty())
      continue;
    auto names = attend.getNamesAttr();
    StringRef given = names && number < names.size() ? cast<StringAttr>(names[number]).getValue() : StringRef();
    std::string name = given.empty() ? "number " + std::to_string(number + 1) : "`" + given.str() + "`";
    return "score term " + name + ": " + why;
  }
  if (std::string why = reader.addValue({attend.getValue(), space.labels(valueNumber())}); !why.empty())
    return why;
  if (std::string why = reader.finish(); !why.empty())
    return why;
  if (tensorOf(reader.query).isDynamicDim(2) || tensorOf(reader.query).isDynamicDim(3) || tensorOf(reader.value).isDynamicDim(3))
    return "the number of heads or a width is a symbolic dim";
  std::pair<Value, StringRef> terms[] = {
      {reader.table, "position"},   {reader.selectedScores, "selected"},
      {reader.scoreTable, "table"}, {reader.valueTable, "value"},
      {reader.keyTable, "key"},     {reader.computed.any() ? reader.query : Value(), "computed"},
      {reader.pairScores, "pair"}};
  for (auto [operand, name] : terms)
    if (operand && llvm::is_contained(without, name))
      return ("not supported yet: a " + name + " term").str();
  return {};
}

std::string Fuser::readMasks(IndexReader &indices, const AttentionSpace &space, SmallVector<Attribute> &masks) {
  for (auto [number, value] : llvm::enumerate(attend.getMasks())) {
    std::optional<Mask> tree = indices.mask(value, space.labels(attend.getScores().size() + number));
    if (!tree)
      return "a mask depends on the head, or is given for pairs of places and lacks a batch";
    if (tree->kind == Mask::Kind::And)
      for (const Mask &part : tree->parts)
        masks.push_back(toAttribute(part, attend.getContext()));
    else
      masks.push_back(toAttribute(*tree, attend.getContext()));
  }
  return {};
}

/// Where dropout draws.
std::string Fuser::readPlaces(IndexReader &indices, const AttentionSpace &space) {
  if (!attend.getDrawnAt())
    return {};
  Labels labels = space.labels(attend.getLabels().size() - 1);
  std::optional<int64_t> number = kindOf(labels.back()) == kQuery ? indices.operand(attend.getDrawnAt(), labels) : std::nullopt;
  if (!number)
    return "what dropout draws is that of some rows of a whole, which are not its queries or differ by head";
  drawnAt = IntegerAttr::get(IntegerType::get(attend.getContext(), 64), *number);
  return {};
}

void Fuser::replace(OpBuilder &builder, AttentionSpace &space, const ScoreReader &scores, IndexReader &indices,
                    ArrayRef<Attribute> masks) {
  auto y = tensorOf(attend.getY());
  SmallVector<AffineExpr> sizes;
  for (int64_t kind : {kBatch, kQuery, kHead, kWidth})
    sizes.push_back(space.whole(kind));
  const Type compute = elementModel(y.getElementType()).compute;
  auto fusedType = space.type(sizes, y.getElementType()),
       statistics = space.type({sizes[kBatch], sizes[kHead], sizes[kQuery]}, compute);
  Build build(builder, attend.getLoc());
  auto computed = [&](Value scores) { return scores ? build.convert(scores, compute) : scores; };
  MLIRContext *context = attend.getContext();
  SmallVector<Attribute> places;
  IntegerAttr back;
  if (scores.place) {
    for (const MaskForm &form : scores.place->forms)
      places.push_back(toAttribute(form, context));
    if (scores.place->back)
      back = builder.getI64IntegerAttr(*indices.operand(scores.place->back, {kBatch}));
  }
  const double outer = attend.getScale().convertToDouble();
  auto scale = builder.getF64FloatAttr(step ? scores.factor : outer * scores.factor);
  auto fused = AttentionOp::create(
      builder, attend.getLoc(), fusedType, statistics, statistics, scores.query, scores.key, scores.value, scores.positionQuery,
      scores.table, computed(scores.selectedScores), computed(scores.scoreTable), scores.valueTable, scores.positionKey,
      scores.keyTable, scores.pairScores, indices.operands, attend.getDepth(), scale, builder.getArrayAttr(places),
      scores.computed.any() ? builder.getUnitAttr() : UnitAttr(), back,
      scores.select ? toAttribute(*scores.select, context) : Attribute(), builder.getArrayAttr(masks),
      builder.getArrayAttr(indices.labels), attend.getRateAttr(), attend.getSiteAttr(), drawnAt, attend.getDrawnOfAttr(),
      scores.pairBatch, /*codeCount=*/(step ? 1 : 0) + scores.computed.any());
  if (step)
    buildStep(builder, *step, outer, fused.getStep().front());
  if (scores.computed.any())
    scores.computed.fill(*fused.getPlaceCode());
  attend.getY().replaceAllUsesWith(space.split(fused.getY(), y));
  attend.erase();
}

std::string Fuser::run() {
  if (std::string why = checkOutside(); !why.empty())
    return why;
  std::optional<AttentionRoles> roles = rolesOf(attend);
  if (!roles)
    return "no axis of the result is known to be that of queries (a row with one query has none), or none is the value's alone";
  if (!llvm::is_sorted(roles->order()))
    return "the result is not in the order batch, query, head, width"; // tenon-simplify orders it
  OpBuilder builder(attend);
  KeepCompute keep(builder, attend);
  AttentionSpace space(builder, attend, *roles);
  IndexReader indices(space);
  ScoreReader scores(builder, attend.getLoc(), space, indices);
  SmallVector<Attribute> masks;
  std::string why = readScores(scores, space);
  if (why.empty())
    why = readMasks(indices, space, masks);
  if (why.empty())
    why = readPlaces(indices, space);
  if (why.empty())
    replace(builder, space, scores, indices, masks);
  return why; // else what was built for earlier terms has no readers
}

/// "B * T * 4 * (T + 128) * 4", with the names of the entry's dims.
std::string formula(ArrayRef<AffineExpr> sizes, int64_t bytes, ArrayAttr names) {
  std::string text;
  for (AffineExpr size : sizes) {
    bool isSum = size.getKind() == AffineExprKind::Add;
    std::string one;
    std::string plain = textOf(size);
    for (size_t i = 0; i < plain.size(); ++i) { // d12 -> the name of dim 12
      size_t end = i + 1;
      while (plain[i] == 'd' && end < plain.size() && isdigit(plain[end]))
        ++end;
      size_t number = end > i + 1 ? std::stoul(plain.substr(i + 1, end - i - 1)) : 0;
      bool isDim = end > i + 1 && names && number < names.size();
      one += isDim ? cast<StringAttr>(names[number]).getValue().str() : plain.substr(i, end - i);
      i = end - 1;
    }
    text += (isSum ? "(" + one + ")" : one) + " * ";
  }
  return text + std::to_string(bytes);
}

/// The index space of the scores: what the decomposed form stores.
SmallVector<AffineExpr> scoreSizes(AttendOp attend) {
  std::map<int64_t, AffineExpr> sizes;
  SmallVector<Value> operands(attend.getScores());
  llvm::append_range(operands, attend.getMasks());
  for (auto [number, operand] : llvm::enumerate(operands))
    for (auto [label, size] : llvm::zip(labelsAt(attend, number), sizesOf(tensorOf(operand))))
      sizes[label] = size;
  SmallVector<AffineExpr> result;
  for (auto &[label, size] : sizes)
    result.push_back(size);
  return result;
}

/// What does not fuse still runs, and the user learns what it costs.
void warn(AttendOp attend, StringRef why) {
  int64_t bytes = elementBytes(tensorOf(attend.getValue()).getElementType()), number = bytes;
  SmallVector<AffineExpr> sizes = scoreSizes(attend);
  bool isKnown = llvm::all_of(sizes, [](AffineExpr size) { return isa<AffineConstantExpr>(size); });
  for (AffineExpr size : sizes)
    number *= nominalSize(size);
  auto warning = emitWarning(attend.getLoc(), why) << "; not fused, so that its scores take ";
  if (isKnown)
    warning << number << " bytes";
  else
    warning << formula(sizes, bytes, attend->getParentOfType<func::FuncOp>()->getAttrOfType<ArrayAttr>("tenon.dims"))
            << " bytes, " << number << " with every symbolic dim " << kNominalDim;
}

struct FuseAttention : impl::FuseAttentionBase<FuseAttention> {
  using FuseAttentionBase::FuseAttentionBase;
  void runOnOperation() override {
    SmallVector<AttendOp> ops;
    getOperation().walk([&](AttendOp attend) { ops.push_back(attend); });
    SmallVector<std::string> missing(without.begin(), without.end());
    for (AttendOp attend : ops)
      if (std::string why = Fuser(attend, missing).run(); !why.empty())
        warn(attend, why);
  }
};

} // namespace
} // namespace tenon
