#include "runtime/train/Evaluate.h"
#include <algorithm>
#include <chrono>
#include <cmath>

namespace tenon::train {

using runtime::AverageInfo;
using runtime::BoundTensor;
using runtime::TensorInfo;

namespace {

/// What counts of one batch.
struct Counted {
  int64_t rows = -1, places = -1; // so many first ones; -1: all
  std::vector<int64_t> first;     // per row: the first of its places that counts
  bool lengths = false;           // the model knows how many places of a row count
};

double elementOf(const void *data, runtime::DataType type, int64_t at) {
  switch (type) {
  case runtime::DataType::F64:
    return static_cast<const double *>(data)[at];
  case runtime::DataType::I32:
    return static_cast<const int32_t *>(data)[at];
  case runtime::DataType::Bool:
    return static_cast<const unsigned char *>(data)[at];
  default:
    return static_cast<double>(static_cast<const float *>(data)[at]);
  }
}

/// The sums behind the numbers of an entry, over the batches so far.
class Totals {
public:
  explicit Totals(const runtime::Context &context) : context(context), outputs(context.entry().outputs), sums(outputs.size()) {}

  void add(const Counted &counted) {
    bool whole = counted.rows < 0 && counted.places < 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
      Sum &sum = sums[i];
      if (outputs[i].rows >= 0)
        addPart(i, counted, sum);
      else if (outputs[i].axes.empty() && (whole || sum.weight == 0)) // a batch with rows that do not count only if there is no other
        sum = whole && !sum.whole ? Sum{value(i), 1, 0, true} : Sum{sum.total + value(i), sum.weight + 1, 0, whole};
    }
  }

  double of(size_t output) const {
    const std::optional<AverageInfo> &average = outputs[output].average;
    return average ? of(*average) : mean(output);
  }

private:
  struct Sum {
    double total = 0, weight = 0; // a part: of its elements, and how many; a number: of the batches
    double share = 0;             // a part: batches, each by the share of its elements that counts
    bool whole = false;           // a number: of whole batches
  };
  const runtime::Context &context;
  const std::vector<TensorInfo> &outputs;
  std::vector<Sum> sums;

  double value(size_t output) const { return scalarOutput(context, output); }
  double mean(size_t output) const { return sums[output].total / sums[output].weight; }

  /// A row whose places end before its length counts in parts that keep the places, and in others where the model knows its length.
  void addPart(size_t output, const Counted &counted, Sum &sum) const {
    const BoundTensor &tensor = context.outputs()[output];
    const TensorInfo &info = outputs[output];
    const int64_t rows = tensor.shape[static_cast<size_t>(info.rows)];
    const int64_t places = info.places < 0 ? 1 : tensor.shape[static_cast<size_t>(info.places)];
    const int64_t lastRow = counted.rows < 0 ? rows : std::min(rows, counted.rows);
    const int64_t lastPlace = info.places < 0 ? (counted.places < 0 || counted.lengths) : counted.places < 0 ? places : std::min(places, counted.places);
    const int64_t rowStep = info.rows > info.places ? 1 : places, placeStep = info.rows > info.places ? rows : 1;
    const void *data = context.output(static_cast<int>(output));
    double total = 0;
    int64_t elements = 0;
    for (int64_t row = 0; row < lastRow; ++row)
      for (int64_t place = info.places < 0 || counted.first.empty() ? 0 : counted.first[static_cast<size_t>(row)]; place < lastPlace; ++place, ++elements)
        total += elementOf(data, tensor.type, row * (info.places < 0 ? 1 : rowStep) + place * placeStep);
    sum.total += total;
    sum.weight += static_cast<double>(elements);
    sum.share += rows * places > 0 ? static_cast<double>(elements) / static_cast<double>(rows * places) : 0;
  }

  double of(const AverageInfo &average) const {
    using Kind = AverageInfo::Kind;
    switch (average.kind) {
    case Kind::Constant:
      return average.number;
    case Kind::Sum:
      return sums[static_cast<size_t>(average.output)].total;
    case Kind::Mean:
      return mean(static_cast<size_t>(average.output));
    case Kind::Count: {
      double size = sums[static_cast<size_t>(average.output)].share;
      for (const runtime::SizeForm &form : average.sizes)
        size *= static_cast<double>(form.evaluate(context.dims()).value_or(0));
      return size;
    }
    case Kind::Apply:
      break;
    }
    return apply(average);
  }

  double apply(const AverageInfo &average) const {
    using Operation = AverageInfo::Operation;
    const double a = of(average.operands[0]), b = average.operands.size() > 1 ? of(average.operands[1]) : 0;
    switch (average.operation) {
    case Operation::Neg:
      return -a;
    case Operation::Exp:
      return std::exp(a);
    case Operation::Log:
      return std::log(a);
    case Operation::Sqrt:
      return std::sqrt(a);
    case Operation::Abs:
      return std::fabs(a);
    case Operation::Add:
      return a + b;
    case Operation::Sub:
      return a - b;
    case Operation::Mul:
      return a * b;
    case Operation::Div:
      return a / b;
    case Operation::Pow:
      return std::pow(a, b);
    case Operation::Max:
      return std::max(a, b);
    case Operation::Min:
      return std::min(a, b);
    }
    return std::nan("");
  }
};

/// Symbols or rows of a batch that count.
int64_t countedUnits(const Counted &counted, int64_t rows, int64_t places, bool perRow) {
  const int64_t last = counted.rows < 0 ? rows : counted.rows, end = counted.places < 0 ? places : counted.places;
  if (perRow || places < 0)
    return last;
  int64_t units = last * end;
  for (int64_t row = 0; row < last && !counted.first.empty(); ++row)
    units -= counted.first[static_cast<size_t>(row)];
  return units;
}

/// The sign of a NaN is chance, and would be printed.
double withoutSign(double value) { return std::isnan(value) ? std::nan("") : value; }

Counted countedOf(const data::DataTask &task, uint64_t batch, int64_t rows) {
  Counted counted{task.validRows(batch), task.validPlaces(batch), {}, task.tellsLengths()};
  for (int64_t row = 0; row < (counted.rows < 0 ? rows : counted.rows); ++row)
    counted.first.push_back(task.firstPlace(batch, row));
  if (std::all_of(counted.first.begin(), counted.first.end(), [](int64_t first) { return first == 0; }))
    counted.first.clear();
  return counted;
}

} // namespace

int entropyOutput(const runtime::Context &context, const data::DataTask &task) {
  const std::vector<TensorInfo> &outputs = context.entry().outputs;
  for (size_t i = 0; i < outputs.size() && task.perCharacter(); ++i)
    if (outputs[i].nats && !outputs[i].metric)
      return static_cast<int>(i);
  return -1;
}

double Evaluation::bitsPerCharacter() const { return numbers[static_cast<size_t>(entropy)].value / M_LN2; }

std::optional<double> Evaluation::perplexity() const {
  for (const Number &number : numbers)
    if (number.nats && !number.metric)
      return std::exp(number.value);
  return std::nullopt;
}

std::string Evaluation::perBatchNote() const {
  std::string names;
  size_t count = 0;
  for (const Number &number : numbers)
    if (number.perBatch && ++count)
      names += runtime::concat(names.empty() ? "" : ", ", number.name);
  const uint64_t smaller = batches - wholeBatches;
  if (names.empty() || (batches == 1 && smaller == 0))
    return {};
  if (wholeBatches == 0)
    return runtime::concat(names, count == 1 ? " is" : " are", " of one batch that is not whole: its last row or place is in it several times");
  return runtime::concat(names, count == 1 ? " is the mean" : " are means", " over ", wholeBatches, wholeBatches == 1 ? " whole batch" : " whole batches",
                         smaller == 0 ? "" : runtime::concat(", without the ", smaller, smaller == 1 ? " smaller one" : " smaller ones", " behind"),
                         "; batches of another size give another number");
}

const Evaluation::Number *Evaluation::find(const std::string &name) const {
  for (const Number &number : numbers)
    if (number.name == name)
      return &number;
  return nullptr;
}

runtime::Expected<Evaluation> evaluate(runtime::Context &context, Feeder &feeder, uint64_t maxBatches, bool (*stop)()) {
  auto begin = std::chrono::steady_clock::now();
  const data::DataTask &task = feeder.task();
  uint64_t batches = task.evaluationBatches();
  if (maxBatches > 0)
    batches = std::min(batches, maxBatches);
  Evaluation result;
  result.extent = task.extent();
  result.extent.covered = 0;
  int64_t rows = 1, places = -1; // of a batch
  for (const BoundTensor &input : context.inputs())
    if (!input.shape.empty() && !task.isFixed(input.name)) {
      rows = input.shape[0];
      if (places < 0 && input.shape.size() > 1)
        places = input.shape[1];
    }
  Totals totals(context);
  context.resetStates();
  for (uint64_t i = 0; i < batches && !(stop && stop()); ++i) {
    if (Status status = feeder.fillEvaluation(i); status.failed())
      return status;
    context.setStep(i);
    if (Status status = context.run(); status.failed())
      return status;
    Counted counted = countedOf(task, i, rows);
    if (counted.rows >= rows)
      counted.rows = -1;
    if (counted.places >= places)
      counted.places = -1;
    totals.add(counted);
    result.wholeBatches += counted.rows < 0 && counted.places < 0;
    const int64_t covers = task.covers(i);
    result.extent.covered += covers >= 0 ? covers : countedUnits(counted, rows, places, std::string_view(result.extent.unit) == "rows");
    ++result.batches;
  }
  const std::vector<TensorInfo> &outputs = context.entry().outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].axes.empty() && !outputs[i].name.starts_with("part."))
      result.numbers.push_back({outputs[i].name, result.batches ? withoutSign(totals.of(i)) : std::nan(""), outputs[i].metric, outputs[i].nats, outputs[i].perBatch});
  result.entropy = entropyOutput(context, task);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace tenon::train
