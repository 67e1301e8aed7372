// translation(source = "a.en", target = "a.de"): parallel texts, line i of one being line i of the other, as rows of an encoder
// and of a decoder (Vaswani et al. 2017; tensor2tensor, data_generators/text_problems.py and layers/common_layers.py,
// shift_right): what the decoder reads is what it is to say, one place later, behind the filling symbol.
#include "runtime/data/Inputs.h"
#include "runtime/data/ParallelLines.h"
#include "runtime/data/RowTask.h"
#include <algorithm>

namespace tenon::data {

using runtime::concat;
using runtime::counted;

namespace {

enum : size_t { kSource, kSourceLength, kTarget, kTargetLength, kLabel };

class TranslationTask : public RowTask {
public:
  using RowTask::RowTask;

  Status open(const Vocabulary *known) {
    names = inputsOf("translation");
    if (known)
      symbols = *known;
    else if (!settings.vocabulary.empty())
      if (Status status = Vocabulary::read(settings.vocabulary, symbols); status.failed())
        return status;
    if (Status status = findMarks(); status.failed())
      return status;
    if (Status status = readParallel(settings, symbols, {pad, end}, source, target); status.failed())
      return status;
    return setRows(source.count(), concat("'", source.path, "'"));
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    Status status = bindInputs("translation", givenBy("translation", symbols.size()), inputs, binding);
    if (status.ok())
      status = setBatch(inputs);
    const std::pair<size_t, size_t> lengths[] = {{kSourceLength, kSource}, {kTargetLength, kTarget}};
    for (auto [length, of] : lengths)
      if (status.ok() && binding.at[length] >= 0 && binding.at[of] >= 0)
        status = checkLengths(inputs[static_cast<size_t>(binding.at[length])], inputs[static_cast<size_t>(binding.at[of])]);
    return status;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> result;
    for (auto [side, places, axis] : {std::tuple(&source, binding.S, "S"), std::tuple(&target, binding.T, "T")}) {
      uint64_t longer = 0;
      for (uint64_t line = 0; line < side->count(); ++line)
        longer += places > 0 && side->length(line) + 1 > places;
      if (longer > 0)
        result.push_back(concat(counted(longer, "line"), " of ", side->path, longer == 1 ? " has" : " have", " more than ",
                                places - 1, " symbols and an end, which is all that ", axis, " = ", places,
                                " has room for: only the beginning is read"));
    }
    return result;
  }

private:
  /// Bytes and characters of a text are never 0 or 1.
  Status findMarks() {
    const bool marked = symbols.unit() == Unit::Words;
    pad = symbols.special("pad").value_or(0);
    const std::optional<int32_t> found = symbols.special("eos");
    if (marked && !found)
      return inputError("the vocabulary '", settings.vocabulary,
                        "' has no symbol for the end of a text; translation needs <eos>");
    end = found.value_or(1);
    return {};
  }

  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    const Writer write(binding, inputs);
    const int64_t from = std::min(source.length(row), binding.S - 1), to = std::min(target.length(row), binding.T - 1);
    for (int64_t s = 0; s < binding.S; ++s)
      write.integer(kSource, b * binding.S + s, s < from ? source.at(row, s) : s == from ? end : pad);
    for (int64_t t = 0; t < binding.T; ++t) {
      write.integer(kTarget, b * binding.T + t, t > 0 && t <= to ? target.at(row, t - 1) : pad);
      write.integer(kLabel, b * binding.T + t, t < to ? target.at(row, t) : t == to ? end : pad);
    }
    write.integer(kSourceLength, b, from + 1);
    write.integer(kTargetLength, b, to + 1);
    return {};
  }

  Lines source, target;
  Binding binding;
  int32_t pad = 0, end = 1;
};

} // namespace

Status makeTranslationTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<TranslationTask>(settings, part, known, result);
}

} // namespace tenon::data
