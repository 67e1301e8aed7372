// What is not in the schedule form, or names memory that there is not.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-emit-cpu)'

// expected-error @+1 {{expects the schedule form, which tenon-schedule makes: slots, outputs and scratch}}
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  return
}

// -----
// expected-error @+1 {{expects slots with sizes, above earlier ones, got #tenon.slot<() -> (4) after[0]>}}
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (4) after[0]>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects a place in one of the 0 slots of workspace, got 0}}
  %y = tenon.place <workspace 0> : tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{not supported yet: tenon.neg in the schedule form of the CPU}}
  %y = tenon.neg %x : tensor<4xf32>
  return
}
