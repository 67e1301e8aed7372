#include "runtime/cuda/Profile.h"
#include "runtime/base/Json.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace tenon::runtime::cuda {

namespace {

double sumOf(const std::vector<double> &values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double medianOf(std::vector<double> values) {
  if (values.empty())
    return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string fixed(double value, int digits) {
  char text[64];
  snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string padded(std::string text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

/// "count": .., "total": .., "median": .., "least": .. in microseconds.
std::string figures(const std::vector<double> &seconds) {
  const double least = seconds.empty() ? 0 : *std::min_element(seconds.begin(), seconds.end());
  return concat("\"count\": ", seconds.size(), ", \"total\": ", fixed(1e6 * sumOf(seconds), 2),
                ", \"median\": ", fixed(1e6 * medianOf(seconds), 2), ", \"least\": ", fixed(1e6 * least, 2));
}

/// [text of each, ..].
template <typename Value, typename Text> std::string listOf(const std::vector<Value> &values, Text textOf) {
  std::string text;
  for (const Value &each : values)
    text += concat(text.empty() ? "" : ", ", textOf(each));
  return concat("[", text, "]");
}

} // namespace

Expected<std::unique_ptr<Profile>> Profile::ofEnvironment(CudaDevice &device) {
  const char *given = std::getenv(kProfileVariable);
  const std::string_view text = given ? given : "";
  if (text.empty())
    return std::unique_ptr<Profile>();
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view what = text.substr(0, colon), path = text.substr(std::min(colon + 1, text.size()));
  if ((what != "kernels" && what != "runs") || (colon < text.size() && path.empty()))
    return usageError(kProfileVariable, "=", text, ": expects kernels, runs, kernels:FILE or runs:FILE");
  return std::unique_ptr<Profile>(new Profile(device, what == "kernels", std::string(path)));
}

Profile::~Profile() {
  if (device.activate().failed())
    return;
  for (Handle event : events)
    device.driver().cuEventDestroy_v2(event);
  if (covered)
    device.driver().cuMemFree_v2(covered);
}

Status Profile::mark() {
  if (next == events.size()) {
    events.push_back(nullptr);
    if (Result wrong = device.driver().cuEventCreate(&events.back(), 0)) {
      events.pop_back();
      return device.check(wrong, "making an event");
    }
  }
  return device.check(device.driver().cuEventRecord(events[next++], device.stream()), "recording an event");
}

/// Work in front of a run that hides how long its first launches take to come, as they are hidden in the middle of one.
Status Profile::cover() {
  constexpr size_t bytes = size_t(32) << 20;
  Result result = covered ? kSuccess : device.driver().cuMemAlloc_v2(&covered, bytes);
  if (result == kSuccess)
    result = device.driver().cuMemsetD8Async(covered, 0, bytes, device.stream());
  return device.check(result, "preparing a profile");
}

Status Profile::before(uint32_t kernel) {
  Status status = isOfKernels && marked.empty() ? cover() : Status();
  if (status.ok())
    status = mark();
  marked.push_back(kernel);
  return status;
}

Profile::Run &Profile::runOf(std::string_view entry) {
  for (Run &run : runs)
    if (run.entry == entry)
      return run;
  runs.push_back({std::string(entry), {}, {}, {}, {}, {}});
  return runs.back();
}

Status Profile::begin() {
  constexpr size_t mostOpen = 64; // reading times is no part of what runs take
  Status status = isOfKernels || open.size() >= mostOpen ? settle() : Status();
  next = open.empty() ? 0 : open.back().first + open.back().kernels + 1; // without those of a run that failed
  marked.clear();
  written = 0;
  times[0] = Clock::now();
  return status;
}

Status Profile::end(std::string_view entry) {
  const Clock::time_point started = Clock::now();
  const size_t kernels = marked.size();
  if (Status status = mark(); status.failed())
    return status;
  Run &run = runOf(entry);
  run.describe.push_back(seconds(times[0], times[1]));
  run.start.push_back(seconds(times[1], started));
  run.launch.push_back(std::exchange(launch, 0));
  run.written.push_back(std::exchange(written, 0));
  open.push_back({std::string(entry), next - 1 - kernels, kernels});
  return {};
}

/// Waits for the runs whose ends were marked, and notes their times.
Status Profile::settle() {
  if (open.empty())
    return {};
  Status status = device.wait();
  for (const Open &run : open) {
    double whole = 0;
    for (size_t i = 0; i < run.kernels && status.ok(); ++i) {
      float milliseconds = 0;
      const Handle from = events[run.first + i], to = events[run.first + i + 1];
      status = device.check(device.driver().cuEventElapsedTime(&milliseconds, from, to), "reading an event");
      whole += 1e-3 * double(milliseconds);
      if (isOfKernels) {
        ofKernel.resize(std::max(ofKernel.size(), size_t(marked[i]) + 1));
        ofKernel[marked[i]].push_back(1e-3 * double(milliseconds));
      }
    }
    runOf(run.entry).device.push_back(whole);
  }
  open.clear();
  return status;
}

/// By time, the longest first.
std::string Profile::table(const TnModule &module) const {
  std::string text;
  for (const Run &run : runs)
    text += concat(
        "entry ", run.entry, ": ", run.device.size(), " runs of ", fixed(1e3 * medianOf(run.device), 3),
        " ms on the GPU (median); on the host ", fixed(1e6 * medianOf(run.describe), 1), " us to write down launches, ",
        fixed(1e6 * medianOf(run.start), 1), " us to start them",
        isOfKernels ? "" : concat(", ", fixed(1e6 * medianOf(run.launch), 1), " us of these in the driver's start of a graph"),
        "\n");
  if (!isOfKernels)
    return text;
  std::vector<size_t> order(ofKernel.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::vector<double> totals;
  for (const std::vector<double> &times : ofKernel)
    totals.push_back(sumOf(times));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return std::pair(totals[b], a) < std::pair(totals[a], b); });
  const double all = std::max(sumOf(totals), 1e-12);
  text += "   share   total ms  launches  median us  kernel\n";
  for (size_t kernel : order)
    if (!ofKernel[kernel].empty())
      text += concat(padded(fixed(100 * totals[kernel] / all, 1), 7), "%", padded(fixed(1e3 * totals[kernel], 3), 11),
                     padded(concat(ofKernel[kernel].size()), 10), padded(fixed(1e6 * medianOf(ofKernel[kernel]), 1), 11), "  ",
                     module.kernels[kernel], *module.places[kernel] ? " of " : "", module.places[kernel], "\n");
  return text;
}

std::string Profile::line(const TnModule &module) const {
  std::string text = concat("{\"device\": ", quoteJson(device.chipName()), ", \"unit\": \"us\", \"entries\": [");
  for (const Run &run : runs)
    text += concat(&run == runs.data() ? "" : ", ", "{\"name\": ", quoteJson(run.entry), ", \"device\": {", figures(run.device),
                   "}, \"describe\": {", figures(run.describe), "}, \"start\": {", figures(run.start), "}, \"launch\": {",
                   figures(run.launch), "}, \"each\": ", listOf(run.device, [](double each) { return fixed(1e6 * each, 2); }),
                   ", \"written\": ", listOf(run.written, [](size_t each) { return concat(each); }), "}");
  text += "], \"kernels\": [";
  const char *comma = "";
  for (size_t kernel = 0; kernel < ofKernel.size(); ++kernel)
    if (!ofKernel[kernel].empty())
      text += concat(std::exchange(comma, ", "), "{\"name\": ", quoteJson(module.kernels[kernel]),
                     ", \"place\": ", quoteJson(module.places[kernel]), ", ", figures(ofKernel[kernel]), "}");
  return text + "]}\n";
}

Status Profile::report(const TnModule &module) {
  if (Status status = settle(); status.failed() || runs.empty())
    return status;
  if (path.empty()) {
    fputs(table(module).c_str(), stderr);
    return {};
  }
  FILE *file = fopen(path.c_str(), "a");
  const std::string text = line(module);
  const bool isWritten = file && fwrite(text.data(), 1, text.size(), file) == text.size();
  if ((file && fclose(file) != 0) || !isWritten)
    return resourceError(path, ": cannot be written");
  return {};
}

} // namespace tenon::runtime::cuda
