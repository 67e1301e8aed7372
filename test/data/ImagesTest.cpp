// images: folders and arrays of pictures, their parts, sides and norms.
#include "runtime/data/Pictures.h"
#include "runtime/files/Npy.h"
#include "test/data/Batch.h"
#include <filesystem>
#include <fstream>
#include <set>

namespace tenon::data::test {

namespace {

std::string pathOf(const std::string &name) { return ::testing::TempDir() + name; }

std::string written(const std::string &name, const std::string &bytes) {
  std::filesystem::create_directories(std::filesystem::path(pathOf(name)).parent_path());
  std::ofstream(pathOf(name), std::ios::binary) << bytes;
  return pathOf(name);
}

/// Of bytes that count up, from 0 on.
std::string counting(const std::string &name, std::vector<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<unsigned char> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<unsigned char>(i);
  EXPECT_TRUE(runtime::writeNpy(pathOf(name), DataType::U8, shape, values.data()).ok());
  return pathOf(name);
}

TaskSettings imagesOf(const std::string &file, const std::string &labels = "") {
  TaskSettings settings;
  settings.name = "images";
  settings.file = file;
  settings.labels = labels;
  settings.seed = 3;
  return settings;
}

Batch batchOf(int64_t rows, int64_t channels, int64_t height, int64_t width, int64_t classes = 0) {
  Batch batch = Batch().add("image", DataType::F32, {rows, channels, height, width});
  return classes > 0 ? batch.add("label", DataType::I32, {rows}, classes) : batch;
}

std::string mistakeOf(const TaskSettings &settings, Batch batch) {
  std::unique_ptr<DataTask> task;
  Status status = makeTask(settings, Part::Training, nullptr, task);
  if (status.ok())
    status = task->bind(batch.tensors);
  if (status.ok())
    status = task->fill(0, batch.tensors);
  return status.message();
}

std::unique_ptr<DataTask> openFor(const TaskSettings &settings, Batch &batch, Part part = Part::Training) {
  std::unique_ptr<DataTask> task;
  Status status = makeTask(settings, part, nullptr, task);
  if (status.ok())
    status = task->bind(batch.tensors);
  EXPECT_TRUE(status.ok()) << status.message();
  return status.ok() ? std::move(task) : nullptr;
}

} // namespace

TEST(Images, AFolderOfClasses) {
  std::filesystem::remove_all(pathOf("pictures"));
  written("pictures/dogs/b.PPM", std::string("P6 # of three\n2 1\n255\n\x00\x0A\x14\x1E\x28\xFF", 28));
  written("pictures/cats/a.pgm", std::string("P5\n2 1 15\n") + "\x03\x0F");
  written("pictures/cats/notes.txt", "no picture");
  written("pictures/.cache/c.ppm", "of no class");
  Batch batch = batchOf(2, 3, 1, 2, 2);
  auto task = openFor(imagesOf(pathOf("pictures")), batch, Part::HeldOut);
  ASSERT_TRUE(task && task->fillEvaluation(0, batch.tensors).ok());
  EXPECT_TRUE(batch.integer("label", 0) == 0 && batch.integer("label", 1) == 1);
  EXPECT_EQ(task->vocabulary().classes.at("label"), (std::vector<std::string>{"cats", "dogs"}));
  const std::vector<float> wanted = {51, 255, 51, 255, 51, 255, 0, 30, 10, 40, 20, 255}; // channel by channel
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_FLOAT_EQ(batch.real("image", static_cast<int64_t>(i)), wanted[i] / 255) << i;
  ASSERT_EQ(task->notes().size(), 1u);
  EXPECT_NE(task->notes()[0].find("has 1 other file beside its pictures (.ppm, .pgm, .png, .jpg and .jpeg)"), std::string::npos);
  written("pictures/cats/c.ppm", "GIF89a");
  EXPECT_NE(mistakeOf(imagesOf(pathOf("pictures")), batchOf(3, 3, 1, 2)).find("c.ppm begins neither as a binary Netpbm file"),
            std::string::npos);
  written("pictures/cats/c.ppm", "P6 2 1 255 abc");
  EXPECT_NE(mistakeOf(imagesOf(pathOf("pictures")), batchOf(3, 3, 1, 2)).find("c.ppm ends within its pixels"), std::string::npos);
  written("pictures/cats/c.ppm", "P6 2 1 65535 abcdefghijkl");
  EXPECT_NE(mistakeOf(imagesOf(pathOf("pictures")), batchOf(3, 3, 1, 2)).find("a largest value from 1 to 255"),
            std::string::npos);
  written("pictures/cats/c.ppm", std::string("P6 2 1 15 ") + "\x01\x02\x03\x04\x05\x10");
  EXPECT_NE(mistakeOf(imagesOf(pathOf("pictures")), batchOf(3, 3, 1, 2)).find("a value of 16, more than the 15 of its header"),
            std::string::npos);
  written("pictures/r\xFF/c.ppm", "P6 2 1 255 abcdef");
  EXPECT_NE(mistakeOf(imagesOf(pathOf("pictures")), batchOf(3, 3, 1, 2)).find("is not UTF-8 from its byte 1 on"),
            std::string::npos);
  EXPECT_NE(mistakeOf(imagesOf(pathOf("pictures"), "x.npy"), batchOf(3, 3, 1, 2)).find("labels = .. is for an .npy"),
            std::string::npos);
  std::filesystem::create_directories(pathOf("nothing"));
  EXPECT_NE(mistakeOf(imagesOf(pathOf("nothing")), batchOf(1, 3, 1, 2)).find("has no pictures"), std::string::npos);
}

/// Told by their bytes, whatever their names say; what cannot be read says so with the name of the file.
TEST(Images, OfEveryKindInOneFolder) {
  std::filesystem::remove_all(pathOf("mixed"));
  std::filesystem::create_directories(pathOf("mixed/a"));
  const std::string from = TENON_TEST_PICTURES;
  const std::pair<const char *, const char *> names[] = {{"420.jpg", "1.jpeg"},
                                                         {"420.jpg.ppm", "2.ppm"},
                                                         {"grey.jpg", "3.JPG"},
                                                         {"grey.jpg.pgm", "4.pgm"},
                                                         {"420.jpg.ppm", "5.png"}};
  for (const auto &[name, here] : names)
    std::filesystem::copy_file(from + name, pathOf("mixed/a/") + here);
  Batch batch = batchOf(5, 3, 21, 29, 1);
  auto task = openFor(imagesOf(pathOf("mixed")), batch, Part::HeldOut);
  ASSERT_TRUE(task && task->fillEvaluation(0, batch.tensors).ok());
  EXPECT_TRUE(task->notes().empty());
  const int64_t size = 3 * 21 * 29;
  auto differing = [&](int64_t one, int64_t other) {
    int64_t count = 0;
    for (int64_t i = 0; i < size; ++i)
      count += batch.real("image", one * size + i) != batch.real("image", other * size + i);
    return count;
  };
  EXPECT_TRUE(differing(0, 1) == 0 && differing(0, 4) == 0 && differing(2, 3) == 0 && differing(0, 2) > 0);
  for (int64_t i = 0; i < size / 3; ++i)
    ASSERT_EQ(batch.real("image", 2 * size + i), batch.real("image", 2 * size + size / 3 + i)); // grey fills all channels
  EXPECT_NE(mistakeOf(imagesOf(pathOf("mixed")), batchOf(5, 1, 21, 29)).find(" has 3 channels, and the input takes 1"),
            std::string::npos);
  std::filesystem::resize_file(pathOf("mixed/a/3.JPG"), 400);
  EXPECT_NE(mistakeOf(imagesOf(pathOf("mixed")), batchOf(5, 3, 21, 29))
                .find("mixed/a/3.JPG cannot be read as JPEG (Premature end of JPEG file); make it anew, or remove it"),
            std::string::npos);
}

TEST(Images, ArraysWithChannelsFirstOrLast) {
  const std::vector<int32_t> numbers = {1, 0};
  ASSERT_TRUE(runtime::writeNpy(pathOf("labels.npy"), DataType::I32, std::vector<int64_t>{2}, numbers.data()).ok());
  const std::string labels = pathOf("labels.npy");
  Batch first = batchOf(2, 3, 2, 4, 2), last = first, gray = first;
  ASSERT_TRUE(openFor(imagesOf(counting("first.npy", {2, 3, 2, 4}), labels), first, Part::HeldOut)
                  ->fillEvaluation(0, first.tensors)
                  .ok());
  ASSERT_TRUE(
      openFor(imagesOf(counting("last.npy", {2, 2, 4, 3}), labels), last, Part::HeldOut)->fillEvaluation(0, last.tensors).ok());
  ASSERT_TRUE(
      openFor(imagesOf(counting("gray.npy", {2, 2, 4}), labels), gray, Part::HeldOut)->fillEvaluation(0, gray.tensors).ok());
  EXPECT_TRUE(first.integer("label", 0) == 1 && first.integer("label", 1) == 0);
  for (int64_t i = 0; i < 48; ++i) {
    const int64_t row = i / 24, channel = i / 8 % 3, pixel = i % 8;
    EXPECT_FLOAT_EQ(first.real("image", i) * 255, static_cast<float>(i));
    EXPECT_FLOAT_EQ(last.real("image", i) * 255, static_cast<float>(24 * row + 3 * pixel + channel));
    EXPECT_FLOAT_EQ(gray.real("image", i) * 255, static_cast<float>(8 * row + pixel));
  }
  EXPECT_NE(mistakeOf(imagesOf(pathOf("first.npy")), batchOf(2, 3, 2, 4, 2)).find("labels = \"labels.npy\""), std::string::npos);
  EXPECT_NE(
      mistakeOf(imagesOf(pathOf("first.npy"), labels), batchOf(2, 3, 2, 4, 1)).find("the label 1 is none of the numbers 0 to 0"),
      std::string::npos);
  EXPECT_NE(mistakeOf(imagesOf(pathOf("labels.npy")), batchOf(2, 3, 2, 4)).find("must have bytes (uint8)"), std::string::npos);
  EXPECT_NE(mistakeOf(imagesOf(pathOf("first.npy"), pathOf("gray.npy")), batchOf(2, 3, 2, 4))
                .find("one number for each of the 2 pictures"),
            std::string::npos);
  const std::vector<float> reals = {1, 0};
  ASSERT_TRUE(runtime::writeNpy(pathOf("reals.npy"), DataType::F32, std::vector<int64_t>{2}, reals.data()).ok());
  EXPECT_NE(mistakeOf(imagesOf(pathOf("first.npy"), pathOf("reals.npy")), batchOf(2, 3, 2, 4, 2))
                .find("reals.npy holds f32 values, but labels are whole numbers"),
            std::string::npos);
  EXPECT_NE(mistakeOf(imagesOf(counting("side.npy", {2, 8, 8, 3})), batchOf(2, 8, 8, 3))
                .find("fills an input of [B, C, Y, X], and 'image' would have 8 channels of 8 x 3 pixels"),
            std::string::npos);
  EXPECT_NE(mistakeOf(imagesOf(pathOf("first.npy")), batchOf(2, 2, 2, 4)).find(" has 4 channels, and the input takes 2"),
            std::string::npos);
  EXPECT_NE(
      mistakeOf(imagesOf(pathOf("first.npy")), batchOf(2, 3, 2, 5)).find("2 x 4 pixels, and the input takes 2 x 5; crop = "),
      std::string::npos);
}

/// Each part of a padded picture is one of the places where it may lie, each side one of two, and a batch depends on (seed,
/// index).
TEST(Images, PaddedPartsAreDrawnForEachEpoch) {
  TaskSettings settings = imagesOf(counting("one.npy", {4, 1, 3, 3}));
  settings.crop = PictureCrop::Padded;
  settings.cropSize = 1;
  settings.flip = true;
  Batch batch = batchOf(4, 1, 3, 3), again = batch;
  auto task = openFor(settings, batch), restarted = openFor(settings, again);
  ASSERT_TRUE(task && restarted);
  std::set<std::vector<int>> seen;
  for (uint64_t index = 0; index < 400; ++index) {
    ASSERT_TRUE(task->fill(index, batch.tensors).ok());
    for (int64_t b = 0; b < 4; ++b) {
      std::vector<int> pixels;
      for (int64_t i = 0; i < 9; ++i)
        pixels.push_back(static_cast<int>(batch.real("image", 9 * b + i) * 255 + 0.5f));
      seen.insert(pixels);
    }
  }
  ASSERT_TRUE(restarted->fill(57, again.tensors).ok() && task->fill(57, batch.tensors).ok());
  EXPECT_EQ(batch.bytes(), again.bytes());
  std::set<std::vector<int>> wanted;
  for (int row = 0; row < 4; ++row)
    for (int place = 0; place < 18; ++place) {
      std::vector<int> pixels;
      for (int i = 0; i < 9; ++i) {
        const int x = place / 9 ? 2 - i % 3 : i % 3, top = i / 3 + place % 9 / 3 - 1, left = x + place % 3 - 1;
        pixels.push_back(top < 0 || top > 2 || left < 0 || left > 2 ? 0 : 9 * row + 3 * top + left);
      }
      wanted.insert(pixels);
    }
  EXPECT_EQ(seen, wanted);
  Batch middle = batchOf(4, 1, 1, 1);
  ASSERT_TRUE(openFor(settings, middle, Part::HeldOut)->fillEvaluation(0, middle.tensors).ok());
  EXPECT_FLOAT_EQ(middle.real("image", 2) * 255, 9 * 2 + 4);
}

/// Against torch 2.13: interpolate(mode="bilinear", antialias=True).
TEST(Images, ResizingIsThatOfTorch) {
  Picture picture = {1, 5, 7, {}};
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 7; ++x)
      picture.values.push_back(static_cast<float>((3 * y * y + 5 * x + 7 * x * y) % 251));
  const std::vector<float> smaller = {5.4762f,  17.9257f, 32.6457f, 45.0952f, 23.2857f, 52.8533f,
                                      87.8133f, 117.381f, 54.7143f, 101.4f,   156.6f,   203.2857f},
                           second = {1.3125f, 6.6875f, 12.9583f, 19.2292f, 25.5f, 31.7708f, 38.0417f, 44.3125f, 49.6875f};
  const Picture down = resized(picture, 3, 4), up = resized(picture, 8, 9);
  for (size_t i = 0; i < smaller.size(); ++i)
    EXPECT_NEAR(down.values[i], smaller[i], 1e-3) << i;
  for (size_t i = 0; i < second.size(); ++i)
    EXPECT_NEAR(up.row(0, 1)[i], second[i], 1e-3) << i;
}

TEST(Images, ResizedPartsAndNorms) {
  std::vector<unsigned char> values(2 * 3 * 30 * 40);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<unsigned char>(i / 1200 % 3 * 100); // of one colour
  ASSERT_TRUE(runtime::writeNpy(pathOf("colour.npy"), DataType::U8, std::vector<int64_t>{2, 3, 30, 40}, values.data()).ok());
  TaskSettings settings = imagesOf(pathOf("colour.npy"));
  settings.crop = PictureCrop::Resized;
  settings.cropSize = 16;
  settings.norm = PictureNorm::ImageNet;
  Batch batch = batchOf(2, 3, 16, 16);
  auto task = openFor(settings, batch);
  ASSERT_TRUE(task && task->fill(3, batch.tensors).ok());
  const float mean[] = {0.485f, 0.456f, 0.406f}, deviation[] = {0.229f, 0.224f, 0.225f};
  for (int64_t i = 0; i < 2 * 3 * 256; ++i)
    ASSERT_NEAR(batch.real("image", i),
                (static_cast<float>(i / 256 % 3 * 100) / 255 - mean[i / 256 % 3]) / deviation[i / 256 % 3], 1e-5);
  settings.norm = PictureNorm::Half;
  Batch half = batchOf(2, 3, 16, 16);
  task = openFor(settings, half, Part::HeldOut);
  ASSERT_TRUE(task && task->fillEvaluation(0, half.tensors).ok());
  EXPECT_NEAR(half.real("image", 256), 2 * 100 / 255.f - 1, 1e-5);
  EXPECT_NE(mistakeOf(settings, batchOf(2, 3, 16, 15)).find("makes pictures of 16 x 16"), std::string::npos);
  settings.norm = PictureNorm::ImageNet;
  EXPECT_NE(mistakeOf(settings, batchOf(2, 1, 16, 16)).find("norm = imagenet is of red, green and blue"), std::string::npos);
}

} // namespace tenon::data::test
