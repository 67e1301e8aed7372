// tenon init: parameters from their initializers, as a weights file.
#include "tools/tenon/Command.h"
#include "tools/tenon/Say.h"
#include <memory>

namespace tenon::driver {

void addInit(CLI::App &app, int &exitCode) {
  CLI::App *command = app.add_subcommand("init", "write initial parameters as a weights file (trained ones: tenon export)");
  struct Options {
    ModelOptions model;
    std::string output, names;
    uint64_t seed = 0;
  };
  auto options = std::make_shared<Options>();
  addModelOptions(*command, options->model, ModelUse::Weights);
  command->add_option("-o,--output", options->output, "weights file to write (.safetensors)")->required();
  command->add_option("--names", options->names, "write with the names of this `names` table");
  command->add_option("--seed", options->seed, "seed of the initializers (default 0)")->transform(whole<uint64_t>());
  command->footer("Example: tenon init model.tn --set N=2 --seed 7 -o start.safetensors");
  onRun(*command, exitCode, [options]() -> Status {
    auto model = openModel(options->model);
    if (!model.ok())
      return model.status();
    if (Status status = checkUnbound(*model, options->model); status.failed())
      return status;
    auto parameters = runtime::Parameters::create(model->artifact);
    if (!parameters.ok())
      return parameters.status();
    if (Status status = (*parameters)->initialize(options->seed); status.failed())
      return status;
    if (model->run)
      note(concat("these are initial values; the trained ones of ", options->model.source, " are written by tenon export"));
    return (*parameters)->save(options->output, runtime::ParameterArena::Values, options->names);
  });
}

} // namespace tenon::driver
