// Finding and writing the input tensors of an entry, shared by the tasks.
#pragma once
#include "runtime/data/Task.h"

namespace tenon::data {

/// What a task knows about one input it can fill: its rank and type, and how many different values it writes.
struct Given {
  std::string name;
  std::string axes; // "BT", "BK", "BAT", "BCYX" or "B"
  DataType type;    // F32 stands for any real type
  int64_t values;   // least bound the input must have; -1: not an index
};

/// The inputs of a task as frontend/recipes/RecipeSchema.cpp has them, in its order, with a vocabulary of `symbols`.
std::vector<Given> givenBy(const std::string &task, int64_t symbols);
std::vector<std::string> inputsOf(const std::string &task);

/// Position of each of `given` among `inputs` (-1: the entry does not read it), and the sizes of B, A, T, S, K, C, Y and X (0: no
/// input has it).
struct Binding {
  std::vector<int> at;
  int64_t B = 0, A = 0, T = 0, S = 0, K = 0, C = 0, Y = 0, X = 0;
};

/// Fails if an input is not given by `task`, has another rank (further axes of size 1 count for nothing), type or too small a
/// bound, or if two inputs disagree about a size. Sizes T and K that values depend on are checked by the caller through `values`,
/// so they are passed lazily: -2 means T, -3 means T + 1.
Status bindInputs(const std::string &task, const std::vector<Given> &given, const std::vector<InputTensor> &inputs,
                  Binding &binding);

/// Element writers; nothing happens where the entry does not read the input.
class Writer {
public:
  Writer(const Binding &binding, std::vector<InputTensor> &inputs) : binding(binding), inputs(inputs) {}
  void integer(size_t given, int64_t offset, int64_t value) const {
    if (int at = binding.at[given]; at >= 0)
      static_cast<int32_t *>(inputs[static_cast<size_t>(at)].data)[offset] = static_cast<int32_t>(value);
  }
  void truth(size_t given, int64_t offset, bool value) const {
    if (int at = binding.at[given]; at >= 0)
      static_cast<unsigned char *>(inputs[static_cast<size_t>(at)].data)[offset] = value;
  }
  void real(size_t given, int64_t offset, double value) const {
    if (int at = binding.at[given]; at >= 0)
      inputs[static_cast<size_t>(at)].setReal(offset, value);
  }

private:
  const Binding &binding;
  std::vector<InputTensor> &inputs;
};

// One factory per family; tokens and open files belong to the task.
Status makeStreamTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeSlidingTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makePermutationTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeMaskedTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeReplacedTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeUnifiedTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeBlocksTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeCorruptionTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeOrderTask(const TaskSettings &, std::string_view text, Vocabulary, std::unique_ptr<DataTask> &);
Status makeArraysTask(const TaskSettings &, Part, std::unique_ptr<DataTask> &);
/// `known`: the names of classes that the run has already; null: those of the file.
Status makeJsonlTask(const TaskSettings &, Part, const Vocabulary *known, std::unique_ptr<DataTask> &);
/// The texts are files of lines; `known` as above.
Status makeLabelledTask(const TaskSettings &, Part, const Vocabulary *known, std::unique_ptr<DataTask> &);
Status makeGroupsTask(const TaskSettings &, Part, const Vocabulary *known, std::unique_ptr<DataTask> &);
Status makeSpanTask(const TaskSettings &, Part, const Vocabulary *known, std::unique_ptr<DataTask> &);
Status makeImagesTask(const TaskSettings &, Part, const Vocabulary *known, std::unique_ptr<DataTask> &);
Status makeSeq2SeqTask(const TaskSettings &, Part, const Vocabulary *known, std::unique_ptr<DataTask> &);
Status makeTranslationTask(const TaskSettings &, Part, const Vocabulary *known, std::unique_ptr<DataTask> &);

} // namespace tenon::data
