// jsonl(text = "f.jsonl", ids = "text", label = "label"): one JSON object per line, each key for one input. Lists of numbers,
// texts as UTF-8 bytes, names of classes. The lines stay in the file; in memory is where each begins.
#include "runtime/base/Convert.h"
#include "runtime/base/Json.h"
#include "runtime/base/Nearest.h"
#include "runtime/data/Inputs.h"
#include "runtime/data/JsonLines.h"
#include "runtime/data/RowTask.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

using runtime::concat;
using runtime::counted;
using runtime::JsonValue;

namespace {

/// One input and what its key holds.
struct Field {
  const SourceSetting *setting;
  int input = -1, length = -1;                       // positions; -1: the entry does not read it
  const std::vector<std::string> *classes = nullptr; // the names of its classes, where its values are texts
  ClassNumbers numbers;                              // of them
  uint64_t longer = 0;                               // rows that are cut
};

std::string kindOf(const JsonValue &value) {
  switch (value.kind) {
  case JsonValue::Kind::Null:
    return "null";
  case JsonValue::Kind::Bool:
    return "a truth value";
  case JsonValue::Kind::Integer:
  case JsonValue::Kind::Real:
    return "the number " + value.print();
  case JsonValue::Kind::String:
    return "a text";
  case JsonValue::Kind::Array:
    return "a list of " + std::to_string(value.elements.size());
  case JsonValue::Kind::Object:
    return "an object";
  }
  return {};
}

class JsonlTask : public RowTask {
public:
  using RowTask::RowTask;

  Status open(const Vocabulary *known) {
    if (known)
      symbols = *known;
    guessed = guesses(known);
    if (Status status = lines.open(settings.texts); status.failed())
      return status;
    for (const SourceSetting &source : settings.sources) {
      fields.push_back({&source});
      names.insert(names.end(), {source.input, source.input + "_len"});
    }
    if (lines.size() > 0 && !fields.empty()) { // another kind of file, before its rows are counted
      JsonValue object;
      if (Status status = readLine(0, object); status.failed())
        return inputError(status.message(), "; jsonl reads one JSON object per line");
    }
    if (fields.empty())
      return inputError("jsonl needs a key for each input, such as jsonl(text = \"f.jsonl\", ids = \"text\", label = \"label\")");
    return setRows(lines.size(), settings.texts[0]);
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    if (Status status = find(inputs); status.failed())
      return status;
    if (Status status = setBatch(inputs); status.failed())
      return status;
    for (Field &field : fields)
      if (field.input >= 0 && field.length >= 0)
        if (Status status = checkLengths(inputs[static_cast<size_t>(field.length)], inputs[static_cast<size_t>(field.input)]);
            status.failed())
          return status;
    if (Status status = findClasses(inputs); status.failed())
      return status;
    return checkLines(inputs);
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> result;
    for (const Field &field : fields)
      if (field.longer > 0)
        result.push_back(concat(counted(field.longer, "row"), " of ", settings.texts[0], field.longer == 1 ? " is" : " are",
                                " longer than the places of '", field.setting->input, "': only the beginning is read"));
    for (std::string &warning : classNotes())
      result.push_back(std::move(warning));
    return result;
  }

private:
  Status find(const std::vector<InputTensor> &inputs) {
    size_t lists = 0;
    for (Field &field : fields) {
      field.input = field.length = -1;
      field.longer = 0;
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].name == field.setting->input) {
          field.input = static_cast<int>(i);
          lists += inputs[i].shape.size() > 1;
        }
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto own =
          std::find_if(fields.begin(), fields.end(), [&](const Field &field) { return field.setting->input == inputs[i].name; });
      auto lengths = std::find_if(fields.begin(), fields.end(), [&](const Field &field) {
        const bool isList = field.input >= 0 && inputs[static_cast<size_t>(field.input)].shape.size() > 1;
        return isList && takesLengths(inputs[i].name, field.setting->input, lists == 1);
      });
      if (own == fields.end() && lengths == fields.end() && inputs[i].name == "len" && lists > 1)
        return inputError("the entry reads 'len', and more than one input is a list: call it ", listNames(inputs, "_len"),
                          ", whose lengths it is");
      if (own == fields.end() && lengths == fields.end())
        return inputError("the entry reads '", inputs[i].name, "', for which jsonl(..) names no key; add ", inputs[i].name,
                          " = \"KEY\"");
      if (own == fields.end())
        lengths->length = static_cast<int>(i);
    }
    return {};
  }

  /// "ids_len or words_len"
  std::string listNames(const std::vector<InputTensor> &inputs, const char *ending) const {
    std::string names;
    for (const Field &field : fields)
      if (field.input >= 0 && inputs[static_cast<size_t>(field.input)].shape.size() > 1)
        names += concat(names.empty() ? "" : " or ", field.setting->input, ending);
    return names;
  }

  /// The object of a line and the value of each field in it.
  Status readLine(uint64_t row, JsonValue &object) const {
    std::string text;
    if (Status status = lines.read(row, text); status.failed())
      return status;
    auto json = runtime::parseJson(text);
    if (!json.ok())
      return json.status().in(lines.placeOf(row));
    object = json.take();
    return object.isObject() ? Status()
                             : inputError(lines.placeOf(row), ": expected an object such as {\"", fields[0].setting->file,
                                          "\": ..}, got ", kindOf(object));
  }
  Status valueOf(uint64_t row, const JsonValue &object, const Field &field, const JsonValue *&value) const {
    value = object.find(field.setting->file);
    return value ? Status()
                 : inputError(lines.placeOf(row), ": there is no key \"", field.setting->file, "\", which is to fill '",
                              field.setting->input, "'");
  }

  /// Texts for an input of one index per row are names of classes: those of the run, or else all that occur, sorted.
  Status findClasses(const std::vector<InputTensor> &inputs) {
    takeClasses();
    for (Field &field : fields) {
      if (field.input < 0)
        continue;
      const InputTensor &input = inputs[static_cast<size_t>(field.input)];
      if (input.type != DataType::I32 || input.shape.size() != 1)
        continue;
      ClassNames collected;
      if (!symbols.classes.count(field.setting->input))
        if (Status status = collectClasses(field, collected); status.failed())
          return status;
      if (!collected.empty())
        symbols.classes[field.setting->input] = numbered(collected.sorted(), field.setting->input, input.bound);
      auto found = symbols.classes.find(field.setting->input);
      if (found == symbols.classes.end()) {
        setNumbered(field.setting->input);
        continue;
      }
      field.classes = &found->second;
      field.numbers = ClassNumbers(found->second);
      if (std::string mixed = collected.mixedText([this](uint64_t row) { return lines.placeOf(row); }); !mixed.empty())
        said.push_back(std::move(mixed));
      if (const int64_t count = static_cast<int64_t>(found->second.size()); input.bound >= 0 && count > input.bound)
        return inputError(settings.texts[0], " has ", count, " classes under \"", field.setting->file, "\", but the input '",
                          input.name, "' takes ", input.bound, "; ",
                          collected.empty() ? ""
                                            : concat("the rarest first: ",
                                                     collected.rarestFirst(static_cast<size_t>(count - input.bound),
                                                                           [this](uint64_t row) { return lines.placeOf(row); }),
                                                     "; mend what is misspelt, or "),
                          "give the input ", count, " classes: index(", count, ")[B], or --set C=", count,
                          " where it is index(C)[B]");
      else if (guessed && input.bound >= 0 && count != input.bound)
        return inputError(settings.texts[0], " has ", count, " of the ", input.bound, " classes of '", input.name, "' under \"",
                          field.setting->file,
                          "\", and nothing says which: these weights do not name their classes; export them from the run with "
                          "tenon export, or evaluate the run");
    }
    return {};
  }
  Status collectClasses(const Field &field, ClassNames &found) {
    for (uint64_t row = 0; row < lines.size(); ++row) {
      JsonValue object;
      const JsonValue *value = nullptr;
      Status status = readLine(row, object);
      if (status.ok())
        status = valueOf(row, object, field, value);
      if (status.failed())
        return status;
      if (!value->isString() && found.empty())
        return {}; // numbers; a text among them is an error where it stands
      if (value->isString())
        found.add(value->text, row);
    }
    return {};
  }

  /// Every line once, so that a mistake is found before the first step.
  Status checkLines(const std::vector<InputTensor> &inputs) {
    std::vector<InputTensor> one = inputs;
    std::vector<std::vector<double>> memory(one.size());
    for (size_t i = 0; i < one.size(); ++i) {
      one[i].shape[0] = 1;
      memory[i].resize(static_cast<size_t>(one[i].elements()) + 1);
      one[i].data = memory[i].data();
    }
    counts = part == Part::Training ? ClassCounts::of(inputs) : std::vector<ClassCounts>();
    const std::vector<bool> held = counts.empty() ? std::vector<bool>() : heldOutRows();
    for (uint64_t row = 0; row < lines.size(); ++row) {
      std::vector<bool> cut(fields.size());
      if (Status status = writeLine(row, 0, one, &cut); status.failed())
        return status;
      for (size_t i = 0; i < fields.size(); ++i)
        fields[i].longer += cut[i];
      for (ClassCounts &classes : counts)
        if (!held[row])
          ++classes.rows[static_cast<size_t>(*static_cast<const int32_t *>(one[classes.position].data))];
    }
    return {};
  }

  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    return writeLine(row, b, inputs, nullptr);
  }

  Status writeLine(uint64_t row, int64_t b, std::vector<InputTensor> &inputs, std::vector<bool> *cut) const {
    JsonValue object;
    if (Status status = readLine(row, object); status.failed())
      return status;
    for (size_t i = 0; i < fields.size(); ++i) {
      const Field &field = fields[i];
      const JsonValue *value = nullptr;
      if (field.input < 0)
        continue;
      if (Status status = valueOf(row, object, field, value); status.failed())
        return status;
      const InputTensor &input = inputs[static_cast<size_t>(field.input)];
      const int64_t size = input.elements() / input.shape[0];
      int64_t length = 0;
      Status status = writeValue(field, *value, input, b * size, size, length);
      if (status.failed())
        return status.in(concat(lines.placeOf(row), ": \"", field.setting->file, "\""));
      if (cut && input.shape.size() > 1)
        (*cut)[i] = length > input.shape[1];
      if (field.length >= 0)
        static_cast<int32_t *>(inputs[static_cast<size_t>(field.length)].data)[b] =
            static_cast<int32_t>(std::min(length, input.shape[1]));
    }
    return {};
  }

  /// The value of one row; `length`: of the list or text, before it is cut to the places of the input. Behind a shorter one there
  /// are zeros.
  static Status writeValue(const Field &field, const JsonValue &value, const InputTensor &input, int64_t at, int64_t size,
                           int64_t &length) {
    if (field.classes && !value.isString())
      return inputError("'", input.name, "' takes the name of a class, as in other lines, got ", kindOf(value));
    if (input.shape.size() == 1)
      return value.isString() ? writeClass(field, value, input, at) : writeScalar(value, input, at);
    const int64_t places = input.shape[1], width = size / std::max<int64_t>(places, 1);
    if (!value.isArray() && !(value.isString() && input.shape.size() == 2 && input.type == DataType::I32))
      return inputError("'", input.name, "' takes a list",
                        input.shape.size() == 2 && input.type == DataType::I32 ? " or a text" : "", ", got ", kindOf(value));
    length = static_cast<int64_t>(value.isArray() ? value.elements.size() : value.text.size());
    if (input.fixedWidth && field.length < 0 && length != places)
      return inputError("'", input.name, "' has ", places, " places in the model, got ",
                        value.isArray() ? kindOf(value) : concat("a text of ", counted(static_cast<uint64_t>(length), "byte")),
                        "; only along a dim are shorter rows filled up");
    for (int64_t t = 0; t < places; ++t) {
      Status status;
      if (t >= length)
        writeZeros(input, at + t * width, width);
      else if (value.isString())
        status = writeWhole(static_cast<unsigned char>(value.text[static_cast<size_t>(t)]), input, at + t);
      else
        status = writeList(value.elements[static_cast<size_t>(t)], input, 2, at + t * width);
      if (status.failed())
        return status.in(concat("element ", t));
    }
    return {};
  }
  static Status writeList(const JsonValue &value, const InputTensor &input, size_t axis, int64_t at) {
    if (axis == input.shape.size())
      return writeScalar(value, input, at);
    if (!value.isArray() || static_cast<int64_t>(value.elements.size()) != input.shape[axis])
      return inputError("'", input.name, "' takes a list of ", input.shape[axis], ", got ", kindOf(value));
    int64_t width = 1;
    for (size_t i = axis + 1; i < input.shape.size(); ++i)
      width *= input.shape[i];
    for (size_t i = 0; i < value.elements.size(); ++i)
      if (Status status = writeList(value.elements[i], input, axis + 1, at + static_cast<int64_t>(i) * width); status.failed())
        return status;
    return {};
  }
  static Status writeClass(const Field &field, const JsonValue &value, const InputTensor &input, int64_t at) {
    if (!field.classes)
      return inputError("'", input.name, "' takes ",
                        input.type == DataType::I32 ? "a number, as in the lines before" : "a number", ", got the text \"",
                        value.text, "\"");
    const auto number = field.numbers.find(value.text);
    if (!number)
      return inputError(runtime::quoteJson(value.text), " is none of the ", field.classes->size(), " classes of '", input.name,
                        "' that training has seen; ", meant(value.text, *field.classes));
    static_cast<int32_t *>(input.data)[at] = *number;
    return {};
  }
  /// What stands for a class that is not known: a name like it, or all of them.
  static std::string meant(const std::string &name, const std::vector<std::string> &classes) {
    if (std::string near = nearestOf(name, classes); !near.empty())
      return concat("did you mean ", runtime::quoteJson(near), "?");
    constexpr size_t kShown = 10;
    std::string list;
    for (size_t i = 0; i < std::min(kShown, classes.size()); ++i)
      list += concat(i ? ", " : "", runtime::quoteJson(classes[i]));
    return concat(classes.size() == 1 ? "it is " : "they are ", list, classes.size() > kShown ? ", .." : "",
                  "; one more needs a new run");
  }
  static Status writeScalar(const JsonValue &value, const InputTensor &input, int64_t at) {
    switch (input.type) {
    case DataType::I32:
      return value.isInteger() ? writeWhole(value.integer, input, at)
                               : inputError("'", input.name, "' takes a whole number, got ", kindOf(value));
    case DataType::Bool:
      if (value.kind != JsonValue::Kind::Bool)
        return inputError("'", input.name, "' takes true or false, got ", kindOf(value));
      static_cast<unsigned char *>(input.data)[at] = value.truth;
      return {};
    default:
      input.setReal(at, value.real);
      if (!std::isfinite(value.real) || runtime::isBeyond(value.real, input.type))
        return inputError("'", input.name, "' takes ",
                          byteSize(input.type) == sizeof(double) ? "finite numbers"
                                                                 : concat("numbers of ", 8 * byteSize(input.type), " bits"),
                          ", got ", kindOf(value));
    }
    return value.isNumber() ? Status() : inputError("'", input.name, "' takes a number, got ", kindOf(value));
  }
  static Status writeWhole(int64_t value, const InputTensor &input, int64_t at) {
    if (input.bound >= 0 && (value < 0 || value >= input.bound))
      return inputError("holds ", value, ", but the input '", input.name, "' takes 0 to ", input.bound - 1);
    if (value != static_cast<int32_t>(value))
      return inputError("holds ", value, ", outside of 32 bits");
    static_cast<int32_t *>(input.data)[at] = static_cast<int32_t>(value);
    return {};
  }
  static void writeZeros(const InputTensor &input, int64_t at, int64_t count) {
    const int64_t width = static_cast<int64_t>(runtime::byteSize(input.type));
    std::fill_n(static_cast<char *>(input.data) + at * width, count * width, '\0');
  }

  JsonLines lines;
  std::vector<Field> fields;
  bool guessed = false; // an evaluation that has not been told which class has which number
};

} // namespace

Status makeJsonlTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<JsonlTask>(settings, part, known, result);
}

} // namespace tenon::data
