// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-emit-gpu)'

// expected-error @+1 {{expects the schedule form, which tenon-schedule makes: slots, outputs and scratch}}
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{not supported yet: tenon.neg in the schedule form of a GPU}}
  %y = tenon.neg %x : tensor<4xf32>
  return
}

// -----
// expected-error @+1 {{expects no tenon.panels: the target sm_80 reads 'f32' row-major}}
tenon.parameter @w {offset = 0 : i64, stride = 4096 : i64, tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<32x32xf32>
