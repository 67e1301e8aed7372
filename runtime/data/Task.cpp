#include "runtime/data/Task.h"
#include "runtime/data/Inputs.h"

namespace tenon::data {

int64_t InputTensor::elements() const {
  int64_t result = 1;
  for (int64_t size : shape)
    result *= size;
  return result;
}

namespace {

/// The size that a letter of Given::axes stands for.
int64_t &sizeOf(Binding &binding, char axis) { return axis == 'B' ? binding.B : axis == 'T' ? binding.T : binding.K; }

Status bindOne(const std::string &task, const Given &given, const InputTensor &input, Binding &binding) {
  std::string what = "the input '" + input.name + "' of the entry";
  bool real = given.type == DataType::F32;
  if (real ? input.type != DataType::F32 && input.type != DataType::F64 : input.type != given.type)
    return inputError(what, " has the type ", nameOf(input.type), ", but ", task, " gives ", real ? "real numbers" : nameOf(given.type));
  std::string axes = given.axes;
  if (input.shape.size() != axes.size())
    return inputError(what + " has " + std::to_string(input.shape.size()) + " axes, but " + task + " gives " +
                      std::to_string(axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t &size = sizeOf(binding, axes[i]);
    if (size != 0 && size != input.shape[i])
      return inputError(what + " has size " + std::to_string(input.shape[i]) + " where other inputs have " + std::to_string(size));
    size = input.shape[i];
  }
  return {};
}

} // namespace

Status bindInputs(const std::string &task, const std::vector<Given> &given, const std::vector<InputTensor> &inputs, Binding &binding) {
  binding = Binding();
  binding.at.assign(given.size(), -1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t found = 0;
    while (found < given.size() && inputs[i].name != given[found].name)
      ++found;
    if (found == given.size()) {
      std::string names;
      for (const Given &one : given)
        names += (names.empty() ? "" : ", ") + std::string(one.name);
      return inputError("the entry reads '" + inputs[i].name + "', which the data task " + task + " does not give; it gives " + names);
    }
    binding.at[found] = static_cast<int>(i);
    if (Status status = bindOne(task, given[found], inputs[i], binding); !status.ok())
      return status;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (binding.at[i] < 0)
      continue;
    const InputTensor &input = inputs[static_cast<size_t>(binding.at[i])];
    int64_t needed = given[i].values == -2 ? binding.T : given[i].values == -3 ? binding.T + 1 : given[i].values;
    if (needed >= 0 && input.bound >= 0 && input.bound < needed)
      return inputError("the input '" + input.name + "' holds values below " + std::to_string(input.bound) + ", but " + task + " gives " +
                        std::to_string(needed) + " different ones; a vocabulary of that size would fit");
  }
  return {};
}

Status listFiles(const TaskSettings &settings, std::vector<std::string> &paths) { return listTexts(settings.texts, paths); }

Status makeTaskFromText(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary, std::unique_ptr<DataTask> &result) {
  if (settings.name == "byte_stream" || settings.name == "char_stream" || settings.name == "lm_stream" || settings.name == "lm_blocks")
    return makeStreamTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "permutation_lm")
    return makePermutationTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "mlm_nsp")
    return makeMaskedTask(settings, text, std::move(vocabulary), result);
  return inputError("not supported yet: the data task " + settings.name +
                    "; there are byte_stream, char_stream, lm_stream, lm_blocks, permutation_lm and mlm_nsp");
}

Status makeTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  std::string text;
  const bool characters = known ? known->unit() == Unit::Characters : settings.vocabulary.empty() && settings.unit == Unit::Characters;
  if (Status status = readTexts(settings.texts, characters, text); !status.ok())
    return status;
  Vocabulary vocabulary;
  bool specials = settings.name == "permutation_lm" || settings.name == "mlm_nsp";
  if (known)
    vocabulary = *known;
  else if (!settings.vocabulary.empty()) {
    if (Status status = Vocabulary::read(settings.vocabulary, vocabulary); !status.ok())
      return status;
  } else {
    vocabulary = characters ? Vocabulary::characters(text, specials) : Vocabulary::bytes(specials);
  }
  std::string_view used = text;
  if (settings.heldOut > 0) {
    size_t cut = heldOutBegin(text, settings.heldOut);
    used = part == Part::Training ? used.substr(0, cut) : used.substr(cut);
    if (used.empty())
      return inputError("the text ", settings.texts[0], " is too short to hold out ", settings.heldOut, " of it");
  }
  return makeTaskFromText(settings, used, std::move(vocabulary), result);
}

} // namespace tenon::data
