// tenon test-grad: the compiled gradient against central differences of the compiled loss, in double precision.
#include "runtime/data/Random.h"
#include "runtime/train/Feeder.h"
#include "runtime/train/Session.h"
#include "runtime/train/StateFile.h"
#include "tools/tenon/Call.h"
#include <cmath>
#include <cstdio>

namespace tenon::driver {

namespace {

using runtime::BoundTensor;
using runtime::Context;
using runtime::DataType;
using runtime::Parameters;

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string entry, task, states;
  std::vector<std::string> inputs;
  int64_t directions = 32;
  double epsilon = 1e-5, relative = 1e-6, absolute = 1e-8, spoil = 0;
};

double normal(data::RandomStream &random) {
  double u = 1.0 - random.uniform(), v = random.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
}

/// Values for the inputs that no file gives: indices anywhere below their bound, truth values, and reals from N(0, 1).
void fillInputs(Context &context, uint64_t seed) {
  for (size_t i = 0; i < context.inputs().size(); ++i) {
    const BoundTensor &tensor = context.inputs()[i];
    const auto &bound = context.entry().inputs[i].bound;
    uint64_t below = bound ? static_cast<uint64_t>(bound->evaluate(context.dims()).value_or(1)) : 2;
    data::RandomStream random(seed, data::Purpose::Sample, i);
    void *data = context.input(static_cast<int>(i));
    uint64_t count = tensor.bytes / runtime::byteSize(tensor.type);
    for (uint64_t k = 0; k < count; ++k) {
      if (tensor.type == DataType::I32)
        static_cast<int32_t *>(data)[k] = static_cast<int32_t>(random.below(std::max<uint64_t>(1, below)));
      else if (tensor.type == DataType::Bool)
        static_cast<unsigned char *>(data)[k] = static_cast<unsigned char>(random.below(2));
      else
        static_cast<double *>(data)[k] = normal(random);
    }
  }
}

/// All parameters as one vector, in the order of names().
class Flat {
public:
  explicit Flat(Parameters &parameters) : parameters(parameters) {
    for (const std::string &name : parameters.names())
      places.push_back(*parameters.find(name));
  }
  Expected<std::vector<double>> read(runtime::ParameterArena arena) const {
    std::vector<double> result;
    for (const Parameters::Place &place : places) {
      size_t before = result.size();
      result.resize(before + static_cast<size_t>(place.info->elements));
      if (Status status = parameters.getAt(place, result.data() + before, arena); status.failed())
        return status;
    }
    return result;
  }
  Status write(const std::vector<double> &values) {
    size_t at = 0;
    for (const Parameters::Place &place : places) {
      if (Status status = parameters.setAt(place, values.data() + at); status.failed())
        return status;
      at += static_cast<size_t>(place.info->elements);
    }
    return {};
  }

private:
  Parameters &parameters;
  std::vector<Parameters::Place> places;
};

/// Loss at `values`: states start anew each time, from the file or their initial values, so that every call sees the same past.
Expected<double> lossAt(Context &context, const std::string &states, Flat &flat, const std::vector<double> &values) {
  Status status = flat.write(values);
  context.resetStates();
  if (status.ok() && !states.empty())
    status = train::loadStates(states, context);
  if (status.ok())
    status = context.run();
  if (status.failed())
    return status;
  return train::scalarOutput(context, 0);
}

Status compare(Options &options, Context &context, Parameters &parameters) {
  Flat flat(parameters);
  auto values = flat.read(runtime::ParameterArena::Values);
  if (!values.ok())
    return values.status();
  const std::vector<double> start = values.take();
  auto loss = lossAt(context, options.states, flat, start);
  if (!loss.ok())
    return loss.status();
  auto found = flat.read(runtime::ParameterArena::Gradients);
  if (!found.ok())
    return found.status();
  std::vector<double> gradient = found.take();
  for (double &value : gradient)
    value *= 1 + options.spoil;
  double norm = 0;
  for (double value : gradient)
    norm += value * value;
  printf("loss %.12g, gradient norm %.12g, %zu parameters\n", *loss, std::sqrt(norm), start.size());
  double worst = 0;
  for (int64_t d = 0; d < options.directions; ++d) {
    data::RandomStream random(options.weights.seed, data::Purpose::Pairs, static_cast<uint64_t>(d));
    std::vector<double> direction(start.size());
    double length = 0, expected = 0;
    for (double &value : direction) {
      value = normal(random);
      length += value * value;
    }
    std::vector<double> shifted = start;
    double sides[2] = {};
    for (size_t i = 0; i < start.size(); ++i)
      expected += gradient[i] * (direction[i] /= std::sqrt(length));
    for (int side = 0; side < 2; ++side) {
      for (size_t i = 0; i < start.size(); ++i)
        shifted[i] = start[i] + (side ? -1 : 1) * options.epsilon * direction[i];
      auto value = lossAt(context, options.states, flat, shifted);
      if (!value.ok())
        return value.status();
      sides[side] = *value;
    }
    double difference = (sides[0] - sides[1]) / (2 * options.epsilon);
    // Relative to the whole gradient: a direction that is nearly orthogonal to it has no relative accuracy of its own.
    double allowed = options.absolute +
                     options.relative * std::max(std::fabs(difference), std::sqrt(norm / static_cast<double>(start.size())));
    double ratio = std::fabs(expected - difference) / allowed;
    if (!(ratio <= worst))
      worst = std::isfinite(ratio) ? ratio : INFINITY;
    if (!(ratio <= 1))
      printf("direction %lld: the gradient gives %.12g, differences give %.12g\n", static_cast<long long>(d), expected,
             difference);
  }
  printf("%lld directions, worst at %.3g of the tolerance\n", static_cast<long long>(options.directions), worst);
  if (Status status = flat.write(start); status.failed())
    return status;
  return worst <= 1 ? Status() : Status(runtime::ErrorKind::Numeric, "the compiled gradient differs from central differences");
}

Status run(Options &options) {
  options.model.gradient = true;
  bool specification = options.model.source.ends_with(".tn");
  options.model.doublePrecision = specification;
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  if (model->artifact->manifest().type != DataType::F64)
    return usageError("test-grad needs a model in double precision; compile it with --f64 --grad, or give the specification");
  auto entry = chooseGradient(model->artifact->manifest(), options.entry, options.task);
  auto inputs = parseFiles("--input", options.inputs);
  if (!entry.ok() || !inputs.ok())
    return entry.ok() ? inputs.status() : entry.status();
  options.weights.init |= options.weights.file.empty() && !model->run;
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  if (Status status = (*parameters)->ensure(runtime::ParameterArena::Gradients); status.failed())
    return status;
  std::unique_ptr<Context> context;
  if (inputs->empty()) {
    auto pool = runtime::ThreadPool::create(options.model.threads);
    if (!pool.ok())
      return pool.status();
    if (Status status = train::makeContext(*parameters, *entry, model->bind, *pool, context); status.failed())
      return status;
    fillInputs(*context, options.weights.seed);
  } else {
    auto made = contextFromFiles(*model, *parameters, *entry, *inputs, options.model.threads);
    if (!made.ok())
      return made.status();
    context = made.take();
  }
  context->setSeed(options.weights.seed);
  context->setFlags(1);
  return compare(options, *context, **parameters);
}

} // namespace

void addTestGrad(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("test-grad", "compare the gradient with central differences in random directions");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model, ModelUse::Doubles);
  addWeightOptions(*command, options->weights);
  CLI::Option *entry = command->add_option("--entry", options->entry, "entry to call (default: grad)");
  command->add_option("--task", options->task, "of a recipe with tasks: the one whose losses are meant")
      ->type_name("NAME")
      ->excludes(entry);
  command->add_option("--input", options->inputs, "an input (default: random values for all)")->type_name("NAME=@FILE.npy");
  command->add_option("--states", options->states, "states that every call starts from (default: their initial values)")
      ->type_name("FILE");
  command->add_option("--directions", options->directions, "random directions (default 32)")->transform(whole(1));
  command->add_option("--epsilon", options->epsilon, "length of the step (default 1e-5)")->check(above(0));
  command->add_option("--rtol", options->relative, "relative tolerance (default 1e-6)")->check(above(0));
  command->add_option("--atol", options->absolute, "absolute tolerance (default 1e-8)")->check(above(0));
  command->add_option("--spoil", options->spoil, "makes the gradient wrong by this share: the test must fail")->group("");
  command->footer("Example: tenon test-grad txl.tn --set N=2 --set D=64 --set V=50 --bind B=2 --bind T=17");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
