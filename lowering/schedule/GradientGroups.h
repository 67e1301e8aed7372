// When gradients are finished: the groups in which a run of an entry leaves them.
#pragma once
#include "lowering/schedule/ScheduledEntry.h"

namespace tenon {

/// Writes a `tenon.ready` behind each launch or copy of the schedule form that is the last to write a gradient; `inSlices`: and a
/// `tenon.sum_slices` in front of it.
void markGradientGroups(mlir::func::FuncOp function, bool inSlices);

/// The gradients of one parameter that one `tenon.ready` finishes: in iteration (i, j, ..) of the loops around it, element
/// `element + i * loops[0].elements + ..` of its stack is finished as a part of group `group + i * loops[0].groups + ..`.
struct GradientGroup {
  ParameterOp parameter;
  int64_t group = 0, element = 0;
  struct Loop {
    int64_t count, groups, elements;
  };
  llvm::SmallVector<Loop, 1> loops; // outermost first
};

struct GradientGroups {
  int64_t count = 0;
  std::vector<GradientGroup> gradients; // in the order of the program
};

GradientGroups gradientGroups(const ScheduledEntry &entry);

} // namespace tenon
