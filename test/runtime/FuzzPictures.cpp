// Pictures from outside, for fuzz-readers: Netpbm, PNG and JPEG files in folders, and arrays of bytes with their labels.
#include "test/runtime/FuzzEntry.h"
#include <filesystem>

namespace tenon::fuzz {

using runtime::DataType;

namespace {

std::string npyOf(const std::string &type, const std::string &shape, const std::string &values) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8 & 255);
  return bytes + header + values;
}

std::string randomBytes(Random &random, size_t count) {
  std::string bytes;
  for (size_t i = 0; i < count; ++i)
    bytes += static_cast<char>(random.next());
  return bytes;
}

std::string makeNetpbm(Random &random, uint64_t width, uint64_t height, bool isDamaged) {
  const bool gray = random.below(2);
  std::string text =
      runtime::concat(gray ? "P5" : "P6", random.below(2) ? " # a comment\n" : "\n", width, " ", height, "\n255\n") +
      randomBytes(random, width * height * (gray ? 1 : 3));
  if (isDamaged)
    mutate(text, random);
  return text;
}

void writeFolder(Random &random, const std::string &folder, bool isDamaged) {
  for (const char *name : {"cats", "dogs"}) {
    std::filesystem::create_directories(folder + "/" + name);
    const uint64_t across = 1 + random.below(9), down = 1 + random.below(9), kind = random.below(3);
    const std::string place = folder + "/" + name + "/a.";
    if (kind == 0)
      writeAll(place + "pgm", makeNetpbm(random, across, down, isDamaged));
    else if (kind == 1)
      writeAll(place + "png", makePng(random, across, down, isDamaged));
    else
      writeAll(place + "JPEG", makeJpeg(random, across * 4, down * 3, isDamaged));
  }
}

void writeArrays(Random &random, const std::string &folder, bool isDamaged) {
  const bool last = random.below(2);
  std::string images = npyOf("|u1", last ? "2, 5, 4, 3" : "2, 3, 5, 4", randomBytes(random, 120));
  std::string labels = npyOf("|u1", "2,", std::string("\x01\x00", 2));
  if (isDamaged)
    mutate(random.below(2) ? images : labels, random);
  writeAll(folder + "/images.npy", images);
  writeAll(folder + "/labels.npy", labels);
}

} // namespace

/// Accepted: every batch came out.
bool tryPictures(Random &random, const std::string &folder) {
  const std::string place = folder + "/pictures";
  std::filesystem::remove_all(place);
  std::filesystem::create_directories(place);
  const bool isFolder = random.below(4) != 0, isDamaged = random.below(4) != 0;
  (isFolder ? writeFolder : writeArrays)(random, place, isDamaged);
  data::TaskSettings settings;
  settings.name = "images";
  settings.folder = place;
  settings.file = isFolder ? place : "images.npy";
  settings.labels = isFolder ? "" : "labels.npy";
  settings.seed = random.next();
  settings.flip = random.below(2);
  settings.crop = static_cast<data::PictureCrop>(random.below(3));
  settings.cropSize = 1 + static_cast<int64_t>(random.below(9));
  settings.norm = static_cast<data::PictureNorm>(random.below(3));
  const bool trains = random.below(2), resized = settings.crop == data::PictureCrop::Resized;
  std::unique_ptr<data::DataTask> task;
  if (data::makeTask(settings, trains ? data::Part::Training : data::Part::HeldOut, nullptr, task).failed())
    return false;
  const int64_t height = resized ? settings.cropSize : 5, width = resized ? settings.cropSize : 4;
  Entry entry;
  entry.add("image", DataType::F32, {1 + static_cast<int64_t>(random.below(2)), random.below(4) ? 3 : 1, height, width}, -1);
  entry.add("label", DataType::I32, {entry.tensors[0].shape[0]}, 2);
  if (task->bind(entry.tensors).failed())
    return false;
  bool all = true;
  for (uint64_t index : {uint64_t{0}, random.below(trains ? 1000 : task->evaluationBatches())}) {
    all &= (trains ? task->fill(index, entry.tensors) : task->fillEvaluation(index, entry.tensors)).ok();
    if (all)
      requireBounds(entry, "images", index);
  }
  return all;
}

} // namespace tenon::fuzz
