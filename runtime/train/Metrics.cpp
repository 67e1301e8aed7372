#include "runtime/train/Metrics.h"
#include "runtime/Json.h"
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tenon::train {

using runtime::Status;

void MetricsLine::key(std::string_view name) {
  line += runtime::concat(line.size() > 1 ? ", " : "", runtime::quoteJson(name), ": ");
}

void MetricsLine::add(std::string_view name, double value) {
  key(name);
  char buffer[40];
  snprintf(buffer, sizeof buffer, "%.9g", value);
  line += std::isfinite(value) ? buffer : "null";
  numbers.emplace_back(name, value);
}

void MetricsLine::add(std::string_view name, uint64_t value) {
  key(name);
  line += std::to_string(value);
  numbers.emplace_back(name, static_cast<double>(value));
}

void MetricsLine::addText(std::string_view name, std::string_view value) {
  key(name);
  line += runtime::quoteJson(value);
}

MetricsFile::~MetricsFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

namespace {

/// Bytes of the leading lines that are whole and of a step up to `lastStep`.
size_t validPrefix(const std::string &text, uint64_t lastStep) {
  size_t begin = 0;
  for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    auto line = runtime::parseJson(std::string_view(text).substr(begin, end - begin));
    const runtime::JsonValue *step = line.ok() ? line->find("step") : nullptr;
    if (!step || !step->isInteger() || static_cast<uint64_t>(step->integer) > lastStep)
      return begin;
  }
  return begin;
}

} // namespace

Status MetricsFile::open(const std::string &file, uint64_t lastStep) {
  path = file;
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    auto text = runtime::readWholeFile(path, 4ull << 30);
    if (!text.ok())
      return text.status();
    size_t keep = validPrefix(*text, lastStep);
    if (keep != text->size() && truncate(path.c_str(), static_cast<off_t>(keep)) != 0)
      return runtime::fileError("shorten", path, errno);
  }
  descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  return descriptor < 0 ? runtime::fileError("write", path, errno) : Status();
}

Status MetricsFile::write(const MetricsLine &line) {
  std::string text = line.text();
  ssize_t written;
  do
    written = ::write(descriptor, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size()))
    return {};
  return runtime::fileError("write", path, written < 0 ? errno : ENOSPC);
}

} // namespace tenon::train
