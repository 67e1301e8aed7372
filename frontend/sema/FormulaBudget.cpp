#include "frontend/sema/FormulaBudget.h"
#include <algorithm>

namespace tenon::sema {

/// What a formula may go on through; what is summed over a batch is one term, whatever it is made of.
static bool isInside(const Entry &entry, const Node &node, AxisId batch) {
  switch (node.op) {
  case Op::Neg:
  case Op::Exp:
  case Op::Log:
  case Op::Sqrt:
  case Op::Abs:
  case Op::ToReal:
  case Op::StopGradient:
  case Op::Add:
  case Op::Sub:
  case Op::Mul:
  case Op::Div:
  case Op::Pow:
  case Op::Max:
  case Op::Min:
  case Op::Rename:
  case Op::Merge:
  case Op::Split:
  case Op::Expand:
  case Op::Transpose:
    return true;
  case Op::Sum:
  case Op::ReduceMax:
  case Op::ReduceMin:
  case Op::All:
  case Op::Any: {
    const std::vector<AxisId> &axes = entry.nodes[node.operands[0]].type.axes;
    return std::find(axes.begin(), axes.end(), batch) == axes.end();
  }
  default:
    return false;
  }
}

FormulaBudget::FormulaBudget(const Entry &entry) : terms(entry.nodes.size(), 1), levels(entry.nodes.size(), 0) {
  const AxisId batch = entry.batchAxes.empty() ? ~0u : entry.batchAxes[0];
  for (size_t i = 0; i < entry.nodes.size(); ++i) { // an operand has a smaller number than what is made of it
    if (!isInside(entry, entry.nodes[i], batch))
      continue;
    uint64_t sum = 1;
    for (NodeId operand : entry.nodes[i].operands) {
      sum += terms[operand];
      levels[i] = std::max(levels[i], levels[operand] + 1);
    }
    terms[i] = uint32_t(std::min<uint64_t>(sum, kMostTerms + 1));
  }
}

bool FormulaBudget::allows(NodeId result) {
  if (terms[result] > kMostTerms || levels[result] > kMostLevels || allowed + terms[result] > kMostTermsOfAll)
    return false;
  allowed += terms[result];
  return true;
}

} // namespace tenon::sema
