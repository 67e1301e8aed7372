// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-plan-memory))'
// RUN: not tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-plan-memory{nominal=0}))' 2>&1 | FileCheck %s
// CHECK: error: 'func.func' op expects a size of dims from 1 on to plan for, got 0
// RUN: not tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-plan-memory{target=abacus}))' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: 'func.func' op expects the name of a target, got abacus

// expected-error@+1 {{expects a body, got a declaration}}
func.func private @elsewhere(tensor<8xf32>)

// -----

func.func @planned() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error@+1 {{has a place already: expects the kernel form, got the schedule form}}
  %0 = tenon.place <parameters 0> : tensor<8xf32>
  tenon.output 0 "y", %0 : tensor<8xf32>
  return
}
