#include "runtime/train/AveragedWeights.h"
#include "runtime/base/Convert.h"
#include "runtime/files/Checkpoint.h"
#include "runtime/files/Safetensors.h"
#include <algorithm>

namespace tenon::train {

using runtime::DataType;
using runtime::DeviceView;
using runtime::ParameterArena;
using runtime::Parameters;

namespace {

/// One update of all elements of an arena, cut into tiles. The context comes first: tiles are handed it alone.
struct MovingJob {
  TnContext context{};
  DataType type = DataType::F32;
  const char *values = nullptr;
  char *means = nullptr;
  uint64_t elements = 0;
  double share = 0;
  static constexpr uint64_t tile = 1 << 16;
};

template <typename Real> void moveTowards(const Real *values, Real *means, uint64_t count, double share) {
  const Real part = static_cast<Real>(share);
  for (uint64_t i = 0; i < count; ++i)
    means[i] += part * (values[i] - means[i]);
}

void moveElements(DataType type, const char *values, char *means, uint64_t count, double share) {
  runtime::withReal(type, [&]<typename Real>(Real) {
    moveTowards(reinterpret_cast<const Real *>(values), reinterpret_cast<Real *>(means), count, share);
  });
}

void moveTile(const TnContext *context, int64_t tile, int64_t) {
  const MovingJob &job = *reinterpret_cast<const MovingJob *>(context);
  const uint64_t first = static_cast<uint64_t>(tile) * MovingJob::tile, size = runtime::byteSize(job.type);
  moveElements(job.type, job.values + first * size, job.means + first * size, std::min(MovingJob::tile, job.elements - first),
               job.share);
}

/// All elements of one parameter, of its type, row-major.
template <typename Visit> Status visitPlaces(const Parameters &parameters, Visit visit) {
  std::vector<char> values;
  for (const std::string &name : parameters.names()) {
    auto place = parameters.find(name);
    if (!place.ok())
      return place.status();
    values.resize(static_cast<size_t>(place->info->elements) * runtime::byteSize(place->info->type));
    Status status = parameters.getAt(*place, values.data());
    if (status.ok())
      status = visit(name, *place, values);
    if (status.failed())
      return status;
  }
  return {};
}

/// The type of all elements in the arena of parameters; nothing where they differ, lie in halves or have copies.
std::optional<DataType> onlyType(const runtime::Manifest &manifest) {
  const auto &all = manifest.parameters;
  const bool isOne = !all.empty() && std::all_of(all.begin(), all.end(), [&](const runtime::ParameterInfo &info) {
    return info.type == all[0].type && info.stored == info.type && !info.split && !info.copied;
  });
  return isOne ? std::optional(all[0].type) : std::nullopt;
}

/// The newest checkpoints that a mean takes in besides the parameters as they are: at multiples of `every`, before `step`.
std::vector<uint64_t> stepsBefore(const std::string &directory, uint64_t step, uint64_t every, size_t most) {
  std::vector<uint64_t> steps;
  for (uint64_t each : runtime::listCheckpoints(directory))
    if (each < step && each % every == 0 && steps.size() < most)
      steps.push_back(each);
  return steps;
}

} // namespace

Expected<std::unique_ptr<AveragedWeights>> AveragedWeights::create(const AverageSetting &setting,
                                                                   const std::shared_ptr<Parameters> &source,
                                                                   const std::shared_ptr<runtime::ThreadPool> &pool) {
  std::unique_ptr<AveragedWeights> result(new AveragedWeights(setting));
  auto mean = Parameters::create(source->owner());
  if (!mean.ok())
    return mean.status();
  result->mean = mean.take();
  result->source = source;
  result->pool = pool;
  for (const std::string &name : source->names()) {
    auto place = source->find(name);
    if (!place.ok())
      return place.status();
    if (place->info->stored != place->info->type)
      result->wide.emplace(name, std::vector<float>(static_cast<size_t>(place->info->elements)));
  }
  return result;
}

/// Each parameter of 16 bits, with its mean.
Status AveragedWeights::visitWide(const std::function<Status(const Parameters::Place &, std::vector<float> &)> &visit) {
  for (auto &[name, means] : wide) {
    auto place = source->find(name);
    Status status = place.ok() ? visit(*place, means) : place.status();
    if (status.failed())
      return status;
  }
  return {};
}

/// What evaluations read of means of 16 bits. States of the model and notes are not averaged: they are those of the training.
Status AveragedWeights::complete() {
  Status rounded =
      visitWide([&](const Parameters::Place &place, std::vector<float> &means) { return mean->setAt(place, means.data()); });
  if (rounded.failed())
    return rounded;
  mean->notes = source->notes;
  for (auto &[name, state] : mean->modelStates())
    if (Status status = state.memory.view().copyFrom(source->modelStates().at(name).memory.view()); status.failed())
      return status;
  mean->touchModelStates();
  return {};
}

Status AveragedWeights::restart() {
  Status status = visitPlaces(*source, [&](const std::string &, const Parameters::Place &place, std::vector<char> &values) {
    return mean->setAt(place, values.data());
  });
  if (status.ok())
    status =
        visitWide([&](const Parameters::Place &place, std::vector<float> &means) { return source->getAt(place, means.data()); });
  return status.ok() ? complete() : status;
}

Status AveragedWeights::load(const runtime::SafetensorsFile &file) {
  Status status = mean->loadArena(file, ParameterArena::Values);
  for (auto &[name, means] : wide)
    if (status.ok())
      status = file.readReals(*file.find(name), 0, means.size(), DataType::F32, means.data());
  return status;
}

Status AveragedWeights::save(runtime::ByteSink &sink) const { return runtime::saveWideTo(*mean, wide, sink); }

uint64_t AveragedWeights::fileBytes() const { return runtime::wideFileBytes(*mean, wide); }

uint64_t AveragedWeights::wideBytes() const {
  uint64_t bytes = 0;
  for (const auto &[name, means] : wide)
    bytes += means.size() * sizeof(float);
  return bytes;
}

Status AveragedWeights::update(uint64_t step) {
  if (!isMoving())
    return {};
  const double count = static_cast<double>(step);
  const double share = 1 - (setting.ramp ? std::min(setting.decay, (1 + count) / (10 + count)) : setting.decay);
  const DeviceView values = source->arena(ParameterArena::Values), means = mean->arena(ParameterArena::Values);
  if (const std::optional<DataType> only = onlyType(source->manifest()); only && values.hostView() && means.hostView()) {
    MovingJob job;
    job.type = *only;
    job.values = values.hostView();
    job.means = means.hostView();
    job.elements = values.size() / runtime::byteSize(job.type);
    job.share = share;
    pool->run(&job.context, moveTile, static_cast<int64_t>((job.elements + MovingJob::tile - 1) / MovingJob::tile));
    return {};
  }
  const runtime::FloatingPointScope sameMode;
  std::vector<char> moved;
  return visitPlaces(*source, [&](const std::string &name, const Parameters::Place &place, std::vector<char> &now) {
    if (const auto found = wide.find(name); found != wide.end()) {
      moveTowards(reinterpret_cast<const float *>(now.data()), found->second.data(), found->second.size(), share);
      return Status();
    }
    moved.resize(now.size());
    Status status = mean->getAt(place, moved.data());
    moveElements(place.info->type, now.data(), moved.data(), static_cast<uint64_t>(place.info->elements), share);
    return status.ok() ? mean->setAt(place, moved.data()) : status;
  });
}

Status AveragedWeights::prepare(const std::string &directory, uint64_t step, uint64_t every, std::vector<std::string> &notes) {
  if (isMoving() || prepared == step)
    return complete();
  std::vector<runtime::SafetensorsFile> files;
  for (uint64_t each : stepsBefore(directory, step, every, setting.last - 1)) {
    auto checkpoint = runtime::loadCheckpoint(runtime::concat(directory, "/step-", each));
    if (!checkpoint.ok()) { // the steps of this run are worth more than a mean of all
      if (leftOut.insert(each).second)
        notes.push_back(runtime::concat("warning: average = last(", setting.last, ") leaves out the checkpoint of step ", each,
                                        ": ", checkpoint.status().message()));
      continue;
    }
    auto file = runtime::SafetensorsFile::open(checkpoint->filePath("parameters.safetensors"));
    Status status = file.ok() ? source->checkArena(*file, ParameterArena::Values) : file.status();
    if (status.failed())
      return status;
    files.push_back(file.take());
  }
  Status status = meanOfCheckpoints(files);
  if (status.ok())
    prepared = step;
  return status.ok() ? complete() : status;
}

Status AveragedWeights::meanOfCheckpoints(const std::vector<runtime::SafetensorsFile> &files) {
  std::vector<double> sum, other;
  return visitPlaces(*source, [&](const std::string &name, const Parameters::Place &place, std::vector<char> &values) {
    const DataType type = place.info->type;
    const auto count = static_cast<size_t>(place.info->elements);
    sum.resize(count);
    other.resize(count);
    runtime::convertReals(type, values.data(), count, DataType::F64, sum.data());
    for (const runtime::SafetensorsFile &file : files) {
      if (Status status = file.readReals(*file.find(name), 0, count, DataType::F64, other.data()); status.failed())
        return status;
      std::transform(sum.begin(), sum.end(), other.begin(), sum.begin(), std::plus<>());
    }
    for (double &value : sum)
      value /= static_cast<double>(files.size() + 1);
    runtime::convertReals(DataType::F64, sum.data(), count, type, values.data());
    if (const auto found = wide.find(name); found != wide.end()) {
      std::copy_n(reinterpret_cast<const float *>(values.data()), count, found->second.begin());
      return Status();
    }
    return mean->setAt(place, values.data());
  });
}

std::set<uint64_t> AveragedWeights::needed(const std::string &directory, uint64_t step, uint64_t every) const {
  if (isMoving())
    return {};
  const bool counts = step % every == 0; // else that of `step` is for going on alone
  const std::vector<uint64_t> before = stepsBefore(directory, step, every, setting.last - (counts ? 1 : 0));
  std::set<uint64_t> steps(before.begin(), before.end());
  if (counts)
    steps.insert(step);
  return steps;
}

} // namespace tenon::train
