// What the data task `images` says, against the input that takes the pictures. What only the files tell (how many classes a
// folder has, whether it is there) is found when they are read, before the first step: a recipe's files may lie elsewhere.
#include "frontend/recipes/Crop.h"
#include "frontend/recipes/PictureFormats.h"
#include "frontend/recipes/Recipes.h"
#include <algorithm>

namespace tenon {

namespace {

/// The sizes of [B, C, Y, X] that are numbers.
std::optional<int64_t> sizeOf(const Entry &entry, const Input &image, size_t axis) {
  return entry.axes[image.type.axes[axis]].size.asConstant();
}

void checkCrop(const Setting &crop, const Entry &entry, const Input &image, Diagnostics &diagnostics) {
  const auto form = schema::parseCrop(crop.text);
  if (!form) {
    diagnostics.error("T0611", crop.range, "`crop` must be " + std::string(schema::kCropForms));
    return;
  }
  const auto height = sizeOf(entry, image, 2), width = sizeOf(entry, image, 3);
  const std::string made = std::to_string(form->size) + " x " + std::to_string(form->size);
  if (form->resized && ((height && *height != form->size) || (width && *width != form->size)))
    diagnostics.error("T0620", crop.range,
                      "this crop makes pictures of " + made + ", and the input `image` takes " +
                          (height ? std::to_string(*height) : "Y") + " x " + (width ? std::to_string(*width) : "X"),
                      "its sides are the axes behind the channels");
}

} // namespace

void checkPictures(const CheckedRecipe &recipe, const Entry &entry, Diagnostics &diagnostics) {
  auto input = [&](const char *name) {
    auto found = std::find_if(entry.inputs.begin(), entry.inputs.end(), [&](const Input &each) { return each.name == name; });
    return found == entry.inputs.end() ? nullptr : &*found;
  };
  const Input *image = input("image");
  for (const char *part : {"data", "valid"}) {
    const Setting *data = recipe.find(part);
    if (!data || data->text != "images")
      continue;
    const Setting *labels = keywordOf(data, "labels"), *folder = keywordOf(data, "folder"), *norm = keywordOf(data, "norm");
    if (const Setting *file = keywordOf(data, "file"); file && schema::isPicture(file->text))
      diagnostics.error("T0611", file->range, "`file` of `images` must be an .npy file of bytes",
                        "pictures of their own stand in a `folder` of classes, CLASS/NAME");
    if (folder && labels) {
      Diagnostic &error = diagnostics.error("T0616", labels->range, "`labels` and `folder` exclude each other", "of a `file`");
      error.related.push_back({folder->range, "its folders are the classes"});
    }
    if (!folder && !labels && keywordOf(data, "file") && input("label"))
      diagnostics.error("T0620", data->range, "`images` of a file makes the input `label` from a file of `labels`",
                        "no `labels`");
    if (!image || image->type.axes.size() != 4)
      continue;
    if (const auto channels = sizeOf(entry, *image, 1); norm && norm->text == "imagenet" && channels && *channels != 3)
      diagnostics.error("T0620", norm->range,
                        "norm = imagenet is of red, green and blue, and the input `image` takes " + std::to_string(*channels) +
                            " channel" + (*channels == 1 ? "" : "s"));
    if (const Setting *crop = keywordOf(data, "crop"))
      checkCrop(*crop, entry, *image, diagnostics);
  }
}

} // namespace tenon
