// tenon export: the trained weights of a run as files that others read.
#include "tools/tenon/Command.h"
#include "tools/tenon/Say.h"

namespace tenon::driver {

namespace {

struct Options {
  ModelOptions model;
  WeightOptions weights;
  std::string output, outputNames, shard;
};

/// Parameters of a file under a scheme: all but copies of others.
size_t written(const runtime::Parameters &parameters, const std::string &scheme) {
  size_t count = parameters.names().size();
  for (const runtime::ParameterInfo &info : parameters.manifest().parameters)
    if (const auto names = info.names.find(scheme); names != info.names.end())
      for (size_t i = 0; i < names->second.size(); ++i)
        count -= info.has(static_cast<int64_t>(i)) && names->second[i].copy;
  return count;
}

/// "500MB", "2GiB", "1000000": bytes. Units are those of 1000 (kB, MB, GB) and of 1024 (KiB, MiB, GiB).
Expected<uint64_t> bytesOf(const std::string &text) {
  size_t digits = text.find_first_not_of("0123456789");
  std::optional<uint64_t> number = wholeNumber<uint64_t>(std::string_view(text).substr(0, digits));
  std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  for (const auto &[name, factor] : {std::pair<std::string, uint64_t>{"", 1},
                                     {"kB", 1000},
                                     {"MB", 1000'000},
                                     {"GB", 1000'000'000},
                                     {"KiB", 1ull << 10},
                                     {"MiB", 1ull << 20},
                                     {"GiB", 1ull << 30}})
    if (number && *number > 0 && *number <= (1ull << 60) / factor && unit == name)
      return *number * factor;
  return usageError("--shard-size takes a whole number of bytes, of kB, MB, GB, KiB, MiB or GiB, such as 500MB, not '", text,
                    "'");
}

bool isFile(const std::string &path) {
  constexpr std::string_view suffix = ".safetensors";
  return path.size() > suffix.size() && std::string_view(path).substr(path.size() - suffix.size()) == suffix;
}

/// Files of other formats that bear weights elsewhere: a folder of such a name would only mislead.
bool isOtherFormat(const std::string &path) {
  for (std::string_view suffix : {".pt", ".pth", ".bin", ".npz", ".npy", ".ckpt", ".h5", ".onnx", ".gguf", ".pkl"})
    if (path.size() > suffix.size() && std::string_view(path).ends_with(suffix))
      return true;
  return false;
}

/// What the run keeps of its symbols and classes. Without that file, what its checkpoints say.
Status noteVocabulary(const train::RunDirectory &run, runtime::Parameters &parameters) {
  auto vocabulary = train::readVocabulary(run);
  if (vocabulary.ok() && *vocabulary)
    parameters.notes[runtime::kVocabularyNote] = (*vocabulary)->note();
  return parameters.notes.empty() ? vocabulary.status() : Status();
}

Status run(const Options &options) {
  if (isOtherFormat(options.output))
    return usageError("--output is a .safetensors file or a folder of them, not ", options.output);
  if (isFile(options.output) && !options.shard.empty())
    return usageError("--shard-size writes several files; --output has to be a folder, not ", options.output);
  auto shard = options.shard.empty() ? Expected<uint64_t>(5'000'000'000) : bytesOf(options.shard);
  if (!shard.ok())
    return shard.status();
  auto model = openModel(options.model);
  if (!model.ok())
    return model.status();
  if (Status status = checkUnbound(*model, options.model); status.failed())
    return status;
  if (!model->run && options.weights.file.empty())
    return usageError(options.model.source,
                      " is no run: its weights are in a file; pass --weights FILE, or use tenon init for initial values");
  auto parameters = loadParameters(*model, options.weights);
  if (!parameters.ok())
    return parameters.status();
  if (model->run && options.weights.file.empty()) // checkpoints of before may say less
    if (Status status = noteVocabulary(*model->run, **parameters); status.failed())
      return status;
  Status status = isFile(options.output)
                      ? (*parameters)->save(options.output, runtime::ParameterArena::Values, options.outputNames)
                      : (*parameters)->saveShards(options.output, *shard, options.outputNames);
  if (status.failed())
    return status;
  show("%s: %s%s\n", options.output.c_str(), runtime::counted(written(**parameters, options.outputNames), "parameter").c_str(),
       options.outputNames.empty() ? "" : concat(", names of ", options.outputNames).c_str());
  return {};
}

} // namespace

void addExport(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("export", "write the trained weights of a run, under own or public names");
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model, ModelUse::Weights);
  addWeightOptions(*command, options->weights, WeightUse::Trained);
  command->add_option("--step", options->weights.step, "the same as --checkpoint")->type_name("N|best")->excludes("--checkpoint");
  command
      ->add_option("-o,--output", options->output,
                   "a .safetensors file, or a folder for model.safetensors or shards of it with their index")
      ->required()
      ->type_name("FILE|DIR");
  command->add_option("--names", options->outputNames, "write with the names of this `names` table, such as hf");
  command->add_option("--shard-size", options->shard, "largest file in a folder, such as 500MB (default: 5GB)")
      ->type_name("BYTES");
  command->footer("Examples:\n  tenon export run -o weights.safetensors\n  tenon export run --step best --names hf -o published");
  onRun(*command, exitCode, [options] { return run(*options); });
}

} // namespace tenon::driver
