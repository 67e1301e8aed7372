#include "dialect/FactoredMoments.h"
#include "dialect/ElementModel.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon {

constexpr int64_t kLineBytes = 64;

/// Chooses rows and columns of a tensor of these sizes.
static void factor(ArrayRef<int64_t> sizes, int64_t least, FactoredMoment &moment) {
  for (size_t cut = 1; cut < sizes.size(); ++cut) {
    const int64_t rows = llvm::product_of(sizes.take_front(cut)), columns = llvm::product_of(sizes.drop_front(cut));
    if (std::min(rows, columns) < least || (moment.columns > 0 && rows + columns >= moment.rows + moment.columns))
      continue;
    moment.rows = rows;
    moment.columns = columns;
    moment.rowDimensions = cut;
  }
  if (moment.columns == 0)
    moment.rows = llvm::product_of(sizes);
}

std::vector<FactoredMoment> factoredMoments(ModuleOp module, int64_t leastToFactor) {
  std::vector<FactoredMoment> moments;
  int64_t offset = 0;
  for (auto parameter : module.getOps<ParameterOp>()) {
    if (parameter.getFrozen())
      continue;
    FactoredMoment moment{parameter, offset, 0};
    factor(parameter.getType().getShape().drop_front(parameter.depthCount()), leastToFactor, moment);
    const int64_t bytes = elementBytes(parameter.getType().getElementType());
    moment.columnsOffset = int64_t(llvm::alignTo(moment.rows * bytes, kLineBytes));
    moment.stride = moment.columnsOffset + int64_t(llvm::alignTo(moment.columns * bytes, kLineBytes));
    offset += moment.stride * std::max<int64_t>(parameter.stackElements(), 1);
    moments.push_back(moment);
  }
  return moments;
}

int64_t bytesOf(const std::vector<FactoredMoment> &moments) {
  if (moments.empty())
    return 0;
  const FactoredMoment &last = moments.back();
  return last.offset + last.stride * std::max<int64_t>(ParameterOp(last.parameter).stackElements(), 1);
}

} // namespace tenon
