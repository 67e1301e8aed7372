// Modules, links and launches. The image of a module is PTX text, of which one line counts: `// tenon-ir: HASH` names the bitcode
// that the text was made from, in the folder TENON_GPU_IR.
#include "../Memory.h"
#include "../Tensor.h"
#include "Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>

using namespace llvm;

namespace tenon::emu::cuda {
namespace {

/// The newest version of PTX that a driver takes, times ten, by the release notes of CUDA.
unsigned newestPtx(unsigned cuda) {
  const unsigned major = cuda / 1000, minor = cuda % 1000 / 10;
  if (major == 10)
    return 63 + minor; // 6.3 to 6.5
  if (major == 11)
    return 70 + minor;
  if (major == 12)
    return 80 + (minor > 5 ? minor - 1 : minor); // 12.6 brought none
  return 90 + minor;
}

/// What of the PTX's head the driver or the device does not take.
Result checkHead(StringRef ptx, std::string &text) {
  unsigned major = 0, minor = 0, chip = 0;
  if (StringRef version = ptx.split(".version ").second; !version.empty()) {
    const unsigned newest = newestPtx(machine.mode.cuda);
    if (!version.consumeInteger(10, major) && version.consume_front(".") && !version.consumeInteger(10, minor) &&
        major * 10 + minor > newest) {
      text = "PTX " + std::to_string(major) + "." + std::to_string(minor) + " is newer than the driver, which takes " +
             std::to_string(newest / 10) + "." + std::to_string(newest % 10);
      return kUnsupportedPtx;
    }
  }
  if (StringRef target = ptx.split(".target sm_").second; !target.consumeInteger(10, chip))
    if (chip > machine.mode.chip || (target.starts_with("a") && chip != machine.mode.chip)) {
      text = "the PTX is for sm_" + std::to_string(chip) + (target.starts_with("a") ? "a" : "") + ", the device is sm_" +
             std::to_string(machine.mode.chip);
      return kNoBinary;
    }
  return kSuccess;
}

/// Complains, and writes the text where the caller wants errors (options 5 and 6: buffer and size).
Result refuse(const char *call, Result result, const std::string &text, unsigned count, const int *options, void **values) {
  void *buffer = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == 5)
      buffer = values[i];
    if (options[i] == 6)
      bytes = reinterpret_cast<uintptr_t>(values[i]);
  }
  if (buffer && bytes)
    snprintf(static_cast<char *>(buffer), bytes, "%s", text.c_str());
  return complain(result, std::string(call) + ": " + text);
}

/// What the line of PTX that counts names.
StringRef hashOf(StringRef ptx) {
  return ptx.split("// tenon-ir: ").second.take_until([](char c) { return c == '\n'; }).trim();
}

/// Refused with a sentence.
Expected<std::unique_ptr<MemoryBuffer>> bitcodeOf(StringRef ptx) {
  if (!ptx.contains("// tenon-ir: "))
    return createStringError("the PTX has no line '// tenon-ir: HASH': it was not written by a compiler that keeps its IR");
  const StringRef hash = hashOf(ptx);
  if (hash.size() != 32 || hash.find_first_not_of("0123456789abcdef") != StringRef::npos)
    return createStringError("the line '// tenon-ir: " + hash + "' of the PTX holds no hash of 32 digits");
  const char *folder = getenv("TENON_GPU_IR");
  if (!folder || !*folder)
    return createStringError("TENON_GPU_IR names no folder: kernels are executed from the bitcode that the compiler writes with "
                             "--save-gpu-ir");
  SmallString<256> path(folder);
  sys::path::append(path, hash + ".bc");
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return createStringError("the bitcode of the PTX, " + path + ", cannot be read: " + file.getError().message());
  const XXH128_hash_t found = xxh3_128bits(arrayRefFromStringRef((*file)->getBuffer()));
  char text[40];
  snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(found.high64),
           static_cast<unsigned long long>(found.low64));
  if (hash != text)
    return createStringError("the bitcode " + path + " has the hash " + text + ": it is not what the PTX was made from");
  return std::move(*file);
}

/// Before a launch that the mode `record` is to keep: the first of each kernel. Null: another one.
Recorder *recorderFor(const Function &function) {
  LoadedModule &module = *function.module;
  if (machine.mode.record.empty() || !module.recorded.insert(function.kernel->name).second)
    return nullptr;
  if (!module.recorder) {
    const StringRef name = sys::path::stem(module.code->getBufferIdentifier());
    const std::string &ptx = driver().texts[name.str()];
    if (ptx.empty())
      report_fatal_error(
          "gpu-emu: record: the kernels' PTX was not seen, only what it was compiled to: set TENON_CACHE to a new folder");
    constexpr double kTolerance = 2e-5; // that of the tests of fused kernels
    module.recorder = std::make_unique<Recorder>(machine.mode.record + "/" + name.str(), ptx, kTolerance);
  }
  module.recorder->before();
  return module.recorder.get();
}

Result run(const Function &function, Dim3 grid, Dim3 block, uint32_t dynamicShared, const std::vector<uint64_t> &arguments) {
  const Kernel &kernel = *function.kernel;
  if (machine.mode.scores)
    driver().scores.score(function.module->code->getMemBufferRef(), kernel.name, {grid, block, dynamicShared, arguments.data()});
  Recorder *recorder = recorderFor(function);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = launch(kernel, grid, block, dynamicShared, arguments.data());
  if (recorder)
    recorder->after(kernel.name, grid, block, dynamicShared, arguments);
  Count &count = driver().counts[kernel.name];
  ++count.launches;
  count.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fputs(describe(kernel.name, outcome).c_str(), stderr);
  return outcome.ok() ? kSuccess : outcome.illegalAddress ? kIllegalAddress : kLaunchFailed;
}

/// What a device refuses at the call.
Result checkShape(const char *call, const Function &function, Dim3 grid, Dim3 block, uint32_t dynamicShared) {
  const Kernel &kernel = *function.kernel;
  const auto wrong = [&](Result result, const std::string &text) {
    return complain(result, std::string(call) + ": " + kernel.name + ": " + text);
  };
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
    return wrong(kInvalidValue, "a size of the grid or of the block is 0");
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    return wrong(kInvalidValue, "a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " +
                                    std::to_string(grid.z) + " is more than a device takes");
  if (block.count() > kMostThreads || block.x > 1024 || block.y > 1024 || block.z > 64)
    return wrong(kInvalidValue, "a block of " + std::to_string(block.count()) + " threads is more than a device takes");
  if (block.count() > kernel.mostThreads)
    return wrong(kLaunchOutOfResources, "a block of " + std::to_string(block.count()) + " threads, of which the kernel takes " +
                                            std::to_string(kernel.mostThreads));
  const uint32_t most = function.mostDynamicShared;
  const uint32_t shared = kernel.staticShared + dynamicShared;
  if (dynamicShared > most || shared > std::max(most, uint32_t(48 << 10)))
    return wrong(kInvalidValue, std::to_string(shared) + " bytes of shared memory, " + std::to_string(dynamicShared) +
                                    " of them dynamic, of which it may have " + std::to_string(most));
  return kSuccess;
}

/// What a link makes: as code of a chip it begins as an ELF file does, and holds the line of the PTX that counts.
constexpr StringLiteral kBinary = "\x7f"
                                  "ELF code of the emulator for sm_";

/// Whether code of a chip runs on the device: of its own generation, no later one.
Result checkBinary(StringRef image, std::string &text) {
  unsigned chip = 0;
  image.consume_front(kBinary);
  if (image.consumeInteger(10, chip) || chip / 10 != machine.mode.chip / 10 || chip > machine.mode.chip) {
    text = "the code is for sm_" + std::to_string(chip) + ", the device is sm_" + std::to_string(machine.mode.chip);
    return kNoBinary;
  }
  return kSuccess;
}

} // namespace

TENON_CUDA_API Result cuModuleLoadDataEx(void **handle, const void *image, unsigned count, int *options, void **values) {
  TENON_CUDA_ENTER;
  std::string text;
  const bool isBinary = StringRef(static_cast<const char *>(image)).starts_with(kBinary);
  if (Result wrong = (isBinary ? checkBinary : checkHead)(static_cast<const char *>(image), text))
    return refuse("cuModuleLoadDataEx", wrong, text, count, options, values);
  driver().compiled += !isBinary;
  const StringRef ptx = static_cast<const char *>(image);
  if (!isBinary)
    driver().texts[hashOf(ptx).str()] = ptx;
  auto file = bitcodeOf(ptx);
  if (!file) {
    text = toString(file.takeError());
    return refuse("cuModuleLoadDataEx", StringRef(text).contains("cannot be read") ? kFileNotFound : kInvalidImage, text, count,
                  options, values);
  }
  auto program = Program::load(**file, machine.mode);
  if (!program)
    return refuse("cuModuleLoadDataEx", kInvalidImage, toString(program.takeError()), count, options, values);
  auto *module = new LoadedModule();
  module->program = std::move(*program);
  module->code = std::move(*file);
  driver().modules.insert(module);
  *handle = module;
  return kSuccess;
}

TENON_CUDA_API Result cuLinkCreate_v2(unsigned count, int *options, void **values, void **link) {
  TENON_CUDA_ENTER;
  auto *made = new Link{"", std::vector<int>(options, options + count), std::vector<void *>(values, values + count)};
  driver().links.insert(made);
  *link = made;
  return kSuccess;
}

TENON_CUDA_API Result cuLinkAddData_v2(void *handle, int type, void *data, size_t bytes, const char *, unsigned, int *, void **) {
  TENON_CUDA_ENTER;
  auto *link = static_cast<Link *>(handle);
  constexpr int kPtx = 1;
  if (!driver().links.count(link) || type != kPtx || !link->image.empty() || !bytes || static_cast<char *>(data)[bytes - 1])
    return complain(kInvalidValue, "cuLinkAddData: no link, or not one text of PTX that ends with a 0");
  std::string text;
  const StringRef ptx = static_cast<const char *>(data);
  Result wrong = checkHead(ptx, text);
  if (auto file = wrong ? nullptr : bitcodeOf(ptx); !wrong && !file) {
    text = toString(file.takeError());
    wrong = StringRef(text).contains("cannot be read") ? kFileNotFound : kInvalidImage;
  }
  if (wrong)
    return refuse("cuLinkAddData", wrong, text, link->options.size(), link->options.data(), link->values.data());
  const StringRef rest = ptx.substr(ptx.find("// tenon-ir: "));
  link->image = (kBinary + Twine(machine.mode.chip) + "\n" + rest.take_until([](char c) { return c == '\n'; }) + "\n").str();
  driver().texts[hashOf(ptx).str()] = ptx;
  ++driver().compiled;
  return kSuccess;
}

TENON_CUDA_API Result cuLinkComplete(void *handle, void **image, size_t *bytes) {
  TENON_CUDA_ENTER;
  auto *link = static_cast<Link *>(handle);
  if (!driver().links.count(link) || link->image.empty())
    return complain(kInvalidValue, "cuLinkComplete: no link, or one of nothing");
  *image = link->image.data();
  *bytes = link->image.size() + 1;
  return kSuccess;
}

TENON_CUDA_API Result cuLinkDestroy(void *handle) {
  TENON_CUDA_ENTER;
  if (!driver().links.erase(static_cast<Link *>(handle)))
    return complain(kInvalidValue, "cuLinkDestroy: this is no link");
  delete static_cast<Link *>(handle);
  return kSuccess;
}

TENON_CUDA_API Result cuModuleUnload(void *handle) {
  std::lock_guard lock(driver().mutex);
  auto *module = static_cast<LoadedModule *>(handle);
  if (!driver().modules.count(module))
    return complain(kInvalidHandle, "cuModuleUnload: this is no module");
  drainAll();
  for (const auto &[name, function] : module->functions) {
    driver().functions.erase(function);
    delete function;
  }
  if (module->recorder)
    if (Error failed = module->recorder->write(module->code->getMemBufferRef()))
      report_fatal_error("gpu-emu: record: " + Twine(toString(std::move(failed))));
  driver().modules.erase(module);
  delete module;
  return driver().sticky;
}

TENON_CUDA_API Result cuModuleGetFunction(void **function, void *handle, const char *name) {
  TENON_CUDA_ENTER;
  auto *module = static_cast<LoadedModule *>(handle);
  if (!driver().modules.count(module))
    return complain(kInvalidHandle, "cuModuleGetFunction: this is no module");
  const Kernel *kernel = module->program->find(name);
  if (!kernel)
    return complain(kNotFound, std::string("cuModuleGetFunction: the module has no kernel ") + name);
  Function *&known = module->functions[name];
  if (!known) {
    known = new Function{kernel, module};
    driver().functions.insert(known);
  }
  *function = known;
  return kSuccess;
}

TENON_CUDA_API Result cuFuncSetAttribute(void *handle, int attribute, int value) {
  TENON_CUDA_ENTER;
  auto *function = static_cast<Function *>(handle);
  if (!driver().functions.count(function))
    return complain(kInvalidHandle, "cuFuncSetAttribute: this is no function");
  constexpr int kMostDynamicShared = 8, kCarveout = 9;
  if (attribute == kCarveout)
    return kSuccess;
  const int most = machine.mode.chip >= 90 ? 227 << 10 : 163 << 10;
  if (attribute != kMostDynamicShared || value < 0 || value + int(function->kernel->staticShared) > most)
    return complain(kInvalidValue, "cuFuncSetAttribute: attribute " + std::to_string(attribute) + " of " +
                                       function->kernel->name + " cannot be " + std::to_string(value));
  function->mostDynamicShared = value;
  return kSuccess;
}

Result workOf(const char *call, void *handle, Dim3 grid, Dim3 block, unsigned dynamicShared, void **parameters, void **extra,
              Work &work) {
  auto *function = static_cast<Function *>(handle);
  const std::string name = call;
  if (!driver().functions.count(function))
    return complain(kInvalidHandle, name + ": this is no function");
  const Kernel &kernel = *function->kernel;
  if (extra)
    return complain(kNotSupported, name + ": arguments by `extra` are not supported, only by `kernelParams`");
  if (!parameters && !kernel.argumentBytes.empty())
    return complain(kInvalidValue, name + ": " + kernel.name + " has arguments");
  if (Result wrong = checkShape(call, *function, grid, block, dynamicShared))
    return wrong;
  using Map = std::array<char, kMapBytes>;
  std::vector<uint64_t> arguments(kernel.argumentBytes.size());
  std::vector<Map> maps; // of tensors, in the order of arguments
  for (size_t i = 0; i < arguments.size(); ++i)
    if (kernel.argumentBytes[i] == kMapBytes)
      memcpy(maps.emplace_back().data(), parameters[i], kMapBytes);
    else
      memcpy(&arguments[i], parameters[i], kernel.argumentBytes[i]);
  work = [function = *function, grid, block, dynamicShared, arguments = std::move(arguments), maps = std::move(maps)] {
    std::vector<uint64_t> slots = arguments;
    size_t next = 0;
    for (size_t i = 0; i < slots.size(); ++i)
      if (function.kernel->argumentBytes[i] == kMapBytes)
        slots[i] = reinterpret_cast<uint64_t>(maps[next++].data());
    return run(function, grid, block, dynamicShared, slots);
  };
  return kSuccess;
}

TENON_CUDA_API Result cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                     unsigned blockY, unsigned blockZ, unsigned dynamicShared, void *streamHandle,
                                     void **parameters, void **extra) {
  TENON_CUDA_ENTER;
  Stream *stream = streamOf(streamHandle);
  if (!stream)
    return complain(kInvalidHandle, "cuLaunchKernel: this is no stream");
  Work work;
  if (Result wrong = workOf("cuLaunchKernel", function, {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, dynamicShared,
                            parameters, extra, work))
    return wrong;
  return tell(*stream, std::move(work));
}

} // namespace tenon::emu::cuda
