#include "runtime/train/History.h"
#include "runtime/base/File.h"
#include "runtime/base/Json.h"
#include <cerrno>
#include <cmath>
#include <fstream>

namespace tenon::train {

static constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

const Series &History::of(const std::string &key) const {
  static const Series none;
  auto found = series.find(key);
  return found == series.end() ? none : found->second;
}

double History::last(const std::string &key) const {
  const Series &values = of(key);
  return values.empty() ? kMissing : values.values.back();
}

std::vector<std::string> History::heldOut() const {
  std::vector<std::string> names;
  for (const auto &[key, values] : series)
    if (key.rfind("valid_", 0) == 0 && key != "valid_seconds")
      names.push_back(key.substr(6));
  return names;
}

/// False if the line is no object with a step.
static bool add(const std::string &line, History &history) {
  auto parsed = runtime::parseJson(line);
  const runtime::JsonValue *step = parsed.ok() && parsed->isObject() ? parsed->find("step") : nullptr;
  if (!step || !step->isInteger())
    return false;
  for (const runtime::JsonValue::Member &member : parsed->members) {
    if (member.key == "step" || !(member.value.isNumber() || member.value.isNull()))
      continue;
    Series &values = history.series[member.key];
    values.steps.push_back(static_cast<double>(step->integer));
    values.values.push_back(member.value.isNumber() ? member.value.real : kMissing);
  }
  return true;
}

runtime::Expected<History> readHistory(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return runtime::fileError("read", path, errno);
  History history;
  for (std::string line; std::getline(file, line) && !file.eof();) { // at the end of the file: a line that is being written
    ++history.lines;
    if (!add(line, history))
      ++history.damaged;
  }
  return history;
}

} // namespace tenon::train
