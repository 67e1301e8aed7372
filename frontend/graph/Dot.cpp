// --emit=graph: the checked program as a picture for Graphviz. Numbers stand in the labels of what reads them, bodies of stacks
// are clusters, and a dashed arrow leads from what a body gives to what the next depth gets.
#include "frontend/Dims.h"
#include "frontend/graph/Print.h"
#include <algorithm>
#include <cstdio>

namespace tenon {
namespace {

/// In quotes: a name may hold what the language of the picture means something by.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n') // would be one of the picture's own lines
      result += "\\n";
    else
      result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return result + "\"";
}

/// A label of several lines.
std::string label(const std::vector<std::string> &lines) {
  std::string result;
  for (const std::string &line : lines)
    if (!line.empty()) {
      std::string text = quoted(line);
      result += (result.empty() ? "" : "\\n") + text.substr(1, text.size() - 2);
    }
  return "\"" + result + "\"";
}

class Picture {
public:
  Picture(const Program &program, const Entry &entry, unsigned number)
      : program(program), entry(entry), prefix("e" + std::to_string(number) + "_") {}

  std::string draw() {
    findLive();
    text += "  subgraph " + quoted("cluster_" + prefix) + " {\n    label = " + label({"entry " + entry.name + dims()}) + ";\n";
    body(~0u, 2);
    for (auto &[name, node] : entry.results)
      line(2, quoted(prefix + "out_" + name) + " [label = " + label({"out " + name}) + ", shape = ellipse, style = bold];");
    nextStates(entry.nextStates, 2);
    text += "  }\n";
    for (auto &[name, node] : entry.results)
      edge(node, prefix + "out_" + name, "");
    return text + edges;
  }

private:
  void line(unsigned depth, const std::string &content) { text += std::string(2 * depth, ' ') + content + '\n'; }
  std::string id(NodeId node) const { return prefix + std::to_string(node); }
  static bool isNumber(const Node &node) { return node.op == Op::Constant || node.op == Op::SizeValue; }

  std::string dims() const {
    std::string list;
    for (unsigned i = 0; i < entry.dims.size(); ++i)
      list += isProduct(entry, i)
                  ? ""
                  : (i ? ", " : "") + entry.dims[i] +
                        (entry.dimUpperBound[i] == Size(-1) ? "" : " <= " + entry.dimUpperBound[i].text(entry.dims));
    return list.empty() ? "" : " (" + list + ")";
  }

  std::string type(const ValueType &type) const {
    std::string list = !type.pinned.empty()            ? type.pinned
                       : type.element == Element::Real ? ""
                       : type.element == Element::Int  ? "int"
                                                       : "bool";
    list += "[";
    for (size_t i = 0; i < type.axes.size(); ++i) {
      const Axis &axis = entry.axes[type.axes[i]];
      std::string size = axis.size.text(entry.dims);
      list += (i ? ", " : "") + axis.name + (size == axis.name ? "" : "=" + size);
    }
    return list + "]";
  }

  std::string names(const std::vector<AxisId> &axes, const char *between) const {
    std::string list;
    for (AxisId axis : axes)
      list += (list.empty() ? "" : between) + entry.axes[axis].name;
    return list;
  }

  std::string numberText(const Node &node) const {
    if (node.op == Op::SizeValue)
      return node.size.text(entry.dims);
    if (node.type.element != Element::Real)
      return node.type.element == Element::Bool ? (node.integer ? "true" : "false") : std::to_string(node.integer);
    return numberText(node.number);
  }
  static std::string numberText(double number) {
    char buffer[40];
    snprintf(buffer, sizeof buffer, "%.6g", number);
    return buffer;
  }

  /// Another axis of the same name, as a layer has for what it is given and what it gives: nothing that one sees.
  bool isHidden(const Node &node) const {
    return node.op == Op::Rename && names(node.axesFrom, ", ") == names(node.axesTo, ", ");
  }

  /// The value that an arrow comes from: what a stack gives is what its body gives.
  NodeId source(NodeId node) const {
    while (entry.nodes[node].op == Op::Result || isHidden(entry.nodes[node])) {
      if (isHidden(entry.nodes[node])) {
        node = entry.nodes[node].operands[0];
        continue;
      }
      const Node &owner = entry.nodes[entry.nodes[node].operands[0]];
      if (!isLoop(owner))
        return entry.nodes[node].operands[0];
      const StackInfo &info = entry.stacks[owner.index];
      node = info.results[bodyResultOf(info, entry.nodes[node].index)];
    }
    return node;
  }

  /// What a result or a state is made from.
  void findLive() {
    live.assign(entry.nodes.size(), false);
    std::vector<NodeId> waiting;
    for (auto &[name, node] : entry.results)
      waiting.push_back(node);
    for (auto &[state, node] : entry.nextStates)
      waiting.push_back(node);
    while (!waiting.empty()) {
      NodeId node = waiting.back();
      waiting.pop_back();
      if (live[node])
        continue;
      live[node] = true;
      const Node &found = entry.nodes[node];
      waiting.insert(waiting.end(), found.operands.begin(), found.operands.end());
      if (!isLoop(found))
        continue;
      const StackInfo &info = entry.stacks[found.index];
      waiting.insert(waiting.end(), info.results.begin(), info.results.end());
      if (info.until != kNoNode)
        waiting.push_back(info.until);
      for (auto &[state, next] : info.nextStates)
        waiting.push_back(next);
    }
  }

  /// Formula of the op: its name, its axes and the numbers among its operands.
  std::string formula(const Node &node) const {
    std::string list = nameOf(node.op);
    if (node.op == Op::Slice)
      list += " " + names(node.axesFrom, " * ") + ": " + node.size.text(entry.dims) + " .. -> " + names(node.axesTo, " * ");
    else if (!node.axesFrom.empty() || !node.axesTo.empty())
      list += " " + names(node.axesFrom, node.op == Op::Merge ? " * " : ", ") +
              (node.axesTo.empty() ? "" : " -> " + names(node.axesTo, node.op == Op::Split ? " * " : ", "));
    if (node.op == Op::Dropout)
      list += " " + numberText(node.number);
    if (node.op == Op::Attend)
      list += " over " + entry.axes[node.attend->key].name + " by " + names(node.attend->queries, ", ") +
              (node.attend->scaleOperand || node.attend->scale == 1 ? "" : ", scale " + numberText(node.attend->scale));
    bool any =
        std::any_of(node.operands.begin(), node.operands.end(), [&](NodeId operand) { return isNumber(entry.nodes[operand]); });
    for (size_t i = 0; any && i < node.operands.size(); ++i)
      list += (i ? ", " : " (") + (isNumber(entry.nodes[node.operands[i]]) ? numberText(entry.nodes[node.operands[i]]) : "_") +
              (i + 1 == node.operands.size() ? ")" : "");
    return list;
  }

  /// What an operand is to an op for which their order matters.
  static std::string role(const Node &node, size_t operand) {
    static const std::vector<std::pair<Op, std::vector<std::string>>> roles = {{Op::Select, {"if", "then", "else"}},
                                                                               {Op::Sub, {"", "minus"}},
                                                                               {Op::Div, {"", "by"}},
                                                                               {Op::Mod, {"", "by"}},
                                                                               {Op::FloorDiv, {"", "by"}},
                                                                               {Op::Pow, {"", "power"}},
                                                                               {Op::Less, {"less", "more"}},
                                                                               {Op::LessEqual, {"less", "more"}},
                                                                               {Op::Gather, {"", "at"}},
                                                                               {Op::Put, {"", "at", "put"}},
                                                                               {Op::CrossEntropy, {"", "label"}}};
    for (auto &[op, words] : roles)
      if (op == node.op && operand < words.size())
        return words[operand];
    if (node.op != Op::Attend)
      return "";
    const AttendInfo &info = *node.attend;
    if (operand < info.scores)
      return info.scoreNames[operand].empty() ? "score" : "score " + info.scoreNames[operand];
    operand -= info.scores;
    return operand < info.masks ? "mask" : operand == info.masks ? "value" : "scale";
  }

  void body(uint32_t stack, unsigned depth) {
    for (NodeId node = 0; node < entry.nodes.size(); ++node)
      if (live[node] && entry.nodes[node].stack == stack)
        one(node, depth);
  }

  void one(NodeId node, unsigned depth) {
    const Node &found = entry.nodes[node];
    if (isHidden(found))
      return;
    auto box = [&](const std::vector<std::string> &lines, const char *look) {
      std::vector<std::string> all = lines;
      all.push_back(type(found.type));
      line(depth, quoted(id(node)) + " [label = " + label(all) + look + "];");
    };
    switch (found.op) {
    case Op::Constant:
    case Op::SizeValue:
    case Op::Result:
      return;
    case Op::Stack:
    case Op::Scan:
      return cluster(found, depth);
    case Op::Input:
      return box({"in " + entry.inputs[found.index].name}, ", shape = ellipse");
    case Op::Param:
      return box({"param " + program.params[found.index].path}, ", style = filled, fillcolor = gray90");
    case Op::State:
      return box({"state " + entry.states[found.index].path}, ", style = dashed");
    case Op::BodyArgument: {
      const StackInfo &info = entry.stacks[found.stack];
      return box({(found.index < info.carries ? "carry " : "argument ") + std::to_string(found.index)}, ", style = rounded");
    }
    default:
      box({formula(found)}, found.op == Op::Attend ? ", style = bold" : "");
      for (size_t i = 0; i < found.operands.size(); ++i)
        if (!isNumber(entry.nodes[found.operands[i]]))
          edge(found.operands[i], id(node), role(found, i));
    }
  }

  void edge(NodeId from, const std::string &to, const std::string &text) {
    NodeId node = source(from);
    if (isNumber(entry.nodes[node])) // it goes round a whole body, or out
      edges += "  " + quoted(to + "_number") + " [label = " + label({numberText(entry.nodes[node])}) + ", shape = plaintext];\n";
    edges += "  " + quoted(isNumber(entry.nodes[node]) ? to + "_number" : id(node)) + " -> " + quoted(to) +
             (text.empty() ? "" : " [label = " + label({text}) + "]") + ";\n";
  }

  void cluster(const Node &stack, unsigned depth) {
    const StackInfo &info = entry.stacks[stack.index];
    const char *kind = info.isRounds ? " rounds" : !info.shared ? " layers" : info.until == kNoNode ? " times" : " times at most";
    line(depth, "subgraph " + quoted("cluster_" + prefix + "stack" + std::to_string(stack.index)) + " {");
    line(depth + 1, "label = " + label({info.path + ": " + info.count.text(entry.dims) + kind}) + "; style = rounded;");
    body(stack.index, depth + 1);
    nextStates(info.nextStates, depth + 1);
    line(depth, "}");
    for (NodeId node = 0; node < entry.nodes.size(); ++node) {
      const Node &found = entry.nodes[node];
      if (found.op != Op::BodyArgument || found.stack != stack.index || !live[node])
        continue;
      edge(stack.operands[found.index], id(node), "");
      if (found.index < info.carries && info.count != Size(1))
        edges += "  " + quoted(id(source(info.results[found.index]))) + " -> " + quoted(id(node)) +
                 " [style = dashed, constraint = false];\n";
    }
  }

  void nextStates(const std::vector<std::pair<uint32_t, NodeId>> &list, unsigned depth) {
    for (auto &[state, node] : list) {
      std::string name =
          prefix + "next_" + std::to_string(node) + "_" + entry.states[state].path; // bodies for other depths may set it, too
      line(depth, quoted(name) + " [label = " + label({"next " + entry.states[state].path}) + ", style = dashed];");
      edge(node, name, "");
    }
  }

  const Program &program;
  const Entry &entry;
  const std::string prefix;
  std::vector<char> live;
  std::string text, edges;
};

} // namespace

std::string drawGraph(const Program &program) {
  std::string text = "digraph " + quoted(program.model) +
                     " {\n  node [shape = box, fontname = \"Helvetica\", fontsize = 10];\n  edge [fontname = \"Helvetica\", "
                     "fontsize = 9];\n  fontname = \"Helvetica\";\n";
  for (size_t i = 0; i < program.entries.size(); ++i)
    text += Picture(program, program.entries[i], static_cast<unsigned>(i)).draw();
  return text + "}\n";
}

} // namespace tenon
