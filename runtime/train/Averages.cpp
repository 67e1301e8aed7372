#include "runtime/train/Averages.h"
#include "runtime/base/Convert.h"
#include "runtime/train/AverageTensors.h"
#include "runtime/train/Evaluate.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::train {

using runtime::AverageInfo;
using runtime::BoundTensor;
using runtime::TensorInfo;
using Kind = AverageInfo::Kind;

namespace {

bool isPart(Kind kind) { return kind == Kind::Sum || kind == Kind::Greatest || kind == Kind::Least || kind == Kind::Count; }

/// The elements between neighbours along each axis.
std::vector<int64_t> stepsOf(const std::vector<int64_t> &shape) {
  std::vector<int64_t> steps(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    steps[i - 1] = steps[i] * shape[i];
  return steps;
}

} // namespace

Totals::Totals(const runtime::Context &context) : context(context), outputs(context.entry().outputs), values(outputs.size()) {
  for (const TensorInfo &output : outputs)
    if (output.average)
      collect(*output.average);
  for (Part &part : parts)
    layOut(part);
}

void Totals::collect(const AverageInfo &average) {
  for (const AverageInfo &operand : average.operands)
    collect(operand);
  if (!isPart(average.kind))
    return;
  auto found = std::find_if(parts.begin(), parts.end(), [&](const Part &part) {
    return part.output == static_cast<size_t>(average.output) && part.kept == average.axes;
  });
  if (found == parts.end()) {
    Part part;
    part.output = static_cast<size_t>(average.output);
    part.kept = average.axes;
    part.isCount = true;
    found = parts.insert(found, std::move(part));
  }
  found->isCount &= average.kind == Kind::Count;
}

const Totals::Part &Totals::partOf(const AverageInfo &average) const {
  return *std::find_if(parts.begin(), parts.end(), [&](const Part &part) {
    return part.output == static_cast<size_t>(average.output) && part.kept == average.axes;
  });
}

void Totals::layOut(Part &part) const {
  const TensorInfo &info = outputs[part.output];
  const std::vector<int64_t> &shape = context.outputs()[part.output].shape;
  for (const std::string &axis : part.kept)
    part.shape.push_back(shape[static_cast<size_t>(std::find(info.axes.begin(), info.axes.end(), axis) - info.axes.begin())]);
  const std::vector<int64_t> from = stepsOf(shape), to = stepsOf(part.shape);
  auto step = [&](size_t axis) {
    const auto kept = std::find(part.kept.begin(), part.kept.end(), info.axes[axis]);
    return kept == part.kept.end() ? 0 : to[static_cast<size_t>(kept - part.kept.begin())];
  };
  part.placeStep = info.places < 0 ? 0 : step(static_cast<size_t>(info.places));
  if (!part.isCount) {
    part.others = {{0, 0}};
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (static_cast<int>(axis) == info.rows || static_cast<int>(axis) == info.places)
        continue;
      std::vector<std::pair<int64_t, int64_t>> all;
      for (auto [in, out] : part.others)
        for (int64_t i = 0; i < shape[axis]; ++i)
          all.emplace_back(in + i * from[axis], out + i * step(axis));
      part.others = std::move(all);
    }
    int64_t elements = 1;
    for (int64_t size : part.shape)
      elements *= size;
    part.total.assign(static_cast<size_t>(elements), 0);
    part.greatest.assign(static_cast<size_t>(elements), -std::numeric_limits<double>::infinity());
    part.least.assign(static_cast<size_t>(elements), std::numeric_limits<double>::infinity());
  }
  const int64_t rows = shape[static_cast<size_t>(info.rows)],
                places = info.places < 0 ? 1 : shape[static_cast<size_t>(info.places)];
  part.counted.assign(part.placeStep > 0 ? static_cast<size_t>(places) : 1, 0);
  part.whole = part.placeStep > 0 ? rows : rows * places;
}

runtime::Status Totals::add(const Counted &counted) {
  runtime::Status status;
  for (size_t i = 0; i < outputs.size() && status.ok(); ++i)
    if (outputs[i].rows < 0)
      status = addValue(i, counted.rows < 0 && counted.places < 0);
  for (size_t i = 0; i < parts.size() && status.ok(); ++i)
    status = addPart(parts[i], counted);
  return status;
}

/// A batch with rows that do not count only if there is no other.
runtime::Status Totals::addValue(size_t output, bool whole) {
  Value &value = values[output];
  if (!whole && value.weight > 0)
    return {};
  const BoundTensor &tensor = context.outputs()[output];
  int64_t elements = 1;
  for (int64_t size : tensor.shape)
    elements *= size;
  if (value.weight == 0 || (whole && !value.whole))
    value = {std::vector<double>(static_cast<size_t>(elements), 0), 0, whole};
  auto data = context.output(static_cast<int>(output));
  if (!data.ok())
    return data.status();
  for (int64_t i = 0; i < elements; ++i)
    value.total[static_cast<size_t>(i)] += runtime::numberAt(tensor.type, *data, static_cast<uint64_t>(i));
  ++value.weight;
  return {};
}

/// A row whose places end before its length counts in parts that keep the places, and in others where the model knows its length.
runtime::Status Totals::addPart(Part &part, const Counted &counted) const {
  const BoundTensor &tensor = context.outputs()[part.output];
  const TensorInfo &info = outputs[part.output];
  const std::vector<int64_t> steps = stepsOf(tensor.shape);
  const auto rowAxis = static_cast<size_t>(info.rows), placeAxis = static_cast<size_t>(std::max(info.places, 0));
  const int64_t rows = tensor.shape[rowAxis], places = info.places < 0 ? 1 : tensor.shape[placeAxis];
  const int64_t lastRow = counted.rows < 0 ? rows : std::min(rows, counted.rows);
  const int64_t lastPlace = info.places < 0      ? (counted.places < 0 || counted.lengths)
                            : counted.places < 0 ? places
                                                 : std::min(places, std::max<int64_t>(0, counted.places - info.shift));
  auto firstOf = [&](int64_t row) {
    return info.places < 0 || counted.first.empty() ? 0
                                                    : std::max<int64_t>(0, counted.first[static_cast<size_t>(row)] - info.shift);
  };
  auto data = context.output(static_cast<int>(part.output));
  if (!data.ok())
    return data.status();
  for (int64_t row = 0; row < lastRow; ++row)
    for (int64_t place = firstOf(row); place < lastPlace; ++place) {
      ++part.counted[part.placeStep > 0 ? static_cast<size_t>(place) : 0];
      const int64_t base = row * steps[rowAxis] + (info.places < 0 ? 0 : place * steps[placeAxis]), into = place * part.placeStep;
      for (auto [from, to] : part.others) {
        const double value = runtime::numberAt(tensor.type, *data, static_cast<uint64_t>(base + from));
        const auto at = static_cast<size_t>(into + to);
        part.total[at] += value;
        if (!(value <= part.greatest[at]) && !std::isnan(part.greatest[at])) // a NaN stays
          part.greatest[at] = value;
        if (!(value >= part.least[at]) && !std::isnan(part.least[at]))
          part.least[at] = value;
      }
    }
  part.places = std::max(part.places, lastRow > 0 ? lastPlace : 0);
  return {};
}

double Totals::of(size_t output) const {
  const std::optional<AverageInfo> &average = outputs[output].average;
  return average ? of(*average).values[0] : mean(output).values[0];
}

Tensor Totals::mean(size_t output) const {
  Tensor result{outputs[output].axes, context.outputs()[output].shape, values[output].total};
  for (double &value : result.values)
    value /= values[output].weight;
  return result;
}

Tensor Totals::sums(const AverageInfo &average) const {
  const Part &part = partOf(average);
  Tensor result{part.kept, part.shape,
                average.kind == Kind::Sum        ? part.total
                : average.kind == Kind::Greatest ? part.greatest
                                                 : part.least};
  const TensorInfo &info = outputs[part.output];
  return part.placeStep > 0 ? sliced(result, info.axes[static_cast<size_t>(info.places)], 0, part.places) : result;
}

Tensor Totals::count(const AverageInfo &average) const {
  const Part &part = partOf(average);
  Tensor result{{}, {}, part.counted};
  if (part.placeStep > 0) {
    result.axes = part.kept;
    result.shape = {static_cast<int64_t>(part.counted.size())};
    result = sliced(result, part.kept[0], 0, part.places);
  }
  double whole = part.whole > 0 ? 1 / static_cast<double>(part.whole) : 0;
  for (const runtime::SizeForm &form : average.sizes)
    whole *= static_cast<double>(size(form));
  for (double &value : result.values)
    value *= whole;
  return result;
}

Tensor Totals::of(const AverageInfo &average) const {
  std::vector<Tensor> operands;
  for (const AverageInfo &operand : average.operands)
    operands.push_back(of(operand));
  switch (average.kind) {
  case Kind::Constant:
    return {{}, {}, {average.number}};
  case Kind::Sum:
  case Kind::Greatest:
  case Kind::Least:
    return sums(average);
  case Kind::Count:
    return count(average);
  case Kind::Mean:
    return mean(static_cast<size_t>(average.output));
  case Kind::Apply:
    return elementwise(average.operation, operands);
  case Kind::Along:
    return reduced(average.operation, operands[0], average.axes);
  case Kind::Rename:
    return renamed(std::move(operands[0]), average.axes, average.to);
  case Kind::Expand:
  case Kind::Slice:
    break;
  }
  std::vector<int64_t> sizes;
  for (const runtime::SizeForm &form : average.sizes)
    sizes.push_back(size(form));
  if (average.kind == Kind::Expand)
    return expanded(operands[0], average.axes, sizes);
  Tensor result = sliced(operands[0], average.axes[0], sizes[0], sizes[1]);
  return average.to.empty() ? dropped(std::move(result), average.axes[0]) : renamed(std::move(result), average.axes, average.to);
}

} // namespace tenon::train
