#include "dialect/DepthForm.h"
#include "dialect/TenonDialect.h"

using namespace mlir;

namespace tenon {

void Buffer::move(Step step) {
  if (!step.depth && step.shift == 0)
    return;
  auto fixed = llvm::find_if(steps, [&](const Step &known) { return !known.depth && known.bytes == step.bytes; });
  if (fixed != steps.end()) {
    step.shift += fixed->shift;
    steps.erase(fixed);
  }
  steps.push_back(step);
}

bool Buffer::samePlace(const Buffer &other) const {
  if (base != other.base || slot != other.slot || steps.size() != other.steps.size())
    return false;
  for (auto [a, b] : llvm::zip(steps, other.steps))
    if (a.depth != b.depth || a.bytes != b.bytes || a.shift != b.shift)
      return false;
  return true;
}

SmallVector<Buffer::Step, 1> depthSteps(ValueRange depths, ArrayRef<int64_t> counts, AffineExpr elementBytes) {
  SmallVector<Buffer::Step, 1> steps;
  for (size_t i = depths.size(); i-- > 0; elementBytes = elementBytes * counts[i]) {
    std::optional<DepthForm> form = depthFormOf(depths[i]);
    assert(form && "what is read and written by depth has been verified");
    if (form->constant != 0)
      steps.insert(steps.begin(), {Value(), elementBytes, form->constant});
    for (const DepthForm::Term &term : llvm::reverse(form->terms))
      steps.insert(steps.begin(), {term.argument, elementBytes * term.factor, 0});
  }
  return steps;
}

} // namespace tenon
