// images: pictures and their classes. Crops, flips and norms are those of torchvision (references/classification, and He et al.
// 2015, sections 3.4 and 4.2): in training a part and its side are drawn, in an evaluation the middle is taken.
#include "frontend/recipes/PictureFormats.h"
#include "runtime/data/Inputs.h"
#include "runtime/data/Pictures.h"
#include "runtime/data/Random.h"
#include "runtime/data/RowTask.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

using runtime::concat;
using runtime::counted;

namespace {

enum : size_t { kImage, kLabel };
constexpr int64_t kLongest = 64;     // times the other side: what is made of a picture stays small
constexpr int64_t kMostChannels = 4; // of a side that short: colours and transparency, in the place of the columns
constexpr float kMean[] = {0.485f, 0.456f, 0.406f}, kDeviation[] = {0.229f, 0.224f, 0.225f}; // of ImageNet, of 0 to 1

class ImagesTask : public RowTask {
public:
  using RowTask::RowTask;

  Status open(const Vocabulary *known) {
    names = inputsOf(settings.name);
    if (known)
      symbols = *known;
    guessed = guesses(known);
    Status status = pictures.open(settings.file, settings.labels, settings.folder);
    return status.ok() ? setRows(pictures.count(), concat("'", pathIn(settings.folder, settings.file), "'")) : status;
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    Status status = bindInputs(settings.name, givenBy(settings.name, symbols.size()), inputs, binding);
    if (status.ok() && settings.norm == PictureNorm::ImageNet && binding.at[kImage] >= 0 && binding.C != 3)
      status = inputError("norm = imagenet is of red, green and blue, and the input 'image' takes ",
                          counted(static_cast<uint64_t>(binding.C), "channel"));
    if (status.ok() && settings.crop == PictureCrop::Resized && binding.at[kImage] >= 0 &&
        (binding.Y != settings.cropSize || binding.X != settings.cropSize))
      status = inputError("crop = \"random resized ", settings.cropSize, "\" makes pictures of ", settings.cropSize, " x ",
                          settings.cropSize, ", and the input 'image' takes ", binding.Y, " x ", binding.X);
    if (status.ok() && binding.at[kImage] >= 0 && binding.C > kMostChannels && binding.X <= kMostChannels)
      status = inputError("images fills an input of [B, C, Y, X], and 'image' would have ", binding.C, " channels of ", binding.Y,
                          " x ", binding.X, " pixels: the axis of the channels stands in front of both sides");
    if (status.ok())
      status = setBatch(inputs);
    if (status.ok() && binding.at[kLabel] >= 0)
      status = checkLabels(inputs);
    return status;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = classNotes();
    if (pictures.passedOver() > 0)
      notes.push_back(concat("'", pathIn(settings.folder, settings.file), "' has ", counted(pictures.passedOver(), "other file"),
                             " beside its pictures (", schema::kPictureEnds, "); they are not read"));
    return notes;
  }

  /// Parts and sides are drawn anew in each epoch.
  Status fill(uint64_t index, std::vector<InputTensor> &inputs) const override {
    drawn = index * static_cast<uint64_t>(inputs.empty() ? 0 : inputs[0].shape[0]);
    draws = true;
    return RowTask::fill(index, inputs);
  }
  Status fillEvaluation(uint64_t index, std::vector<InputTensor> &inputs) const override {
    draws = false;
    return RowTask::fillEvaluation(index, inputs);
  }
  bool mayPredictSymbols() const override { return false; }

private:
  const InputTensor &labelInput(const std::vector<InputTensor> &inputs) const {
    return inputs[static_cast<size_t>(binding.at[kLabel])];
  }

  /// The number that the model knows a class by: the place of its name among those of the run, or a label that is a number.
  Status classOf(uint64_t row, int64_t bound, int64_t &number) const {
    auto label = pictures.labelOf(row);
    if (label.failed())
      return label.status();
    number = *label;
    if (auto run = symbols.classes.find(names[kLabel]); !pictures.names().empty() && run != symbols.classes.end()) {
      const std::string &name = pictures.names()[static_cast<size_t>(number)];
      const auto found = classNumbers.find(name);
      if (!found)
        return inputError("the class '", name, "' is none of the ", run->second.size(), " that training has seen");
      number = *found;
    }
    return number >= 0 && (bound < 0 || number < bound) ? Status()
                                                        : inputError("the label ", number, " is none of the numbers 0 to ",
                                                                     bound - 1, " that the input '", names[kLabel], "' takes");
  }

  /// Every label once, so that a mistake is found before the first step.
  Status checkLabels(const std::vector<InputTensor> &inputs) {
    const InputTensor &input = labelInput(inputs);
    if (!pictures.hasLabels())
      return inputError("the entry reads '", input.name, "': images(.., labels = \"labels.npy\") says where the classes are");
    takeClasses();
    if (pictures.names().empty()) {
      setNumbered(input.name);
    } else if (!symbols.classes.count(input.name)) {
      const auto count = static_cast<int64_t>(pictures.names().size());
      if (input.bound >= 0 && (count > input.bound || (guessed && count < input.bound)))
        return inputError("'", pathIn(settings.folder, settings.file), "' has ", count, " classes, and the input '", input.name,
                          "' takes ", input.bound, guessed ? ", and these weights do not say which is which" : "");
      symbols.classes[input.name] = numbered(pictures.names(), input.name, input.bound);
    }
    if (auto known = symbols.classes.find(input.name); known != symbols.classes.end())
      classNumbers = ClassNumbers(known->second);
    counts = part == Part::Training ? ClassCounts::of(inputs) : std::vector<ClassCounts>();
    std::erase_if(counts, [&](const ClassCounts &each) { return static_cast<int>(each.position) != binding.at[kLabel]; });
    const std::vector<bool> held = heldOutRows();
    for (uint64_t row = 0; row < pictures.count(); ++row) {
      int64_t number = 0;
      if (Status status = classOf(row, input.bound, number); status.failed())
        return status.in(pictures.placeOf(row));
      for (ClassCounts &each : counts)
        if (!held[row])
          ++each.rows[static_cast<size_t>(number)];
    }
    return {};
  }

  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    const Writer write(binding, inputs);
    if (binding.at[kLabel] >= 0) {
      int64_t number = 0;
      if (Status status = classOf(row, labelInput(inputs).bound, number); status.failed())
        return status.in(pictures.placeOf(row));
      write.integer(kLabel, b, number);
    }
    if (binding.at[kImage] < 0)
      return {};
    auto read = pictures.read(row, binding.C);
    if (read.failed())
      return read.status();
    RandomStream random(settings.seed, Purpose::Crop, drawn + static_cast<uint64_t>(b));
    Picture picture;
    if (Status status = crop(*read, random, picture); status.failed())
      return status.in(pictures.placeOf(row));
    const bool mirrored = settings.flip && draws && random.uniform() < 0.5;
    for (int64_t c = 0; c < binding.C; ++c)
      for (int64_t y = 0; y < binding.Y; ++y)
        for (int64_t x = 0; x < binding.X; ++x)
          write.real(kImage, ((b * binding.C + c) * binding.Y + y) * binding.X + x,
                     normed(picture.row(c, y)[mirrored ? binding.X - 1 - x : x] / 255, static_cast<size_t>(c)));
    return {};
  }

  float normed(float value, size_t channel) const {
    return settings.norm == PictureNorm::ImageNet ? (value - kMean[channel]) / kDeviation[channel]
           : settings.norm == PictureNorm::Half   ? 2 * value - 1
                                                  : value;
  }

  /// A picture of the input's size.
  Status crop(const Picture &picture, RandomStream &random, Picture &result) const {
    if (settings.crop == PictureCrop::Resized) {
      if (std::max(picture.height, picture.width) > kLongest * std::min(picture.height, picture.width))
        return inputError("the picture has ", picture.height, " x ", picture.width, " pixels: one side is more than ", kLongest,
                          " times as long as the other");
      result = draws ? resized(cutOut(picture, drawBox(picture, random)), binding.Y, binding.X) : middle(shrunk(picture));
      return {};
    }
    const int64_t border = settings.crop == PictureCrop::Padded ? settings.cropSize : 0,
                  down = picture.height + 2 * border - binding.Y, across = picture.width + 2 * border - binding.X;
    if (border == 0 ? down != 0 || across != 0 : std::min(down, across) < 0)
      return inputError("the picture has ", picture.height, " x ", picture.width, " pixels, and the input takes ", binding.Y,
                        " x ", binding.X,
                        border == 0 ? "; crop = \"random resized N\" or \"random padded N\" makes others of them" : "");
    result = border == 0 || !draws
                 ? middle(picture)
                 : cutOut(picture, {random.between(0, down) - border, random.between(0, across) - border, binding.Y, binding.X});
    return {};
  }

  Picture middle(const Picture &picture) const {
    auto half = [](int64_t rest) { return static_cast<int64_t>(std::nearbyint(static_cast<double>(rest) / 2)); };
    return cutOut(picture, {half(picture.height - binding.Y), half(picture.width - binding.X), binding.Y, binding.X});
  }

  /// As large as leaves 224 / 256 of the side that is scarcer.
  Picture shrunk(const Picture &picture) const {
    const double scale = 256.0 / 224 *
                         std::max(static_cast<double>(binding.Y) / static_cast<double>(picture.height),
                                  static_cast<double>(binding.X) / static_cast<double>(picture.width));
    auto size = [&](int64_t from) {
      return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(from) * scale + 1e-6));
    };
    return resized(picture, size(picture.height), size(picture.width));
  }

  /// RandomResizedCrop: 8 to 100 % of the area with sides of 3 / 4 to 4 / 3; after ten tries that do not fit the largest part in
  /// the middle with such sides.
  Box drawBox(const Picture &picture, RandomStream &random) const {
    const auto height = static_cast<double>(picture.height), width = static_cast<double>(picture.width);
    for (int tries = 0; tries < 10; ++tries) {
      const double area = height * width * (0.08 + 0.92 * random.uniform()),
                   ratio = std::exp(std::log(4.0 / 3) * (2 * random.uniform() - 1));
      const auto across = static_cast<int64_t>(std::nearbyint(std::sqrt(area * ratio))),
                 down = static_cast<int64_t>(std::nearbyint(std::sqrt(area / ratio)));
      if (across > 0 && down > 0 && across <= picture.width && down <= picture.height)
        return {random.between(0, picture.height - down), random.between(0, picture.width - across), down, across};
    }
    const auto down = std::min(picture.height, std::max<int64_t>(1, static_cast<int64_t>(std::nearbyint(width * 4 / 3)))),
               across = std::min(picture.width, std::max<int64_t>(1, static_cast<int64_t>(std::nearbyint(height * 4 / 3))));
    return {(picture.height - down) / 2, (picture.width - across) / 2, down, across};
  }

  Pictures pictures;
  Binding binding;
  ClassNumbers classNumbers;
  bool guessed = false;       // an evaluation that has not been told which class has which number
  mutable uint64_t drawn = 0; // of the first row of the batch under way
  mutable bool draws = false; // whether it is of training
};

} // namespace

Status makeImagesTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<ImagesTask>(settings, part, known, result);
}

} // namespace tenon::data
