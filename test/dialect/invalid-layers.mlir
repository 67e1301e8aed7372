// What the verifiers of contractions, reductions, normalizers, losses and stacks refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @dot_c1(%a: tensor<4x4xf32>, %b: tensor<5x4xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects one label per dimension, all different, got 2 for rank 2}}
  %y = tenon.dot %a[0, 0], %b[1, 0] : tensor<4x4xf32>, tensor<5x4xf32> -> tensor<4x5xf32>
  return
}

// -----
func.func @dot_c3(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects result dimension 2 in an operand}}
  %y = tenon.dot %a[0, 3], %b[1, 3] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5x6xf32>
  return
}

// -----
func.func @dot_c5(%a: tensor<4x8xf32>, %b: tensor<5x8xf64>) {
  // expected-error @+1 {{'tenon.dot' op expects one element type, got 'f64' and 'f32'}}
  %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<5x8xf64> -> tensor<4x5xf32>
  return
}

// -----
func.func @reduce_c1(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.reduce' op expects ascending dimensions inside rank 2}}
  %y = tenon.reduce sum %x [1, 0] : tensor<4x8xf32> -> tensor<f32>
  return
}

// -----
func.func @reduce_c2(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.reduce' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<8xf32>'}}
  %y = tenon.reduce sum %x [1] : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----
func.func @softmax_c1(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.softmax' op expects at least one dimension}}
  %y = tenon.softmax %x : tensor<f32>
  return
}

// -----
func.func @normalize_c1(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.normalize' op inferred type(s) 'tensor<4x8xf32>', 'tensor<4xf32>', 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4x9xf32>', 'tensor<4xf32>', 'tensor<4xf32>'}}
  %y, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x9xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----
func.func @normalize_c2(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.normalize' op inferred type(s) 'tensor<4x8xf32>', 'tensor<4xf32>', 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4x8xf32>', 'tensor<8xf32>', 'tensor<8xf32>'}}
  %y, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----
func.func @normalize_rank(%x: tensor<f32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.normalize' op expects at least one dimension}}
  %y, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<f32> -> tensor<f32>, tensor<f32>, tensor<f32>
  return
}

// -----
func.func @cross_entropy_rank(%x: tensor<f32>, %l: tensor<i32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.cross_entropy' op expects a class dimension}}
  %loss, %lse = tenon.cross_entropy %x, %l : tensor<f32>, tensor<i32> -> tensor<f32>
  return
}

// -----
func.func @cross_entropy_c1(%x: tensor<4x50xf32>, %l: tensor<5xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.cross_entropy' op expects labels and `where` of the shape of 'tensor<4xf32>', got 'tensor<5xi32>'}}
  %loss, %lse = tenon.cross_entropy %x, %l : tensor<4x50xf32>, tensor<5xi32> -> tensor<4xf32>
  return
}

// -----
func.func @stack_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects a body with the depth and 1 carries as arguments, got 1}}
  %y = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index):
    tenon.yield %x : tensor<4xf32>
  }
  return
}

// -----
func.func @stack_yields(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects one yielded value per result, got 2 for 1}}
  %y = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h, %h : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----
func.func @stack_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects saved value 1 of 'tensor<4xf32>' to be stacked 2 times, got 'tensor<3x4xf32>'}}
  %y, %s = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h, %h : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----
func.func @at_depth_c1(%x: tensor<f32>, %i: index) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.at_depth' op expects a value that was stacked, got 'tensor<f32>'}}
  %y = tenon.at_depth %x[%i] : tensor<f32> -> tensor<f32>
  return
}

// -----
func.func @at_depth_c1_type(%x: tensor<3x4xf32>, %i: index) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.at_depth' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  %y = tenon.at_depth %x[%i] : tensor<3x4xf32> -> tensor<3xf32>
  return
}

// -----
func.func @at_c1(%x: tensor<4x8xf32>, %i: index) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.at' op expects one index per dimension, got 1 for rank 2}}
  %y = tenon.at %x[%i] : tensor<4x8xf32> -> f32
  return
}
