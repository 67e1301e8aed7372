// Parameters that lie in the panels in which contractions read them: between row-major elements, which is what files and callers
// have, and memory.
#pragma once
#include "runtime/artifact/Manifest.h"

namespace tenon::runtime {

/// Copies elements [first, first + count), row-major, of one stack element out of its panels at `memory`. T: unsigned of the
/// elements' size.
template <typename T> void readPanels(const PanelInfo &panels, const T *memory, uint64_t first, uint64_t count, T *values);
/// All row-major `values` of one stack element into its panels.
template <typename T> void writePanels(const PanelInfo &panels, const T *values, T *memory);

/// The same by the size of an element: 2, 4 or 8 bytes.
void readPanels(const PanelInfo &panels, uint64_t size, const char *memory, uint64_t first, uint64_t count, char *values);
void writePanels(const PanelInfo &panels, uint64_t size, const char *values, char *memory);

} // namespace tenon::runtime
