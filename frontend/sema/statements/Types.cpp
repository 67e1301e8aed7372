// Declared types: their axes, and values made to fit them.
#include "frontend/ElementTypes.h"
#include "frontend/sema/Checker.h"
#include "frontend/sema/statements/Foreign.h"
#include <set>

namespace tenon::sema {

std::optional<std::vector<AxisId>> Checker::typeAxes(Scope *scope, const ast::Type &type) {
  std::vector<AxisId> all;
  bool ok = true;
  for (auto &name : type.axes) {
    if (name.text == "..") {
      bool bad = false;
      if (const AxisGroup *group = findAxis(scope, "..", name.range, bad))
        all.insert(all.end(), group->axes.begin(), group->axes.end());
      continue;
    }
    auto axes = axesOf(scope, name);
    if (!axes) {
      ok = false;
      continue;
    }
    for (AxisId axis : *axes)
      if (includes(all, axis)) {
        if (auto *mistake = error("T0206", name.range, "axis " + axisName(axis) + " occurs twice in this type"))
          mistake->notes.push_back(
              {"help", "give the second one a name of its own: dim " + axisName(axis) + "2 = " + axisName(axis)});
        ok = false;
      } else {
        all.push_back(axis);
      }
  }
  return ok ? std::optional(all) : std::nullopt;
}

std::optional<Element> Checker::elementOf(const ast::Type &type) {
  if (const ElementWord *found = findElement(type.element)) {
    if (found->written == runtime::DataType::I64)
      error("T0901", type.range, "not supported yet: elements of i64; this would be i32");
    return found->element;
  }
  if (auto *mistake = error("T0305", type.range, "unknown element type " + type.element)) {
    std::vector<std::string> names;
    for (const ElementWord &word : kElementWords)
      names.emplace_back(word.name);
    const std::string here = insteadOfType(type.element), near = here.empty() ? nearest(type.element, names) : "";
    mistake->notes.push_back({"help", !here.empty()  ? "here this is " + here
                                      : near.empty() ? "element types are index(n), " +
                                                           runtime::listThat(runtime::isInCode, " and ") + "; reals need none"
                                                     : "did you mean " + near + "?"});
  }
  return std::nullopt;
}

NodeId Checker::pin(NodeId node, const std::string &element, ast::Range range) {
  if (graph[node].type.pinned == element)
    return node;
  Node copy = graph[node];
  uint32_t body = copy.stack;
  const bool onlyMoves = copy.op == Op::Rename || copy.op == Op::Merge || copy.op == Op::Split || copy.op == Op::Transpose;
  if (onlyMoves && isShortReal(element) && copy.type.pinned.empty()) { // rounded where it is made: a walk keeps that
    copy.operands[0] = pin(copy.operands[0], element, range);
    return graph.add(copy, body);
  }
  const bool isRounded = !copy.type.pinned.empty(); // to another type, which what is made of it sees
  copy.type.pinned = element;
  switch (isRounded ? Op::Result : copy.op) {
  case Op::Constant:
  case Op::Input:
  case Op::Param:
  case Op::State:
  case Op::BodyArgument:
  case Op::Result: // made elsewhere: converted after the fact
    copy = makeNode(Op::ToReal, copy.type);
    copy.operands = {node};
    break;
  default:
    break;
  }
  copy.range = range;
  return graph.add(copy, body);
}

std::string Checker::names(const std::vector<AxisId> &axes) const {
  std::string list;
  for (AxisId axis : axes)
    list += (list.empty() ? "" : ", ") + axisName(axis);
  return list;
}

/// What distinguishes the axes a value has from the declared ones, and the likely remedy.
void Checker::noteAxes(Diagnostic &mistake, const std::vector<AxisId> &own, const std::vector<AxisId> &declared) {
  auto missing = without(declared, own), surplus = without(own, declared);
  std::string note;
  for (AxisId axis : missing)
    note += (note.empty() ? "missing: " : ", ") + sized(axis);
  for (size_t i = 0; i < surplus.size(); ++i)
    note += std::string(i ? ", " : note.empty() ? "too many: " : "; too many: ") + sized(surplus[i]);
  mistake.notes.push_back({"note", note});
  if (missing.size() == 1 && surplus.size() == 1 && graph.size(missing[0]) == graph.size(surplus[0]) &&
      axisName(missing[0]) != axisName(surplus[0]))
    mistake.notes.push_back({"help", "[" + axisName(surplus[0]) + " -> " + axisName(missing[0]) + "] renames the axis"});
  else if (missing.size() == 1 && surplus.size() == 1 && axisName(missing[0]) != axisName(surplus[0]))
    mistake.notes.push_back({"help", "Linear[" + axisName(surplus[0]) + " -> " + axisName(missing[0]) +
                                         "] of std.tn makes one of the other; else declare " + axisName(surplus[0])});
  auto namesake = [&](AxisId axis) {
    return std::any_of(own.begin(), own.end(), [&](AxisId other) { return axisName(axis) == axisName(other); });
  };
  if (auto twin = std::find_if(missing.begin(), missing.end(), namesake); twin != missing.end())
    mistake.notes.push_back(
        {"help", "these are two axes called " + axisName(*twin) +
                     ": each use of a layer has its own `config` axes, the axes in its [..] are the caller's"});
  else if (surplus.empty() && !own.empty())
    mistake.notes.push_back({"help", "expand[" + names(missing) + "](...) repeats the value along " + names(missing)});
  else if (missing.empty() && mistake.message.starts_with("argument "))
    mistake.notes.push_back({"help", "`..` in the declared type takes further axes, [.., " + names(declared) + "]; sum[" +
                                         names(surplus) + "](x) or mean[" + names(surplus) + "](x) leaves none"});
  else if (missing.empty() && surplus.size() == 1)
    mistake.notes.push_back({"help", "x[" + names(surplus) + ": i] takes one place of it, sum[" + names(surplus) +
                                         "](x) or mean[" + names(surplus) + "](x) all of them"});
}

/// How a value becomes one of this element, where it is of another one.
static const char *toBecome(Element element) {
  if (element == Element::Real)
    return "real(...) turns truth values into 0 and 1";
  return element == Element::Int ? "reals are not rounded: compute it of whole numbers, or declare it as a real, without a word"
                                 : "a comparison is a truth value: x > 0";
}

/// How one value becomes one with axes; `number`: it is this one.
static std::string toFill(const std::string &axes, const std::string &number) {
  return number.empty() ? "expand[" + axes + "](...) repeats the value along " + axes
                        : "full[" + axes + "](" + number + ") is this number at every place";
}

/// Truth values are whole numbers, and these reals.
static bool canBe(Element declared, Element actual) {
  return declared == Element::Real  ? actual != Element::Bool
         : declared == Element::Int ? actual != Element::Real
                                    : actual == declared;
}

/// Equal values are one node: where several types made it real, which of them is at fault is not known.
static void rememberMadeReal(std::map<NodeId, MadeReal> &all, NodeId node, const ast::Type &type, const std::string &what) {
  std::string axes;
  for (const ast::Name &axis : type.axes)
    axes += (axes.empty() ? "" : ", ") + axis.text;
  const bool isLet = what.find(' ') == std::string::npos;
  auto [known, isNew] = all.try_emplace(node, MadeReal{(isLet ? "let " : "") + what, "i32[" + axes + "]", type.range});
  if (const ast::Range &before = known->second.range; before.begin != type.range.begin || before.file != type.range.file)
    known->second.name.clear();
}

bool Checker::noteMadeReal(Diagnostic *mistake, NodeId node) {
  constexpr size_t kMost = 64; // what is far away is not what the author looks for
  std::vector<NodeId> work = {node};
  for (size_t i = 0; mistake && i < work.size() && i < kMost; ++i) {
    if (auto made = madeReal.find(work[i]); made != madeReal.end()) {
      const auto &[name, whole, range] = made->second;
      if (name.empty())
        return false;
      mistake->related.push_back({range, "a type of reals, for whole numbers"});
      mistake->notes.push_back(
          {"help", name + ": " + whole + " keeps whole numbers; a type without a word for its elements is of reals"});
      return true;
    }
    for (NodeId operand : graph[work[i]].operands)
      if (graph.element(operand) == Element::Real)
        work.push_back(operand);
  }
  return false;
}

Value Checker::fit(Scope *scope, const Value &value, const ast::Type &type, const std::string &what, ast::Range place) {
  if (value.isPoison())
    return recovered(scope, type);
  auto axes = typeAxes(scope, type);
  auto element = elementOf(type);
  if (!axes || !element)
    return poison();
  NodeId node = tensor(value, place);
  if (node == kNoNode)
    return graph.entry.nodes.empty() ? poison() : recovered(scope, type);
  auto declared = [&](Diagnostic *mistake, const std::string &help) {
    if (mistake && !help.empty())
      mistake->notes.push_back({"help", help});
    if (mistake && (type.range.begin != place.begin || type.range.file != place.file))
      mistake->related.push_back({type.range, "declared as " + text(*axes)});
    return recovered(scope, type);
  };
  Element actual = graph.element(node);
  bool short_ = *element != Element::Real; // whole numbers and truth values may lack axes: predicates stay predicates
  for (AxisId axis : graph.axes(node))
    short_ &= includes(*axes, axis);
  if (!short_ && !sameSet(graph.axes(node), *axes)) {
    std::string message = what + " has axes " + text(graph.axes(node)) + ", declared are " + text(*axes);
    auto *mistake = error("T0202", place, message, text(node));
    if (mistake)
      noteAxes(*mistake, graph.axes(node), *axes);
    return declared(mistake, graph.axes(node).empty() ? toFill(names(*axes), value.isStatic() ? text(value) : "") : "");
  }
  if (!canBe(*element, actual)) {
    auto *mistake = error("T0301", place, what + " must be " + type.element + ", it is " + text(node), text(node));
    const bool isExplained = *element == Element::Int && noteMadeReal(mistake, node);
    return declared(mistake, isExplained ? "" : toBecome(*element));
  }
  if (*element == Element::Real)
    node = graph.toReal(node);
  if (*element == Element::Real && actual == Element::Int && graph[node].op == Op::ToReal) // constants are shared
    rememberMadeReal(madeReal, node, type, what);
  if (*element == Element::Int)
    node = graph.toInt(node);
  if (type.element == "index") {
    auto limit = wholeSize(evaluate(scope, type.bound), type.bound ? type.bound->range : type.range, "the bound of an index");
    if (!limit)
      return poison();
    bool underConditions = false;
    if (!inRange(node, *limit, scope->conditions, place, what + " can leave its range", "T0207", "index(" + text(*limit) + ")",
                 std::nullopt, &underConditions))
      return recovered(scope, type);
    if (!underConditions) {
      auto [known, isNew] = hints.bounds.try_emplace(node, *limit);
      if (!isNew && provablyAtMost(*limit, known->second, graph.entry))
        known->second = *limit;
    }
  }
  if (graph.axes(node).size() == axes->size() && *element != Element::Bool) // the order of a predicate's axes means nothing
    node = graph.transpose(node, *axes, place);
  if (isWrittenReal(type.element))
    node = pin(node, type.element, place);
  return Value::ofTensor(node);
}

Value Checker::recovered(Scope *scope, const ast::Type &type) {
  for (auto &name : type.axes)
    if (name.text == "..")
      return poison();
  bool before = failed;
  auto axes = typeAxes(scope, type);
  auto element = elementOf(type);
  failed |= before;
  if (!axes || !element)
    return poison();
  return Value::ofTensor(graph.opaque({*element, *axes, {}}, type.range));
}

NodeId Checker::tensor(const Value &value, ast::Range range) {
  switch (value.kind) {
  case Value::Kind::Poison:
    return kNoNode;
  case Value::Kind::Int:
    return graph.sizeValue(value.integer, range);
  case Value::Kind::Real:
    return graph.real(value.real);
  case Value::Kind::Bool:
    return graph.truth(value.truth);
  case Value::Kind::Tensor:
    return value.node;
  default:
    helpDraw(error("T0302", range, "a tensor or number is needed here, this is " + kindOf(value)), value);
    return kNoNode;
  }
}
NodeId Checker::realTensor(const Value &value, ast::Range range) {
  NodeId node = tensor(value, range);
  return node == kNoNode ? node : graph.toReal(node);
}

bool Checker::mayBeNegative(const Size &size, const char *code, ast::Range range, const std::string &what,
                            const std::string &name) {
  const IndexProof proof = proveNonNegative(size, graph.entry);
  if (proof.proved)
    return false;
  auto *mistake = error(code, range, what + " can be negative: it is " + text(size));
  if (mistake && !proof.example.empty())
    mistake->notes.push_back({"example", name + " is " + proof.example});
  if (mistake)
    mistake->notes.push_back({"help", "`require " + text(size) + " >= 0` above it says that no run brings such sizes"});
  return true;
}

static constexpr char kNameTheQuotient[] =
    "a dim known at run time is not divided: name the quotient and derive the other from it, dim N, T = 4 * N; (T - 3) div 4 + 1 "
    "is N then";

/// A scalar that is made of a quotient, such as T / 4 or (T - 1) div 4 + 1 of a run-time dim T.
static bool hasQuotient(const Graph &graph, NodeId value) {
  std::set<NodeId> seen;
  std::vector<NodeId> open = {value};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    const Node &node = graph[id];
    if (!node.type.axes.empty() || !seen.insert(id).second)
      continue;
    if (node.op == Op::Div || node.op == Op::FloorDiv)
      return true;
    if (isElementwise(node.op))
      open.insert(open.end(), node.operands.begin(), node.operands.end());
  }
  return false;
}

std::optional<Size> Checker::wholeSize(const Value &value, ast::Range range, const std::string &what) {
  if (value.kind == Value::Kind::Int)
    return value.integer;
  if (value.isPoison())
    return std::nullopt;
  const bool isWhole = value.isTensor() && graph.axes(value.node).empty() && graph.element(value.node) == Element::Int;
  if (value.kind == Value::Kind::Real) {
    error("T0213", range, what + " is " + text(value) + ", which is no whole number");
  } else if (!isWhole) {
    auto *mistake = error("T0309", range, what + " must be a whole number known at compile time, this is " + text(value));
    if (mistake)
      mistake->notes.push_back({"help", value.isTensor() && hasQuotient(graph, value.node)
                                            ? kNameTheQuotient
                                            : "numbers and configs are, and sums and products of dims"});
  } else if (graph[value.node].op == Op::Depth) {
    errorWith("T0309", range, what + " must be a whole number known at compile time, this depends on depth",
              "sizes are the same at every depth: layers of other sizes are a `use` of their own");
  } else if (auto *mistake = error("T0213", range, what + " must be made of sums and products of dims")) {
    mistake->notes.push_back({"help", hasQuotient(graph, value.node)
                                          ? kNameTheQuotient
                                          : "a product of up to 4 dims of the run is a dim of its own, dim N = B * T; of others "
                                            "one has to be a config, whose size is a number"});
  }
  return std::nullopt;
}

} // namespace tenon::sema
