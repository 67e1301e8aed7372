// What the kernels of an entry compute and move, and what its memory holds: counted from the schedule form, as formulas over the
// dims.
#pragma once
#include "dialect/Formula.h"
#include "lowering/schedule/ScheduledEntry.h"

namespace tenon {

/// One kernel op or copy of an entry. Operations and bytes are those of all calls of one run of the entry.
struct KernelRow {
  std::string name;                  // what it works on: a parameter, the gradient of one; else empty
  std::string kind;                  // gemm, nest, attention, .., copy
  std::string place;                 // "gpt2.tn:17:23"
  std::string storage;               // element types that it reads and writes: "bf16 f32 -> bf16"; empty where it works on arenas
  std::vector<std::string> launches; // what the target runs for it, in order, where that is more than one kernel
  Polynomial calls;                  // 1 outside of loops
  Polynomial flops, bytes;           // as KernelOpInterface counts them
  std::vector<Polynomial> domain;    // the sizes of its parallel domain; empty where an op does not say
  mlir::DictionaryAttr chosen;       // by variant, null where nothing is chosen (tenon.chosen)
};

std::vector<KernelRow> reportKernels(const ScheduledEntry &entry, FormulaSpace &space);

/// Exact bytes of the arenas of an entry. `saved` is the part of the workspace whose values cross from the forward to the
/// backward pass; of `states` there are old and new ones, `kept` are the states in place.
struct MemoryReport {
  Maximum workspace;
  Polynomial saved, states, kept, inputs, outputs;
  int64_t scratchPerWorker = 0;
};

MemoryReport reportMemory(const ScheduledEntry &entry, FormulaSpace &space);

} // namespace tenon
