#include "runtime/train/Metrics.h"
#include "runtime/base/Json.h"
#include "runtime/train/RunDirectory.h"
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
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

/// The lines of a file that stay: whole ones of steps up to a last one.
struct KeptLines {
  std::string text;
  size_t damaged = 0, firstDamaged = 0; // lines, counted from 1
  bool prefix = true;                   // they are the beginning of the file
};

/// The step that a line speaks of; none where the line is damaged.
std::optional<uint64_t> stepOf(std::string_view line) {
  auto value = runtime::parseJson(line);
  const runtime::JsonValue *step = value.ok() ? value->find("step") : nullptr;
  if (!step || !step->isInteger() || step->integer < 0)
    return std::nullopt;
  return static_cast<uint64_t>(step->integer);
}

KeptLines keepLines(std::string_view text, uint64_t lastStep) {
  KeptLines kept;
  size_t number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    size_t end = text.find('\n', begin);
    const bool ended = end != std::string_view::npos;
    std::string_view line = text.substr(begin, (ended ? end : text.size()) - begin);
    auto step = stepOf(line);
    if (step && *step <= lastStep) {
      kept.prefix = kept.prefix && kept.text.size() == begin && ended;
      kept.text.append(line) += '\n';
    } else if (!step && ended && kept.damaged++ == 0) { // without an end it is the line that a crash has broken
      kept.firstDamaged = number;
    }
    begin += line.size() + 1;
  }
  return kept;
}

Status rewrite(const std::string &path, uint64_t lastStep, std::vector<std::string> &notes) {
  auto text = runtime::readWholeFile(path, 4ull << 30);
  if (!text.ok())
    return text.status();
  const KeptLines kept = keepLines(*text, lastStep);
  if (kept.damaged > 0) {
    notes.push_back(runtime::concat(path, ": ", runtime::counted(kept.damaged, "damaged line"),
                                    kept.damaged == 1 ? " is" : " are", " left out, ",
                                    kept.damaged == 1 ? "line " : "the first is line ", kept.firstDamaged));
    if (Status status = keepCopy(path, notes); status.failed())
      return status;
    return runtime::replaceFile(path, kept.text);
  }
  if (!kept.prefix)
    return runtime::replaceFile(path, kept.text);
  if (kept.text.size() != text->size() && truncate(path.c_str(), static_cast<off_t>(kept.text.size())) != 0)
    return runtime::fileError("shorten", path, errno);
  return {};
}

} // namespace

Status MetricsFile::open(const std::string &file, uint64_t lastStep, std::vector<std::string> &notes) {
  path = file;
  struct stat info;
  if (stat(path.c_str(), &info) == 0)
    if (Status status = rewrite(path, lastStep, notes); status.failed())
      return status;
  descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0 || fstat(descriptor, &info) != 0)
    return runtime::fileError("write", path, errno);
  end = static_cast<uint64_t>(info.st_size);
  return {};
}

Status MetricsFile::write(const MetricsLine &line) {
  const std::string text = brokenEnd ? "\n" + line.text() : line.text();
  ssize_t written;
  do
    written = ::write(descriptor, text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(text.size())) {
    end = brokenEnd ? static_cast<uint64_t>(lseek(descriptor, 0, SEEK_END)) : end + text.size();
    brokenEnd = false;
    return {};
  }
  const int reason = written < 0 ? errno : ENOSPC;
  if (written > 0)
    brokenEnd = ftruncate(descriptor, static_cast<off_t>(end)) != 0;
  return runtime::fileError("write", path, reason);
}

} // namespace tenon::train
