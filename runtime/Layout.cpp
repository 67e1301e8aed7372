#include "runtime/Layout.h"
#include <cstring>

namespace tenon::runtime {

namespace {

struct Matrix {
  int64_t outputs = 1, inputs = 1;
  int64_t outputStep, inputStep; // in the logical order
};

Matrix matrixOf(const ParameterInfo &info) {
  int64_t first = 1, last = 1;
  for (size_t i = 0; i < info.shape.size(); ++i)
    (i < info.panelSplit ? first : last) *= info.shape[i];
  if (info.panelOutputFirst)
    return {first, last, last, 1};
  return {last, first, 1, last};
}

/// Calls visit(logical index or -1 for padding) in stored order.
template <typename Visit> void walkPanels(const ParameterInfo &info, Visit visit) {
  Matrix matrix = matrixOf(info);
  for (int64_t panel = 0; panel < matrix.outputs; panel += 16)
    for (int64_t input = 0; input < matrix.inputs; ++input)
      for (int64_t output = panel; output < panel + 16; ++output)
        visit(output < matrix.outputs ? output * matrix.outputStep + input * matrix.inputStep : -1);
}

template <typename T> void unpack(const ParameterInfo &info, const char *stored, char *logical) {
  const T *source = reinterpret_cast<const T *>(stored);
  T *target = reinterpret_cast<T *>(logical);
  walkPanels(info, [&](int64_t index) {
    if (index >= 0)
      target[index] = *source;
    ++source;
  });
}

template <typename T> void pack(const ParameterInfo &info, const char *logical, char *stored) {
  const T *source = reinterpret_cast<const T *>(logical);
  T *target = reinterpret_cast<T *>(stored);
  walkPanels(info, [&](int64_t index) { *target++ = index >= 0 ? source[index] : T(0); });
}

} // namespace

void toLogical(const ParameterInfo &info, DataType type, const char *stored, char *logical) {
  if (info.layout == ParameterInfo::Layout::Row)
    std::memcpy(logical, stored, static_cast<size_t>(info.elements) * byteSize(type));
  else if (type == DataType::F64)
    unpack<uint64_t>(info, stored, logical);
  else
    unpack<uint32_t>(info, stored, logical);
}

void toStored(const ParameterInfo &info, DataType type, const char *logical, char *stored) {
  if (info.layout == ParameterInfo::Layout::Row)
    std::memcpy(stored, logical, static_cast<size_t>(info.elements) * byteSize(type));
  else if (type == DataType::F64)
    pack<uint64_t>(info, logical, stored);
  else
    pack<uint32_t>(info, logical, stored);
}

} // namespace tenon::runtime
