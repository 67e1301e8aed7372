// What is not in the schedule form, or names memory that there is not.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-emit-cpu)'

// expected-error @+1 {{expects the schedule form, which tenon-schedule makes: slots, types of outputs and scratch}}
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
module {
  tenon.parameter @w {offset = 64 : i64, stride = 64 : i64} : tensor<4xf32>
  func.func @f() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [], tenon.scratch = 0 : i64} {
    %known = tenon.place <parameters 64> : tensor<4xf32>
    // expected-error @+1 {{expects a place in one of the 128 slots of parameters, got 4096}}
    %y = tenon.place <parameters 4096> : tensor<4xf32>
    return
  }
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{not supported yet: tenon.neg in the schedule form of the CPU}}
  %y = tenon.neg %x : tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (16)>], tenon.outputs = [tensor<4xf32>], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects places as tenon.places, one per result}}
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xf32> -> f32
    tenon.put 0 [%i], %e : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (16)>], tenon.outputs = [tensor<4xf32>], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects a step over one of the 0 loops around it, or -1, got 2}}
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> attributes {tenon.places = [#tenon.place<workspace 0, [<2, () -> (16), 0>]>]} {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xf32> -> f32
    tenon.put 0 [%i], %e : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (16)>], tenon.outputs = [tensor<4xf32>], tenon.scratch = 0 : i64} {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> attributes {tenon.places = [unit]} {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xf32> -> f32
    tenon.put 0 [%i], %e : f32
  }
  // expected-error @+1 {{expects to read tensors that have a place, and the result of tenon.nest has none}}
  tenon.copy %y to <output 0> : tensor<4xf32>
  return
}

// -----
// The partial sums of the gradient's norm need memory, and there is none.
tenon.parameter @w : tensor<4xf32>
func.func @f() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<f64>], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects places for at least 1 temporaries}}
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}, tenon.chosen = {portable = {form = "tiles", elements = 64 : i64}}, tenon.places = [#tenon.place<output 0>, unit]} : tensor<f64>, tensor<f64>
  return
}

// -----
// A parameter is read as it lies: in panels by those contractions alone that say so ..
module {
  tenon.parameter @w {offset = 0 : i64, stride = 4096 : i64, tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<32x32xf32>
  func.func @f() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<32x32xf32>], tenon.scratch = 0 : i64} {
    %w = tenon.place <parameters 0> : tensor<32x32xf32>
    // expected-error @+1 {{expects to read a parameter as it lies, in its tenon.panels or row-major}}
    tenon.copy %w to <output 0> : tensor<32x32xf32>
    return
  }
}

// -----
// .. and what is in no panels by none of them.
module {
  tenon.parameter @w {offset = 0 : i64, stride = 4096 : i64} : tensor<32x32xf32>
  func.func @f(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<4x32xf32>], tenon.scratch = 0 : i64} {
    // expected-error @+1 {{expects as operand b a parameter that lies in its panels, or what is packed into them}}
    %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 0>, tenon.places = [#tenon.place<output 0>]} {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    return
  }
}

// -----
// Panels are those in which the target reads weights: their width ..
// expected-error @+1 {{expects tenon.panels as the target cpu reads 'f32', of width 32 and 1 lines side by side of a multiple of 1, got width 16 and 1 of 32}}
tenon.parameter @w {offset = 0 : i64, stride = 4096 : i64, tenon.panels = array<i64: 1, 16, 1, 0>} : tensor<32x32xf32>

// -----
// .. and what lies side by side, of bf16 pairs of lines, and whole tiles of them.
module attributes {tenon.compute = bf16, tenon.parameters = bf16} {
  tenon.parameter @good {offset = 0 : i64, stride = 4096 : i64, tenon.panels = array<i64: 1, 32, 2, 0>} : tensor<64x32xf32>
  // expected-error @+1 {{expects tenon.panels as the target cpu reads 'bf16', of width 32 and 2 lines side by side of a multiple of 32, got width 32 and 2 of 48}}
  tenon.parameter @w {offset = 4096 : i64, stride = 4096 : i64, tenon.panels = array<i64: 1, 32, 2, 0>} : tensor<48x32xf32>
}

// -----
// Memory for what is chosen: partial sums of more tiles than were planned ..
tenon.parameter @w : tensor<400xf32>
func.func @f() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (16)>], tenon.outputs = [tensor<f64>], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects for what is chosen a temporary of 64 bytes, got one of 16}}
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}, tenon.chosen = {portable = {form = "tiles", elements = 64 : i64}}, tenon.places = [#tenon.place<output 0>, unit], tenon.temporaries = [#tenon.place<workspace 0>]} : tensor<f64>, tensor<f64>
  return
}

// -----
// .. and the scratch of a worker.
func.func @f(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<4x32xf32>], tenon.scratch = 64 : i64} {
  // expected-error @+1 {{expects for what is chosen 123008 bytes of scratch, got 64 as tenon.scratch}}
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 4 : i64, depth = 32 : i64, panels = 1 : i64, strip = 4 : i64}}, tenon.places = [#tenon.place<output 0>]} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// More loops in each other than there is room for their indices.
func.func @f() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [], tenon.scratch = 0 : i64} {
  tenon.loop 2 {
  ^bb0(%d0: index):
    tenon.loop 2 {
    ^bb0(%d1: index):
      tenon.loop 2 {
      ^bb0(%d2: index):
        tenon.loop 2 {
        ^bb0(%d3: index):
          tenon.loop 2 {
          ^bb0(%d4: index):
            tenon.loop 2 {
            ^bb0(%d5: index):
              tenon.loop 2 {
              ^bb0(%d6: index):
                tenon.loop 2 {
                ^bb0(%d7: index):
                  // expected-error @+1 {{expects at most 8 loops in each other, got 9}}
                  tenon.loop 2 {
                  ^bb0(%d8: index):
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return
}
