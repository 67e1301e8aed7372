#include "runtime/train/AverageTensors.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::train {

using Operation = runtime::AverageInfo::Operation;

namespace {

int64_t elements(const std::vector<int64_t> &shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

size_t axisOf(const Tensor &tensor, const std::string &axis) {
  return static_cast<size_t>(std::find(tensor.axes.begin(), tensor.axes.end(), axis) - tensor.axes.begin());
}

/// How far apart the elements of `tensor` stand along each of `axes`: 0 along those that it does not have.
std::vector<int64_t> stepsAlong(const Tensor &tensor, const std::vector<std::string> &axes) {
  std::vector<int64_t> steps;
  for (const std::string &axis : axes) {
    const size_t at = axisOf(tensor, axis);
    int64_t step = at < tensor.axes.size() ? 1 : 0;
    for (size_t i = at + 1; i < tensor.axes.size(); ++i)
      step *= tensor.shape[i];
    steps.push_back(step);
  }
  return steps;
}

/// Calls `visit` for each place of `shape`, in row-major order, with the position in each tensor that has `steps`.
template <typename Visit>
void walk(const std::vector<int64_t> &shape, const std::vector<std::vector<int64_t>> &steps, Visit visit) {
  std::vector<int64_t> place(shape.size(), 0), at(steps.size(), 0);
  for (int64_t left = elements(shape); left > 0; --left) {
    visit(at);
    for (size_t axis = shape.size(); axis-- > 0;) {
      const bool wraps = ++place[axis] == shape[axis];
      for (size_t i = 0; i < steps.size(); ++i)
        at[i] += wraps ? -steps[i][axis] * (shape[axis] - 1) : steps[i][axis];
      if (!wraps)
        break;
      place[axis] = 0;
    }
  }
}

double apply(Operation operation, const double *x) {
  switch (operation) {
  case Operation::Neg:
    return -x[0];
  case Operation::Exp:
    return std::exp(x[0]);
  case Operation::Log:
    return std::log(x[0]);
  case Operation::Sqrt:
    return std::sqrt(x[0]);
  case Operation::Abs:
    return std::fabs(x[0]);
  case Operation::Add:
    return x[0] + x[1];
  case Operation::Sub:
    return x[0] - x[1];
  case Operation::Mul:
    return x[0] * x[1];
  case Operation::Div:
    return x[0] / x[1];
  case Operation::Pow:
    return std::pow(x[0], x[1]);
  case Operation::Max:
    return std::max(x[0], x[1]);
  case Operation::Min:
    return std::min(x[0], x[1]);
  case Operation::Equal:
    return x[0] == x[1];
  case Operation::NotEqual:
    return x[0] != x[1];
  case Operation::Less:
    return x[0] < x[1];
  case Operation::LessEqual:
    return x[0] <= x[1];
  case Operation::Select:
    return x[0] != 0 ? x[1] : x[2];
  default: // those along axes
    return std::nan("");
  }
}

} // namespace

Tensor elementwise(Operation operation, const std::vector<Tensor> &operands) {
  Tensor result;
  for (const Tensor &operand : operands)
    for (size_t i = 0; i < operand.axes.size(); ++i) {
      const size_t at = axisOf(result, operand.axes[i]);
      if (at == result.axes.size()) {
        result.axes.push_back(operand.axes[i]);
        result.shape.push_back(operand.shape[i]);
      }
      result.shape[at] = std::min(result.shape[at], operand.shape[i]);
    }
  std::vector<std::vector<int64_t>> steps;
  for (const Tensor &operand : operands)
    steps.push_back(stepsAlong(operand, result.axes));
  result.values.clear();
  double x[3] = {};
  walk(result.shape, steps, [&](const std::vector<int64_t> &at) {
    for (size_t i = 0; i < operands.size(); ++i)
      x[i] = operands[i].values[static_cast<size_t>(at[i])];
    result.values.push_back(apply(operation, x));
  });
  return result;
}

Tensor reduced(Operation operation, const Tensor &operand, const std::vector<std::string> &axes) {
  Tensor result;
  int64_t count = 1;
  for (size_t i = 0; i < operand.axes.size(); ++i)
    if (std::find(axes.begin(), axes.end(), operand.axes[i]) != axes.end()) {
      count *= operand.shape[i];
    } else {
      result.axes.push_back(operand.axes[i]);
      result.shape.push_back(operand.shape[i]);
    }
  const bool isMax = operation == Operation::MaxAlong, isMin = operation == Operation::MinAlong;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  result.values.assign(static_cast<size_t>(elements(result.shape)), isMax ? -infinity : isMin ? infinity : 0);
  size_t next = 0;
  walk(operand.shape, {stepsAlong(result, operand.axes)}, [&](const std::vector<int64_t> &at) {
    double &into = result.values[static_cast<size_t>(at[0])];
    const double value = operand.values[next++];
    if (!isMax && !isMin)
      into += value;
    else if (!std::isnan(into) && !(isMax ? value <= into : value >= into)) // a NaN stays
      into = value;
  });
  if (operation == Operation::MeanAlong)
    for (double &value : result.values)
      value /= static_cast<double>(count);
  return result;
}

Tensor renamed(Tensor operand, const std::vector<std::string> &from, const std::vector<std::string> &to) {
  for (std::string &axis : operand.axes)
    if (auto found = std::find(from.begin(), from.end(), axis); found != from.end())
      axis = to[static_cast<size_t>(found - from.begin())];
  return operand;
}

Tensor expanded(const Tensor &operand, const std::vector<std::string> &axes, const std::vector<int64_t> &sizes) {
  Tensor result{axes, sizes, {}};
  result.axes.insert(result.axes.end(), operand.axes.begin(), operand.axes.end());
  result.shape.insert(result.shape.end(), operand.shape.begin(), operand.shape.end());
  for (int64_t copies = elements(sizes); copies > 0; --copies)
    result.values.insert(result.values.end(), operand.values.begin(), operand.values.end());
  return result;
}

Tensor sliced(const Tensor &operand, const std::string &axis, int64_t first, int64_t count) {
  Tensor result = operand;
  const size_t at = axisOf(operand, axis);
  result.shape[at] = std::clamp<int64_t>(operand.shape[at] - first, 0, count);
  const std::vector<int64_t> steps = stepsAlong(operand, operand.axes);
  result.values.clear();
  walk(result.shape, {steps}, [&](const std::vector<int64_t> &place) {
    result.values.push_back(operand.values[static_cast<size_t>(place[0] + first * steps[at])]);
  });
  return result;
}

Tensor dropped(Tensor operand, const std::string &axis) {
  const auto at = static_cast<std::ptrdiff_t>(axisOf(operand, axis));
  operand.axes.erase(operand.axes.begin() + at);
  operand.shape.erase(operand.shape.begin() + at);
  operand.values.resize(static_cast<size_t>(elements(operand.shape)), std::nan(""));
  return operand;
}

} // namespace tenon::train
