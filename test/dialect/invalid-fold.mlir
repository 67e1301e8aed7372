// What the verifier of fold refuses.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// fold C1: it lies in a kernel.
func.func @f() {
  // expected-error @+1 {{'tenon.fold' op expects parent op to be one of 'tenon.nest, tenon.each, tenon.fold, tenon.gemm'}}
  %s = tenon.fold sum affine_map<() -> (4)> : f32 {
  ^bb0(%i: index):
    %e = arith.constant 1.0 : f32
    tenon.yield %e : f32
  }
  return
}

// -----
// fold C2: at least one size.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.fold' op expects at least one dimension, got none}}
    %s = tenon.fold sum affine_map<() -> ()> : f32 {
      %e = tenon.at %x[%i, %i] : tensor<4x8xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  return
}

// -----
// fold C2: no size below 0.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.fold' op expects sizes from 0 on, got -8}}
    %s = tenon.fold sum affine_map<() -> (-8)> : f32 {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %i] : tensor<4x8xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  return
}

// -----
// fold C3: an index per size.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.fold' op expects block arguments ('index'), got ('index', 'index')}}
    %s = tenon.fold sum affine_map<() -> (8)> : f32 {
    ^bb0(%j: index, %k: index):
      %e = tenon.at %x[%i, %i] : tensor<4x8xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  return
}

// -----
// fold C4: the body yields what is reduced ..
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.fold' op expects a body that yields 'f32', got ('f64')}}
    %s = tenon.fold sum affine_map<() -> (8)> : f32 {
    ^bb0(%j: index):
      %e = arith.constant 1.0 : f64
      tenon.yield %e : f64
    }
    tenon.put 0 [%i], %s : f32
  }
  return
}

// -----
// fold C4: .. once.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.fold' op expects a body that yields 'f32', got ('f32', 'f32')}}
    %s = tenon.fold sum affine_map<() -> (8)> : f32 {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %i] : tensor<4x8xf32> -> f32
      tenon.yield %e, %e : f32, f32
    }
    tenon.put 0 [%i], %s : f32
  }
  return
}

// -----
// fold C5: all takes truth values.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    // expected-error @+1 {{'tenon.fold' op expects truth values for all and any, numbers otherwise, got 'f32'}}
    %s = tenon.fold all affine_map<() -> (8)> : f32 {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %i] : tensor<4x8xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  return
}
