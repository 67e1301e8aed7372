// A compiled model: DIR/libNAME.so with its manifest, opened and checked. Artifacts are code: never open one from an unknown
// source.
#pragma once
#include "runtime/artifact/Manifest.h"
#include "runtime/device/HostDevice.h"
#include <memory>

namespace tenon::runtime {

class Artifact {
public:
  /// `path` is DIR (with exactly one libNAME.so) or the .so itself. `tierName`: empty = the environment variable TENON_TIER, else
  /// the best one that artifact and machine share, as for kBestTier. Refuses another ABI, a manifest that disagrees with the
  /// entry table, a tier that is not there. `device`: runs the code and holds the buffers of everything that is made of the
  /// artifact (Parameters, Context, training, generation); it must outlive them.
  static Expected<std::shared_ptr<const Artifact>> open(const std::string &path, std::string_view tierName, Device &device);
  /// On the device that its manifest names.
  static Expected<std::shared_ptr<const Artifact>> open(const std::string &path, std::string_view tierName = {});
  /// For its manifest and its parameters, which lie on the host: as `open` where the host runs its code, else no code of it runs,
  /// be it for another device or for processors with what this one lacks.
  static Expected<std::shared_ptr<const Artifact>> describe(const std::string &path, std::string_view tierName = {});
  Artifact(const Artifact &) = delete;
  Artifact &operator=(const Artifact &) = delete;

  const Manifest &manifest() const { return description; }
  std::string_view manifestText() const { return table->manifest; }
  Device &device() const { return *owner; }
  DeviceCode &code() const { return *loaded; }
  std::string_view tier() const { return loaded->variant(); }
  /// False: it was opened by `describe` on a machine that is not asked for its device, or that lacks what its code needs.
  bool runsCode() const { return owner->runsCodeFor(description.device) && lacking.ok(); }
  /// Index into manifest().entries, -1 if there is none of that name.
  int entryIndex(std::string_view name) const;
  const TnEntry &entry(int index) const { return *entries[index]; }
  const std::string &path() const { return libraryPath; }
  const std::string &directory() const { return libraryDirectory; }

private:
  Artifact(Device &device, std::unique_ptr<DeviceCode> code) : owner(&device), loaded(std::move(code)), table(loaded->table()) {}
  static Expected<std::shared_ptr<const Artifact>> openFile(const std::string &file, std::string_view tierName, Device &device,
                                                            bool runs);
  Status read(std::string_view tierName, bool runs);
  Status matchEntry(const EntryInfo &info, const TnEntry &entry) const;
  Device *owner;
  std::unique_ptr<DeviceCode> loaded;
  const TnArtifact *table;
  std::vector<const TnEntry *> entries; // in manifest order
  Manifest description;
  Status lacking; // why none of its tiers, or not the one that was asked for, runs on the device that it is for
  std::string libraryPath, libraryDirectory;
};

/// Writes the hash of an artifact's library beside it, into libNAME.so.xxh3: whoever opens it compares them first.
Status writeLibraryHash(const std::string &directory);

} // namespace tenon::runtime
