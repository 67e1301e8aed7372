// seq2seq(source = "a.src", target = "a.tgt"): UniLM's fine-tuning for generation (Dong et al. 2019; microsoft/unilm, unilm-v1,
// biunilm/seq2seq_loader.py, Preprocess4Seq2seq): one row has both texts, and a share of the target is masked, anew in each
// epoch.
#include "runtime/data/Masking.h"
#include "runtime/data/ParallelLines.h"
#include "runtime/data/RowTask.h"
#include <algorithm>

namespace tenon::data {

using runtime::concat;
using runtime::counted;

namespace {

enum : size_t { kIds, kSeg, kPlace, kLen, kTask, kPrefix, kAt, kWord, kWeight };
constexpr int32_t kSourceSegment = 4, kTargetSegment = 5, kSeq2SeqTask = 3;

class Seq2SeqTask : public RowTask {
public:
  using RowTask::RowTask;

  Status open(const Vocabulary *known) {
    names = inputsOf("seq2seq");
    if (known)
      symbols = *known;
    else if (settings.vocabulary.empty())
      symbols = Vocabulary::bytes(true);
    else if (Status status = readSymbols(settings, symbols); status.failed())
      return status;
    if (Status status = Marks::find(symbols, "seq2seq", marks); status.failed())
      return status;
    if (Status status = readParallel(settings, symbols, {marks.cls, marks.sep, marks.mask, marks.pad}, source, target);
        status.failed())
      return status;
    return setRows(source.count(), concat("'", source.path, "'"));
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    Status status = bindInputs("seq2seq", givenBy("seq2seq", symbols.size()), inputs, binding);
    if (status.ok())
      status = setBatch(inputs);
    if (status.ok() && binding.T < 5)
      status =
          inputError("seq2seq needs at least 5 places for two texts and what stands around them, the inputs have ", binding.T);
    return status;
  }

  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    drawn = index * static_cast<uint64_t>(binding.B);
    return RowTask::fill(index, inputs);
  }
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override {
    drawn = index * static_cast<uint64_t>(binding.B);
    return RowTask::fillEvaluation(index, inputs);
  }

  std::vector<std::string> notes() const override {
    uint64_t longer = 0;
    for (uint64_t row = 0; row < source.count(); ++row)
      longer += source.length(row) + target.length(row) > binding.T - 3;
    return longer == 0 || binding.T == 0
               ? std::vector<std::string>()
               : std::vector<std::string>{concat(counted(longer, "row"), " of ", source.path,
                                                 longer == 1 ? " and its target have" : " and their targets have",
                                                 " more than the ", binding.T - 3,
                                                 " symbols that there is room for: the end of the longer text is cut off")};
  }

private:
  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    int64_t from = source.length(row), to = target.length(row);
    while (from + to > binding.T - 3)
      --(from > to ? from : to);
    std::vector<int32_t> ids = {marks.cls};
    for (int64_t i = 0; i < from; ++i)
      ids.push_back(source.at(row, i));
    ids.push_back(marks.sep);
    const int64_t prefix = from + 2;
    for (int64_t i = 0; i < to; ++i)
      ids.push_back(target.at(row, i));
    ids.push_back(marks.sep);
    const std::vector<Prediction> predicted = maskTarget(ids, prefix, drawn + static_cast<uint64_t>(b));
    const Writer write(binding, inputs);
    const auto length = static_cast<int64_t>(ids.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kIds, b * binding.T + t, t < length ? ids[static_cast<size_t>(t)] : marks.pad);
      write.integer(kSeg, b * binding.T + t, t < prefix ? kSourceSegment : t < length ? kTargetSegment : 0);
      write.integer(kPlace, b * binding.T + t, t);
    }
    writePredictions(write, kAt, binding.K, b, predicted);
    write.integer(kLen, b, length);
    write.integer(kTask, b, kSeq2SeqTask);
    write.integer(kPrefix, b, prefix);
    return {};
  }

  /// round(rate * n) of the n symbols of the target, at least one and at most K, drawn from these and its end (which n leaves
  /// out).
  std::vector<Prediction> maskTarget(std::vector<int32_t> &ids, int64_t prefix, uint64_t sample) const {
    RandomStream random(settings.seed, Purpose::Mask, sample);
    std::vector<int64_t> places;
    for (int64_t at = prefix; at < static_cast<int64_t>(ids.size()); ++at)
      places.push_back(at);
    random.shuffle(places);
    places.resize(std::min(places.size(), countToPredict(settings.targetRate, places.size() - 1, binding.K)));
    return hide(ids, places, marks, symbols, Drawn::All, random);
  }

  Lines source, target;
  Binding binding;
  Marks marks;
  mutable uint64_t drawn = 0; // of the first row of the batch under way: masks are new in each epoch
};

} // namespace

Status makeSeq2SeqTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<Seq2SeqTask>(settings, part, known, result);
}

} // namespace tenon::data
