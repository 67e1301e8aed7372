#include "runtime/generate/KeptRows.h"
#include <algorithm>

namespace tenon::generate {

using runtime::Context;
using runtime::DeviceView;
using runtime::Expected;
using runtime::Status;

Expected<KeptRows> KeptRows::of(Context &context, const runtime::SizeForm &batch, const std::string &batchAxis) {
  KeptRows rows(context);
  const runtime::EntryInfo &entry = context.entry();
  for (size_t i = 0; i < entry.states.size(); ++i) {
    const runtime::StateInfo &info = entry.states[i];
    if (!info.inPlace && !info.ofLastPlace)
      continue;
    const runtime::BoundTensor &bound = context.states()[i];
    const size_t stack = info.stack.size();
    const int64_t place = info.places < 0 ? -1 : static_cast<int64_t>(stack) + info.places;
    int64_t row = -1, stride = static_cast<int64_t>(runtime::byteSize(bound.type));
    for (size_t axis = 0; axis < info.shape.size(); ++axis)
      if (info.axes[axis] == batchAxis && info.shape[axis] == batch)
        row = static_cast<int64_t>(stack + axis);
    if (row < 0)
      for (const runtime::SizeForm &size : info.shape)
        if (!batch.terms.empty() && size.dependsOn(batch.terms[0].first))
          return runtime::inputError("not supported yet: beams of the entry ", entry.name, ", whose state ", info.name,
                                     " has no axis ", batchAxis, " of its own");
    if (row < 0)
      continue; // the same for all rows
    Layout layout;
    layout.state = static_cast<int>(i);
    layout.grows = place >= 0;
    layout.ofLastPlace = info.ofLastPlace;
    layout.fixed = layout.grows ? bound.shape[static_cast<size_t>(place)] - context.capacity() : 0;
    const int64_t innermost = std::max(row, place);
    for (int64_t axis = static_cast<int64_t>(bound.shape.size()) - 1; axis >= 0; --axis) {
      const int64_t size = bound.shape[static_cast<size_t>(axis)];
      if (axis == innermost)
        layout.run = stride;
      if (axis == row)
        layout.rowStride = stride;
      else if (axis == place)
        layout.placeStride = stride;
      else if (axis < innermost) {
        layout.loops.push_back(size);
        layout.loopStrides.push_back(stride);
      }
      stride *= size;
    }
    layout.placesLieTogether = place > row;
    rows.layouts.push_back(std::move(layout));
  }
  return rows;
}

/// Calls visit(offset) for all combinations of the axes that are neither rows nor places, and lie outside of them.
template <typename Visit> Status KeptRows::eachRun(const Layout &layout, Visit visit) const {
  std::vector<int64_t> index(layout.loops.size());
  for (int64_t offset = 0;;) {
    if (Status status = visit(offset); status.failed())
      return status;
    size_t axis = 0;
    for (; axis < index.size(); ++axis) {
      offset += layout.loopStrides[axis];
      if (++index[axis] < layout.loops[axis])
        break;
      offset -= index[axis] * layout.loopStrides[axis];
      index[axis] = 0;
    }
    if (axis == index.size())
      return {};
  }
}

Status KeptRows::copyPlaces(int64_t source, int64_t target, int64_t from, int64_t to) const {
  for (const Layout &layout : layouts) {
    if (!(layout.grows || layout.ofLastPlace) || from >= to)
      continue;
    const DeviceView whole = context->state(layout.state);
    const bool isOneRun = !layout.grows || layout.placesLieTogether;
    const int64_t runs = isOneRun ? 1 : to - from, bytes = layout.grows && isOneRun ? (to - from) * layout.run : layout.run;
    Status status = eachRun(layout, [&](int64_t offset) {
      for (int64_t each = 0; each < runs; ++each) {
        const int64_t place = offset + (layout.grows ? (layout.fixed + from + each) * layout.placeStride : 0);
        auto part = [&](int64_t row) {
          return whole.part(static_cast<uint64_t>(place + row * layout.rowStride), static_cast<uint64_t>(bytes));
        };
        if (Status copied = part(target).copyFrom(part(source)); copied.failed())
          return copied;
      }
      return Status();
    });
    if (status.failed())
      return status;
  }
  return {};
}

Status KeptRows::takePrepared(const Context &prepared, int64_t times) const {
  for (size_t i = 0; i < prepared.states().size(); ++i) {
    const std::string &name = prepared.states()[i].name;
    const auto &own = context->states();
    const auto found =
        std::find_if(own.begin(), own.end(), [&](const runtime::BoundTensor &state) { return state.name == name; });
    const int state = static_cast<int>(found - own.begin());
    if (prepared.entry().states[i].ofModel)
      continue;
    const DeviceView to = context->state(state), from = prepared.state(static_cast<int>(i));
    const auto layout = std::find_if(layouts.begin(), layouts.end(), [&](const Layout &each) { return each.state == state; });
    if (layout == layouts.end()) { // the same for all rows
      if (Status status = to.copyFrom(from); status.failed())
        return status;
      continue;
    }
    // Rows of `from` are fewer, so what lies around them is closer together.
    const auto run = static_cast<uint64_t>(layout->rowStride), rows = from.size() * static_cast<uint64_t>(times) / run;
    for (uint64_t row = 0; row < rows; ++row)
      if (Status status = to.part(row * run, run).copyFrom(from.part(row / static_cast<uint64_t>(times) * run, run));
          status.failed())
        return status;
  }
  return {};
}

} // namespace tenon::generate
