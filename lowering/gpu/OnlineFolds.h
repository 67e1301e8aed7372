// The maximum of a row and the sum of its exponentials under that maximum, in one pass over the row: losses of classes and
// softmax read what may be large, as logits of a vocabulary, once less.
#pragma once
#include "lowering/gpu/ScalarCode.h"

namespace tenon::gpu {

/// The fold right behind `maximum` that sums exp(x - maximum) over the same x; null: there is none.
FoldOp sumUnder(FoldOp maximum);
/// Both, of all threads of a block; with `onlyFirst` the first thread alone gets the sum.
struct MaximumAndSum {
  Value maximum, sum;
};
MaximumAndSum foldOnline(KernelCode &code, ScalarCode &scalars, FoldOp maximum, bool onlyFirst);

} // namespace tenon::gpu
