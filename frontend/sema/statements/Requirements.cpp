// `require`: what configs decide is decided here; what it says of sizes of the run, proofs go out from and a call checks.
#include "frontend/proofs/LinearSystem.h"
#include "frontend/sema/Checker.h"
#include <utility>

namespace tenon::sema {

bool isOfSizes(const Scope *scope, const ast::Expr &expression) {
  using Kind = ast::Expr::Kind;
  if (expression.kind == Kind::Name) {
    for (; scope; scope = scope->up)
      if (auto found = scope->names.find(expression.text); found != scope->names.end())
        return found->second.kind == ast::Stmt::Kind::Config || found->second.kind == ast::Stmt::Kind::Dim;
    return false;
  }
  const bool isPlain = expression.kind == Kind::Int || expression.kind == Kind::Neg || expression.kind == Kind::Binary;
  return isPlain && std::all_of(expression.operands.begin(), expression.operands.end(),
                                [&](const ast::ExprPtr &operand) { return isOfSizes(scope, *operand); });
}

namespace {

std::optional<Size> sizeOf(const Node &node) {
  if (node.type.element != Element::Int || (node.op != Op::SizeValue && node.op != Op::Constant))
    return std::nullopt;
  return node.op == Op::SizeValue ? node.size : Size(node.integer);
}

/// Whether a manifest can hold its numbers.
bool isWritable(const Size &size) {
  constexpr int64_t most = int64_t(1) << 48;
  auto fits = [&](int64_t number) { return -most <= number && number <= most; };
  return fits(size.constant()) &&
         std::all_of(size.coefficients().begin(), size.coefficients().end(), [&](const auto &term) { return fits(term.second); });
}

/// Whether `and` has a part that is known not to hold.
bool neverHolds(const Graph &graph, NodeId condition) {
  const Node &node = graph[condition];
  return node.op == Op::And ? neverHolds(graph, node.operands[0]) || neverHolds(graph, node.operands[1])
                            : node.op == Op::Constant && node.integer == 0;
}

/// A condition taken apart into the comparisons of sizes that it is made of, by `and`.
struct Comparisons {
  const Graph &graph;
  const SourceFiles &sources;
  std::string text;
  std::vector<Requirement> found;

  /// False: it is made of something else.
  bool take(NodeId condition) {
    const Node &node = graph[condition];
    if (node.op == Op::And)
      return take(node.operands[0]) && take(node.operands[1]);
    if (node.op == Op::Constant) // beside the others, and true
      return true;
    if (node.op != Op::Less && node.op != Op::LessEqual && node.op != Op::Equal)
      return false;
    const std::optional<Size> left = sizeOf(graph[node.operands[0]]), right = sizeOf(graph[node.operands[1]]);
    if (!left || !right || !isWritable(*left) || !isWritable(*right))
      return false;
    using enum Requirement::Relation;
    const auto &[path, content, marks] = sources.files[node.range.file];
    const SourceFiles::Position place = sources.position(node.range.file, node.range.begin);
    found.push_back({node.op == Op::Less        ? Below
                     : node.op == Op::LessEqual ? AtMost
                                                : Same,
                     *left, *right, content.substr(node.range.begin, node.range.end - node.range.begin), text,
                     path.substr(path.rfind('/') + 1) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column)});
    return constraintOf(found.back()).has_value();
  }
};

} // namespace

void Checker::requireStatement(Scope *scope, const ast::Stmt &statement) {
  const bool before = std::exchange(inSize, true); // N == B * T is of sizes
  const Value value = evaluate(scope, statement.value);
  inSize = before;
  const std::string hint = statement.message.empty() ? "" : ": " + statement.message;
  const ast::Range range = statement.value->range;
  if (value.kind == Value::Kind::Bool ? !value.truth : value.isTensor() && neverHolds(graph, value.node)) {
    error("T0410", range, "this requirement fails" + hint);
    return;
  }
  if (value.kind == Value::Kind::Bool || value.isPoison())
    return;
  Comparisons comparisons{graph, session.sources, statement.message, {}};
  if (!value.isTensor() || !comparisons.take(value.node))
    return errorWith("T0309", range, "a requirement must be decided at compile time" + hint,
                     "of sizes that the run brings it compares sums of dims times numbers: T >= 4, N == 2 * T and S <= T + 64; "
                     "others are bound: --bind T=16, or `bind` in the recipe");
  std::vector<Requirement> &known = graph.entry.requirements;
  for (Requirement &each : comparisons.found) { // a layer says it again in each use
    auto isSame = [&](const Requirement &other) {
      return other.place == each.place && other.left == each.left && other.right == each.right;
    };
    if (std::none_of(known.begin(), known.end(), isSame))
      known.push_back(std::move(each));
  }
}

} // namespace tenon::sema
