#include "lowering/artifact/LossFacts.h"
#include "frontend/Dims.h"
#include "frontend/graph/Averages.h"
#include "llvm/ADT/STLExtras.h"

namespace tenon {

/// mean(cross_entropy[V](logits, labels)) over all places, each of which counts: what divided by ln 2 is bits per symbol. Terms,
/// factors, `where`, `skip` and `spread` make another number of it.
static bool isMeanCrossEntropy(const Entry &entry, NodeId id) {
  const Node &mean = entry.nodes[id];
  if (mean.op != Op::Div || entry.nodes[mean.operands[0]].op != Op::Sum)
    return false;
  const Node &sum = entry.nodes[mean.operands[0]];
  NodeId summed = sum.operands[0];
  while (llvm::is_contained({Op::Rename, Op::Transpose, Op::Merge, Op::Split}, entry.nodes[summed].op))
    summed = entry.nodes[summed].operands[0];
  const Node &entropy = entry.nodes[summed];
  if (entropy.op != Op::CrossEntropy || entropy.operands.size() != 2 || entropy.number != 0 || entropy.index != 0)
    return false;
  const std::vector<int64_t> dims = sema::nominalDims(entry);
  double places = 1;
  for (AxisId axis : sum.axesFrom)
    places *= double(entry.axes[axis].size.evaluate(dims));
  return sema::productOfSizes(entry, mean.operands[1], dims) == places;
}

bool isNats(const Entry &entry, NodeId loss) {
  if (isMeanCrossEntropy(entry, loss))
    return true;
  const Node &mean = entry.nodes[loss];
  if (mean.op != Op::Div || entry.nodes[mean.operands[0]].op != Op::Sum ||
      sema::productOfSizes(entry, mean.operands[1], sema::nominalDims(entry)))
    return false;
  const Node *part = &entry.nodes[entry.nodes[mean.operands[0]].operands[0]];
  if (part->op == Op::Mul)
    for (NodeId operand : part->operands)
      if (entry.nodes[operand].op == Op::CrossEntropy)
        part = &entry.nodes[operand];
  return part->op == Op::CrossEntropy && part->number == 0;
}

/// The least dim `index` with which a size that grows with it alone has a place.
static std::optional<int64_t> firstWithPlaces(const Size &size, unsigned index) {
  if (size.coefficients().size() != 1 || size.coefficients().begin()->first != index || size.coefficients().begin()->second < 1)
    return std::nullopt;
  const int64_t coefficient = size.coefficients().begin()->second;
  return (coefficient - size.constant()) / coefficient; // coefficient * first + constant >= 1
}

int64_t leastSize(const Entry &entry, unsigned index) {
  int64_t least = 1;
  for (const Node &node : entry.nodes) {
    const bool chooses = llvm::is_contained({Op::ArgMax, Op::ReduceMax, Op::ReduceMin, Op::Sample}, node.op);
    const bool divides = node.op == Op::Div && entry.nodes[node.operands[0]].op == Op::Sum;
    if (!chooses && !divides)
      continue;
    for (AxisId axis : (chooses ? node : entry.nodes[node.operands[0]]).axesFrom) {
      const auto first = firstWithPlaces(entry.axes[axis].size, index);
      if (!first)
        continue;
      std::vector<int64_t> dims = sema::nominalDims(entry);
      dims[index] = *first - 1;
      fillProducts(entry, dims);
      const auto divisor = divides ? sema::productOfSizes(entry, node.operands[1], dims) : std::nullopt;
      if (chooses || (divisor && *divisor <= 0)) // a divisor of another kind is the model's affair
        least = std::max(least, *first);
    }
  }
  return least;
}

} // namespace tenon
