// What the verifiers of nest and each refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// nest C1: sizes are forms of the dims that the entry has.
func.func @f(%b: index, %x: tensor<4x8xf32>) attributes {tenon.dims = ["B"]} {
  // expected-error @+1 {{'tenon.nest' op expects forms over the dims of its entry, got affine_map<(d0, d1, d2) -> (4)>}}
  %y = tenon.nest affine_map<(d0, d1, d2) -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    tenon.put 0 [%i], %c : f32
  }
  return
}

// -----
// nest C1: none has symbols.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.nest' op expects forms over the dims of its entry, got affine_map<()[s0] -> (s0)>}}
  %y = tenon.nest affine_map<()[s0] -> (s0)> : tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    tenon.put 0 [%i], %c : f32
  }
  return
}

// -----
// nest C1: none is below 0.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.nest' op expects sizes from 0 on, got -4}}
  %y = tenon.nest affine_map<() -> (-4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    tenon.put 0 [%i], %c : f32
  }
  return
}

// -----
// nest C2: an index per size.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.nest' op expects block arguments ('index'), got ('index', 'index')}}
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index, %j: index):
    %c = arith.constant 1.0 : f32
    tenon.put 0 [%i], %c : f32
  }
  return
}

// -----
// nest C2: of the type index.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.nest' op expects block arguments ('index'), got ('i32')}}
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: i32):
    %c = arith.sitofp %i : i32 to f32
    %j = arith.constant 0 : index
    tenon.put 0 [%j], %c : f32
  }
  return
}

// -----
// nest C3: each result has a put.
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.nest' op expects a put for each of its 2 results, got none for 1}}
  %y:2 = tenon.nest affine_map<() -> (4)> : tensor<4xf32>, tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    tenon.put 0 [%i], %c : f32
  }
  return
}

// -----
// row_if C1: it lies in a nest, outside of its inner loops.
func.func @f(%x: tensor<4x8xf32>, %c: i1) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (8)> {
    ^bb0(%j: index):
      // expected-error @+1 {{'tenon.row_if' op expects parent op 'tenon.nest'}}
      tenon.row_if %c
      %e = tenon.at %x[%i, %j] : tensor<4x8xf32> -> f32
      tenon.put 0 [%i, %j], %e : f32
    }
  }
  return
}

// -----
// each C1: it lies in a nest.
func.func @f() {
  // expected-error @+1 {{'tenon.each' op expects parent op to be one of 'tenon.nest, tenon.each'}}
  tenon.each affine_map<() -> (4)> {
  ^bb0(%i: index):
  }
  return
}

// -----
// each C2: no size below 0.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.each' op expects sizes from 0 on, got -1}}
    tenon.each affine_map<() -> (-1)> {
    ^bb0(%j: index):
      %c = arith.constant 1.0 : f32
      tenon.put 0 [%i, %i], %c : f32
    }
  }
  return
}

// -----
// each C3: an index per size.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.each' op expects block arguments ('index'), got ()}}
    tenon.each affine_map<() -> (8)> {
      %c = arith.constant 1.0 : f32
      tenon.put 0 [%i, %i], %c : f32
    }
  }
  return
}
