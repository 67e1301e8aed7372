// Operations of the formulas that make one number of several batches.
#pragma once
#include "runtime/train/Averages.h"

namespace tenon::train {

/// Operands have the same place of an axis that both have, and are repeated along the others. Where an axis is shorter in one of
/// them (places of a text that is shorter than a batch), what all have is left.
Tensor elementwise(runtime::AverageInfo::Operation operation, const std::vector<Tensor> &operands);
Tensor reduced(runtime::AverageInfo::Operation operation, const Tensor &operand, const std::vector<std::string> &axes);
Tensor renamed(Tensor operand, const std::vector<std::string> &from, const std::vector<std::string> &to);
Tensor expanded(const Tensor &operand, const std::vector<std::string> &axes, const std::vector<int64_t> &sizes);
/// Places first .. first + count - 1 of an axis, as far as there are such.
Tensor sliced(const Tensor &operand, const std::string &axis, int64_t first, int64_t count);
/// Without an axis of one place; NaN where it has none.
Tensor dropped(Tensor operand, const std::string &axis);

} // namespace tenon::train
