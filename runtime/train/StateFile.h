// The states of a context that are its own, as a safetensors file, and back; those of the model go with the parameters. Errors
// name the state that does not fit.
#pragma once
#include "runtime/base/File.h"
#include "runtime/context/Context.h"
#include "runtime/files/Safetensors.h"

namespace tenon::train {

runtime::Status saveStates(const std::string &path, const runtime::Context &context, runtime::FileBatch *batch = nullptr);
runtime::Status loadStates(const std::string &path, runtime::Context &context);

/// The same as a part of a checkpoint: what it takes, writing it, whether a file fits, reading one that does.
uint64_t stateFileBytes(const runtime::Context &context);
runtime::Status writeStates(const runtime::Context &context, runtime::ByteSink &sink);
runtime::Status checkStates(const runtime::SafetensorsFile &file, const runtime::Context &context);
runtime::Status readStates(const runtime::SafetensorsFile &file, runtime::Context &context);

} // namespace tenon::train
