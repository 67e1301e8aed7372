// A tensor lies inside its slot in every iteration of the loops around, whatever a text says of its place (S17).
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-emit-cpu{tier=portable})'

// The last of three steps of 16 bytes is as long as what is placed.
func.func @f(%T: index, %x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = [], tenon.slots = [#tenon.slot<(d0) -> (48)>, #tenon.slot<(d0) -> (d0, 16)>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  tenon.loop 3 from 1 {
  ^bb0(%i: index):
    tenon.copy %x to <workspace 0, [<0, (d0) -> (16), -1>]> : tensor<4xf32>
  }
  tenon.loop affine_map<(d0) -> (d0)> reverse {
  ^bb0(%i: index):
    tenon.copy %x to <workspace 1, [<0, (d0) -> (16), 0>]> : tensor<4xf32>
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (8)>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects a place inside its slot of workspace, got one that ends at byte 16 of 8}}
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> attributes {tenon.places = [#tenon.place<workspace 0>]} {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xf32> -> f32
    tenon.put 0 [%i], %e : f32
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (48)>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  tenon.loop 4 {
  ^bb0(%i: index):
    // expected-error @+1 {{expects a place inside its slot of workspace, got one that ends at byte 64 of 48}}
    tenon.copy %x to <workspace 0, [<0, () -> (16), 0>]> : tensor<4xf32>
  }
  return
}

// -----
func.func @f(%T: index, %S: index, %x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = ["T", "S"], tenon.states = [], tenon.slots = [#tenon.slot<(d0, d1) -> (d0, 16)>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  tenon.loop affine_map<(d0, d1) -> (d1)> {
  ^bb0(%i: index):
    // expected-error @+1 {{expects a place inside its slot of workspace, got one that ends at byte 65536 of 16}}
    tenon.copy %x to <workspace 0, [<0, (d0, d1) -> (16), 0>]> : tensor<4xf32>
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [#tenon.slot<() -> (48)>], tenon.outputs = [], tenon.scratch = 0 : i64} {
  tenon.loop 3 {
  ^bb0(%i: index):
    // expected-error @+1 {{expects a place inside its slot of workspace, got one that begins 32 bytes in front of it}}
    tenon.copy %x to <workspace 0, [<0, () -> (16), -2>]> : tensor<4xf32>
  }
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<3xf32>], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects a place inside its slot of output, got one that ends at byte 16 of 12}}
  tenon.copy %x to <output 0> : tensor<4xf32>
  return
}

// -----
func.func @f(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<5xf32>], tenon.scratch = 0 : i64} {
  // expected-error @+1 {{expects a place inside its slot of input, got one that ends at byte 20 of 16}}
  %y = tenon.place <input 0> : tensor<5xf32>
  tenon.copy %y to <output 0> : tensor<5xf32>
  return
}

// -----
module {
  tenon.parameter @"w.*" stacked {stride = 64 : i64} : tensor<3x4xf32>
  func.func @f() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<4xf32>], tenon.scratch = 0 : i64} {
    tenon.loop 300 {
    ^bb0(%i: index):
      // expected-error @+1 {{expects a place inside its slot of parameters, got one that ends at byte 19152 of 192}}
      %y = tenon.place <parameters 0, [<0, () -> (64), 0>]> : tensor<4xf32>
      tenon.copy %y to <output 0> : tensor<4xf32>
    }
    return
  }
}
