// groups: one text with several others of which one belongs to it: multiple choice (Devlin et al. 2018, section 4.4, SWAG) and
// relevance ranking (Liu et al. 2019, section 3). A line of the file is the number of the right one from 0, the text and the
// candidates, with tabs between them; a row of the input has the text with each of them.
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

enum : size_t { kIds, kSeg, kLen, kLabel, kAt };

class GroupsTask : public RowTask {
public:
  using RowTask::RowTask;

  Status open(const Vocabulary *known) {
    names = inputsOf(settings.name);
    if (known)
      symbols = *known;
    else if (settings.vocabulary.empty())
      symbols = Vocabulary::bytes(true);
    else if (Status status = readSymbols(settings, symbols); status.failed())
      return status;
    path = pathIn(settings.folder, settings.file);
    Status status = TextForm::parse(settings.form, 2, symbols, form);
    std::vector<TextRow> rows;
    if (status.ok())
      status = readTextRows(path, static_cast<size_t>(settings.size) + 2, rows);
    if (status.ok())
      status = setRows(rows.size(), concat("'", path, "'"));
    for (size_t i = 0; i < rows.size() && status.ok(); ++i)
      status = encode(rows[i]).in(concat(path, ":", rows[i].line));
    return status;
  }

  Status bind(const std::vector<InputTensor> &inputs) override {
    std::vector<Given> given = givenBy(settings.name, symbols.size());
    if (!settings.label.empty())
      given[kLabel].name = settings.label;
    if (!settings.input.empty()) {
      given[kIds].name = settings.input;
      given[kSeg].name = settings.input + "_seg";
      given[kLen].name = settings.input + "_len";
    }
    given[kLabel].values = settings.size;
    Status status = bindInputs(settings.name, given, inputs, binding);
    if (status.ok() && binding.A > 0 && binding.A != settings.size)
      status = inputError("the inputs of the entry have ", binding.A, " candidates, and groups ", settings.size,
                          ": size = ", binding.A);
    return status.ok() ? setBatch(inputs) : status;
  }

  int64_t tokensPerBatch() const override { return binding.B * settings.size * std::max<int64_t>(binding.T, 1); }

  std::vector<std::string> notes() const override {
    uint64_t cut = 0;
    std::vector<std::pair<int32_t, int32_t>> row;
    for (const Group &group : groups)
      for (const std::vector<int32_t> &candidate : group.candidates)
        cut += form.join(group.text, candidate, most(), row);
    if (binding.T == 0 || cut == 0)
      return {};
    return {concat(counted(cut, "candidate"), " of ", path, cut == 1 ? " has" : " have", " with the text more than the ", most(),
                   " symbols that there is room for: the longer of the two is cut off")};
  }
  bool mayPredictSymbols() const override { return false; }

private:
  struct Group {
    std::vector<int32_t> text;
    std::vector<std::vector<int32_t>> candidates;
    int32_t right;
  };

  size_t most() const {
    const auto places = static_cast<size_t>(std::max<int64_t>(binding.T, 0));
    return settings.length > 0 ? std::min(places, static_cast<size_t>(settings.length)) : places;
  }

  Status encode(const TextRow &row) {
    Group group;
    const auto number = numberOf(row.columns[0]);
    if (!number || *number != std::floor(*number) || *number < 0 || *number >= static_cast<double>(settings.size))
      return inputError("expected which candidate is right, 0 to ", settings.size - 1, ", got '", row.columns[0], "'");
    group.right = static_cast<int32_t>(*number);
    Status status = symbols.encode(row.columns[1], group.text);
    for (size_t i = 2; i < row.columns.size() && status.ok(); ++i)
      status = symbols.encode(row.columns[i], group.candidates.emplace_back());
    groups.push_back(std::move(group));
    return status;
  }

  Status writeRow(uint64_t row, int64_t b, std::vector<InputTensor> &inputs) const override {
    const Writer write(binding, inputs);
    const int32_t pad = symbols.special("pad").value_or(0);
    std::vector<std::pair<int32_t, int32_t>> made;
    for (int64_t a = 0; a < settings.size; ++a) {
      form.join(groups[row].text, groups[row].candidates[static_cast<size_t>(a)], most(), made);
      const auto length = static_cast<int64_t>(made.size());
      const int64_t at = b * settings.size + a;
      for (int64_t t = 0; t < binding.T; ++t) {
        write.integer(kIds, at * binding.T + t, t < length ? made[static_cast<size_t>(t)].first : pad);
        write.integer(kSeg, at * binding.T + t, t < length ? made[static_cast<size_t>(t)].second : 0);
      }
      write.integer(kLen, at, length);
      write.integer(kAt, at, std::max<int64_t>(length - 1, 0));
    }
    write.integer(kLabel, b, groups[row].right);
    return {};
  }

  std::string path;
  TextForm form;
  std::vector<Group> groups;
  Binding binding;
};

} // namespace

Status makeGroupsTask(const TaskSettings &settings, Part part, const Vocabulary *known, std::unique_ptr<DataTask> &result) {
  return openTask<GroupsTask>(settings, part, known, result);
}

} // namespace tenon::data
