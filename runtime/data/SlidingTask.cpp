// Windows of T that move on by `stride` places: each symbol of the text is predicted once, all but those of the first window
// after at least T - stride others. For evaluation alone, by models that keep nothing from window to window. A model without
// `target` predicts places of `ids` from those `shift` before them.
#include "runtime/data/Inputs.h"
#include <algorithm>

namespace tenon::data {

namespace {

enum : size_t { kIds, kTarget, kLen }; // kLen: of lm_blocks

class SlidingTask : public DataTask {
public:
  SlidingTask(const TaskSettings &settings, Vocabulary vocabulary) : settings(settings) { symbols = std::move(vocabulary); }
  Status read(std::string_view text) { return tokenize(symbols, text, tokens); }

  std::vector<std::string> gives() const override { return inputsOf(settings.name); }

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = bindInputs(settings.name, givenBy(settings.name, symbols.size()), inputs, binding); !status.ok())
      return status;
    shift = binding.at[kTarget] < 0 ? settings.shift : 0;
    if (binding.at[kIds] < 0 || (binding.at[kTarget] < 0 && shift < 1))
      return inputError("a sliding window needs an entry that reads ids and target, or whose losses predict places of ids from "
                        "earlier ones (ids[T: 1 .. T -> T1])");
    width = binding.T - shift;
    if (settings.stride > width)
      return inputError("a stride of ", settings.stride, " leaves symbols out: windows predict ", width, " places");
    predicted = tokens.size() - std::max<int64_t>(1, shift);
    return predicted < 1 ? inputError("the text has less than two symbols") : Status();
  }

  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    Writer write(binding, inputs);
    for (int64_t b = 0; b < binding.B; ++b) {
      const int64_t from = begin(std::min(windowOf(index, b), windows() - 1));
      for (int64_t t = 0; t < binding.T; ++t) {
        const int64_t place = from + std::min(t, predicted + shift - 1);
        write.integer(kIds, b * binding.T + t, tokens[place]);
        if (binding.at[kTarget] >= 0)
          write.integer(kTarget, b * binding.T + t, tokens[place + 1]);
      }
      if (settings.name == "lm_blocks")
        write.integer(kLen, b, validPlaces(index));
    }
    return {};
  }

  uint64_t batchesPerEpoch() const override { return static_cast<uint64_t>((windows() + binding.B - 1) / binding.B); }
  bool resetsBefore(uint64_t) const override { return true; }
  int64_t validRows(uint64_t index) const override { return std::min(binding.B, windows() - windowOf(index, 0)); }
  int64_t validPlaces(uint64_t) const override { return std::min(binding.T, predicted + shift); }
  int64_t firstPlace(uint64_t index, int64_t row) const override {
    const int64_t window = windowOf(index, row);
    return window == 0 ? 0 : begin(window - 1) + width + shift - begin(window);
  }
  Extent extent() const override { return {predicted, tokens.size(), "symbols"}; }
  int64_t tokensPerBatch() const override { return binding.B * settings.stride; }
  bool perCharacter() const override { return symbols.isOfCharacters(); }

private:
  int64_t windowOf(uint64_t index, int64_t row) const { return static_cast<int64_t>(index) * binding.B + row; }
  int64_t windows() const { return predicted <= width ? 1 : 1 + (predicted - width + settings.stride - 1) / settings.stride; }
  /// The last window ends with the text, so that it has its full context.
  int64_t begin(int64_t window) const { return std::min(window * settings.stride, std::max<int64_t>(0, predicted - width)); }

  TaskSettings settings;
  Tokens tokens;
  Binding binding;
  int64_t predicted = 0;        // all symbols but the first
  int64_t width = 0, shift = 0; // places of a window that predict; their distance to what they predict, within ids
};

} // namespace

Status makeSlidingTask(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                       std::unique_ptr<DataTask> &result) {
  return readTask<SlidingTask>(settings, text, std::move(vocabulary), result);
}

} // namespace tenon::data
