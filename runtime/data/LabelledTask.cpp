// single, pairs, tags, relations and relevance: texts with labels of a person's own, one row of a file each (docs/recipes.md).
// Fine-tuning as google-research/bert does it: run_classifier.py; tags stand at the first piece of a word.
#include "runtime/base/Json.h"
#include "runtime/base/Nearest.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/data/Inputs.h"
#include "runtime/data/RowTask.h"
#include "runtime/data/TextRows.h"
#include <algorithm>
#include <cmath>

namespace tenon::data {

using runtime::concat;
using runtime::counted;

namespace {

constexpr size_t kIds = 0, kSeg = 1, kLen = 2, kLabel = 3, kScore = 4, kAt = 5, kRank = 6,
                 kBack = 7;                                                       // of `single` and `pairs`
constexpr size_t kTagIds = 0, kTagLen = 1, kTag = 2, kTagWeight = 3, kTagSeg = 4; // of `tags`

class LabelledTask : public RowTask {
public:
  LabelledTask(const TaskSettings &settings, Part part) : RowTask(settings, part), isTags(settings.name == "tags") {}

  Status open(const Vocabulary *known) {
    names = inputsOf(settings.name);
    guessed = guesses(known);
    if (known)
      symbols = *known;
    else if (settings.vocabulary.empty())
      symbols = Vocabulary::bytes(!isTags || !settings.form.empty());
    else if (Status status = readSymbols(settings, symbols); status.failed())
      return status;
    path = pathIn(settings.folder, settings.file);
    const size_t texts = settings.name == "single" ? 1 : 2;
    // Words with tags stand alone where no form says what stands around them.
    Status status = TextForm::parse(isTags && settings.form.empty() ? "a" : settings.form, isTags ? 1 : texts, symbols, form);
    if (status.ok())
      status = readTextRows(path, isTags ? 0 : texts + 1, rows);
    if (status.ok())
      status = setRows(rows.size(), concat("'", path, "'"));
    for (size_t i = 0; i < rows.size() && status.ok(); ++i)
      status = encode(rows[i]);
    return status;
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    std::vector<Given> given = givenBy(settings.name, symbols.size());
    if (!isTags)
      given[kLabel].name = className();
    Status status = bindInputs(settings.name, given, inputs, binding);
    binding.at.resize(std::max(given.size(), kBack + 1), -1); // relations and relevance give no more than a label
    if (const int rank = binding.at[kRank]; status.ok() && rank >= 0 && inputs[static_cast<size_t>(rank)].bound >= 0)
      return inputError("the input 'rank' is an index, and ", settings.name, " gives -1 for what is given; declare it i32[B, T]");
    if (status.ok())
      status = setBatch(inputs);
    const size_t length = isTags ? kTagLen : kLen, ids = isTags ? kTagIds : kIds;
    if (status.ok() && binding.at[length] >= 0 && binding.at[ids] >= 0)
      status = checkLengths(inputs[static_cast<size_t>(binding.at[length])], inputs[static_cast<size_t>(binding.at[ids])]);
    if (status.ok())
      status = findClasses(inputs);
    if (status.ok())
      status = checkLabels(inputs);
    return status;
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> result;
    uint64_t cut = 0, words = 0;
    std::vector<std::pair<int32_t, int32_t>> row;
    const uint64_t count = part == Part::HeldOut ? RowTask::rows() : encoded.size();
    for (uint64_t place = 0; place < count; ++place) {
      const Encoded &each = encoded[part == Part::HeldOut ? rowAt(place) : place];
      if (!form.join(each.a, each.b, most(), row))
        continue;
      ++cut;
      const auto kept = each.word.begin() + std::min<int64_t>(taggedPlaces(row.size()), std::ssize(each.word));
      words += static_cast<uint64_t>(std::count_if(kept, each.word.end(), [](int32_t word) { return word >= 0; }));
    }
    if (binding.T > 0 && cut > 0)
      result.push_back(concat(counted(cut, "row"), " of ", path, cut == 1 ? " has" : " have", " more than the ", most(),
                              " symbols that there is room for: the end ",
                              isTags || settings.name == "single" ? "" : "of the longer text ", "is cut off",
                              isTags ? concat(", with ", counted(words, "word"), " and their tags") : ""));
    for (std::string &warning : classNotes())
      result.push_back(std::move(warning));
    return result;
  }
  bool mayPredictSymbols() const override { return false; }

private:
  struct Encoded {
    std::vector<int32_t> a, b;
    std::vector<int32_t> word; // tags: the number of the word that each symbol is the first of; -1: of none
  };

  /// How many symbols of its text a row of so many has; the others are marks.
  int64_t taggedPlaces(size_t length) const {
    return std::max<int64_t>(static_cast<int64_t>(length) - static_cast<int64_t>(form.marks()), 0);
  }
  size_t most() const {
    const auto places = static_cast<size_t>(std::max<int64_t>(binding.T, 0));
    return settings.length > 0 ? std::min(places, static_cast<size_t>(settings.length)) : places;
  }
  std::string placeOf(const TextRow &row, size_t word = 0) const { return concat(path, ":", row.line + word); }

  Status encode(const TextRow &row) {
    Encoded &made = encoded.emplace_back();
    if (!isTags) {
      Status status = symbols.encode(row.columns[1], made.a);
      if (status.ok() && row.columns.size() > 2)
        status = symbols.encode(row.columns[2], made.b);
      return status.failed() ? status.in(placeOf(row)) : status;
    }
    for (size_t i = 0; i < row.columns.size(); i += 2) {
      const size_t before = made.a.size();
      const std::string word = (symbols.wordsBeginWithBlank() ? " " : "") + row.columns[i];
      if (Status status = symbols.encode(word, made.a); status.failed())
        return status.in(placeOf(row, i / 2));
      made.word.resize(made.a.size(), -1);
      if (made.a.size() > before)
        made.word[before] = static_cast<int32_t>(i / 2);
    }
    return {};
  }

  /// The position of the input of classes, or -1; and what stands there in a row.
  int classInput() const { return binding.at[isTags ? kTag : kLabel]; }
  std::string className() const { return settings.label.empty() ? names[isTags ? kTag : kLabel] : settings.label; }
  template <typename Visit> Status visitLabels(Visit visit) const {
    for (size_t r = 0; r < rows.size(); ++r)
      for (size_t i = isTags ? 1 : 0; i < (isTags ? rows[r].columns.size() : 1); i += 2)
        if (Status status = visit(rows[r].columns[i], r, i / 2); status.failed())
          return status;
    return {};
  }

  /// Labels that are all whole numbers are the classes themselves, others names: those of the run, or all that occur, sorted.
  Status findClasses(const std::vector<InputTensor> &inputs) {
    classes = nullptr;
    takeClasses();
    if (classInput() < 0)
      return {};
    const InputTensor &input = inputs[static_cast<size_t>(classInput())];
    if (!symbols.classes.count(className())) {
      ClassNames found;
      bool numbers = true;
      (void)visitLabels([&](const std::string &label, size_t row, size_t word) {
        const auto number = numberOf(label);
        numbers &= number && *number == std::floor(*number);
        found.add(label, uint64_t{row} << 32 | word); // both have their lines in a file
        return Status();
      });
      if (numbers) {
        setNumbered(className());
        return {};
      }
      auto placed = [this](uint64_t at) { return placeOf(rows[at >> 32], static_cast<uint32_t>(at)); };
      symbols.classes[className()] = numbered(found.sorted(), className(), input.bound);
      for (const std::string &warning : {found.mixedText(placed), isTags ? std::string() : found.headingText(placed)})
        if (!warning.empty())
          said.push_back(warning);
      if (const size_t count = found.sorted().size(); input.bound >= 0 && count > static_cast<size_t>(input.bound))
        return inputError("'", path, "' has ", count, " classes, but the input '", className(), "' takes ", input.bound,
                          "; the rarest first: ", found.rarestFirst(count - static_cast<size_t>(input.bound), placed),
                          "; mend what is misspelt, or give the input ", count, " classes");
      if (guessed && input.bound >= 0 && found.sorted().size() != static_cast<size_t>(input.bound))
        return inputError("'", path, "' has ", found.sorted().size(), " of the ", input.bound, " classes of '", className(),
                          "', and nothing says which: these weights do not name their classes; export them from the run with "
                          "tenon export, or evaluate the run");
    }
    classes = &symbols.classes.at(className());
    classNumbers = ClassNumbers(*classes);
    return {};
  }

  /// The number of a class.
  Status numberOfClass(const std::string &label, const InputTensor &input, int32_t &number) const {
    if (classes) {
      const auto found = classNumbers.find(label);
      if (!found) {
        const std::string near = nearestOf(label, *classes);
        return inputError(runtime::quoteJson(label), " is none of the ", classes->size(), " classes of '", className(),
                          "' that training has seen",
                          near.empty() ? "" : concat("; did you mean ", runtime::quoteJson(near), "?"));
      }
      number = *found;
      return {};
    }
    const auto value = numberOf(label);
    if (!value || *value != std::floor(*value) || *value < 0 || (input.bound >= 0 && *value >= static_cast<double>(input.bound)))
      return inputError("the label '", label, "' is none of the numbers 0 to ", input.bound - 1, " that the input '", className(),
                        "' takes");
    number = static_cast<int32_t>(*value);
    return {};
  }

  /// Every label once, so that a mistake is found before the first step.
  Status checkLabels(const std::vector<InputTensor> &inputs) {
    counts = part == Part::Training ? ClassCounts::of(inputs) : std::vector<ClassCounts>();
    std::erase_if(counts, [&](const ClassCounts &each) { return static_cast<int>(each.position) != classInput(); });
    const std::vector<bool> held = counts.empty() ? std::vector<bool>() : heldOutRows();
    return visitLabels([&](const std::string &label, size_t row, size_t word) {
      int32_t number = 0;
      Status status = classInput() < 0 ? Status() : numberOfClass(label, inputs[static_cast<size_t>(classInput())], number);
      if (status.ok() && !isTags && binding.at[kScore] >= 0 && !numberOf(label))
        status = inputError("the label '", label, "' is no number, and the input 'score' takes one");
      for (ClassCounts &each : counts)
        if (status.ok() && !held[row])
          ++each.rows[static_cast<size_t>(number)];
      return status.failed() ? status.in(placeOf(rows[row], word)) : status;
    });
  }

  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    return isTags ? writeTags(row, b, inputs) : writeTexts(row, b, inputs);
  }

  Status writeTexts(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const {
    const Writer write(binding, inputs);
    std::vector<std::pair<int32_t, int32_t>> made;
    form.join(encoded[row].a, encoded[row].b, most(), made);
    const auto length = static_cast<int64_t>(made.size()), first = settings.padLeft ? binding.T - length : 0;
    for (int64_t t = 0; t < binding.T; ++t) {
      const bool inside = t >= first && t < first + length;
      write.integer(kIds, b * binding.T + t, inside ? made[static_cast<size_t>(t - first)].first : pad());
      write.integer(kSeg, b * binding.T + t, inside ? made[static_cast<size_t>(t - first)].second : 0);
      write.integer(kRank, b * binding.T + t, inside ? -1 : binding.T + 1); // XLNet: given, or after everything
    }
    if (const int seg = binding.at[kSeg];
        seg >= 0 && length > 0 && form.endsInClass(symbols) && inputs[static_cast<size_t>(seg)].bound > 2)
      write.integer(kSeg, b * binding.T + first + length - 1, 2); // zihangdai/xlnet, classifier_utils.py: SEG_ID_CLS
    write.truth(kBack, b, false);
    write.integer(kLen, b, length);
    write.integer(kAt, b, std::max<int64_t>(first + length - 1, 0));
    const std::string &label = rows[row].columns[0];
    int32_t number = 0;
    Status status = classInput() < 0 ? Status() : numberOfClass(label, inputs[static_cast<size_t>(classInput())], number);
    write.integer(kLabel, b, number);
    write.real(kScore, b, numberOf(label).value_or(0));
    return status;
  }

  Status writeTags(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const {
    const Writer write(binding, inputs);
    const Encoded &made = encoded[row];
    std::vector<std::pair<int32_t, int32_t>> joined;
    form.join(made.a, {}, most(), joined);
    const auto length = static_cast<int64_t>(joined.size()), before = static_cast<int64_t>(form.placeOfA()),
               words = taggedPlaces(joined.size());
    for (int64_t t = 0; t < binding.T; ++t) {
      const int32_t word = t >= before && t < before + words ? made.word[static_cast<size_t>(t - before)] : -1;
      int32_t number = 0;
      if (word >= 0 && classInput() >= 0)
        if (Status status = numberOfClass(rows[row].columns[static_cast<size_t>(word) * 2 + 1],
                                          inputs[static_cast<size_t>(classInput())], number);
            status.failed())
          return status;
      write.integer(kTagIds, b * binding.T + t, t < length ? joined[static_cast<size_t>(t)].first : pad());
      write.integer(kTag, b * binding.T + t, number);
      write.real(kTagWeight, b * binding.T + t, word >= 0 ? 1 : 0);
      write.integer(kTagSeg, b * binding.T + t, 0);
    }
    write.integer(kTagLen, b, length);
    return {};
  }

  int32_t pad() const { return symbols.special("pad").value_or(0); }

  const bool isTags;
  bool guessed = false; // an evaluation that has not been told which class has which number
  std::string path;
  TextForm form;
  std::vector<TextRow> rows;
  std::vector<Encoded> encoded;
  const std::vector<std::string> *classes = nullptr; // names of classes; null: numbers
  ClassNumbers classNumbers;
  Binding binding;
};

} // namespace

Status makeLabelledTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<LabelledTask>(settings, part, known, result);
}

} // namespace tenon::data
