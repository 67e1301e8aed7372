// Pictures with the numbers of their classes: a folder of folders, or an array of bytes; and their parts in another size.
#pragma once
#include "runtime/data/ArrayFile.h"
#include "runtime/data/PictureFiles.h"
#include "runtime/data/Task.h"
#include <optional>

namespace tenon::data {

/// A part of a picture, in pixels.
struct Box {
  int64_t top = 0, left = 0, height = 0, width = 0;
};

/// The part alone, and what lies outside of the picture as zeros.
Picture cutOut(const Picture &picture, const Box &box);
/// The picture in another size: each pixel is a mean of those around its centre, by weights that fall linearly to 0 at the
/// distance of one pixel of the coarser of the two sizes ("bilinear" with antialiasing: Pillow's resize, without its rounding in
/// between).
Picture resized(const Picture &picture, int64_t height, int64_t width);

/// Either FOLDER/CLASS/PICTURE.ppm (or another of schema::kPictureEnds; a class whose name begins with "." is none), or an .npy
/// file of bytes [N, C, Y, X], [N, Y, X, C] or [N, Y, X] with one of labels [N].
class Pictures {
public:
  Status open(const std::string &path, const std::string &labels, const std::string &folder);
  uint64_t count() const { return array ? array->rows() : files.size(); }
  /// Classes by their names, ascending; empty where labels are numbers.
  const std::vector<std::string> &names() const { return classes; }
  bool hasLabels() const { return !array || labels; }
  /// The number of the class, of `names()` if there are any.
  runtime::Expected<int64_t> labelOf(uint64_t index) const;
  /// With so many channels: a picture of one has it as often as is asked for.
  runtime::Expected<Picture> read(uint64_t index, int64_t channels) const;
  /// Files of the folder's classes that are no pictures by their names.
  uint64_t passedOver() const { return others; }
  /// "cats/7.ppm", or "images.npy: row 7".
  std::string placeOf(uint64_t index) const;

private:
  Status openFolder(const std::string &path);
  Status openArray(const std::string &path, const std::string &labelPath, const std::string &folder);
  struct Entry {
    std::string path;
    int64_t label;
  };
  std::vector<Entry> files;
  std::vector<std::string> classes;
  uint64_t others = 0;
  std::optional<ArrayFile> array, labels;
};

} // namespace tenon::data
