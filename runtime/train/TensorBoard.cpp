#include "runtime/train/TensorBoard.h"
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tenon::train {

using runtime::Status;

namespace {

// Numbers of fields, and how their values are encoded (protocol buffers): a varint, 8 bytes, bytes behind their length, 4 bytes.
enum Wire : uint32_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

template <typename Number> void addFixed(std::string &to, Number value) { // little-endian
  for (size_t i = 0; i < sizeof value; ++i)
    to += static_cast<char>(value >> (8 * i));
}

void addVarint(std::string &to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

void addKey(std::string &to, uint32_t field, Wire wire) { addVarint(to, field << 3 | wire); }

void addBytes(std::string &to, uint32_t field, std::string_view bytes) {
  addKey(to, field, Bytes);
  addVarint(to, bytes.size());
  to += bytes;
}

/// An Event with its wall_time.
std::string eventNow() {
  const double seconds = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string event;
  addKey(event, 1, Fixed64);
  addFixed(event, std::bit_cast<uint64_t>(seconds));
  return event;
}

} // namespace

/// CRC-32C (Castagnoli, reflected), as record files mask it: rotated right by 15 bits, then 0xa282ead8 added.
static uint32_t maskedCrc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> result{};
    for (uint32_t i = 0; i < 256; ++i) {
      result[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        result[i] = result[i] >> 1 ^ (result[i] & 1 ? 0x82f63b78u : 0u);
    }
    return result;
  }();
  uint32_t crc = ~0u;
  for (char byte : bytes)
    crc = table[(crc ^ static_cast<unsigned char>(byte)) & 255] ^ crc >> 8;
  return std::rotr(~crc, 15) + 0xa282ead8u;
}

EventFile::~EventFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Status EventFile::open(const std::string &directory) {
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  const std::string name = runtime::concat(directory, "/events.out.tfevents.", now, ".", host, ".", getpid());
  for (int number = 0; descriptor < 0 && number < 1000; ++number) { // two trainings of one process within a second
    path = name + (number ? "." + std::to_string(number) : "");
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  if (descriptor < 0)
    return runtime::fileError("create", path, errno);
  std::string event = eventNow();
  addBytes(event, 3, "brain.Event:2");
  return append(event);
}

Status EventFile::write(uint64_t step, const std::vector<std::pair<std::string, double>> &values) {
  std::string summary;
  for (const auto &[tag, number] : values) {
    std::string value;
    addBytes(value, 1, tag);
    addKey(value, 2, Fixed32);
    addFixed(value, std::bit_cast<uint32_t>(static_cast<float>(number)));
    addBytes(summary, 1, value);
  }
  std::string event = eventNow();
  addKey(event, 2, Varint);
  addVarint(event, step);
  addBytes(event, 5, summary);
  return append(event);
}

/// One record with one call: length, its checksum, the event, its checksum. What a full disk cuts off is taken back, since
/// readers stop there.
Status EventFile::append(const std::string &event) {
  std::string record;
  addFixed(record, static_cast<uint64_t>(event.size()));
  addFixed(record, maskedCrc32c(record));
  record += event;
  addFixed(record, maskedCrc32c(event));
  const off_t before = lseek(descriptor, 0, SEEK_END);
  ssize_t written;
  do
    written = ::write(descriptor, record.data(), record.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(record.size()))
    return {};
  const int reason = written < 0 ? errno : ENOSPC;
  if (written > 0 && ftruncate(descriptor, before) != 0)
    return runtime::fileError("shorten", path, errno);
  return runtime::fileError("write", path, reason);
}

} // namespace tenon::train
