#include "runtime/cuda/CudaCode.h"
#include "runtime/cuda/BinaryCache.h"
#include "runtime/device/Cpu.h"
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace tenon::runtime::cuda {

namespace {

/// What a variant asks of a chip.
struct Asked {
  int capability = 0; // 80 of sm_80; 0: it is no name of a chip
  bool exact = false; // sm_90a: later chips lack some of its instructions
  bool runsOn(int chip) const { return exact ? chip == capability : chip >= capability; }
};

Asked askedBy(std::string_view variant) {
  Asked asked;
  constexpr std::string_view prefix = "sm_";
  if (!variant.starts_with(prefix))
    return asked;
  const char *const end = variant.data() + variant.size();
  const auto [rest, error] = std::from_chars(variant.data() + prefix.size(), end, asked.capability);
  asked.exact = error == std::errc() && rest != end && *rest == 'a';
  return asked;
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

/// To code of the chip, as a file of its own. `log`: room for what the driver says of mistakes.
Result compile(const Driver &driver, const char *text, std::string &image, std::string &log) {
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(uintptr_t(log.size() - 1))};
  Handle link = nullptr;
  if (Result failed = driver.cuLinkCreate_v2(2, options, values, &link))
    return failed;
  void *made = nullptr;
  size_t bytes = 0;
  Result result =
      driver.cuLinkAddData_v2(link, kInputPtx, const_cast<char *>(text), std::strlen(text) + 1, "", 0, nullptr, nullptr);
  if (result == kSuccess)
    result = driver.cuLinkComplete(link, &made, &bytes);
  if (result == kSuccess)
    image.assign(static_cast<const char *>(made), bytes);
  driver.cuLinkDestroy(link); // with what it made
  return result;
}

} // namespace

CudaCode::~CudaCode() {
  if (Status status = profile && loaded ? profile->report(*loaded) : Status(); status.failed())
    fprintf(stderr, "tenon: error: %s\n", status.message().c_str());
  graphs.clear();
  if (module && device.activate().ok())
    device.driver().cuModuleUnload(module);
}

Status CudaCode::choose(std::span<const TnEntry *const> entries, const std::vector<std::string> &listed,
                        std::string_view wanted) {
  const TnModule *best = nullptr, *least = nullptr;
  for (const TnModule *const *each = table()->modules; each != table()->modules + table()->module_count; ++each) {
    const std::string_view name = (*each)->variant;
    const bool covers =
        std::all_of(entries.begin(), entries.end(), [&](const TnEntry *entry) { return variantOf(*entry, name); });
    if (!covers || (!wanted.empty() && wanted != kBestTier && wanted != name))
      continue;
    const int asked = askedBy(name).capability;
    if (!least || asked < askedBy(least->variant).capability)
      least = *each;
    if (askedBy(name).runsOn(device.capability()) && (!best || asked > askedBy(best->variant).capability))
      best = *each;
  }
  if (best)
    return load(*best);
  if (least) {
    const Asked asked = askedBy(least->variant);
    return inputError("the artifact is for GPUs ", asked.exact ? "of" : "from", " sm_", asked.capability,
                      asked.exact ? " alone" : " on", ", this one (", device.chipName(), ") is sm_", device.capability());
  }
  if (!wanted.empty() && wanted != kBestTier)
    return inputError("the artifact has no code for ", wanted, ", only for ", listOf(listed));
  return inputError("the artifact has no code for a GPU that covers all its entries (it lists ", listOf(listed), ")");
}

/// The kernels' code for this chip: from the folder of what was compiled before, else by the driver.
Status CudaCode::loadImage(const TnModule &from) {
  const BinaryCache cache(device, from.text);
  if (std::string image = cache.find();
      !image.empty() && device.driver().cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr) == kSuccess)
    return {};
  std::string log(4096, '\0'), image;
  Result result = compile(device.driver(), from.text, image, log);
  if (result == kSuccess) {
    result = device.driver().cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr);
    if (result == kSuccess)
      cache.keep(image);
  }
  if (result == kPtxTooNew) {
    int version = 0;
    device.driver().cuDriverGetVersion(&version);
    return inputError("the NVIDIA driver (CUDA ", version / 1000, ".", version % 1000 / 10,
                      ") is too old for the artifact's PTX ", ptxVersion(from.text));
  }
  if (result != kSuccess)
    return inputError("the driver does not take the artifact's kernels: ", device.driver().textOf(result), log[0] ? ": " : "",
                      log.c_str());
  return {};
}

Status CudaCode::load(const TnModule &from) {
  if (Status status = device.activate(); status.failed())
    return status;
  if (Status status = loadImage(from); status.failed())
    return status;
  kernels.assign(static_cast<size_t>(from.kernel_count), nullptr);
  allowedShared.assign(kernels.size(), 0);
  for (size_t i = 0; i < kernels.size(); ++i)
    if (Result found = device.driver().cuModuleGetFunction(&kernels[i], module, from.kernels[i]); found != kSuccess)
      return inputError("the artifact lacks the kernel ", from.kernels[i], ": ", device.driver().textOf(found));
  auto asked = Profile::ofEnvironment(device);
  if (!asked.ok())
    return asked.status();
  profile = asked.take();
  graphs.profile = profile.get();
  loaded = &from;
  chosen = from.variant;
  return {};
}

/// A kernel has 48 KiB without asking.
Status CudaCode::allowShared(uint32_t kernel, int32_t bytes) {
  if (bytes <= allowedShared[kernel])
    return {};
  if (Result refused = device.driver().cuFuncSetAttribute(kernels[kernel], kMostDynamicShared, bytes); refused != kSuccess)
    return inputError("a block of the kernel ", loaded->kernels[kernel], " takes ", bytes,
                      " bytes of dynamic shared memory, which this GPU (", device.chipName(),
                      ") does not give: ", device.driver().textOf(refused));
  allowedShared[kernel] = bytes;
  return {};
}

/// Writes down what `run` or `groupReady` starts.
void CudaCode::launch(const TnContext *context, int32_t kernel, int64_t blocks, int32_t threads, int32_t shared,
                      void *const *arguments, int32_t count, const int64_t *spans) {
  CudaCode &code = *static_cast<CudaCode *>(context->launcher);
  if (code.failure.failed()) // what follows would read what was not made
    return;
  const auto number = static_cast<uint32_t>(kernel);
  if (blocks > std::numeric_limits<int32_t>::max()) {
    code.failure =
        resourceError("the kernel ", code.loaded->kernels[number], " would take ", blocks, " blocks, more than a GPU has");
    return;
  }
  code.failure = code.allowShared(number, shared);
  if (code.failure.failed())
    return;
  LaunchList &list = code.list;
  const int32_t maps = count / TN_MAP_ARGUMENT;
  count %= TN_MAP_ARGUMENT;
  list.launches.push_back({number, static_cast<uint32_t>(blocks), static_cast<uint32_t>(threads), static_cast<uint32_t>(shared),
                           static_cast<uint32_t>(list.arguments.size()), static_cast<uint32_t>(count),
                           static_cast<uint32_t>(maps), static_cast<uint32_t>(list.spans.size()),
                           spans ? static_cast<uint32_t>(spans[0]) : 0});
  if (spans)
    list.spans.insert(list.spans.end(), spans + 1, spans + 1 + spans[0]);
  for (int32_t i = 0; i < count; ++i) {
    const auto *words = static_cast<const uint64_t *>(arguments[i]);
    list.arguments.insert(list.arguments.end(), words, words + (i < maps ? LaunchList::kMapWords : 1));
  }
}

/// Gradients are there when what was started before has ended.
void CudaCode::groupReady(const TnContext *context, int64_t group) {
  CudaCode &code = *static_cast<CudaCode *>(context->launcher);
  if (code.failure.ok())
    code.failure = code.graphs.launchAll(code.list, code.kernels, *code.loaded);
  code.list.clear();
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
  if (Status status = profile ? profile->begin() : Status(); status.failed())
    return status;
  auto code = start(entry, own);
  caller = nullptr;
  if (code.ok() && profile)
    if (Status status = profile->end(entry.name); status.failed())
      return status;
  return code;
}

int32_t CudaCode::describe(const TnVariant &variant, TnContext &call, uint64_t flags) {
  list.clear();
  const uint64_t before = std::exchange(call.flags, call.flags | flags);
  const int32_t code = variant.run(&call);
  call.flags = before;
  if (profile)
    profile->described(list.launches.size());
  return code;
}

/// All that launches of an entry are made of, but for the numbers of a run: places of planned buffers follow from the dims.
static Graphs::Key keyOf(const TnEntry &entry, const TnContext &call) {
  Graphs::Key key{reinterpret_cast<uintptr_t>(&entry), call.flags};
  key.insert(key.end(), call.dims, call.dims + entry.dim_count);
  auto add = [&](auto *const *addresses, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
      key.push_back(reinterpret_cast<uintptr_t>(addresses[i]));
  };
  add(call.arenas, TN_ARENA_COUNT);
  add(call.inputs, entry.input_count);
  add(call.outputs, entry.output_count);
  return key;
}

/// A run that stops between kernels to tell of gradients is no graph.
Expected<int32_t> CudaCode::start(const TnEntry &entry, TnContext &call) {
  static const bool isOn = [] {
    const char *given = std::getenv(kGraphsVariable);
    return !given || (std::string_view(given) != "0" && std::string_view(given) != kWaitForEach);
  }();
  const TnVariant &variant = *variantOf(entry, chosen);
  const bool isGraph = isOn && !call.group_ready && !(profile && profile->ofKernels());
  const Graphs::Key key = isGraph ? keyOf(entry, call) : Graphs::Key();
  if (isGraph && graphs.hasGraph(key)) {
    const int32_t code = describe(variant, call, TN_NUMBERS_ONLY);
    auto started = failure.ok() ? graphs.restart(list, key, kernels, entry.name) : failure;
    if (!started.ok())
      return started.status();
    if (*started)
      return code;
  }
  const int32_t code = describe(variant, call);
  if (failure.failed())
    return failure;
  Status status;
  if (isGraph && graphs.isKnown(list, key)) {
    status = graphs.run(list, key, kernels, entry.name);
  } else {
    status = graphs.launchAll(list, kernels, *loaded);
    if (isGraph && status.ok() && !list.launches.empty()) {
      const LaunchList whole = std::exchange(list, {});
      describe(variant, call, TN_NUMBERS_ONLY);
      graphs.remember(whole, list, key);
    }
  }
  return status.ok() ? Expected<int32_t>(code) : status;
}

} // namespace tenon::runtime::cuda
