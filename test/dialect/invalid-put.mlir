// What the verifiers of the scalar ops of kernels refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// size_value C1: one form.
func.func @f() {
  // expected-error @+1 {{'tenon.size_value' op expects one form, got 2}}
  %n = tenon.size_value affine_map<() -> (4, 8)>
  return
}

// -----
// put C1: it lies in a nest or a gemm ..
func.func @f(%i: index, %e: f32) {
  // expected-error @+1 {{'tenon.put' op expects to lie in a nest or in a gemm, got func.func}}
  tenon.put 0 [%i], %e : f32
  return
}

// -----
// put C1: .. and not in a fold.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (8)> : f32 {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %i] : tensor<4x8xf32> -> f32
      // expected-error @+1 {{'tenon.put' op expects to lie in a nest or in a gemm, got tenon.fold}}
      tenon.put 0 [%i], %e : f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  return
}

// -----
// put C2: the number of a result ..
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    // expected-error @+1 {{'tenon.put' op expects the number of one of 1 results, got 1}}
    tenon.put 1 [%i], %c : f32
  }
  return
}

// -----
// put C2: .. from 0 on.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    // expected-error @+1 {{'tenon.put' op attribute 'result' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
    tenon.put -1 [%i], %c : f32
  }
  return
}

// -----
// put C3: an index per dimension.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    // expected-error @+1 {{'tenon.put' op expects one index per dimension, got 1 for rank 2}}
    tenon.put 0 [%i], %c : f32
  }
  return
}

// -----
// put C4: the element type of the result.
func.func @f(%x: tensor<4x8xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f64
    // expected-error @+1 {{'tenon.put' op expects an element of 'f32', got 'f64'}}
    tenon.put 0 [%i], %c : f64
  }
  return
}

// -----
// random_keep C1.
func.func @f(%e: index) {
  // expected-error @+1 {{'tenon.random_keep' op attribute 'threshold' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 65536}}
  %k = tenon.random_keep %e site 3 threshold -6554
  return
}

// -----
// random_bits C1.
func.func @random_bits_c1(%e: index) {
  // expected-error @+1 {{'tenon.random_bits' op attribute 'site' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 4294967295}}
  %k = tenon.random_bits %e site 4294967296
  return
}

// -----
// random_keep C2.
func.func @f(%e: index) {
  // expected-error @+1 {{'tenon.random_keep' op attribute 'site' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 4294967295}}
  %k = tenon.random_keep %e site 4294967296 threshold 6554
  return
}
