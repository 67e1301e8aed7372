#include "runtime/data/JsonLines.h"
#include "runtime/data/Text.h"
#include <algorithm>

namespace tenon::data {

using runtime::concat;

namespace {

constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
constexpr uint64_t kLongestLine = uint64_t{64} << 20;

} // namespace

Status JsonLines::open(const std::vector<std::string> &patterns) {
  std::vector<std::string> paths;
  for (const std::string &pattern : patterns)
    if (Status status = listFiles(pattern, paths); status.failed())
      return status;
  for (const std::string &path : paths)
    if (Status status = add(path); status.failed())
      return status;
  return {};
}

std::string JsonLines::placeOf(uint64_t line) const { return concat(files[all[line].file].name(), ":", all[line].number); }

Status JsonLines::read(uint64_t line, std::string &text) const {
  text.resize(all[line].bytes);
  return files[all[line].file].readAt(all[line].begin, text.data(), text.size());
}

Status JsonLines::add(const std::string &path) {
  uint64_t size = 0;
  auto file = runtime::File::openForReading(path, size);
  if (!file.ok())
    return file.status();
  std::string piece;
  Line line{0, 1, 0, static_cast<uint32_t>(files.size())};
  bool blank = true;
  auto end = [&](uint64_t at) {
    line.bytes = static_cast<uint32_t>(at - line.begin);
    if (!blank)
      all.push_back(line);
    line.begin = at + 1;
    ++line.number;
    blank = true;
  };
  for (uint64_t begin = 0; begin < size; begin += piece.size()) {
    piece.resize(std::min(kPieceBytes, size - begin));
    if (Status status = file->readAt(begin, piece.data(), piece.size()); status.failed())
      return status;
    for (size_t i = 0; i < piece.size(); ++i)
      if (piece[i] == '\n')
        end(begin + i);
      else
        blank &= piece[i] == ' ' || piece[i] == '\t' || piece[i] == '\r';
    if (begin + piece.size() - std::min(line.begin, begin + piece.size()) > kLongestLine)
      return inputError(path, ":", line.number, ": this line is longer than ", kLongestLine, " bytes");
  }
  if (line.begin < size)
    end(size);
  files.push_back(file.take());
  return {};
}

} // namespace tenon::data
