// The axis bracket x[...]: rename, pick, gather, slice.
#include "frontend/sema/Checker.h"
#include <algorithm>

namespace tenon::sema {

bool Checker::requireAxis(NodeId node, AxisId axis, ast::Range range, const std::string &what) {
  if (graph.has(node, axis))
    return true;
  auto *mistake = error("T0201", range, what + " has no axis " + axisName(axis) + ": it is " + text(node));
  if (mistake)
    for (AxisId other : graph.axes(node))
      if (axisName(other) == axisName(axis))
        mistake->notes.push_back({"note", "its axis " + axisName(axis) + " is another one of the same name"});
  return false;
}

bool Checker::requirePlaces(AxisId axis, ast::Range range, const std::string &what) {
  if (graph.size(axis).asConstant() != std::optional<int64_t>(0))
    return true;
  auto *mistake = error("T0220", range, what + ": it has no places");
  if (mistake)
    mistake->notes.push_back({"help", "give " + axisName(axis) + " a size of at least 1"});
  relate(mistake, axis);
  return false;
}

Value Checker::axisOperations(Scope *scope, const ast::Expr &expression) {
  Value base = evaluate(scope, expression.operands[0]);
  if (base.isPoison())
    return poison();
  if (!base.isTensor()) {
    auto *mistake =
        error("T0302", expression.operands[0]->range, "an axis operation needs a tensor before it, this is " + kindOf(base));
    if (const bool isCalled = base.kind == Value::Kind::Builtin || base.kind == Value::Kind::Function;
        mistake && isCalled) // iota[T]
      mistake->notes.push_back({"help", "a function is called: " +
                                            (base.kind == Value::Kind::Builtin ? base.text : base.function->callable->name.text) +
                                            "[..](), with its arguments in the parentheses"});
    return poison();
  }
  NodeId node = base.node;
  for (auto &op : expression.axisOps) {
    if (indexWithoutAxis(scope, node, op))
      return poison();
    auto from = axesOf(scope, op.from);
    std::optional<std::vector<AxisId>> to = std::vector<AxisId>();
    if (!op.to.empty())
      to = axesOf(scope, op.to);
    if (!from || !to)
      return poison();
    for (AxisId axis : *from)
      if (!requireAxis(node, axis, op.from[0].name.range, "this tensor"))
        return poison();
    if (!op.low) {
      if (op.to.empty()) {
        errorWith("T0216", op.range, "an axis operation needs \"-> axis\" or \": index\"",
                  expression.axisOps.size() > 1
                      ? "functions go by the names of axes; where their order matters a type sets it: let "
                        "y: [B, T, D] = x"
                      : "x[T: 0] takes a place of T, x[T -> S] renames it, sum[T](x) goes over it");
        return poison();
      }
      node = renameAxes(node, *from, *to, op);
    } else if (from->size() != 1) {
      error("T0216", op.range, "an index or slice concerns one axis at a time");
      return poison();
    } else if (op.high || op.openEnd) {
      if (to->size() != 1) {
        error("T0216", op.range, "a slice needs \"-> axis\": the axis that its elements form");
        return poison();
      }
      node = slice(scope, node, (*from)[0], op);
    } else {
      if (!to->empty()) {
        error("T0216", op.range, "an index takes no \"->\": the axes of the index take the place of " + axisName((*from)[0]));
        return poison();
      }
      node = gather(scope, node, (*from)[0], op);
    }
    if (node == kNoNode)
      return poison();
  }
  return Value::ofTensor(node);
}

/// emb[ids]: a place where an axis is meant to stand before it.
bool Checker::indexWithoutAxis(Scope *scope, NodeId node, const ast::AxisOp &op) {
  if (op.low || !op.to.empty() || op.from.size() != 1)
    return false;
  const ast::Name &name = op.from[0].name;
  const Binding *found = nullptr;
  for (Scope *at = scope; at && !found && !at->axes.count(name.text); at = at->up)
    if (auto own = at->names.find(name.text); own != at->names.end())
      found = &own->second;
  if (!found || found->kind == ast::Stmt::Kind::Dim || found->kind == ast::Stmt::Kind::Config)
    return false;
  Value index = force(found->thunk, name.range);
  if (!index.isPoison() && (!index.isTensor() || graph.element(index.node) != Element::Int))
    return false;
  auto *mistake = error("T0216", op.range, "an index says which axis it picks from: [axis: " + name.text + "]");
  std::optional<Size> bound; // what the index was declared for
  if (auto known = index.isTensor() ? hints.bounds.find(index.node) : hints.bounds.end(); known != hints.bounds.end())
    bound = known->second;
  if (index.isTensor() && graph[index.node].op == Op::Input && graph.entry.inputs[graph[index.node].index].isIndex)
    bound = graph.entry.inputs[graph[index.node].index].bound;
  for (AxisId axis : graph.axes(node))
    if (mistake && mistake->notes.empty() && (!bound || *bound == graph.size(axis)))
      mistake->notes.push_back({"help", "did you mean [" + axisName(axis) + ": " + name.text + "]?"});
  return true;
}

NodeId Checker::renameAxes(NodeId node, const std::vector<AxisId> &from, const std::vector<AxisId> &to, const ast::AxisOp &op) {
  std::vector<AxisId> rest = without(graph.axes(node), from);
  if (hasDuplicates(from)) {
    error("T0206", op.range, "an axis occurs twice before \"->\"");
    return kNoNode;
  }
  for (size_t i = 0; i < to.size(); ++i)
    if (includes(rest, to[i]) || std::count(to.begin(), to.end(), to[i]) > 1) {
      error("T0206", op.range, "the result would have axis " + axisName(to[i]) + " twice; the tensor is " + text(node));
      return kNoNode;
    }
  bool pairwise = from.size() == to.size();
  for (size_t i = 0; pairwise && i < from.size(); ++i)
    pairwise = graph.size(from[i]) == graph.size(to[i]);
  if (pairwise)
    return graph.rename(node, from, to, op.range);
  if (from.size() == 1 && to.size() == 1) {
    auto *mistake = error("T0204", op.range,
                          "axis " + axisName(from[0]) + " has " + text(graph.size(from[0])) + " places, axis " + axisName(to[0]) +
                              " has " + text(graph.size(to[0])));
    relate(mistake, from[0]);
    relate(mistake, to[0]);
    return kNoNode;
  }
  return regroup(node, from, to, op.range);
}

/// The index itself; or max(0, min(.., limit - 1)) of it where what it is made of may need more than the 32 bits that code has,
/// so that it could leave its axis although a proof keeps it there.
static NodeId keptInside(Graph &graph, NodeId index, const Size &limit, const std::vector<NodeId> &conditions,
                         const ProofHints &hints, ast::Range range) {
  const std::optional<Size> last = subtract(limit, Size(1));
  if (!last || !mayLeaveIn32Bits(graph.entry, index, limit, conditions, hints))
    return index;
  NodeId most = graph.elementwise(Op::Min, {index, graph.sizeValue(*last, range)}, Element::Int, range);
  return graph.elementwise(Op::Max, {most, graph.integer(0)}, Element::Int, range);
}

/// What x[T: -1] and x[T: t - 1] are written for in other languages; empty: neither of them.
static std::string placeMeant(const Graph &graph, NodeId index, const std::string &axis) {
  const Node &node = graph[index];
  auto constant = [&](NodeId id) -> std::optional<int64_t> {
    const Node &number = graph[id];
    if (number.op != Op::Constant || number.type.element != Element::Int)
      return std::nullopt;
    return number.integer;
  };
  if (auto place = constant(index); place && *place < 0)
    return "places count from 0: " + axis + " - " + std::to_string(-*place) +
           (*place == -1 ? " is the last one"
                         : " counts from the end, under `require " + axis + " >= " + std::to_string(-*place) + "`");
  if (node.op != Op::Add && node.op != Op::Sub)
    return "";
  const std::optional<int64_t> by = constant(node.operands[1]);
  const int64_t back = !by ? 0 : node.op == Op::Sub ? *by : -*by;
  const Op of = graph[node.operands[0]].op;
  if (back == 0 || (of != Op::Iota && of != Op::Depth))
    return "";
  const std::string count = std::to_string(std::abs(back) + 1);
  const std::string wide = "with `dim K = " + count + "`, window[" + axis + " -> " + axis + " * K](x, pad = " +
                           (back > 0 ? "(" + std::to_string(back) + ", 0))[K: 0]"
                                     : "(0, " + std::to_string(-back) + "))[K: " + std::to_string(-back) + "]") +
                           " has it at every place, and 0 beyond the " + (back > 0 ? "first" : "last");
  if (of == Op::Depth && back == 1)
    return "a carry hands on what stood at the place before: `next last = x[" + axis + ": t]`; " + wide;
  return wide;
}

bool Checker::inRange(NodeId &index, const Size &limit, const std::vector<NodeId> &conditions, ast::Range range,
                      const std::string &message, const char *code, const std::string &holder, std::optional<AxisId> axis,
                      bool *clamp) {
  IndexProof proof = proveIndex(graph.entry, index, Size(0), limit, {}, hints);
  bool needsConditions = false;
  if (!proof.proved && !conditions.empty()) {
    needsConditions = true;
    const uint64_t first = proof.effort;
    proof = proveIndex(graph.entry, index, Size(0), limit, conditions, hints);
    proof.effort += first;
  }
  if (!session.spendProof(range, proof.effort)) {
    failed = true;
    return false;
  }
  if (proof.proved) {
    noteProof(index, limit, needsConditions ? conditions : std::vector<NodeId>());
    if (clamp)
      *clamp = needsConditions;
    index = keptInside(graph, index, limit, needsConditions ? conditions : std::vector<NodeId>(), hints, range);
    return true;
  }
  auto highest = subtract(limit, Size(1));
  const bool empty = highest && highest->asConstant().value_or(0) < 0;
  const std::string places = empty ? " has no places" : " holds 0 .. " + (highest ? text(*highest) : "?");
  auto *mistake = error(code, range, message, proof.range.empty() ? "nothing bounds it" : "ranges over " + proof.range);
  if (mistake) {
    auto place = axis ? axisPlaces.find(*axis) : axisPlaces.end();
    if (place != axisPlaces.end())
      mistake->related.push_back({place->second, axisName(*axis) + places});
    else
      mistake->notes.push_back({"note", holder + places});
    if (!proof.example.empty())
      mistake->notes.push_back({"example", proof.example});
    if (proof.exhausted)
      mistake->notes.push_back({"note", "the proof was given up: it has too many cases"});
    else if (!conditions.empty())
      mistake->notes.push_back({"note", "the masks and conditions around it do not exclude this"});
    else if (std::string meant = axis && !empty ? placeMeant(graph, index, axisName(*axis)) : ""; !meant.empty())
      mistake->notes.push_back({"help", meant});
    else if (highest && !empty && !proof.range.empty())
      mistake->notes.push_back({"help", "max(0, min(.., " + text(*highest) + ")) around it takes the nearest place there is"});
  }
  return false;
}

NodeId Checker::gatherNode(NodeId node, AxisId axis, NodeId index, bool clampIndex, ast::Range range) {
  if (graph[index].op == Op::Iota) { // every place in order: the axis itself, or another name of it
    AxisId places = graph.axes(index)[0];
    if (graph.size(places) == graph.size(axis) && (places == axis || !graph.has(node, places)))
      return graph.rename(node, {axis}, {places}, range);
  }
  Node gather = makeNode(Op::Gather, graph[node].type);
  gather.type.pinned.clear();
  std::vector<AxisId> result;
  for (AxisId own : graph.axes(node)) {
    if (own != axis) {
      result.push_back(own);
      continue;
    }
    for (AxisId added : graph.axes(index))
      if (!graph.has(node, added) || added == axis)
        result.push_back(added);
  }
  gather.type.axes = result;
  gather.operands = {node, index};
  gather.axesFrom = {axis};
  gather.clampIndex = clampIndex;
  gather.range = range;
  return graph.add(gather);
}

NodeId Checker::gather(Scope *scope, NodeId node, AxisId axis, const ast::AxisOp &op) {
  NodeId index = tensor(evaluate(scope, op.low), op.low->range);
  if (index == kNoNode)
    return kNoNode;
  if (graph.element(index) == Element::Real) {
    noteMadeReal(error("T0310", op.low->range, "an index must be a whole number, this is " + text(index)), index);
    return kNoNode;
  }
  index = graph.toInt(index);
  bool clamp = false;
  if (!inRange(index, graph.size(axis), scope->conditions, op.low->range, "this index can leave axis " + axisName(axis), "T0207",
               "axis " + axisName(axis), axis, &clamp))
    return graph.opaque(graph[gatherNode(node, axis, index, false, op.range)].type, op.range);
  return gatherNode(node, axis, index, clamp, op.range);
}

NodeId Checker::slice(Scope *scope, NodeId node, AxisId axis, const ast::AxisOp &op) {
  auto low = wholeSize(evaluate(scope, op.low), op.low->range, "the start of a slice");
  std::optional<Size> high = graph.size(axis);
  if (op.high)
    high = wholeSize(evaluate(scope, op.high), op.high->range, "the end of a slice");
  auto to = axesOf(scope, op.to);
  if (!low || !high || !to || to->size() != 1)
    return kNoNode;
  AxisId result = (*to)[0];
  auto count = subtract(*high, *low);
  if (!count)
    return kNoNode;
  ast::Range place = op.low->range;
  place.end = op.high ? op.high->range.end : op.low->range.end;
  IndexProof proof = proveSlice(*low, *count, graph.size(axis), graph.entry);
  if (!proof.proved) {
    auto *mistake = error("T0208", place, "the slice " + text(*low) + " .. " + text(*high) + " can leave axis " + sized(axis));
    if (mistake && !proof.example.empty())
      mistake->notes.push_back({"example", proof.example});
    return kNoNode;
  }
  if (*count != graph.size(result)) {
    auto *mistake =
        error("T0210", place,
              "the slice has " + text(*count) + " places, axis " + axisName(result) + " has " + text(graph.size(result)));
    relate(mistake, result);
    relate(mistake, axis);
    return kNoNode;
  }
  if (result != axis && graph.has(node, result)) {
    error("T0206", op.range, "the result would have axis " + axisName(result) + " twice; the tensor is " + text(node));
    return kNoNode;
  }
  if (*low == Size(0) && *count == graph.size(axis))
    return graph.rename(node, {axis}, {result}, op.range);
  Node slice = makeNode(Op::Slice, graph[node].type);
  slice.type.pinned.clear();
  for (AxisId &own : slice.type.axes)
    if (own == axis)
      own = result;
  slice.operands = {node};
  slice.axesFrom = {axis};
  slice.axesTo = {result};
  slice.size = *low;
  slice.range = op.range;
  return graph.add(slice);
}

} // namespace tenon::sema
