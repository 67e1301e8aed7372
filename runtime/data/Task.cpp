#include "runtime/data/Task.h"
#include "frontend/recipes/RecipeSchema.h"
#include "runtime/base/Convert.h"
#include "runtime/data/Inputs.h"
#include <algorithm>

namespace tenon::data {

int64_t InputTensor::elements() const {
  int64_t result = 1;
  for (int64_t size : shape)
    result *= size;
  return result;
}

void InputTensor::setReal(int64_t at, double value) const {
  runtime::withReal(type, [&]<typename Real>(Real) { static_cast<Real *>(data)[at] = static_cast<Real>(value); });
}

namespace {

/// The size that a letter of Given::axes stands for.
int64_t &sizeOf(Binding &binding, char axis) {
  switch (axis) {
  case 'B':
    return binding.B;
  case 'A':
    return binding.A;
  case 'T':
    return binding.T;
  case 'S':
    return binding.S;
  case 'C':
    return binding.C;
  case 'Y':
    return binding.Y;
  case 'X':
    return binding.X;
  default:
    return binding.K;
  }
}

Status bindOne(const std::string &task, const Given &given, const InputTensor &input, Binding &binding) {
  std::string what = "the input '" + input.name + "' of the entry";
  const bool real = runtime::isReal(given.type);
  if (real ? !runtime::isReal(input.type) : input.type != given.type)
    return inputError(what, " has the type ", nameOf(input.type), ", but ", task, " gives ",
                      real ? "real numbers" : nameOf(given.type));
  const std::string &axes = given.axes;
  std::vector<int64_t> shape = input.shape;
  while (shape.size() > axes.size() && std::find(shape.begin(), shape.end(), 1) != shape.end())
    shape.erase(std::find(shape.begin(), shape.end(), 1));
  if (shape.size() != axes.size())
    return inputError(what + " has " + std::to_string(input.shape.size()) + " axes, but " + task + " gives " +
                      std::to_string(axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    int64_t &size = sizeOf(binding, axes[i]);
    if (size != 0 && size != shape[i])
      return inputError(what + " has size " + std::to_string(shape[i]) + " where other inputs have " + std::to_string(size));
    size = shape[i];
  }
  return {};
}

} // namespace

std::vector<Given> givenBy(const std::string &task, int64_t symbols) {
  std::vector<Given> result;
  for (const schema::Made &made : schema::find("data task", task)->makes) {
    using Values = schema::Made::Values;
    const DataType type = made.element == schema::Made::Element::Whole   ? DataType::I32
                          : made.element == schema::Made::Element::Truth ? DataType::Bool
                                                                         : DataType::F32;
    const int64_t values = made.values == Values::Any       ? -1
                           : made.values == Values::Below   ? made.count
                           : made.values == Values::Symbols ? symbols
                           : made.values == Values::Places  ? -2
                                                            : -3;
    result.push_back({std::string(made.name), std::string(made.axes), type, values});
  }
  return result;
}

std::vector<std::string> inputsOf(const std::string &task) {
  std::vector<std::string> names;
  for (const schema::Made &made : schema::find("data task", task)->makes)
    names.emplace_back(made.name);
  return names;
}

Status bindInputs(const std::string &task, const std::vector<Given> &given, const std::vector<InputTensor> &inputs,
                  Binding &binding) {
  binding = Binding();
  binding.at.assign(given.size(), -1);
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t found = 0;
    while (found < given.size() && inputs[i].name != given[found].name)
      ++found;
    if (found == given.size()) {
      std::string names;
      for (const Given &one : given)
        names += (names.empty() ? "" : ", ") + one.name;
      return inputError("the entry reads '" + inputs[i].name + "', which the data task " + task + " does not give; it gives " +
                        names);
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
      return inputError("the input '" + input.name + "' holds values below " + std::to_string(input.bound) + ", but " + task +
                        " gives " + std::to_string(needed) + " different ones; a vocabulary of that size would fit");
  }
  return {};
}

Status readSymbols(const TaskSettings &settings, Vocabulary &result) {
  Status status = settings.sentencePieces ? Vocabulary::readPieces(settings.vocabulary, settings.sentinels, result)
                                          : Vocabulary::read(settings.vocabulary, settings.merges, result, settings.sentinels);
  if (status.ok() && settings.sentinels > 0 && result.sentinels() != settings.sentinels)
    status =
        inputError("the recipe has sentinels = ", settings.sentinels, " behind the pieces of a model, and ", settings.vocabulary,
                   result.sentinels() > 0 ? runtime::concat(" has ", result.sentinels()) : " is no model");
  return status;
}

static bool predictsNext(const std::string &task) {
  return task == "byte_stream" || task == "char_stream" || task == "lm_stream" || task == "lm_blocks";
}

/// Whether symbols without a vocabulary file need marks beside the bytes or characters.
static bool hasMarks(const std::string &task) {
  for (const char *each : {"permutation_lm", "mlm_nsp", "rtd", "ernie_masks", "mlm_blocks", "unilm", "reorder", "distances"})
    if (task == each)
      return true;
  return false;
}

static Status checkStride(const TaskSettings &settings) {
  return settings.stride == 0 || predictsNext(settings.name)
             ? Status()
             : inputError("windows with a stride are for tasks that predict the next symbol, not for ", settings.name);
}

Status makeTaskFromText(const TaskSettings &settings, std::string_view text, Vocabulary vocabulary,
                        std::unique_ptr<DataTask> &result) {
  if (Status status = checkStride(settings); status.failed())
    return status;
  if (settings.stride > 0)
    return makeSlidingTask(settings, text, std::move(vocabulary), result);
  if (predictsNext(settings.name))
    return makeStreamTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "permutation_lm")
    return makePermutationTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "mlm_nsp" || settings.name == "ernie_masks")
    return makeMaskedTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "rtd")
    return makeReplacedTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "mlm_blocks")
    return makeBlocksTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "span_corruption")
    return makeCorruptionTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "unilm")
    return makeUnifiedTask(settings, text, std::move(vocabulary), result);
  if (settings.name == "reorder" || settings.name == "distances")
    return makeOrderTask(settings, text, std::move(vocabulary), result);
  return inputError("not supported yet: the data task ", settings.name, "; there are ", schema::working("data task"));
}

Status makeTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  if (Status status = checkStride(settings); status.failed()) // also before a text is read
    return status;
  if (settings.name == "arrays")
    return makeArraysTask(settings, part, result);
  if (settings.name == "jsonl")
    return makeJsonlTask(settings, part, known, result);
  for (const char *labelled : {"single", "pairs", "tags", "relations", "relevance"})
    if (settings.name == labelled)
      return makeLabelledTask(settings, part, known, result);
  if (settings.name == "groups")
    return makeGroupsTask(settings, part, known, result);
  if (settings.name == "squad")
    return makeSpanTask(settings, part, known, result);
  if (settings.name == "images")
    return makeImagesTask(settings, part, known, result);
  if (settings.name == "seq2seq")
    return makeSeq2SeqTask(settings, part, known, result);
  if (settings.name == "translation")
    return makeTranslationTask(settings, part, known, result);
  std::string text;
  const Unit unit = known ? known->unit() : settings.vocabulary.empty() ? settings.unit : Unit::Words; // of a file: any but bytes
  if (Status status = readTexts(settings.texts, unit, text); !status.ok())
    return status;
  Vocabulary vocabulary;
  const bool specials = hasMarks(settings.name);
  if (known)
    vocabulary = *known;
  else if (!settings.vocabulary.empty()) {
    if (Status status = readSymbols(settings, vocabulary); !status.ok())
      return status;
  } else {
    vocabulary = unit != Unit::Characters ? Vocabulary::bytes(specials)
                                          : Vocabulary::characters(settings.lowerCase ? lowerCase(text) : text, specials);
  }
  std::string_view used = text;
  if (settings.heldOut > 0) {
    size_t cut = heldOutBegin(text, settings.heldOut);
    used = part == Part::Training ? used.substr(0, cut) : used.substr(cut);
    if (used.empty())
      return inputError("the text ", settings.texts[0], " is too short to hold out ", settings.heldOut, " of it");
  }
  TaskSettings own = settings;
  own.evaluation = part == Part::HeldOut;
  return makeTaskFromText(own, used, std::move(vocabulary), result);
}

} // namespace tenon::data
