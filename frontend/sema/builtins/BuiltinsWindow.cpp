// window[T -> W * K](x, stride = s, pad = p, dilation = d, fill = c).
#include "frontend/sema/Checker.h"
#include <algorithm>
#include <cmath>

namespace tenon::sema {
namespace {

std::string span(const WindowSteps &steps) {
  std::string text = "stride " + std::to_string(steps.stride) + ", pad " + std::to_string(steps.padLow);
  if (steps.padHigh != steps.padLow)
    text += " and " + std::to_string(steps.padHigh);
  return steps.dilation == 1 ? text : text + ", dilation " + std::to_string(steps.dilation);
}

} // namespace

/// One number for all axes, or a tuple with one for each.
std::optional<std::vector<int64_t>> Checker::numbersOfAxes(const Call &call, const char *name, int64_t least) {
  const size_t axes = call.axisOps->size();
  const Keyword *keyword = call.keyword(name);
  if (!keyword)
    return std::vector<int64_t>(axes, 1);
  const Value &value = keyword->value;
  const bool isTuple = value.kind == Value::Kind::Tuple;
  if (isTuple && value.elements->size() != axes) {
    errorWith("T0215", keyword->range,
              std::string(name) + " is one number, or one for each of the " + std::to_string(axes) +
                  " axes of the window, this is " + text(value),
              std::string(name) + " = 1 is that of all axes");
    return std::nullopt;
  }
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < axes; ++i) {
    auto number = staticInt(isTuple ? (*value.elements)[i] : value, keyword->range, name);
    if (!number)
      return std::nullopt;
    if (*number < least) {
      errorWith("T0215", keyword->range,
                std::string(name) + " is at least " + std::to_string(least) + ", this is " + std::to_string(*number),
                std::string(name) == "stride" ? "stride = 1 begins a window at each place"
                                              : "dilation = 1 takes places that lie next to each other");
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers;
}

/// One number for both ends, a pair (before, behind), or a tuple with a pair for each axis.
bool Checker::readPads(const Call &call, std::vector<WindowSteps> &steps) {
  const Keyword *keyword = call.keyword("pad");
  if (!keyword)
    return true;
  const Value &pad = keyword->value;
  auto isPair = [](const Value &value) { return value.kind == Value::Kind::Tuple && value.elements->size() == 2; };
  const bool ofAxes = pad.kind == Value::Kind::Tuple && !pad.elements->empty() && (*pad.elements)[0].kind == Value::Kind::Tuple;
  if (ofAxes ? pad.elements->size() != steps.size() || !std::all_of(pad.elements->begin(), pad.elements->end(), isPair)
             : pad.kind == Value::Kind::Tuple && !isPair(pad)) {
    errorWith("T0215", keyword->range,
              "pad is one number, a pair (before, behind), or a tuple with a pair for each of the " +
                  std::to_string(steps.size()) + " axes of the window, this is " + text(pad),
              "pad = 1 is one place at both ends of all axes");
    return false;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const Value &own = ofAxes ? (*pad.elements)[i] : pad;
    auto low = staticInt(isPair(own) ? (*own.elements)[0] : own, keyword->range, "pad"),
         high = staticInt(isPair(own) ? (*own.elements)[1] : own, keyword->range, "pad");
    if (!low || !high)
      return false;
    if (*low < 0 || *high < 0) {
      errorWith("T0215", keyword->range, "pad is at least 0, this is " + std::to_string(std::min(*low, *high)),
                "a slice takes places away: x[" + (*call.axisOps)[i].from[0].name.text + ": 1 .. -> S]");
      return false;
    }
    steps[i].padLow = *low;
    steps[i].padHigh = *high;
  }
  return true;
}

/// (size + pads - dilation * (inside - 1) - 1) div stride + 1 windows fit.
bool Checker::fitsWindow(ast::Range range, AxisId axis, AxisId windows, AxisId inside, const WindowSteps &steps) {
  auto padded = add(graph.size(axis), Size(steps.padLow + steps.padHigh + steps.dilation - 1));
  auto reach = multiply(graph.size(inside), Size(steps.dilation));
  auto last = padded && reach ? subtract(*padded, *reach) : std::nullopt;
  const auto before = last ? divideDown(*last, steps.stride) : std::nullopt;
  std::optional<Size> fit = before ? add(*before, Size(1)) : std::nullopt; // below 0: by so many places none does
  const bool fitsNone = fit && fit->isConstant() && fit->constant() < 1;
  if (fit && (fitsNone ? Size(0) : *fit) == graph.size(windows))
    return true; // no dims make a declared size negative, so where none fit it is 0
  std::string fitting = fit ? text(*fit) + (*fit == Size(1) ? " fits into " : " fit into ") + sized(axis)
                            : "how many fit depends on " + sized(axis);
  if (fitsNone)
    fitting = "and none fits into " + sized(axis);
  Diagnostic *mistake = error("T0215", range,
                              "axis " + axisName(windows) + " has " + text(graph.size(windows)) +
                                  (graph.size(windows) == Size(1) ? " window, " : " windows, ") + fitting);
  if (!mistake)
    return false;
  const std::string places = "windows of " + text(graph.size(inside)) + " places, " + span(steps);
  if (!fit)
    mistake->notes.push_back({"help", places + ": dims of the run are counted by the stride: with dim N, " + axisName(axis) +
                                          " = " + std::to_string(steps.stride) + " * N the number of windows is exact"});
  else if (auto lacking = subtract(graph.size(windows), *fit);
           steps.stride == 1 && lacking && lacking->isConstant() && lacking->constant() > 0)
    mistake->notes.push_back({"help", places + ": with " + std::to_string(lacking->constant()) +
                                          (lacking->constant() == 1 ? " more place" : " more places") +
                                          " of padding there are as many windows as declared"});
  else
    mistake->notes.push_back(
        {"help", places + ": let the axis of the windows have " + text(fitsNone ? Size(0) : *fit) + " places"});
  for (AxisId named : {windows, axis})
    if (text(graph.size(named)) != axisName(named))
      relate(mistake, named);
  return false;
}

/// What stands outside of the tensor: an element that it could have.
bool Checker::readFill(const Call &call, NodeId node, double &number) {
  const Keyword *keyword = call.keyword("fill");
  if (!keyword)
    return true;
  auto fill = staticReal(keyword->value, keyword->range, "fill");
  if (!fill)
    return false;
  const Element element = graph[node].type.element;
  if ((element == Element::Int && *fill != std::trunc(*fill)) || (element == Element::Bool && *fill != 0 && *fill != 1)) {
    error("T0301", keyword->range, "fill is an element of the tensor, " + text(node) + ", this is " + text(keyword->value));
    return false;
  }
  number = *fill;
  return true;
}

Value Checker::windowBuiltin(const Call &call) {
  if (!arity(call, 1, 1, {"stride", "pad", "dilation", "fill"}, 1))
    return poison();
  NodeId node = tensor(call.arguments[0], call.ranges[0]);
  auto strides = numbersOfAxes(call, "stride", 1), dilations = numbersOfAxes(call, "dilation", 1);
  if (node == kNoNode || !strides || !dilations)
    return poison();
  Node window = makeNode(Op::Window, graph[node].type);
  for (size_t i = 0; i < strides->size(); ++i)
    window.windows.push_back({(*strides)[i], 0, 0, (*dilations)[i]});
  if (!readPads(call, window.windows))
    return poison();
  if (!readFill(call, node, window.number))
    return poison();
  for (size_t i = 0; i < call.axisOps->size(); ++i) {
    const ast::AxisOp &op = (*call.axisOps)[i];
    auto axis = oneAxis(call.scope, op.from, "window");
    auto to = axesOf(call.scope, op.to);
    if (!axis || !to || !requireAxis(node, *axis, call.ranges[0], "the argument of window"))
      return poison();
    if (to->size() != 2) {
      error("T0216", op.range, "window names the windows and the places inside: window[T -> T * K](x)");
      return poison();
    }
    if (includes(window.axesFrom, *axis)) {
      error("T0206", op.range, "axis " + axisName(*axis) + " is named twice");
      return poison();
    }
    if (!requirePlaces((*to)[1], op.range, "a window has at least one place, not those of axis " + sized((*to)[1])) ||
        !fitsWindow(op.range, *axis, (*to)[0], (*to)[1], window.windows[i]))
      return poison();
    window.axesFrom.push_back(*axis);
    window.axesTo.insert(window.axesTo.end(), to->begin(), to->end());
  }
  std::vector<AxisId> axes;
  for (AxisId own : graph.axes(node)) {
    auto place = std::find(window.axesFrom.begin(), window.axesFrom.end(), own);
    if (place == window.axesFrom.end()) {
      axes.push_back(own);
      continue;
    }
    const auto to = window.axesTo.begin() + 2 * (place - window.axesFrom.begin());
    axes.insert(axes.end(), {*to, *(to + 1)});
  }
  if (hasDuplicates(axes)) {
    error("T0206", call.range, "the result would have an axis twice: " + text(axes));
    return poison();
  }
  window.type.axes = axes;
  window.type.pinned.clear();
  window.operands = {node};
  window.range = call.range;
  return Value::ofTensor(graph.add(window));
}

} // namespace tenon::sema
