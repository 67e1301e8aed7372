#include "runtime/cuda/CudaCode.h"
#include "runtime/device/Cpu.h"
#include <algorithm>
#include <charconv>
#include <limits>

namespace tenon::runtime::cuda {

namespace {

/// 80 for sm_80; 0 for what is no name of a chip.
int capabilityOf(std::string_view variant) {
  int number = 0;
  constexpr std::string_view prefix = "sm_";
  if (variant.starts_with(prefix))
    std::from_chars(variant.data() + prefix.size(), variant.data() + variant.size(), number);
  return number;
}

std::string listOf(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += concat(text.empty() ? "" : ", ", item);
  return text;
}

/// The line of PTX that says which version it is in: `.version 7.0`.
std::string_view ptxVersion(std::string_view text) {
  constexpr std::string_view key = ".version ";
  const size_t at = text.find(key);
  return at == std::string_view::npos ? "?" : text.substr(at + key.size(), text.find('\n', at) - at - key.size());
}

} // namespace

CudaCode::~CudaCode() {
  if (module && device.activate().ok())
    device.driver().cuModuleUnload(module);
}

Status CudaCode::choose(std::span<const TnEntry *const> entries, const std::vector<std::string> &listed,
                        std::string_view wanted) {
  const TnModule *best = nullptr;
  int least = std::numeric_limits<int>::max();
  for (const TnModule *const *each = table()->modules; each != table()->modules + table()->module_count; ++each) {
    const std::string_view name = (*each)->variant;
    const bool covers =
        std::all_of(entries.begin(), entries.end(), [&](const TnEntry *entry) { return variantOf(*entry, name); });
    if (!covers || (!wanted.empty() && wanted != kBestTier && wanted != name))
      continue;
    least = std::min(least, capabilityOf(name));
    if (capabilityOf(name) <= device.capability() && (!best || capabilityOf(name) > capabilityOf(best->variant)))
      best = *each;
  }
  if (best)
    return load(*best);
  if (least != std::numeric_limits<int>::max())
    return inputError("the artifact is for GPUs from sm_", least, " on, this one (", device.chipName(), ") is sm_",
                      device.capability());
  if (!wanted.empty() && wanted != kBestTier)
    return inputError("the artifact has no code for ", wanted, ", only for ", listOf(listed));
  return inputError("the artifact has no code for a GPU that covers all its entries (it lists ", listOf(listed), ")");
}

Status CudaCode::load(const TnModule &from) {
  if (Status status = device.activate(); status.failed())
    return status;
  char log[4096] = {};
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(uintptr_t(sizeof log))};
  const Result result = device.driver().cuModuleLoadDataEx(&module, from.text, 2, options, values);
  if (result == kPtxTooNew) {
    int version = 0;
    device.driver().cuDriverGetVersion(&version);
    return inputError("the NVIDIA driver (CUDA ", version / 1000, ".", version % 1000 / 10,
                      ") is too old for the artifact's PTX ", ptxVersion(from.text));
  }
  if (result != kSuccess)
    return inputError("the driver does not take the artifact's kernels: ", device.driver().textOf(result), log[0] ? ": " : "",
                      std::string_view(log));
  kernels.assign(static_cast<size_t>(from.kernel_count), nullptr);
  for (size_t i = 0; i < kernels.size(); ++i)
    if (Result found = device.driver().cuModuleGetFunction(&kernels[i], module, from.kernels[i]); found != kSuccess)
      return inputError("the artifact lacks the kernel ", from.kernels[i], ": ", device.driver().textOf(found));
  loaded = &from;
  chosen = from.variant;
  return {};
}

void CudaCode::launch(const TnContext *context, int32_t kernel, int64_t blocks, int32_t threads, int32_t shared,
                      void *const *arguments, int32_t) {
  CudaCode &code = *static_cast<CudaCode *>(context->launcher);
  if (code.failure.failed()) // what follows would read what was not made
    return;
  const auto number = static_cast<size_t>(kernel);
  if (blocks > std::numeric_limits<int32_t>::max()) {
    code.failure =
        resourceError("the kernel ", code.loaded->kernels[number], " would take ", blocks, " blocks, more than a GPU has");
    return;
  }
  code.device.started(code.loaded->kernels[number], code.loaded->places[number]);
  const Result result = code.device.driver().cuLaunchKernel(code.kernels[number], static_cast<unsigned>(blocks), 1, 1,
                                                            static_cast<unsigned>(threads), 1, 1, static_cast<unsigned>(shared),
                                                            code.device.stream(), const_cast<void **>(arguments), nullptr);
  code.failure = code.device.check(result, "a launch");
}

/// Gradients are there when what was started before has ended.
void CudaCode::groupReady(const TnContext *context, int64_t group) {
  CudaCode &code = *static_cast<CudaCode *>(context->launcher);
  if (code.failure.ok())
    code.failure = code.device.wait();
  if (code.failure.ok())
    code.caller->group_ready(code.caller, group);
}

Expected<int32_t> CudaCode::run(const TnEntry &entry, const TnContext &call) {
  if (Status status = device.activate(); status.failed())
    return status;
  TnContext own = call;
  own.launch = &CudaCode::launch;
  own.launcher = this;
  if (call.group_ready)
    own.group_ready = &CudaCode::groupReady;
  caller = &call;
  failure = {};
  const int32_t code = variantOf(entry, chosen)->run(&own);
  caller = nullptr;
  if (failure.failed())
    return failure;
  return code;
}

} // namespace tenon::runtime::cuda
