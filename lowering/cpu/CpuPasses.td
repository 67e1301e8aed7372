// Passes of the CPU.
#ifndef TENON_CPU_PASSES_TD
#define TENON_CPU_PASSES_TD
include "mlir/Pass/PassBase.td"

def EmitCpu : Pass<"tenon-emit-cpu", "::mlir::ModuleOp"> {
  let summary = "schedule form to functions of one CPU tier";
  let description = [{
    Every entry becomes `tn_run_ENTRY_TIER`, a function of the LLVM dialect that calls its kernels in order, and each kernel a
    function of a tile with vector, scf and arith ops in it.
    With `bind` also `tn_bind_ENTRY`, the offsets and sizes for given dims.

    Before: the schedule form. After: no op of the dialect `tenon`; lowering to the LLVM dialect alone is left to passes of MLIR.
    Refuses: ops that have no kernel, at the op; functions without a schedule.
  }];
  let options = [Option<"tier", "tier", "std::string", "\"portable\"",
                        "one of Tier.h, by its public name">,
                 Option<"bind", "bind", "bool", "false", "the functions that evaluate the memory plan too">];
}
#endif
