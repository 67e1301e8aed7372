// What the verifiers of the schedule form refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// place C1: a step names a loop around the op.
func.func @f() {
  // expected-error @+1 {{'tenon.place' op expects a step over one of the 0 loops around it, or -1, got 0}}
  %x = tenon.place <workspace 0, [<0, () -> (128), 0>]> : tensor<4x8xf32>
  return
}

// -----
// place C1: the bytes of a step are forms over the dims that there are.
func.func @f(%b: index) attributes {tenon.dims = ["B"]} {
  // expected-error @+1 {{'tenon.place' op expects the bytes of a step as forms over the dims of its entry, got affine_map<(d0, d1) -> (d1)>}}
  %x = tenon.place <workspace 0, [<-1, (d0, d1) -> (d1), 0>]> : tensor<4x8xf32>
  return
}

// -----
// copy C1: as for place.
func.func @f(%x: tensor<4x8xf32>) {
  tenon.loop 3 {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.copy' op expects a step over one of the 1 loops around it, or -1, got 1}}
    tenon.copy %x to <output 0, [<1, () -> (128), 0>]> : tensor<4x8xf32>
  }
  return
}

// -----
// loop C1: one form.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.loop' op expects one form as count, got 2}}
  tenon.loop affine_map<() -> (3, 4)> {
  ^bb0(%i: index):
    tenon.copy %x to <output 0> : tensor<4x8xf32>
  }
  return
}

// -----
// ready C1: one form over the indices.
func.func @f() {
  // expected-error @+1 {{'tenon.ready' op expects one form over its 0 indices as number, got affine_map<(d0) -> (d0)>}}
  tenon.ready affine_map<(d0) -> (d0)>() [#tenon.place<gradients 64>]
  return
}

// -----
// ready C2: the indices of the loops around, all of them.
func.func @f() {
  tenon.loop 3 {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.ready' op expects the indices of the 1 loops around it, outermost first}}
    tenon.ready affine_map<() -> (0)>() [#tenon.place<gradients 64>]
  }
  return
}

// -----
// ready C3: gradients alone are ready.
func.func @f() {
  // expected-error @+1 {{'tenon.ready' op expects a place in the memory of gradients, got workspace}}
  tenon.ready affine_map<() -> (0)>() [#tenon.place<workspace 0>]
  return
}

// -----
// ready C3: steps as for place.
func.func @f() {
  // expected-error @+1 {{'tenon.ready' op expects a step over one of the 0 loops around it, or -1, got 0}}
  tenon.ready affine_map<() -> (0)>() [#tenon.place<gradients 64, [<0, () -> (4), 0>]>]
  return
}

// -----
// sum_slices C1: gradients alone are added up.
func.func @f() {
  // expected-error @+1 {{'tenon.sum_slices' op expects a place in the memory of gradients, got output}}
  tenon.sum_slices <output 0> : tensor<4xf32>
  return
}
