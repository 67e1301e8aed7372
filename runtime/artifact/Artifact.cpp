#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/Devices.h"
#include "runtime/base/File.h"
#include "runtime/base/Hash.h"
#include "runtime/device/Cpu.h"
#include <algorithm>
#include <filesystem>

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

Expected<std::string> hashOf(const std::string &path) {
  uint64_t size = 0;
  auto file = File::openForReading(path, size);
  if (!file.ok())
    return file.status();
  Hash128 hash;
  std::string piece;
  for (uint64_t begin = 0; begin < size; begin += piece.size()) {
    piece.resize(std::min(uint64_t{1} << 20, size - begin));
    if (Status status = file->readAt(begin, piece.data(), piece.size()); status.failed())
      return status;
    hash.add(piece.data(), piece.size());
  }
  return hash.take();
}

std::string hashFileOf(const std::string &library) { return library + ".xxh3"; }

/// Models of runs of before have no such file.
Status checkLibraryHash(const std::string &library) {
  std::error_code ignored;
  if (!std::filesystem::exists(hashFileOf(library), ignored))
    return {};
  auto written = readWholeFile(hashFileOf(library), 1 << 10);
  auto found = hashOf(library);
  if (!written.ok() || !found.ok())
    return !written.ok() ? written.status() : found.status();
  return *written == *found + "\n"
             ? Status()
             : inputError("'", library, "' is damaged: it is not the file whose hash '", hashFileOf(library),
                          "' has; tenon train with the specification and the run's --out compiles it again");
}

} // namespace

Status writeLibraryHash(const std::string &directory) {
  auto library = findLibrary(directory);
  auto hash = library.ok() ? hashOf(*library) : library;
  return hash.ok() ? replaceFile(hashFileOf(*library), *hash + "\n") : hash.status();
}

Expected<std::shared_ptr<const Artifact>> Artifact::open(const std::string &path, std::string_view tierName) {
  auto described = describe(path, tierName);
  if (!described.ok() || (*described)->runsCode())
    return described;
  if ((*described)->lacking.failed())
    return (*described)->lacking.in((*described)->path());
  auto device = deviceFor((*described)->manifest().device);
  if (!device.ok())
    return device.status().in((*described)->path());
  return openFile((*described)->path(), tierName, **device, true);
}

Expected<std::shared_ptr<const Artifact>> Artifact::open(const std::string &path, std::string_view tierName, Device &device) {
  auto file = findLibrary(path);
  return file.ok() ? openFile(*file, tierName, device, true) : file.status();
}

Expected<std::shared_ptr<const Artifact>> Artifact::describe(const std::string &path, std::string_view tierName) {
  auto file = findLibrary(path);
  return file.ok() ? openFile(*file, tierName, hostDevice(), false) : file.status();
}

Expected<std::shared_ptr<const Artifact>> Artifact::openFile(const std::string &file, std::string_view tierName, Device &device,
                                                             bool runs) {
  // A name without a slash would be searched in the system's library path.
  std::error_code error;
  std::string absolute = std::filesystem::absolute(file, error).string();
  if (error)
    return inputError("cannot find the place of '", file, "': ", error.message());
  if (Status status = checkLibraryHash(absolute); status.failed()) // before anything of it runs
    return status;
  auto code = device.open(absolute);
  if (!code.ok())
    return code.status();
  std::shared_ptr<Artifact> artifact(new Artifact(device, code.take()));
  artifact->libraryPath = absolute;
  artifact->libraryDirectory = std::filesystem::path(absolute).parent_path().string();
  if (Status status = artifact->read(tierName, runs); status.failed())
    return status.kind() == ErrorKind::Usage ? status : status.in(absolute); // what the user has said is not in the file
  return std::shared_ptr<const Artifact>(artifact);
}

Status Artifact::read(std::string_view tierName, bool runs) {
  if (!table)
    return inputError("the artifact has no table");
  if (table->abi != TN_ABI_VERSION)
    return inputError("the artifact has ABI version ", table->abi, ", this runtime has ", TN_ABI_VERSION,
                      ": compile the specification again");
  if (!table->manifest || table->entry_count < 0 || (table->entry_count > 0 && !table->entries))
    return inputError("the artifact's table is damaged");
  auto parsed = parseManifest(table->manifest);
  if (!parsed.ok())
    return parsed.status();
  description = parsed.take();
  if (runs && !runsCode())
    return inputError("the artifact is for the device '", description.device, "', this one is '", owner->name(), "'");
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
  if (!runsCode())
    return {};
  Status chosen = loaded->choose(entries, description.tiers, tierName);
  const bool hasTier = tierName.empty() || tierName == kBestTier ||
                       std::find(description.tiers.begin(), description.tiers.end(), tierName) != description.tiers.end();
  if (runs || !hasTier)
    return chosen;
  lacking = chosen;
  return {};
}

Status Artifact::matchEntry(const EntryInfo &info, const TnEntry &entry) const {
  bool same = entry.dim_count == static_cast<int32_t>(info.dims.size()) &&
              entry.input_count == static_cast<int32_t>(info.ownInputs() + info.totals.size()) &&
              entry.output_count == static_cast<int32_t>(info.outputs.size()) &&
              entry.state_count == static_cast<int32_t>(info.states.size()) && entry.offset_count >= entry.state_count;
  if (!same || !entry.bind || entry.variant_count < 0 || (entry.variant_count > 0 && !entry.variants))
    return inputError("manifest and code disagree about entry '", info.name, "'");
  return {};
}

int Artifact::entryIndex(std::string_view name) const {
  for (size_t i = 0; i < description.entries.size(); ++i)
    if (description.entries[i].name == name)
      return static_cast<int>(i);
  return -1;
}

} // namespace tenon::runtime
