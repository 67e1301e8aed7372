#include "runtime/device/HostDevice.h"
#include "runtime/base/Checked.h"
#include "runtime/base/File.h"
#include "runtime/device/Cpu.h"
#include "runtime/device/Memory.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <mutex>
#include <ranges>
#include <sys/mman.h>

namespace tenon::runtime {

namespace {

std::string listOf(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += concat(text.empty() ? "" : ", ", item);
  return text;
}

/// The memory that the segments of a library take, 0 where only dlopen knows. One that is cut off would end the program by a
/// signal when its pages are touched.
Expected<uint64_t> checkWhole(const std::string &path) {
  uint64_t bytes = 0;
  auto file = File::openForReading(path, bytes);
  if (!file.ok())
    return file.status();
  Elf64_Ehdr header{};
  if (bytes < sizeof header.e_ident || file->readAt(0, header.e_ident, sizeof header.e_ident).failed() ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return inputError("'", path, "' is not an artifact: neither a directory nor a shared library");
  auto cutOff = [&](uint64_t expected) {
    return inputError("the library '", path, "' is cut off: it has ", bytes, " bytes, expected at least ", expected,
                      "; compile the specification again");
  };
  if (bytes < sizeof header)
    return cutOff(sizeof header);
  if (Status status = file->readAt(0, &header, sizeof header); status.failed())
    return status;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) // dlopen says what it is
    return uint64_t(0);
  const uint64_t segments = uint64_t(header.e_phnum) * sizeof(Elf64_Phdr),
                 sections = uint64_t(header.e_shnum) * header.e_shentsize;
  uint64_t expected = std::max(checkedAdd(header.e_phoff, segments).value_or(UINT64_MAX),
                               checkedAdd(header.e_shoff, sections).value_or(UINT64_MAX));
  if (bytes < expected)
    return cutOff(expected);
  std::vector<Elf64_Phdr> list(header.e_phnum);
  if (Status status = file->readAt(header.e_phoff, list.data(), segments); status.failed())
    return status;
  uint64_t memory = 0;
  for (const Elf64_Phdr &segment : list) {
    expected = std::max(expected, checkedAdd(segment.p_offset, segment.p_filesz).value_or(UINT64_MAX));
    if (segment.p_type == PT_LOAD)
      memory = std::max(memory, checkedAdd(segment.p_vaddr, segment.p_memsz).value_or(UINT64_MAX));
  }
  if (bytes < expected)
    return cutOff(expected);
  return memory;
}

/// Whether there is room for a library that dlopen could not map: its message for that names no reason.
bool hasRoomFor(uint64_t bytes) {
  void *place = bytes == 0 ? nullptr : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes != 0 && place != MAP_FAILED)
    munmap(place, bytes);
  return place != MAP_FAILED;
}

/// Opens what the file is now. dlopen gives the library that is loaded under the same name, even when the file has been replaced
/// since; under a name of its own it compares files, so that a file that is loaded already is not loaded twice.
void *openLibrary(const std::string &path) {
  constexpr int kMode = RTLD_NOW | RTLD_LOCAL;
  static std::mutex oneAtATime; // no other thread loads one under the name between the question and the answer
  const std::lock_guard lock(oneAtATime);
  void *known = dlopen(path.c_str(), kMode | RTLD_NOLOAD);
  if (!known)
    return dlopen(path.c_str(), kMode);
  static uint64_t names = 0;
  std::string steps = "./"; // a number that no name had, in steps that stay in the folder
  for (uint64_t rest = ++names; rest > 0; rest /= 2)
    steps += rest % 2 ? ".//" : "./";
  const size_t slash = path.rfind('/');
  const size_t base = slash == std::string::npos ? 0 : slash + 1;
  dlclose(known);
  return dlopen((path.substr(0, base) + steps + path.substr(base)).c_str(), kMode);
}

class HostBlock : public DeviceMemory::Block {
public:
  explicit HostBlock(Arena arena) : arena(std::move(arena)) {}

private:
  Arena arena;
};

/// A library that stays open as long as its code is used.
class HostCode : public DeviceCode {
public:
  HostCode(const TnArtifact *table, void *library) : DeviceCode(table), library(library) {}
  ~HostCode() override { dlclose(library); }
  Status choose(std::span<const TnEntry *const> entries, const std::vector<std::string> &listed,
                std::string_view wanted) override;
  std::string_view variant() const override { return nameOf(tier); }
  Expected<int32_t> run(const TnEntry &entry, const TnContext &call) override { return variantOf(entry, variant())->run(&call); }

private:
  void *library;
  Tier tier = Tier::Portable;
};

Status HostCode::choose(std::span<const TnEntry *const> entries, const std::vector<std::string> &listed,
                        std::string_view wanted) {
  auto present = [&](Tier one) {
    return std::all_of(entries.begin(), entries.end(), [&](const TnEntry *entry) { return variantOf(*entry, nameOf(one)); });
  };
  if (wanted.empty())
    if (const char *forced = std::getenv("TENON_TIER"))
      wanted = forced;
  if (!wanted.empty() && wanted != kBestTier) {
    auto named = tierFromName(wanted);
    if (!named.ok())
      return named.status();
    if (!present(*named))
      return inputError("the artifact has no code for tier ", wanted, ", only for ", listOf(listed));
    if (std::string_view feature = missingFeature(*named); !feature.empty())
      return inputError("this machine cannot run tier ", wanted, ": it lacks ", feature);
    tier = *named;
    return {};
  }
  std::string lacking;
  for (Tier one : std::views::reverse(kTiers)) {
    if (!present(one))
      continue;
    std::string_view feature = missingFeature(one);
    if (feature.empty()) {
      tier = one;
      return {};
    }
    lacking = feature; // of the least demanding tier in the end
  }
  if (lacking.empty())
    return inputError("the artifact has no tier that covers all its entries (tiers of the artifact: ", listOf(listed), ")");
  return inputError("this machine cannot run the artifact: it lacks ", lacking, " (tiers of the artifact: ", listOf(listed), ")");
}

} // namespace

HostDevice &hostDevice() {
  static HostDevice device;
  return device;
}

Expected<DeviceMemory> HostDevice::allocate(uint64_t bytes, unsigned staggerSteps, const char *purpose) {
  auto arena = Arena::allocate(bytes, staggerSteps, purpose);
  if (!arena.ok())
    return arena.status();
  const DeviceView view(*this, reinterpret_cast<uintptr_t>(arena->data()), bytes, arena->data());
  return DeviceMemory(view, std::make_unique<HostBlock>(arena.take()));
}

uint64_t HostDevice::availableBytes() const { return runtime::availableBytes(); }

Status HostDevice::copyIn(const DeviceView &to, const void *from) {
  std::memcpy(to.hostView(), from, to.size());
  return {};
}

Status HostDevice::copyOut(void *to, const DeviceView &from) {
  std::memcpy(to, from.hostView(), from.size());
  return {};
}

Status HostDevice::copyWithin(const DeviceView &to, const DeviceView &from) {
  std::memcpy(to.hostView(), from.hostView(), to.size());
  return {};
}

Status HostDevice::fillZero(const DeviceView &to) {
  std::memset(to.hostView(), 0, to.size());
  return {};
}

Expected<std::unique_ptr<DeviceCode>> HostDevice::open(const std::string &path) {
  auto memory = checkWhole(path);
  if (!memory.ok())
    return memory.status();
  void *library = openLibrary(path);
  if (!library) {
    const char *reason = dlerror();
    if (reason && (std::string_view(reason).find(strerror(ENOMEM)) != std::string_view::npos || !hasRoomFor(*memory)))
      return resourceError("there is not enough memory to open the artifact: ", reason);
    return inputError("cannot open artifact: ", reason ? reason : path.c_str());
  }
  auto function = reinterpret_cast<const TnArtifact *(*)(void)>(dlsym(library, "tn_artifact"));
  std::unique_ptr<DeviceCode> code = std::make_unique<HostCode>(function ? function() : nullptr, library);
  if (!function)
    return inputError("'", path, "' is not an artifact: it does not export tn_artifact");
  return code;
}

} // namespace tenon::runtime
