#include "tools/tenon/AttentionMaps.h"
#include "runtime/base/Convert.h"
#include "runtime/data/Utf8.h"
#include <algorithm>
#include <tuple>

namespace tenon::driver {

using runtime::BoundTensor;
using runtime::concat;
using runtime::Context;
using runtime::DataType;
using runtime::EntryInfo;
using runtime::StateInfo;
using runtime::TensorInfo;

namespace {

constexpr std::string_view kPrefix = "attention[";

bool isText(const TensorInfo &input) { return input.type == DataType::I32 && input.axes.size() == 2 && input.bound; }

/// A symbol as a label: what has no shape of its own gets one.
std::string labelOf(const data::Vocabulary *vocabulary, int32_t id) {
  if (!vocabulary || vocabulary->size() <= id)
    return std::to_string(id);
  if (vocabulary->isSpecial(id)) {
    for (const char *name : {"pad", "unk", "cls", "sep", "mask", "eod", "eop", "eos"})
      if (vocabulary->special(name) == id)
        return concat("<", name, ">");
    return concat("#", id);
  }
  const std::string text = vocabulary->text(id, -1);
  std::string label;
  for (unsigned char byte : text) {
    static constexpr const char *digits = "0123456789abcdef";
    const bool isWhole = !data::malformedAt(text);
    if (byte == ' ')
      label += "\xe2\x90\xa3"; // an open box
    else if (byte == '\n')
      label += "\xe2\x86\xb5"; // an arrow down and to the left
    else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !isWhole))
      label += {digits[byte >> 4], digits[byte & 15]};
    else
      label += static_cast<char>(byte);
  }
  return label.empty() ? concat("#", id) : label;
}

std::vector<std::string> numbered(int64_t count) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < count; ++i)
    labels.push_back(std::to_string(i));
  return labels;
}

/// The axes that the name of a map ends its shape with: "attention[T, S] blocks.*.attn".
struct MapName {
  std::vector<std::string> axes; // of queries, then of keys
  std::string path;
};
std::optional<MapName> nameOf(const std::string &state) {
  const size_t close = state.find(']');
  if (!state.starts_with(kPrefix) || close == std::string::npos)
    return std::nullopt;
  MapName name;
  for (size_t begin = kPrefix.size(); begin < close;) {
    const size_t end = std::min(state.find(", ", begin), close);
    name.axes.push_back(state.substr(begin, end - begin));
    begin = end + 2;
  }
  name.path = close + 2 < state.size() ? state.substr(close + 2) : "";
  return name;
}

/// What one side of a map is: all its places, and which of them are drawn.
struct Side {
  std::vector<std::string> labels;
  int64_t size = 0, memory = 0; // memory: places before those of the text
  int64_t first = 0, end = 0;   // drawn
  bool cut = false;             // not all that counts is
};

Side sideOf(const Symbols &symbols, const std::string &axis, int64_t size, int64_t places) {
  Side side{{}, size, 0, 0, size};
  const auto known = symbols.byAxis.find(axis);
  if (known != symbols.byAxis.end() && static_cast<int64_t>(known->second.size()) == size) {
    side.labels = known->second;
  } else if (const auto text = static_cast<int64_t>(symbols.text.size()); text > 0 && size >= text) {
    side.memory = size - text;
    for (int64_t i = 0; i < side.memory; ++i) {
      const int64_t back = side.memory - i; // places before the text
      side.labels.push_back(back <= static_cast<int64_t>(symbols.earlier.size())
                                ? symbols.earlier[symbols.earlier.size() - static_cast<size_t>(back)]
                                : "\xc2\xb7");
    }
    side.labels.insert(side.labels.end(), symbols.text.begin(), symbols.text.end());
  } else {
    side.labels = numbered(size);
  }
  // Of a text that is shorter than the window the rest repeats its last symbol.
  if (places >= 0 && size - side.memory == static_cast<int64_t>(symbols.text.size()))
    side.end = side.memory + std::min(places, size - side.memory);
  const int64_t all = side.end;
  side.end = std::min(all, side.memory + kMostPlaces);
  side.first = std::max<int64_t>(0, side.end - kMostPlaces); // the oldest of the memory go first
  side.cut = side.first > 0 || side.end < all;
  return side;
}

std::vector<std::string> drawnLabels(const Side &side) {
  return {side.labels.begin() + side.first, side.labels.begin() + side.end};
}

double weightAt(const BoundTensor &state, const void *data, int64_t at) {
  return runtime::numberAt(state.type, data, static_cast<uint64_t>(at));
}

int64_t product(const int64_t *begin, const int64_t *end) {
  int64_t result = 1;
  for (; begin != end; ++begin)
    result *= *begin;
  return result;
}

/// The numbers of `index` along axes of these sizes, the last fastest.
std::vector<int64_t> digitsOf(int64_t index, const int64_t *begin, const int64_t *end) {
  std::vector<int64_t> digits;
  for (; end != begin; index /= end[0])
    digits.insert(digits.begin(), index % *--end);
  return digits;
}

/// "head 3", or "K 1, G 0" where several axes tell heads apart.
std::string headTitle(const std::vector<std::string> &axes, const std::vector<int64_t> &digits) {
  if (digits.size() == 1)
    return concat("head ", digits[0]);
  std::string title;
  for (size_t i = 0; i < digits.size(); ++i)
    title += concat(i ? ", " : "", axes[i], " ", digits[i]);
  return title;
}

/// One row of the picture and where it stands in it.
struct Placed {
  size_t stack, state;
  std::vector<int64_t> depths;
  HeatMapRow row;
  bool operator<(const Placed &other) const {
    return std::tie(stack, depths, state) < std::tie(other.stack, other.depths, other.state);
  }
};

class Collection {
public:
  Collection(const Context &context, const Symbols &symbols, int64_t places)
      : context(context), symbols(symbols), places(places) {
    if (symbols.main >= 0)
      batch = context.entry().inputs[static_cast<size_t>(symbols.main)].axes[0];
  }

  runtime::Expected<DrawnMaps> run() {
    for (size_t i = 0; i < context.states().size(); ++i)
      if (auto name = nameOf(context.states()[i].name)) {
        auto weights = runtime::HostCopy::of(context.state(static_cast<int>(i)));
        if (!weights.ok())
          return weights.status();
        add(i, *name, weights->data());
      }
    std::sort(placed.begin(), placed.end());
    DrawnMaps drawn;
    size_t maps = 0, all = 0;
    for (Placed &one : placed) {
      all += one.row.maps.size();
      one.row.maps.resize(std::min(one.row.maps.size(), kMostMaps - maps));
      maps += one.row.maps.size();
      if (!one.row.maps.empty())
        drawn.rows.push_back(std::move(one.row));
    }
    if (maps < all)
      drawn.limits.push_back(concat("the first ", maps, " of ", all, " maps are drawn"));
    if (!cut.empty())
      drawn.limits.push_back(cut);
    return drawn;
  }

private:
  const Context &context;
  const Symbols &symbols;
  const int64_t places;
  std::string batch, cut;
  std::vector<Placed> placed;
  std::vector<std::string> stacks; // paths up to the first star

  size_t stackOf(const std::string &path) {
    const std::string stack = path.substr(0, path.find('*'));
    auto found = std::find(stacks.begin(), stacks.end(), stack);
    if (found == stacks.end())
      found = stacks.insert(stacks.end(), stack);
    return static_cast<size_t>(found - stacks.begin());
  }

  void add(size_t index, const MapName &name, const char *weights) {
    const StateInfo &info = context.entry().states[index];
    const BoundTensor &state = context.states()[index];
    const size_t levels = info.stack.size(), rank = state.shape.size(), looks = name.axes.size();
    const int64_t *shape = state.shape.data();
    const int64_t rows = product(shape + rank - looks, shape + rank - 1), columns = shape[rank - 1];
    const bool isBatched = rank - looks > levels && info.axes[0] == batch;
    const size_t heads = levels + isBatched;
    const int64_t headCount = product(shape + heads, shape + rank - looks), depthCount = product(shape, shape + levels);
    const Side side = looks == 2 ? sideOf(symbols, name.axes[0], rows, places)
                                 : Side{numbered(rows), rows, 0, 0, std::min(rows, kMostPlaces), rows > kMostPlaces};
    const Side above = sideOf(symbols, name.axes.back(), columns, places);
    if (side.cut || above.cut)
      cut = concat("at most ", kMostPlaces, " places along each side are drawn: the first of the text, the newest of a memory");
    const std::vector<std::string> headAxes(info.axes.begin() + isBatched, info.axes.end() - static_cast<std::ptrdiff_t>(looks));
    for (int64_t depth = 0; depth < depthCount; ++depth) {
      Placed one{stackOf(name.path), index, digitsOf(depth, shape, shape + levels), {}};
      one.row.title = name.path.empty() ? "attention" : runtime::expandStars(name.path, info.stack, depth);
      std::string queries;
      for (size_t i = 0; i + 1 < looks; ++i)
        queries += concat(i ? ", " : "", name.axes[i]);
      one.row.note = concat(queries.empty() ? "" : concat("queries ", queries, ", "), "keys ", name.axes.back(),
                            above.memory > 0 ? "; left of the line: memory" : "");
      one.row.rows = drawnLabels(side);
      one.row.columns = drawnLabels(above);
      one.row.memory = static_cast<size_t>(above.memory - above.first);
      const int64_t batches = isBatched ? shape[levels] : 1;
      for (int64_t head = 0; head < headCount; ++head) {
        const int64_t begin = (depth * batches * headCount + head) * rows * columns; // of the first row of the batch
        if (weightAt(state, weights, begin) < 0)                                     // no attend at this depth
          continue;
        one.row.maps.push_back({headTitle(headAxes, digitsOf(head, shape + heads, shape + rank - looks)), {}});
        for (int64_t i = side.first; i < side.end; ++i)
          for (int64_t j = above.first; j < above.end; ++j)
            one.row.maps.back().weights.push_back(weightAt(state, weights, begin + i * columns + j));
      }
      placed.push_back(std::move(one));
    }
  }
};

} // namespace

int mainInput(const EntryInfo &entry) {
  if (int ids = entry.inputIndex("ids"); ids >= 0 && isText(entry.inputs[static_cast<size_t>(ids)]))
    return ids;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (isText(entry.inputs[i]))
      return static_cast<int>(i);
  return -1;
}

Symbols symbolsOf(const Context &context, const data::Vocabulary *vocabulary) {
  const EntryInfo &entry = context.entry();
  Symbols symbols;
  symbols.main = mainInput(entry);
  if (symbols.main < 0)
    return symbols;
  const auto boundOf = [&](size_t i) { return entry.inputs[i].bound->evaluate(context.dims()); };
  auto read = [&](size_t i) {
    std::vector<std::string> labels;
    const auto *ids = static_cast<const int32_t *>(context.input(static_cast<int>(i)));
    for (int64_t place = 0; place < context.inputs()[i].shape[1]; ++place)
      labels.push_back(labelOf(vocabulary, ids[place]));
    return labels;
  };
  const auto main = static_cast<size_t>(symbols.main);
  symbols.text = read(main);
  symbols.byAxis[entry.inputs[main].axes[1]] = symbols.text;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    if (isText(entry.inputs[i]) && boundOf(i) == boundOf(main)) // others hold no symbols
      symbols.byAxis.try_emplace(entry.inputs[i].axes[1], read(i));
  return symbols;
}

runtime::Expected<DrawnMaps> mapsOf(const Context &context, const Symbols &symbols, int64_t places) {
  return Collection(context, symbols, places).run();
}

} // namespace tenon::driver
