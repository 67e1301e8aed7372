// Operands of products: where an element lies, by the indices of some of the axes, and what is multiplied of it.
#pragma once
#include "dialect/TenonDialect.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <cstring>
#include <vector>

namespace tenon::test {

class Steps {
public:
  /// Of an operand of this shape, row-major, whose axes have `labels`; the indices are those of the labels `along`.
  Steps(llvm::ArrayRef<int64_t> along, llvm::ArrayRef<int64_t> labels, llvm::ArrayRef<int64_t> shape) : steps(along.size()) {
    int64_t step = 1;
    for (size_t axis = labels.size(); axis-- > 0; step *= shape[axis])
      for (size_t i = 0; i < along.size(); ++i)
        steps[i] += along[i] == labels[axis] ? step : 0;
  }
  int64_t to(const std::vector<int64_t> &index) const {
    int64_t place = 0;
    for (size_t i = 0; i < steps.size(); ++i)
      place += steps[i] * index[i];
    return place;
  }

private:
  std::vector<int64_t> steps;
};

/// Of f32, to the nearest, ties away from zero.
inline double roundedToTf32(double value) {
  const float single = float(value);
  uint32_t bits;
  std::memcpy(&bits, &single, sizeof bits);
  bits = (bits + 0x1000) & ~0x1fffu;
  float rounded;
  std::memcpy(&rounded, &bits, sizeof rounded);
  return double(rounded);
}

/// What is multiplied: operands that the kernel which is chosen for some variant rounds, rounded.
inline std::pair<std::vector<double>, std::vector<double>> factorsOf(GemmOp gemm, std::vector<double> a, std::vector<double> b) {
  auto chosen = gemm->getAttrOfType<mlir::DictionaryAttr>("tenon.chosen");
  const bool rounds = chosen && llvm::any_of(chosen, [](mlir::NamedAttribute variant) {
                        auto choice = mlir::dyn_cast<mlir::DictionaryAttr>(variant.getValue());
                        auto form = choice ? choice.getAs<mlir::StringAttr>("form") : nullptr;
                        return form && form.getValue() == "tf32";
                      });
  for (std::vector<double> *factors : {&a, &b})
    for (double &factor : *factors)
      factor = rounds ? roundedToTf32(factor) : factor;
  return {std::move(a), std::move(b)};
}

} // namespace tenon::test
