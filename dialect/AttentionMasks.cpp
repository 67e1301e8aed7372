#include "dialect/AttentionMasks.h"
#include "dialect/TensorSizes.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tenon {

static void addForm(const MaskForm &form, Builder &builder, SmallVector<NamedAttribute> &entries) {
  SmallVector<int64_t> operands, coefficients;
  for (const MaskForm::Term &term : form.terms) {
    operands.push_back(term.operand);
    coefficients.push_back(term.coefficient);
  }
  auto add = [&](StringRef name, Attribute value) { entries.push_back(builder.getNamedAttr(name, value)); };
  if (form.rest != getAffineConstantExpr(0, builder.getContext()))
    add("rest", sizeAttribute(form.rest, form.dimCount));
  if (form.query)
    add("query", builder.getI64IntegerAttr(form.query));
  if (form.key)
    add("key", builder.getI64IntegerAttr(form.key));
  if (!operands.empty()) {
    add("operands", builder.getDenseI64ArrayAttr(operands));
    add("coefficients", builder.getDenseI64ArrayAttr(coefficients));
  }
  SmallVector<Attribute> parts;
  for (const MaskForm::Part &part : form.parts)
    parts.push_back(
        builder.getDictionaryAttr({builder.getNamedAttr(part.isQuotient ? "div" : "mod", builder.getI64IntegerAttr(part.divisor)),
                                   builder.getNamedAttr("of", toAttribute(part.of, builder.getContext())),
                                   builder.getNamedAttr("times", builder.getI64IntegerAttr(part.coefficient))}));
  if (!parts.empty())
    add("parts", builder.getArrayAttr(parts));
}

MaskForm MaskForm::negated() const {
  MaskForm result = *this;
  result.rest = 1 - rest;
  result.query = -query;
  result.key = -key;
  for (Term &term : result.terms)
    term.coefficient = -term.coefficient;
  for (Part &part : result.parts)
    part.coefficient = -part.coefficient;
  return result;
}

DictionaryAttr toAttribute(const MaskForm &form, MLIRContext *context) {
  Builder builder(context);
  SmallVector<NamedAttribute> entries;
  addForm(form, builder, entries);
  return builder.getDictionaryAttr(entries);
}

Attribute toAttribute(const Mask &mask, MLIRContext *context) {
  Builder builder(context);
  auto text = [&](StringRef word) { return builder.getStringAttr(word); };
  if (mask.kind == Mask::Kind::Holds)
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("test", text("holds")), builder.getNamedAttr("operand", builder.getI64IntegerAttr(mask.operand))});
  if (mask.kind == Mask::Kind::AtMostZero || mask.kind == Mask::Kind::IsZero) {
    SmallVector<NamedAttribute> entries{builder.getNamedAttr("test", text(mask.kind == Mask::Kind::IsZero ? "eq" : "le"))};
    addForm(mask.form, builder, entries);
    return builder.getDictionaryAttr(entries);
  }
  SmallVector<Attribute> parts{text(mask.kind == Mask::Kind::And ? "and" : mask.kind == Mask::Kind::Or ? "or" : "not")};
  for (const Mask &part : mask.parts)
    parts.push_back(toAttribute(part, context));
  return builder.getArrayAttr(parts);
}

static bool isNumber(Attribute attribute) {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(64);
}

static std::optional<MaskForm::Part> toPart(Attribute attribute, std::string &problem) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  auto number = [&](StringRef name) {
    Attribute found = entries ? entries.get(name) : Attribute();
    return isNumber(found) ? std::optional(cast<IntegerAttr>(found).getInt()) : std::nullopt;
  };
  const std::optional<int64_t> quotient = number("div"), remainder = number("mod"), times = number("times");
  const std::optional<int64_t> divisor = quotient ? quotient : remainder;
  if (!divisor || (quotient && remainder) || *divisor < 1 || !times || !entries.get("of") || entries.size() != 3)
    return problem = "a part of a form is a `div` or `mod`, at least 1, `of` a form, and `times`", std::nullopt;
  std::optional<MaskForm> of = toForm(entries.get("of"), problem);
  if (!of)
    return std::nullopt;
  return MaskForm::Part{quotient.has_value(), *divisor, *times, *of};
}

/// The form of a dictionary, entries of the names in `others` aside.
static std::optional<MaskForm> toForm(DictionaryAttr entries, ArrayRef<StringRef> others, std::string &problem) {
  MaskForm form;
  form.rest = getAffineConstantExpr(0, entries.getContext());
  ArrayRef<int64_t> operands, coefficients;
  for (NamedAttribute entry : entries) {
    StringRef name = entry.getName().getValue();
    auto map = dyn_cast<AffineMapAttr>(entry.getValue());
    auto number = isNumber(entry.getValue()) ? cast<IntegerAttr>(entry.getValue()) : IntegerAttr();
    auto list = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    auto parts = dyn_cast<ArrayAttr>(entry.getValue());
    if (name == "rest" && map && map.getValue().getNumResults() == 1 && map.getValue().getNumSymbols() == 0)
      form.rest = map.getValue().getResult(0), form.dimCount = map.getValue().getNumDims();
    else if ((name == "query" || name == "key") && number)
      (name == "key" ? form.key : form.query) = number.getInt();
    else if ((name == "operands" || name == "coefficients") && list)
      (name == "operands" ? operands : coefficients) = list.asArrayRef();
    else if (name == "parts" && parts)
      for (Attribute each : parts) {
        std::optional<MaskForm::Part> part = toPart(each, problem);
        if (!part)
          return std::nullopt;
        form.parts.push_back(*part);
      }
    else if (!llvm::is_contained(others, name))
      return problem =
                 "a form is rest (a map of one result), query, key (numbers), operands, coefficients, parts (lists), not `" +
                 name.str() + "`",
             std::nullopt;
  }
  if (operands.size() != coefficients.size())
    return problem = "a form has one coefficient per operand", std::nullopt;
  for (auto [operand, coefficient] : llvm::zip(operands, coefficients))
    form.terms.push_back({operand, coefficient});
  return form;
}

std::optional<MaskForm> toForm(Attribute attribute, std::string &problem) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  if (!entries)
    return problem = "a form is a dictionary", std::nullopt;
  return toForm(entries, {}, problem);
}

static std::optional<Mask> toLeaf(DictionaryAttr leaf, std::string &problem) {
  Mask mask;
  auto test = leaf.getAs<StringAttr>("test");
  if (test && test.getValue() == "holds") {
    auto operand = leaf.getAs<IntegerAttr>("operand");
    if (!isNumber(operand))
      return problem = "a test `holds` names no operand", std::nullopt;
    mask.kind = Mask::Kind::Holds;
    mask.operand = operand.getInt();
    return mask;
  }
  if (!test || (test.getValue() != "le" && test.getValue() != "eq"))
    return problem = "a leaf tests `le`, `eq` or `holds`", std::nullopt;
  std::optional<MaskForm> form = toForm(leaf, {"test"}, problem);
  if (!form)
    return std::nullopt;
  mask.kind = test.getValue() == "le" ? Mask::Kind::AtMostZero : Mask::Kind::IsZero;
  mask.form = *form;
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

void forEachForm(const MaskForm &form, llvm::function_ref<void(const MaskForm &)> visit) {
  visit(form);
  for (const MaskForm::Part &part : form.parts)
    forEachForm(part.of, visit);
}

void forEachOperand(const MaskForm &form, llvm::function_ref<void(int64_t)> visit) {
  forEachForm(form, [&](const MaskForm &each) {
    for (const MaskForm::Term &term : each.terms)
      visit(term.operand);
  });
}

void forEachOperand(const Mask &mask, llvm::function_ref<void(int64_t)> visit) {
  for (const Mask &part : mask.parts)
    forEachOperand(part, visit);
  forEachOperand(mask.form, visit);
  if (mask.kind == Mask::Kind::Holds)
    visit(mask.operand);
}

bool isLabels(Attribute attribute) {
  auto list = dyn_cast<ArrayAttr>(attribute);
  return isa<DenseI64ArrayAttr>(attribute) || (list && llvm::all_of(list, isNumber));
}

SmallVector<int64_t> labelsOf(Attribute attribute) {
  if (auto dense = dyn_cast<DenseI64ArrayAttr>(attribute))
    return SmallVector<int64_t>(dense.asArrayRef());
  SmallVector<int64_t> labels;
  for (Attribute label : cast<ArrayAttr>(attribute))
    labels.push_back(cast<IntegerAttr>(label).getInt());
  return labels;
}

} // namespace tenon
