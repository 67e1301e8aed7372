#include "runtime/Artifact.h"
#include "runtime/Checked.h"
#include "runtime/File.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <filesystem>
#include <sys/mman.h>

namespace tenon::runtime {

namespace {

/// The one libNAME.so of a directory, or the path itself.
Expected<std::string> findLibrary(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::file_status kind = fs::status(path, error);
  if (!fs::exists(kind))
    return inputError("artifact '", path, "' does not exist");
  if (!fs::is_directory(kind))
    return path;
  std::vector<std::string> found;
  fs::directory_iterator folder(path, error), end;
  for (; !error && folder != end; folder.increment(error)) {
    std::string name = folder->path().filename().string();
    if (name.size() > 6 && name.rfind("lib", 0) == 0 && name.ends_with(".so"))
      found.push_back(folder->path().string());
  }
  if (error)
    return inputError("cannot read directory '", path, "': ", error.message());
  std::sort(found.begin(), found.end());
  if (found.empty())
    return inputError("'", path, "' is not an artifact: it has no libNAME.so");
  if (found.size() > 1)
    return inputError("'", path, "' has several libraries (", found[0], ", ", found[1], "): name the one to open");
  return found[0];
}

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

} // namespace

Artifact::~Artifact() {
  if (library)
    dlclose(library);
}

Expected<std::shared_ptr<const Artifact>> Artifact::open(const std::string &path, std::string_view tierName) {
  auto file = findLibrary(path);
  if (!file.ok())
    return file.status();
  // A name without a slash would be searched in the system's library path.
  std::error_code error;
  std::string absolute = std::filesystem::absolute(*file, error).string();
  if (error)
    return inputError("cannot find the place of '", *file, "': ", error.message());
  auto memory = checkWhole(absolute);
  if (!memory.ok())
    return memory.status();
  void *library = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    if (reason && (std::string_view(reason).find(strerror(ENOMEM)) != std::string_view::npos || !hasRoomFor(*memory)))
      return resourceError("there is not enough memory to open the artifact: ", reason);
    return inputError("cannot open artifact: ", reason ? reason : absolute.c_str());
  }
  std::shared_ptr<Artifact> artifact(new Artifact);
  artifact->library = library;
  artifact->libraryPath = absolute;
  artifact->libraryDirectory = std::filesystem::path(absolute).parent_path().string();
  auto function = reinterpret_cast<const TnArtifact *(*)(void)>(dlsym(library, "tn_artifact"));
  if (!function)
    return inputError("'", absolute, "' is not an artifact: it does not export tn_artifact");
  if (Status status = artifact->read(function(), tierName); status.failed())
    return status.kind() == ErrorKind::Usage ? status : status.in(absolute); // what the user has said is not in the file
  return std::shared_ptr<const Artifact>(artifact);
}

Expected<std::shared_ptr<const Artifact>> Artifact::fromTable(const TnArtifact *table, std::string_view tierName) {
  std::shared_ptr<Artifact> artifact(new Artifact);
  if (Status status = artifact->read(table, tierName); status.failed())
    return status;
  return std::shared_ptr<const Artifact>(artifact);
}

Status Artifact::read(const TnArtifact *newTable, std::string_view tierName) {
  if (!newTable)
    return inputError("the artifact has no table");
  table = newTable;
  if (table->abi != TN_ABI_VERSION)
    return inputError("the artifact has ABI version ", table->abi, ", this runtime has ", TN_ABI_VERSION,
                      ": compile the specification again");
  if (!table->manifest || table->entry_count < 0 || (table->entry_count > 0 && !table->entries))
    return inputError("the artifact's table is damaged");
  auto parsed = parseManifest(table->manifest);
  if (!parsed.ok())
    return parsed.status();
  description = parsed.take();
  if (!table->build_id || description.buildId != table->build_id)
    return inputError("manifest and code are from different builds");
  if (static_cast<size_t>(table->entry_count) != description.entries.size())
    return inputError("the manifest has ", description.entries.size(), " entries, the code ", table->entry_count);
  for (const EntryInfo &info : description.entries) {
    const TnEntry *match = nullptr;
    for (int32_t i = 0; i < table->entry_count; ++i)
      if (table->entries[i].name && info.name == table->entries[i].name)
        match = &table->entries[i];
    if (!match)
      return inputError("the code lacks entry '", info.name, "'");
    if (Status status = matchEntry(info, *match); status.failed())
      return status;
    entries.push_back(match);
  }
  return chooseTier(tierName);
}

Status Artifact::matchEntry(const EntryInfo &info, const TnEntry &entry) const {
  bool same = entry.dim_count == static_cast<int32_t>(info.dims.size()) &&
              entry.input_count == static_cast<int32_t>(info.inputs.size()) &&
              entry.output_count == static_cast<int32_t>(info.outputs.size()) &&
              entry.state_count == static_cast<int32_t>(info.states.size()) && entry.offset_count >= entry.state_count;
  if (!same || !entry.bind)
    return inputError("manifest and code disagree about entry '", info.name, "'");
  return {};
}

Status Artifact::chooseTier(std::string_view tierName) {
  auto present = [&](Tier tier) {
    return std::all_of(entries.begin(), entries.end(), [&](const TnEntry *entry) { return entry->run[static_cast<int>(tier)]; });
  };
  if (tierName.empty())
    if (const char *forced = std::getenv("TENON_TIER"))
      tierName = forced;
  if (!tierName.empty()) {
    auto tier = tierFromName(tierName);
    if (!tier.ok())
      return tier.status();
    if (!present(*tier))
      return inputError("the artifact has no code for tier ", tierName, ", only for ", listOf(description.tiers));
    if (std::string_view feature = missingFeature(*tier); !feature.empty())
      return inputError("this machine cannot run tier ", tierName, ": it lacks ", feature);
    chosenTier = *tier;
    return {};
  }
  std::string lacking;
  for (Tier tier : {Tier::X86V4Bf16, Tier::X86V4, Tier::X86V3, Tier::Portable}) {
    if (!present(tier))
      continue;
    std::string_view feature = missingFeature(tier);
    if (feature.empty()) {
      chosenTier = tier;
      return {};
    }
    lacking = feature; // of the least demanding tier in the end
  }
  if (lacking.empty())
    return inputError("the artifact has no tier that covers all its entries");
  return inputError("this machine cannot run the artifact: it lacks ", lacking,
                    " (tiers of the artifact: ", listOf(description.tiers), ")");
}

int Artifact::entryIndex(std::string_view name) const {
  for (size_t i = 0; i < description.entries.size(); ++i)
    if (description.entries[i].name == name)
      return static_cast<int>(i);
  return -1;
}

} // namespace tenon::runtime
