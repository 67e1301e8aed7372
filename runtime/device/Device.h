// The border to what holds the buffers of a model and runs its code. The host is one such device (HostDevice.h); the memory of
// another may lie where the host cannot read, and its runs may still go on when they return. Whatever the runtime allocates for
// compiled code, copies there and back, or calls, goes through here.
#pragma once
#include "runtime/base/Status.h"
#include "tenon/artifact.h"
#include <algorithm>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tenon::runtime {

class Device;

/// Some bytes of a device, not owned: what holds them must outlive it.
class DeviceView {
public:
  DeviceView() = default; // nothing, not even 0 bytes of something
  DeviceView(Device &device, uint64_t address, uint64_t bytes, char *host)
      : owner(&device), place(address), bytes(bytes), host(host) {}
  explicit operator bool() const { return owner != nullptr; }
  Device &device() const { return *owner; }
  /// As code of the device sees it; no pointer of the host unless there is a host view.
  uint64_t address() const { return place; }
  /// The address as TnContext has it.
  char *codePointer() const { return reinterpret_cast<char *>(place); }
  uint64_t size() const { return bytes; }
  /// Where the host reads and writes these bytes in place; null where it cannot.
  char *hostView() const { return host; }
  /// Some of the bytes; they must lie within.
  DeviceView part(uint64_t offset, uint64_t count) const {
    return DeviceView(*owner, place + offset, count, host ? host + offset : nullptr);
  }
  /// Copies of all bytes, through the device.
  Status write(const void *from) const;
  Status read(void *to) const;
  Status copyFrom(const DeviceView &other) const; // of the same size, also of another device
  Status fillZero() const;

private:
  Device *owner = nullptr;
  uint64_t place = 0, bytes = 0;
  char *host = nullptr;
};

/// Memory of a device, owned. Movable.
class DeviceMemory {
public:
  /// What frees it.
  class Block {
  public:
    virtual ~Block() = default;
  };
  DeviceMemory() = default;
  DeviceMemory(DeviceView view, std::unique_ptr<Block> block) : whole(view), block(std::move(block)) {}
  const DeviceView &view() const { return whole; }
  uint64_t size() const { return whole.size(); }

private:
  DeviceView whole;
  std::unique_ptr<Block> block;
};

/// The variant of an entry that has this name, null where the artifact has none.
const TnVariant *variantOf(const TnEntry &entry, std::string_view name);

/// The code of an artifact on a device.
class DeviceCode {
public:
  explicit DeviceCode(const TnArtifact *table) : artifactTable(table) {}
  virtual ~DeviceCode() = default;
  /// The host's: manifest, entries, `bind`.
  const TnArtifact *table() const { return artifactTable; }
  /// Fixes which of the code's variants runs. `wanted`: empty for the best one; `listed`: those of the manifest, for messages.
  virtual Status choose(std::span<const TnEntry *const> entries, const std::vector<std::string> &listed,
                        std::string_view wanted) = 0;
  /// The name of the one that was chosen.
  virtual std::string_view variant() const = 0;
  /// Runs an entry, or the half of it that the flags name, behind everything that the device was told to do before. Arenas,
  /// inputs, outputs and scratch of `call` are addresses of the device, the rest is the host's and may change after the return.
  /// The result is that of TnRun; an error says that the run could not be started, or what an earlier one came to.
  virtual Expected<int32_t> run(const TnEntry &entry, const TnContext &call) = 0;

private:
  const TnArtifact *artifactTable;
};

/// All work of a device happens as if in the order in which it was told. It outlives its memory and code. One thread at a time,
/// unless the device says otherwise.
class Device {
public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0; // for messages
  /// Whether it runs code for the device that a manifest names.
  virtual bool runsCodeFor(std::string_view device) const { return device == name(); }
  /// Whether its memory is the host's: every view has a host view, whose pointer is its address, and code takes any buffer of
  /// the process. The runtime reads and writes in place then and copies nothing.
  virtual bool sharesMemory() const = 0;
  /// Zero-filled, 64-byte aligned. Streams that are walked together get stagger 0, 1, 2, ...: see Arena.
  virtual Expected<DeviceMemory> allocate(uint64_t bytes, unsigned staggerSteps, const char *purpose) = 0;
  /// Bytes that this process can have of it, what is allocated and not touched yet among them; 0 if the device does not say.
  virtual uint64_t availableBytes() const = 0;
  /// The host may change `from` after the return, whether or not the bytes have arrived.
  virtual Status copyIn(const DeviceView &to, const void *from) = 0;
  /// Waits for the bytes, so an error can be that of a run before.
  virtual Status copyOut(void *to, const DeviceView &from) = 0;
  virtual Status copyWithin(const DeviceView &to, const DeviceView &from) = 0; // which do not overlap
  virtual Status fillZero(const DeviceView &to) = 0;
  /// Waits for all that was told; the error is that of a run or copy before.
  virtual Status wait() = 0;
  /// The code of a library; errors name the file.
  virtual Expected<std::unique_ptr<DeviceCode>> open(const std::string &path) = 0;
};

/// The bytes of a view for the host to read: in place where it can, else a copy.
class HostCopy {
public:
  static Expected<HostCopy> of(const DeviceView &view);
  HostCopy(HostCopy &&) = default;
  const char *data() const { return place; }

private:
  HostCopy() = default;
  std::vector<char> copy; // keeps its address when it is moved
  const char *place = nullptr;
};

/// Writes all bytes of a view by fill(char *) -> Status: in place where the host can, else in memory of its own that is copied
/// in when the fill has succeeded.
template <typename Fill> Status fillView(const DeviceView &view, Fill fill) {
  if (view.hostView())
    return fill(view.hostView());
  std::vector<char> values(view.size());
  Status status = fill(values.data());
  return status.ok() ? view.write(values.data()) : status;
}

/// Reads a view by visit(const char *, uint64_t) -> Status: in one piece in place where the host can, else in copies of a few
/// MiB.
template <typename Visit> Status visitView(const DeviceView &view, Visit visit) {
  if (view.hostView())
    return visit(static_cast<const char *>(view.hostView()), view.size());
  constexpr uint64_t kPiece = uint64_t(4) << 20;
  std::vector<char> piece(std::min(kPiece, view.size()));
  for (uint64_t at = 0; at < view.size(); at += kPiece) {
    const uint64_t count = std::min(kPiece, view.size() - at);
    Status status = view.part(at, count).read(piece.data());
    if (status.ok())
      status = visit(static_cast<const char *>(piece.data()), count);
    if (status.failed())
      return status;
  }
  return {};
}

} // namespace tenon::runtime
