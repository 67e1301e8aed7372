// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-emit-gpu)'

// expected-error @+1 {{expects the schedule form, which tenon-schedule makes: slots, types of outputs and scratch}}
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

// -----
func.func @f(%x: tensor<70x67xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (9380)>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects as tenon.row_steps for each result 0 or, where kernels of sm_80 in the same block alone read it, at least the innermost size and a multiple of 16 bytes, got array<i64: 70>}}
  %g = tenon.nest affine_map<() -> (70, 67)> : tensor<70x67xbf16> attributes {tenon.places = [#tenon.place<workspace 0>], tenon.row_steps = array<i64: 70>} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x67xf32> -> f32
    %t = arith.truncf %e : f32 to bf16
    tenon.put 0[%i, %j], %t : bf16
  }
  return
}

// -----
// Rows may lie further apart in a text than those by which memory was planned: 70 of 144 bytes are more than 70 of 134.
func.func @f(%x: tensor<70x67xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (9380)>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects a place inside its slot of workspace, got one that ends at byte 10080 of 9380}}
  %g = tenon.nest affine_map<() -> (70, 67)> : tensor<70x67xbf16> attributes {tenon.places = [#tenon.place<workspace 0>], tenon.row_steps = array<i64: 72>} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x67xf32> -> f32
    %t = arith.truncf %e : f32 to bf16
    tenon.put 0[%i, %j], %t : bf16
  }
  return
}

// -----
// Nor is there room between the rows of what is handed over.
func.func @f(%x: tensor<70x67xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (10080)>], tenon.outputs = [tensor<70x67xbf16>], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects a place inside its slot of output, got one that ends at byte 10080 of 9380}}
  %g = tenon.nest affine_map<() -> (70, 67)> : tensor<70x67xbf16> attributes {tenon.places = [#tenon.place<output 0>], tenon.row_steps = array<i64: 72>} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x67xf32> -> f32
    %t = arith.truncf %e : f32 to bf16
    tenon.put 0[%i, %j], %t : bf16
  }
  return
}
