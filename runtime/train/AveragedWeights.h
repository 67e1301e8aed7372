// What `average` of a recipe asks for: means of the parameters over the steps of a run. Evaluations, checkpoints and all later
// commands read them; the optimizer goes on from the parameters themselves.
#pragma once
#include "runtime/device/Threads.h"
#include "runtime/parameters/WideValues.h"
#include "runtime/train/AverageSetting.h"
#include <functional>
#include <set>

namespace tenon::train {

using runtime::Expected;
using runtime::Status;

class AveragedWeights {
public:
  /// Of the parameters of a training: `source` outlives no one. Errors: memory.
  static Expected<std::unique_ptr<AveragedWeights>> create(const AverageSetting &setting,
                                                           const std::shared_ptr<runtime::Parameters> &source,
                                                           const std::shared_ptr<runtime::ThreadPool> &pool);
  /// The means, for contexts that evaluate: of parameters of 16 bits rounded to these. After `prepare`.
  const std::shared_ptr<runtime::Parameters> &parameters() const { return mean; }
  /// Moving averages begin with the parameters as they are.
  Status restart();
  /// As they are in a file of a checkpoint: `save` has written it, or it holds parameters that they begin with.
  Status load(const runtime::SafetensorsFile &file);
  Status save(runtime::ByteSink &sink) const;
  uint64_t fileBytes() const;
  /// Of the means, beside those that `parameters` has.
  uint64_t wideBytes() const;
  /// After update number `step`, from 1.
  Status update(uint64_t step);
  /// Completes the means after update number `step`: those over checkpoints from the files of `directory`, whose steps are
  /// multiples of `every`. A damaged one is left out; `notes` names it, once.
  Status prepare(const std::string &directory, uint64_t step, uint64_t every, std::vector<std::string> &notes);
  /// Steps whose checkpoints in `directory` later means are made of, that of `step` among them. Empty for moving averages.
  std::set<uint64_t> needed(const std::string &directory, uint64_t step, uint64_t every) const;
  /// Moving averages are part of what a run goes on from.
  bool isMoving() const { return setting.last == 0; }

private:
  AveragedWeights(const AverageSetting &setting) : setting(setting) {}
  Status complete();
  Status visitWide(const std::function<Status(const runtime::Parameters::Place &, std::vector<float> &)> &visit);
  Status meanOfCheckpoints(const std::vector<runtime::SafetensorsFile> &files);
  AverageSetting setting;
  std::shared_ptr<runtime::Parameters> source, mean;
  runtime::WideValues wide; // the means of parameters of 16 bits, whose last places no step of a mean would reach
  std::shared_ptr<runtime::ThreadPool> pool;
  std::optional<uint64_t> prepared; // step whose checkpoints are in the means
  std::set<uint64_t> leftOut;       // damaged checkpoints that were named
};

} // namespace tenon::train
