// The formulas that make one number of several batches. What is read is sound: outputs exist, axes of operands agree in their
// sizes, the whole is a number.
#include "runtime/artifact/ManifestParts.h"
#include <algorithm>
#include <set>

namespace tenon::runtime {

namespace {

using Kind = AverageInfo::Kind;
using Operation = AverageInfo::Operation;

constexpr int kLevels = 64;

bool contains(const std::vector<std::string> &texts, const std::string &text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

class Reader {
public:
  explicit Reader(const EntryInfo &entry) : entry(entry) {}

  /// `axes` becomes the axes of the value.
  AverageInfo read(const ManifestReader &reader, std::map<std::string, SizeForm> &axes, int level) const {
    AverageInfo info;
    if (reader.json().isNumber()) {
      info.number = reader.number();
      return info;
    }
    if (level > kLevels)
      reader.fail("the formula nests too deep");
    for (const char *key : {"axes", "to"})
      if (reader.good() && reader.has(key))
        (key[0] == 'a' ? info.axes : info.to) = readTexts(reader.member(key));
    if (reader.good() && reader.has("sizes"))
      reader.member("sizes").each([&](const ManifestReader &size) { info.sizes.push_back(readSizeForm(size, entry.dims)); });
    if (std::set<std::string>(info.axes.begin(), info.axes.end()).size() != info.axes.size())
      reader.fail("an axis occurs twice");
    if (!reader.good() || readOutput(reader, info, axes) || readOperation(reader, info, axes, level))
      return info;
    reader.fail("expected a number, sum, greatest, least, count, mean or an operation");
    return info;
  }

private:
  const EntryInfo &entry;

  bool readOutput(const ManifestReader &reader, AverageInfo &info, std::map<std::string, SizeForm> &axes) const {
    for (auto [key, kind] : {std::pair("sum", Kind::Sum), std::pair("greatest", Kind::Greatest), std::pair("least", Kind::Least),
                             std::pair("count", Kind::Count), std::pair("mean", Kind::Mean)})
      if (reader.has(key)) {
        info.kind = kind;
        info.output = entry.outputIndex(reader.member(key).text());
        if (info.output < 0)
          reader.fail(concat("there is no output '", reader.member(key).text(), "'"));
        else
          checkOutput(reader, info, axes);
        return true;
      }
    return false;
  }

  void checkOutput(const ManifestReader &reader, AverageInfo &info, std::map<std::string, SizeForm> &axes) const {
    const TensorInfo &output = entry.outputs[static_cast<size_t>(info.output)];
    if (std::set<std::string>(output.axes.begin(), output.axes.end()).size() != output.axes.size())
      return reader.fail(concat("two axes of '", output.name, "' have one name"));
    if (info.kind == Kind::Mean)
      info.axes = output.axes;
    if (info.kind == Kind::Mean ? output.rows >= 0 : output.rows < 0 || output.rows == output.places)
      return reader.fail(concat("'", output.name, info.kind == Kind::Mean ? "' is a part with rows" : "' is no part with rows"));
    for (size_t i = 0; i < output.axes.size(); ++i) {
      const bool isRow = static_cast<int>(i) == output.rows, isPlace = static_cast<int>(i) == output.places,
                 kept = contains(info.axes, output.axes[i]);
      if (kept && (isRow || (info.kind == Kind::Count && !isPlace)))
        reader.fail(concat("axis ", output.axes[i], " of '", output.name, "' does not remain"));
      if (!kept && !isRow && !isPlace && info.kind != Kind::Count)
        reader.fail(concat("axis ", output.axes[i], " of '", output.name, "' remains"));
      if (kept)
        axes[output.axes[i]] = output.shape[i];
    }
    if (axes.size() != info.axes.size())
      reader.fail(concat("'", output.name, "' has no such axes"));
  }

  bool readOperation(const ManifestReader &reader, AverageInfo &info, std::map<std::string, SizeForm> &axes, int level) const {
    static const struct {
      const char *name;
      Kind kind;
      Operation operation;
      size_t operands;
    } operations[] = {{"neg", Kind::Apply, Operation::Neg, 1},
                      {"exp", Kind::Apply, Operation::Exp, 1},
                      {"log", Kind::Apply, Operation::Log, 1},
                      {"sqrt", Kind::Apply, Operation::Sqrt, 1},
                      {"abs", Kind::Apply, Operation::Abs, 1},
                      {"add", Kind::Apply, Operation::Add, 2},
                      {"sub", Kind::Apply, Operation::Sub, 2},
                      {"mul", Kind::Apply, Operation::Mul, 2},
                      {"div", Kind::Apply, Operation::Div, 2},
                      {"pow", Kind::Apply, Operation::Pow, 2},
                      {"max", Kind::Apply, Operation::Max, 2},
                      {"min", Kind::Apply, Operation::Min, 2},
                      {"equal", Kind::Apply, Operation::Equal, 2},
                      {"not_equal", Kind::Apply, Operation::NotEqual, 2},
                      {"less", Kind::Apply, Operation::Less, 2},
                      {"less_equal", Kind::Apply, Operation::LessEqual, 2},
                      {"select", Kind::Apply, Operation::Select, 3},
                      {"sum_along", Kind::Along, Operation::SumAlong, 1},
                      {"mean_along", Kind::Along, Operation::MeanAlong, 1},
                      {"max_along", Kind::Along, Operation::MaxAlong, 1},
                      {"min_along", Kind::Along, Operation::MinAlong, 1},
                      {"rename", Kind::Rename, Operation::Neg, 1},
                      {"expand", Kind::Expand, Operation::Neg, 1},
                      {"slice", Kind::Slice, Operation::Neg, 1}};
    for (const auto &each : operations)
      if (reader.has(each.name)) {
        info.kind = each.kind;
        info.operation = each.operation;
        reader.member(each.name).each([&](const ManifestReader &item) {
          std::map<std::string, SizeForm> own;
          info.operands.push_back(read(item, own, level + 1));
          for (const auto &[axis, size] : own)
            if (auto [known, added] = axes.emplace(axis, size); !added && known->second != size)
              item.fail(concat("axis ", axis, " has two sizes"));
        });
        if (info.operands.size() != each.operands)
          reader.fail(concat(each.name, " takes ", each.operands, " values"));
        if (each.kind != Kind::Apply)
          changeAxes(reader, info, axes);
        return true;
      }
    return false;
  }

  void changeAxes(const ManifestReader &reader, const AverageInfo &info, std::map<std::string, SizeForm> &axes) const {
    const bool renames = info.kind == Kind::Rename || (info.kind == Kind::Slice && !info.to.empty());
    if ((renames && info.to.size() != info.axes.size()) ||
        (info.kind == Kind::Slice && (info.axes.size() != 1 || info.sizes.size() != 2)) ||
        (info.kind == Kind::Expand && info.sizes.size() != info.axes.size()))
      return reader.fail("the lists of axes and sizes do not fit together");
    std::vector<SizeForm> sizes = info.sizes;
    if (info.kind == Kind::Slice)
      sizes.erase(sizes.begin());
    else
      sizes.resize(info.axes.size());
    for (size_t i = 0; i < info.axes.size(); ++i) {
      auto found = axes.find(info.axes[i]);
      if ((found == axes.end()) != (info.kind == Kind::Expand))
        return reader.fail(concat(info.kind == Kind::Expand ? "there is an axis " : "there is no axis ", info.axes[i]));
      if (info.kind == Kind::Rename)
        sizes[i] = found->second;
      if (found != axes.end())
        axes.erase(found);
    }
    const std::vector<std::string> &names = renames ? info.to : info.axes;
    for (size_t i = 0; i < names.size() && (renames || info.kind == Kind::Expand); ++i)
      if (!axes.emplace(names[i], sizes[i]).second)
        reader.fail(concat("axis ", names[i], " occurs twice"));
  }
};

} // namespace

AverageInfo readAverage(const ManifestReader &reader, const EntryInfo &entry) {
  std::map<std::string, SizeForm> axes;
  AverageInfo info = Reader(entry).read(reader, axes, 0);
  if (!axes.empty())
    reader.fail(concat("the formula is no number, it has axis ", axes.begin()->first));
  return info;
}

} // namespace tenon::runtime
