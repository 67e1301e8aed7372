// A data task of a recipe: its settings by the table of tasks.
#include "frontend/recipes/Crop.h"
#include "runtime/train/RecipeParts.h"

namespace tenon::train {

using runtime::JsonValue;

namespace {

/// ids = "ids.npy", ids = ragged("values.npy", "offsets.npy"), or weight = fixed("weight.npy").
Status readSource(const std::string &input, const JsonValue &value, data::SourceSetting &source) {
  source.input = input;
  if (value.isString()) {
    source.file = value.text;
    return {};
  }
  Call call(value, input);
  if (!call.valid())
    return inputError("data: ", input, " must be a text, ragged(values, offsets) or fixed(values)");
  if (auto known = call.check("array"); !known.ok())
    return known.status();
  call.take("values", source.file);
  call.take("offsets", source.offsets);
  call.take("pad", source.pad);
  std::string side;
  call.take("side", side);
  source.left = side == "left";
  source.fixed = call.name == "fixed";
  return source.file.empty() || (source.offsets.empty() && !source.fixed)
             ? inputError("data: ", input, " = ", call.name, "(..) needs a file of values",
                          source.fixed ? "" : " and one of offsets")
             : call.finish();
}

Status takePictures(Call &call, data::TaskSettings &task) {
  std::string folder, crop, norm;
  call.take("folder", folder);
  call.take("labels", task.labels);
  call.take("crop", crop);
  call.take("flip", task.flip);
  call.take("norm", norm);
  if (!folder.empty() && !task.file.empty())
    return inputError("images reads a folder or a file, not both");
  task.file += folder;
  task.norm = norm == "half"       ? data::PictureNorm::Half
              : norm == "imagenet" ? data::PictureNorm::ImageNet
                                   : data::PictureNorm::Range;
  if (const auto form = schema::parseCrop(crop)) {
    task.crop = form->resized ? data::PictureCrop::Resized : data::PictureCrop::Padded;
    task.cropSize = form->size;
  }
  return crop.empty() || task.crop != data::PictureCrop::None ? Status() : inputError("crop must be ", schema::kCropForms);
}

/// `model`: a vocabulary of pieces, beside which no other file says what the symbols are.
Status takePieces(Call &call, data::TaskSettings &task) {
  std::string model;
  call.take("model", model);
  call.take("sentinels", task.sentinels);
  if (model.empty())
    return task.sentinels == 0 ? Status()
                               : inputError("data: ", call.name, " has sentinels = ", task.sentinels,
                                            ", which stand behind the pieces of a model, and no model");
  if (!(task.vocabulary + task.merges).empty())
    return inputError("data: ", call.name, " has model = \"", model, "\", whose pieces are its vocabulary, and ",
                      task.vocabulary.empty() ? "merges" : "vocab", " besides; leave one of them out");
  task.vocabulary = model;
  task.sentencePieces = true;
  return {};
}

/// Settings of tasks that published models are trained or fine-tuned by.
void takePretraining(Call &call, data::TaskSettings &task) {
  std::vector<std::string> stages;
  std::vector<double> shares;
  std::string mask;
  call.take("lower", task.lowerCase);
  call.take("stages", stages);
  call.take("shares", shares);
  call.take("ngram", task.ngram);
  call.take("mask", mask);
  call.take("most", task.most);
  call.take("size", task.size);
  call.take("ids", task.input);
  call.take("question", task.question);
  call.take("longest", task.longestAnswer);
  if (call.name == "squad")
    call.take("stride", task.windowStride);
  if (!stages.empty())
    task.stages.clear();
  for (const std::string &stage : stages)
    task.stages.push_back(stage == "char"     ? data::WordChoice::Pieces
                          : stage == "phrase" ? data::WordChoice::Units
                                              : data::WordChoice::Entities);
  if (!shares.empty())
    task.shares = shares;
  task.staticMasks = mask == "static";
}

} // namespace

Status readUnit(const std::string &text, data::Unit &unit) {
  if (text.empty() || text == "bytes")
    unit = data::Unit::Bytes;
  else if (text == "characters")
    unit = data::Unit::Characters;
  else
    return inputError("the unit of a text is bytes or characters, not '", text, "'");
  return {};
}

Status readTask(Call &call, data::TaskSettings &task, int64_t &every) {
  task.name = call.name;
  auto function = call.check("data task");
  if (!function.ok())
    return function.status();
  std::string unit, words = "pieces";
  call.take("text", task.texts);
  call.take("vocab", task.vocabulary);
  call.take("merges", task.merges);
  if (Status status = takePieces(call, task); status.failed())
    return status;
  call.take("unit", unit);
  std::string pad;
  call.take("file", task.file);
  call.take("form", task.form);
  call.take("label", task.label);
  call.take("length", task.length);
  call.take("pad", pad);
  task.padLeft = pad == "left";
  if (call.name == "seq2seq")
    call.take("rate", task.targetRate);
  call.take("source", task.sourceText);
  call.take("target", task.targetText);
  call.take("tokens", task.tokens);
  call.take("held_out", task.heldOut);
  call.take("every", every);
  call.take("reuse", task.reuse);
  call.take("alpha", task.alpha);
  call.take("beta", task.beta);
  call.take("max_span", task.maxSpan);
  call.take("both_ways", task.bothWays);
  call.take("rate", task.rate);
  call.take("mean_span", task.meanSpan);
  call.take("short", task.shortRate);
  call.take("keep", task.keepRate);
  call.take("words", words);
  call.take("stream", task.stream);
  if (task.sentencePieces && words == "units")
    return inputError("data: ", call.name,
                      " cuts units for themselves, and model = .. puts a blank in front of each; take words = "
                      "\"whole\", or a vocabulary file (vocab = ..)");
  if (words == "jieba")
    return inputError("not supported yet: words = \"jieba\" of ", call.name, "; it is \"pieces\", \"whole\" or \"units\"");
  task.words = words == "whole" ? data::WordChoice::Whole : words == "units" ? data::WordChoice::Units : data::WordChoice::Pieces;
  takePretraining(call, task);
  if (call.name == "images")
    if (Status status = takePictures(call, task); status.failed())
      return status;
  if (unit.empty() && call.name == "char_stream")
    unit = "characters";
  if ((*function)->input)
    for (const auto &[name, value] : call.others()) {
      task.sources.emplace_back();
      if (Status status = readSource(name, *value, task.sources.back()); status.failed())
        return status;
    }
  Status status = call.finish();
  return status.failed() ? status : readUnit(unit, task.unit);
}

} // namespace tenon::train
