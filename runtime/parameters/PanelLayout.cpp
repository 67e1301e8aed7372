#include "runtime/parameters/PanelLayout.h"
#include "runtime/base/Convert.h"
#include <algorithm>

namespace tenon::runtime {

namespace {

/// Calls `copy` with the places of neighbours: `count` of them from row-major element `element` on lie `stride` elements apart
/// from `place` on.
template <typename Copy> void forRuns(const PanelInfo &panels, uint64_t first, uint64_t count, Copy copy) {
  const uint64_t length = panels.lines * panels.width, row = panels.transposed ? panels.lines : panels.columns;
  for (uint64_t element = first, end = first + count; element < end;) {
    const uint64_t outer = element / row, inner = element % row;
    const uint64_t line = panels.transposed ? inner : outer, column = panels.transposed ? outer : inner;
    const uint64_t run = panels.transposed ? panels.steps - inner % panels.steps : panels.width - inner % panels.width;
    const uint64_t place = column / panels.width * length + line / panels.steps * panels.width * panels.steps +
                           column % panels.width * panels.steps + line % panels.steps;
    const uint64_t now = std::min(run, end - element);
    copy(element, place, now, panels.transposed ? 1 : panels.steps);
    element += now;
  }
}

} // namespace

template <typename T> void readPanels(const PanelInfo &panels, const T *memory, uint64_t first, uint64_t count, T *values) {
  forRuns(panels, first, count, [&](uint64_t element, uint64_t place, uint64_t run, uint64_t stride) {
    for (uint64_t i = 0; i < run; ++i)
      values[element - first + i] = memory[place + i * stride];
  });
}

template <typename T> void writePanels(const PanelInfo &panels, const T *values, T *memory) {
  forRuns(panels, 0, panels.lines * panels.columns, [&](uint64_t element, uint64_t place, uint64_t run, uint64_t stride) {
    for (uint64_t i = 0; i < run; ++i)
      memory[place + i * stride] = values[element + i];
  });
}

template void readPanels(const PanelInfo &, const uint16_t *, uint64_t, uint64_t, uint16_t *);
template void writePanels(const PanelInfo &, const uint16_t *, uint16_t *);

void readPanels(const PanelInfo &panels, uint64_t size, const char *memory, uint64_t first, uint64_t count, char *values) {
  withBits(size, [&]<typename T>(T) {
    readPanels(panels, reinterpret_cast<const T *>(memory), first, count, reinterpret_cast<T *>(values));
  });
}

void writePanels(const PanelInfo &panels, uint64_t size, const char *values, char *memory) {
  withBits(size, [&]<typename T>(T) { writePanels(panels, reinterpret_cast<const T *>(values), reinterpret_cast<T *>(memory)); });
}

} // namespace tenon::runtime
