// One call of an entry with inputs from files: shared by run, grad and test-grad.
#pragma once
#include "runtime/context/Context.h"
#include "tools/tenon/Command.h"

namespace tenon::driver {

using NamedFiles = std::vector<std::pair<std::string, std::string>>;

/// What the shape of a file tells of the dims of an entry: those that an axis is a multiple of, and a constant; every other size
/// is checked by the context. Errors: another number of axes, no whole dim, another one than `dims` has. `apart`: an axis whose
/// places are no size of the entry.
Status takeDims(const runtime::EntryInfo &entry, const runtime::TensorInfo &input, const std::vector<uint64_t> &shape,
                std::map<std::string, int64_t> &dims, std::optional<size_t> apart = std::nullopt);

/// Makes a context whose dims follow from the shapes of the input files and from `bind`, and fills its inputs. Errors: an input
/// without a file, a file without an input, wrong shape or type, a dim that nothing fixes. `states`: a file whose states tell
/// dims, too; an input that is prepared once per text may be missing (checkPrepared).
Expected<std::unique_ptr<runtime::Context>> contextFromFiles(const Model &model,
                                                             const std::shared_ptr<runtime::Parameters> &parameters,
                                                             const std::string &entry, const NamedFiles &inputs, int threads,
                                                             const std::string &states = "");
/// A usage error for such an input without a file where the next run reads it.
Status checkPrepared(const runtime::Context &context, const NamedFiles &inputs);
/// States from and to files; a stacked state's file has the sizes of the stack first.
Status readStates(runtime::Context &context, const NamedFiles &files);
/// A usage error for --step and --seed where the entry draws nothing that they number. `step`: --step is given.
Status checkDraws(const runtime::Manifest &manifest, const std::string &entry, const WeightOptions &weights, bool step);
/// A usage error if `path` is given by `option` but the entry has no states that such a file could hold.
Status checkStateFile(const runtime::Context &context, const std::string &option, const std::string &path);
Status writeStates(const runtime::Context &context, const NamedFiles &files, runtime::FileBatch &batch);
/// Usage error for names that are no outputs of the entry, or no states; before a run, so that nothing is written in vain.
Status checkOutputs(const runtime::Context &context, const NamedFiles &outputs, const NamedFiles &states);
/// Writes outputs to files whose names are checked.
Status saveOutputs(const runtime::Context &context, const NamedFiles &files, runtime::FileBatch &batch);
/// Scalars as "name value", tensors as name, shape and range; to stdout.
Status printOutputs(const runtime::Context &context, bool json);
/// The sizes of the axes of an entry's inputs by name: a recipe binds those of its own entries alone.
std::map<std::string, int64_t> inputSizes(const runtime::Context &context);
/// An output of the last run, as numbers.
Expected<std::vector<double>> outputNumbers(const runtime::Context &context, int output);
/// The entry to call: `wanted`, else the only one of its kind, else the one called `fallback`.
Expected<std::string> chooseEntry(const runtime::Manifest &manifest, runtime::EntryInfo::Kind kind, const std::string &wanted,
                                  const std::string &fallback);
/// The entry of `tenon grad`: `wanted`, else `grad`, or of a recipe with tasks that of `task`. A usage error names the tasks.
Expected<std::string> chooseGradient(const runtime::Manifest &manifest, const std::string &wanted, const std::string &task);
/// The task that a command is about which takes one of a recipe's: `wanted`, or the only one; empty where the recipe has none. A
/// usage error names them: "a gradient" is of one.
Expected<std::string> chooseTask(const std::vector<std::string> &tasks, const std::string &wanted, const std::string &what);

} // namespace tenon::driver
