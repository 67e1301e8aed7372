#include "runtime/data/Pictures.h"
#include "frontend/recipes/PictureFormats.h"
#include "runtime/base/Convert.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <cmath>
#include <filesystem>

namespace tenon::data {

using runtime::concat;
using runtime::counted;
using runtime::Expected;

namespace fs = std::filesystem;

namespace {

bool isPictureName(const fs::path &path) {
  return path.filename().string()[0] != '.' && schema::isPicture(path.filename().string());
}

/// What each pixel of a side of `to` pixels is made of, of a side of `from`.
struct Weights {
  std::vector<int64_t> first;
  std::vector<std::vector<float>> all;

  Weights(int64_t from, int64_t to) {
    const double step = static_cast<double>(from) / static_cast<double>(to), reach = std::max(step, 1.0);
    for (int64_t i = 0; i < to; ++i) {
      const double centre = (static_cast<double>(i) + 0.5) * step;
      const auto begin = std::max<int64_t>(0, static_cast<int64_t>(centre - reach + 0.5)),
                 end = std::min(from, static_cast<int64_t>(centre + reach + 0.5));
      std::vector<double> weights;
      double sum = 0;
      for (int64_t j = begin; j < end; ++j) {
        weights.push_back(std::max(0.0, 1 - std::abs((static_cast<double>(j) + 0.5 - centre) / reach)));
        sum += weights.back();
      }
      first.push_back(begin);
      all.emplace_back();
      for (double weight : weights)
        all.back().push_back(static_cast<float>(weight / sum));
    }
  }
};

} // namespace

Picture cutOut(const Picture &picture, const Box &box) {
  Picture part = {picture.channels, box.height, box.width, {}};
  part.values.assign(static_cast<size_t>(part.channels * part.height * part.width), 0);
  const int64_t begin = std::max<int64_t>(0, -box.left), end = std::min(box.width, picture.width - box.left);
  for (int64_t c = 0; c < part.channels; ++c)
    for (int64_t y = std::max<int64_t>(0, -box.top); y < std::min(box.height, picture.height - box.top) && begin < end; ++y)
      std::copy_n(picture.row(c, box.top + y) + box.left + begin, end - begin, part.row(c, y) + begin);
  return part;
}

Picture resized(const Picture &picture, int64_t height, int64_t width) {
  const Weights across(picture.width, width), down(picture.height, height);
  Picture narrow = {picture.channels, picture.height, width, {}}, result = {picture.channels, height, width, {}};
  narrow.values.assign(static_cast<size_t>(narrow.channels * narrow.height * width), 0);
  result.values.assign(static_cast<size_t>(result.channels * height * width), 0);
  for (int64_t c = 0; c < picture.channels; ++c) {
    for (int64_t y = 0; y < picture.height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const auto at = static_cast<size_t>(x);
        const float *pixels = picture.row(c, y) + across.first[at];
        float sum = 0;
        for (float weight : across.all[at])
          sum += weight * *pixels++;
        narrow.row(c, y)[x] = sum;
      }
    for (int64_t y = 0; y < height; ++y) {
      int64_t from = down.first[static_cast<size_t>(y)];
      for (float weight : down.all[static_cast<size_t>(y)]) {
        const float *pixels = narrow.row(c, from++);
        for (int64_t x = 0; x < width; ++x)
          result.row(c, y)[x] += weight * pixels[x];
      }
    }
  }
  return result;
}

Status Pictures::open(const std::string &path, const std::string &labelPath, const std::string &folder) {
  std::error_code failed;
  const std::string place = pathIn(folder, path);
  if (!fs::is_directory(place, failed))
    return openArray(path, labelPath, folder);
  return labelPath.empty()
             ? openFolder(place)
             : inputError("'", place, "' is a folder, whose folders are the classes: labels = .. is for an .npy file");
}

Status Pictures::openFolder(const std::string &path) {
  std::error_code failed;
  std::vector<std::pair<std::string, std::string>> found; // class, picture
  std::string unread;                                     // a picture of another format
  for (const auto &outer : fs::directory_iterator(path, failed)) {
    const std::string name = outer.path().filename().string();
    if (name[0] == '.' || !outer.is_directory(failed))
      continue;
    if (auto at = malformedAt(name))
      return inputError("'", path, "': the name of a class, '", name, "', is not UTF-8 from its byte ", *at,
                        " on; rename its folder");
    classes.push_back(name);
    std::error_code unreadable;
    for (const auto &inner : fs::directory_iterator(outer.path(), unreadable))
      if (isPictureName(inner.path())) {
        found.emplace_back(name, inner.path().string());
      } else {
        ++others;
        if (unread.empty() && !schema::unreadPictures(inner.path().string()).empty())
          unread = inner.path().string();
      }
    if (unreadable)
      return inputError("cannot list '", outer.path().string(), "': ", unreadable.message());
  }
  std::sort(classes.begin(), classes.end());
  std::sort(found.begin(), found.end());
  for (const auto &[name, file] : found)
    files.push_back({file, std::lower_bound(classes.begin(), classes.end(), name) - classes.begin()});
  if (files.empty() && !unread.empty())
    return inputError("not supported yet: ", schema::unreadPictures(unread), " files of `images`, such as ", unread,
                      "; make .png files of them: mogrify -format png */*.", unread.substr(unread.rfind('.') + 1));
  return files.empty() ? inputError("'", path, "' has no pictures: expected folders, one for each class, of ",
                                    schema::kPictureEnds, " files")
                       : Status();
}

Status Pictures::openArray(const std::string &path, const std::string &labelPath, const std::string &folder) {
  auto opened = ArrayFile::open(path, folder);
  if (opened.failed())
    return opened.status();
  array = opened.take();
  if (array->type() != DataType::U8 || array->shape().size() < 3 || array->shape().size() > 4)
    return inputError(array->name(), " must have bytes (uint8) of [N, C, Y, X], [N, Y, X, C] or [N, Y, X]; numbers that are made "
                                     "already are for arrays(..)");
  for (uint64_t size : array->shape())
    if (size < 1 || (size > kMostOfSide && &size != array->shape().data()))
      return inputError(array->name(), " has an axis of ", size, " places, which no picture has");
  if (labelPath.empty())
    return {};
  auto given = ArrayFile::open(labelPath, folder);
  if (given.failed())
    return given.status();
  labels = given.take();
  if (!runtime::convertible(labels->type(), DataType::I64))
    return inputError(labels->name(), " holds ", nameOf(labels->type()), " values, but labels are whole numbers");
  return labels->shape().size() == 1 && labels->rows() == array->rows()
             ? Status()
             : inputError(labels->name(), " must have one number for each of the ", counted(array->rows(), "picture"), " of ",
                          array->name());
}

Expected<int64_t> Pictures::labelOf(uint64_t index) const {
  if (!array)
    return files[index].label;
  int64_t label = 0;
  if (Status status = labels->read(index, 1, DataType::I64, &label); status.failed())
    return status;
  return label;
}

Expected<Picture> Pictures::read(uint64_t index, int64_t channels) const {
  Picture picture;
  if (array) {
    const std::vector<uint64_t> &shape = array->shape();
    const bool first = shape.size() == 3 || static_cast<int64_t>(shape[1]) == channels;
    std::vector<float> values(array->elementsPerRow());
    if (Status status = array->read(index * array->elementsPerRow(), values.size(), DataType::F32, values.data());
        status.failed())
      return status;
    auto size = [&](size_t axis) { return static_cast<int64_t>(shape[axis]); };
    picture = shape.size() == 3 ? Picture{1, size(1), size(2), {}}
              : first           ? Picture{size(1), size(2), size(3), {}}
                                : Picture{size(3), size(1), size(2), {}};
    picture.values = values;
    const auto pixels = static_cast<size_t>(picture.height * picture.width), depth = static_cast<size_t>(picture.channels);
    for (size_t i = 0; !first && i < values.size(); ++i)
      picture.values[i % depth * pixels + i / depth] = values[i];
  } else {
    auto found = readPicture(files[index].path);
    if (found.failed())
      return found.status();
    picture = found.take();
  }
  if (picture.channels == 1 && channels > 1) {
    const std::vector<float> once = picture.values;
    for (picture.channels = 1; picture.channels < channels; ++picture.channels)
      picture.values.insert(picture.values.end(), once.begin(), once.end());
  }
  return picture.channels == channels
             ? Expected<Picture>(std::move(picture))
             : inputError(placeOf(index), " has ", counted(static_cast<uint64_t>(picture.channels), "channel"),
                          ", and the input takes ", channels);
}

std::string Pictures::placeOf(uint64_t index) const { return array ? concat(array->name(), ": row ", index) : files[index].path; }

} // namespace tenon::data
