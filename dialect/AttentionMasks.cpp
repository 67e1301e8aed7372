#include "dialect/AttentionMasks.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tenon {

Attribute toAttribute(const Mask &mask, MLIRContext *context) {
  Builder builder(context);
  auto text = [&](StringRef word) { return builder.getStringAttr(word); };
  if (mask.kind == Mask::Kind::Holds)
    return builder.getDictionaryAttr({builder.getNamedAttr("test", text("holds")), builder.getNamedAttr("operand", builder.getI64IntegerAttr(mask.operand))});
  if (mask.kind == Mask::Kind::AtMostZero || mask.kind == Mask::Kind::IsZero) {
    SmallVector<int64_t> operands, coefficients;
    for (const MaskForm::Term &term : mask.form.terms) {
      operands.push_back(term.operand);
      coefficients.push_back(term.coefficient);
    }
    return builder.getDictionaryAttr({
        builder.getNamedAttr("test", text(mask.kind == Mask::Kind::IsZero ? "eq" : "le")),
        builder.getNamedAttr("rest", AffineMapAttr::get(AffineMap::get(mask.form.dimCount, 0, {mask.form.rest}, context))),
        builder.getNamedAttr("query", builder.getI64IntegerAttr(mask.form.query)),
        builder.getNamedAttr("key", builder.getI64IntegerAttr(mask.form.key)),
        builder.getNamedAttr("operands", builder.getDenseI64ArrayAttr(operands)),
        builder.getNamedAttr("coefficients", builder.getDenseI64ArrayAttr(coefficients)),
    });
  }
  SmallVector<Attribute> parts{text(mask.kind == Mask::Kind::And ? "and" : mask.kind == Mask::Kind::Or ? "or" : "not")};
  for (const Mask &part : mask.parts)
    parts.push_back(toAttribute(part, context));
  return builder.getArrayAttr(parts);
}

static std::optional<Mask> toLeaf(DictionaryAttr leaf, std::string &problem) {
  Mask mask;
  auto test = leaf.getAs<StringAttr>("test");
  if (test && test.getValue() == "holds") {
    auto operand = leaf.getAs<IntegerAttr>("operand");
    if (!operand)
      return problem = "a test `holds` names no operand", std::nullopt;
    mask.kind = Mask::Kind::Holds;
    mask.operand = operand.getInt();
    return mask;
  }
  auto rest = leaf.getAs<AffineMapAttr>("rest");
  auto query = leaf.getAs<IntegerAttr>("query"), key = leaf.getAs<IntegerAttr>("key");
  auto operands = leaf.getAs<DenseI64ArrayAttr>("operands"), coefficients = leaf.getAs<DenseI64ArrayAttr>("coefficients");
  bool isTest = test && (test.getValue() == "le" || test.getValue() == "eq");
  if (!isTest || !rest || rest.getValue().getNumResults() != 1 || !query || !key || !operands || !coefficients || operands.size() != coefficients.size())
    return problem = "a leaf needs test, rest, query, key, operands and coefficients", std::nullopt;
  mask.kind = test.getValue() == "le" ? Mask::Kind::AtMostZero : Mask::Kind::IsZero;
  mask.form = {rest.getValue().getResult(0), rest.getValue().getNumDims(), query.getInt(), key.getInt(), {}};
  for (auto [operand, coefficient] : llvm::zip(operands.asArrayRef(), coefficients.asArrayRef()))
    mask.form.terms.push_back({operand, coefficient});
  return mask;
}

std::optional<Mask> toMask(Attribute attribute, std::string &problem) {
  if (auto leaf = dyn_cast<DictionaryAttr>(attribute))
    return toLeaf(leaf, problem);
  auto node = dyn_cast<ArrayAttr>(attribute);
  auto word = node && !node.empty() ? dyn_cast<StringAttr>(node[0]) : StringAttr();
  if (!word)
    return problem = "a mask is a leaf or a list that starts with and, or, not", std::nullopt;
  Mask mask;
  StringRef name = word.getValue();
  if (name != "and" && name != "or" && name != "not")
    return problem = "a mask is a leaf or a list that starts with and, or, not", std::nullopt;
  mask.kind = name == "and" ? Mask::Kind::And : name == "or" ? Mask::Kind::Or : Mask::Kind::Not;
  if (mask.kind == Mask::Kind::Not && node.size() != 2)
    return problem = "not has one part", std::nullopt;
  for (Attribute part : llvm::drop_begin(node)) {
    std::optional<Mask> inner = toMask(part, problem);
    if (!inner)
      return std::nullopt;
    mask.parts.push_back(*inner);
  }
  return mask;
}

void forEachOperand(const Mask &mask, llvm::function_ref<void(int64_t)> visit) {
  for (const Mask &part : mask.parts)
    forEachOperand(part, visit);
  for (const MaskForm::Term &term : mask.form.terms)
    visit(term.operand);
  if (mask.kind == Mask::Kind::Holds)
    visit(mask.operand);
}

} // namespace tenon
