#include "runtime/train/StateFile.h"

namespace tenon::train {

using runtime::BoundTensor;
using runtime::byteSize;
using runtime::Context;
using runtime::inputError;
using runtime::isReal;
using runtime::Status;

static runtime::SafetensorsWriter declareStates(const Context &context) {
  runtime::SafetensorsWriter writer;
  for (size_t i = 0; i < context.states().size(); ++i)
    if (const BoundTensor &state = context.states()[i]; !context.entry().states[i].ofModel)
      writer.declare(state.name, state.type, std::vector<uint64_t>(state.shape.begin(), state.shape.end()));
  return writer;
}

uint64_t stateFileBytes(const Context &context) { return declareStates(context).fileBytes(); }

Status writeStates(const Context &context, runtime::ByteSink &sink) {
  runtime::SafetensorsWriter writer = declareStates(context);
  Status status = writer.begin(sink);
  for (size_t i = 0; status.ok() && i < context.states().size(); ++i)
    if (!context.entry().states[i].ofModel)
      status = visitView(context.state(static_cast<int>(i)),
                         [&](const char *values, uint64_t bytes) { return writer.write(values, bytes); });
  return status.ok() ? writer.finish() : status;
}

Status checkStates(const runtime::SafetensorsFile &file, const Context &context) {
  for (size_t i = 0; i < context.states().size(); ++i) {
    const BoundTensor &state = context.states()[i];
    if (context.entry().states[i].ofModel)
      continue;
    const runtime::SafetensorsEntry *entry = file.find(state.name);
    const bool fits = entry && (entry->type == state.type || (isReal(entry->type) && isReal(state.type)));
    if (!fits || entry->elements() * byteSize(state.type) != state.bytes)
      return inputError(file.path(), entry ? ": the state " : " lacks the state ", state.name,
                        entry ? " has another size or type" : "", "; the file was made with another batch size, memory or model");
  }
  return {};
}

/// Reals in the state's type, whatever the numerics of the run were.
static Status readState(const runtime::SafetensorsFile &file, const BoundTensor &state, char *values) {
  const runtime::SafetensorsEntry &entry = *file.find(state.name);
  return entry.type == state.type ? file.read(entry, values) : file.readReals(entry, 0, entry.elements(), state.type, values);
}

Status readStates(const runtime::SafetensorsFile &file, Context &context) {
  for (size_t i = 0; i < context.states().size(); ++i)
    if (!context.entry().states[i].ofModel)
      if (Status status =
              context.setState(static_cast<int>(i), [&](char *values) { return readState(file, context.states()[i], values); });
          status.failed())
        return status;
  return {};
}

Status loadStates(const std::string &path, Context &context) {
  auto file = runtime::SafetensorsFile::open(path);
  if (!file.ok())
    return file.status();
  Status status = checkStates(*file, context);
  return status.ok() ? readStates(*file, context) : status;
}

Status saveStates(const std::string &path, const Context &context, runtime::FileBatch *batch) {
  return runtime::replaceFile(path, [&](runtime::ByteSink &sink) { return writeStates(context, sink); }, batch);
}

} // namespace tenon::train
