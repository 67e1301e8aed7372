// --emit=checked: the graph of one entry as text, bodies of stacks nested. For tests and for reading.
#include "frontend/graph/Print.h"
#include "frontend/Dims.h"
#include <cstdio>
#include <sstream>

namespace tenon {

const char *nameOf(Op op) {
  static const char *names[] = {
      // leaves
      "constant", "size", "iota", "input", "param", "state", "depth", "argument", "sinusoid",
      // elementwise
      "neg", "not", "exp", "log", "sqrt", "abs", "round", "floor", "ceil", "sin", "cos", "atan", "erf", "tanh", "sigmoid", "relu",
      "leaky_relu", "gelu", "gelu_tanh", "real", "stop_gradient", "add", "sub", "mul", "div", "mod", "floor_div", "pow", "max",
      "min", "equal", "not_equal", "less", "less_equal", "and", "or", "select",
      // axes
      "rename", "merge", "split", "expand", "transpose", "slice", "gather", "concat", "flip", "window", "put",
      // contraction and what follows
      "dot", "sum", "reduce_max", "reduce_min", "all", "any", "argmax", "cumsum", "softmax", "log_softmax", "normalize", "top",
      "cross_entropy", "binary_cross_entropy", "dropout", "sample", "noise", "attend", "stack", "scan", "result", "append"};
  static_assert(sizeof names / sizeof *names == size_t(Op::Append) + 1);
  return names[size_t(op)];
}

namespace {

class Printer {
public:
  Printer(const Program &program, const Entry &entry) : program(program), entry(entry) {}

  std::string run() {
    out << "entry " << entry.name << (entry.training ? " training" : "") << "(";
    for (unsigned i = 0; i < entry.dims.size(); ++i) {
      if (isProduct(entry, i))
        continue;
      out << (i ? ", " : "") << entry.dims[i];
      if (entry.dimUpperBound[i] != Size(-1))
        out << " <= " << size(entry.dimUpperBound[i]);
    }
    for (const Requirement &requirement : entry.requirements)
      out << "; " << size(requirement.left) << " " << signOf(requirement.relation) << " " << size(requirement.right);
    out << ")" << (entry.walkedAxis.empty() ? "" : " walks " + entry.walkedAxis)
        << (entry.isStep ? ", keeps " + size(entry.capacity) + " places" : "") << "\n";
    for (auto &input : entry.inputs)
      out << "  input " << input.name << ": " << (input.isIndex ? "index(" + size(input.bound) + ")" : element(input.type))
          << axes(input.type.axes) << "\n";
    for (auto &state : entry.states) {
      out << "  state " << state.path << ":" << counts(state.stackCounts) << " [";
      for (size_t i = 0; i < state.axes.size(); ++i)
        out << (i ? ", " : "") << sized(state.axes[i], state.shape[i]);
      out << "]" << (state.ofModel ? " of model" : state.inPlace ? " in place" : "") << " = " << initial(state.init) << "\n";
    }
    body(~0u, 1);
    for (auto &[state, node] : entry.nextStates)
      out << "  next " << entry.states[state].path << " = %" << node << "\n";
    for (auto &[name, node] : entry.results)
      out << "  out " << name << " = %" << node << "\n";
    return out.str();
  }

private:
  const Program &program;
  const Entry &entry;
  std::ostringstream out;

  std::string size(const Size &form) const { return form.text(entry.dims); }
  static std::string number(double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.9g", value);
    return buffer;
  }
  static std::string initial(const Initializer &init) {
    if (!init.as.empty())
      return init.as;
    if (init.kind == "table" || (init.kind == "constant" && init.perElement.empty()))
      return init.kind == "table" ? init.kind : number(init.a);
    const size_t name = std::min(init.kind.find(' '), init.kind.size()); // behind it: what is done to each draw
    return init.kind.substr(0, name) + "(" + number(init.a) + ")" + init.kind.substr(name);
  }
  static std::string counts(const std::vector<int64_t> &list) {
    std::string text;
    for (int64_t count : list)
      text += " " + std::to_string(count) + " x";
    return text;
  }
  std::string sized(const std::string &name, const Size &form) const {
    std::string text = size(form);
    return text == name ? name : name + "=" + text;
  }
  std::string axes(const std::vector<AxisId> &list) const {
    std::string text;
    for (AxisId axis : list)
      text += (text.empty() ? "" : ", ") + sized(entry.axes[axis].name, entry.axes[axis].size);
    return "[" + text + "]";
  }
  std::string names(const std::vector<AxisId> &list) const {
    std::string text;
    for (AxisId axis : list)
      text += (text.empty() ? "" : ", ") + entry.axes[axis].name;
    return "[" + text + "]";
  }
  static std::string element(const ValueType &type) {
    return !type.pinned.empty()            ? type.pinned
           : type.element == Element::Real ? "real"
           : type.element == Element::Int  ? "int"
                                           : "bool";
  }
  void operands(const std::vector<NodeId> &list) {
    for (size_t i = 0; i < list.size(); ++i)
      out << (i ? ", %" : " %") << list[i];
  }
  /// Of ops that have several.
  void settings(const Node &node) {
    switch (node.op) {
    case Op::CrossEntropy:
      if (node.number)
        out << " spread=" << number(node.number);
      if (node.index)
        out << " skip=" << node.index - 1;
      if (node.integer)
        out << " exempt=" << node.integer - 1;
      break;
    case Op::Sinusoid:
      out << " start=" << size(node.size) << (node.clamp ? " clamp=" + std::to_string(node.clamp) : "")
          << (node.interleaved ? " interleaved" : "") << (node.t2tSteps ? " t2t" : "");
      break;
    case Op::Window:
      for (const WindowSteps &steps : node.windows)
        out << " stride=" << steps.stride << " pad=" << steps.padLow << "," << steps.padHigh << " dilation=" << steps.dilation;
      out << " fill=" << number(node.number);
      break;
    case Op::Attend: {
      const AttendInfo &info = *node.attend;
      out << " key=" << entry.axes[info.key].name << " queries=" << names(info.queries) << " scores=" << info.scores
          << " masks=" << info.masks;
      out << (info.scaleOperand ? " scale=operand" : " scale=" + number(info.scale));
      if (info.dropRate)
        out << " drop=" << number(info.dropRate) << " site=" << program.sites[info.site].path;
      break;
    }
    default:
      break;
    }
  }
  void attributes(const Node &node) {
    switch (node.op) {
    case Op::Constant:
      out << " " << (node.type.element == Element::Real ? number(node.number) : std::to_string(node.integer));
      break;
    case Op::SizeValue:
      out << " " << size(node.size);
      break;
    case Op::Input:
      out << " " << entry.inputs[node.index].name;
      break;
    case Op::Param:
      out << " " << program.params[node.index].path;
      break;
    case Op::State:
    case Op::Append:
      out << " " << entry.states[node.index].path;
      break;
    case Op::BodyArgument:
    case Op::Result:
      out << " #" << node.index;
      break;
    case Op::Slice:
      out << " from " << size(node.size);
      break;
    case Op::Gather:
      out << (node.clampIndex ? " clamp" : "");
      break;
    case Op::Normalize:
      out << " eps=" << number(node.number);
      break;
    case Op::Dropout:
      out << " rate=" << number(node.number) << " site=" << program.sites[node.index].path;
      break;
    case Op::Sample:
    case Op::Noise:
      out << " site=" << program.sites[node.index].path;
      break;
    case Op::CrossEntropy:
    case Op::Sinusoid:
    case Op::Window:
    case Op::Attend:
      settings(node);
      break;
    default:
      break;
    }
  }
  void body(uint32_t stack, unsigned depth) {
    std::string indent(2 * depth, ' ');
    for (NodeId id = 0; id < entry.nodes.size(); ++id) {
      const Node &node = entry.nodes[id];
      if (node.stack != stack)
        continue;
      out << indent << "%" << id << " = " << nameOf(node.op);
      attributes(node);
      if (!node.axesFrom.empty())
        out << " " << names(node.axesFrom);
      if (!node.axesTo.empty())
        out << " -> " << names(node.axesTo);
      operands(node.operands);
      if (isLoop(node))
        nested(node.index, depth);
      else
        out << " : " << element(node.type) << axes(node.type.axes) << "\n";
    }
  }
  void nested(uint32_t index, unsigned depth) {
    const StackInfo &info = entry.stacks[index];
    out << " " << info.path << " " << size(info.count)
        << (info.isRounds ? " rounds"
            : info.shared ? " times"
                          : " layers")
        << (info.isRounds ? " of " + std::to_string(info.period) : "")
        << (info.count == info.total ? "" : " from " + std::to_string(info.first)) << (info.history ? " history" : "") << " {\n";
    body(index, depth + 1);
    std::string indent(2 * depth + 2, ' ');
    if (info.until != kNoNode)
      out << indent << "until %" << info.until << "\n";
    for (auto &[state, node] : info.nextStates)
      out << indent << "next " << entry.states[state].path << " = %" << node << "\n";
    out << indent << "yield";
    operands(info.results);
    out << "\n" << std::string(2 * depth, ' ') << "}\n";
  }
};

} // namespace

std::string print(const Program &program, const Entry &entry) { return Printer(program, entry).run(); }

} // namespace tenon
