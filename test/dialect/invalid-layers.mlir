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
  // expected-error @+1 {{'tenon.dot' op expects one element type, got 'f32' and 'f64'}}
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
  // expected-error @+1 {{'tenon.cross_entropy' op expects a class dimension, got 'tensor<f32>'}}
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
  // expected-error @+1 {{'tenon.stack' op expects a body with the depth and 1 carries as arguments, got ('index')}}
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

// -----
// dot C1: labels count from 0.
func.func @dot_c1_below(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects labels from 0 on, got -1}}
  %y = tenon.dot %a[0, -1], %a[0, -1] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----
// dot C2: the sizes of the result.
func.func @dot_c2_result(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects label 1 to have one size, got 5 and 6}}
  %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x6xf32>
  return
}

// -----
// dot C5: the elements of the result.
func.func @dot_c5_result(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects the element type of its operands or the one they are computed in, got 'f32' and 'f64'}}
  %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf64>
  return
}

// -----
// normalize_grad C2.
func.func @normalize_grad_c2(%x: tensor<4x8xf32>, %m: tensor<9xf32>) {
  // expected-error @+1 {{'tenon.normalize_grad' op expects mean and rstd of 'tensor<4x8xf32>' without the last dimension, got 'tensor<9xf32>'}}
  %y = tenon.normalize_grad %x, %x, %m, %m : tensor<4x8xf32>, tensor<9xf32>
  return
}

// -----
// cross_entropy C2.
func.func @cross_entropy_c2(%x: tensor<4x50xf32>, %l: tensor<4xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.cross_entropy' op expects a spread in 0 .. 1, got 2.000000e+00}}
  %loss, %lse = tenon.cross_entropy %x, %l spread 2.0 : tensor<4x50xf32>, tensor<4xi32> -> tensor<4xf32>
  return
}

// -----
// cross_entropy_grad C1.
func.func @cross_entropy_grad_c1(%x: tensor<4x8xf32>, %l: tensor<9x3xi32>, %m: tensor<9xf32>) {
  // expected-error @+1 {{'tenon.cross_entropy_grad' op expects labels and `where` of the shape of 'tensor<4xf32>', got 'tensor<9x3xi32>'}}
  %0 = tenon.cross_entropy_grad %m, %x, %l, %m : tensor<4x8xf32>, tensor<9x3xi32>, tensor<9xf32>
  return
}

// -----
// cross_entropy_grad C3.
func.func @cross_entropy_grad_c3(%x: tensor<4x8xf32>, %l: tensor<4xi32>, %m: tensor<9xf32>) {
  // expected-error @+1 {{'tenon.cross_entropy_grad' op expects lse and dloss of 'tensor<4xf32>', got 'tensor<9xf32>'}}
  %0 = tenon.cross_entropy_grad %m, %x, %l, %m : tensor<4x8xf32>, tensor<4xi32>, tensor<9xf32>
  return
}

// -----
// dropout C3.
func.func @dropout_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.dropout' op expects shared dimensions of 'tensor<4x8xf32>', got 2}}
  %y = tenon.dropout %x rate 0.5 site 0 shared [2] : tensor<4x8xf32>
  return
}

// -----
// argmax C1.
func.func @argmax_c1(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.argmax' op expects a dimension of 'tensor<4x8xf32>', got 2}}
  %y = tenon.argmax %x dim 2 : tensor<4x8xf32> -> tensor<4xi32>
  return
}

// -----
// top C1.
func.func @top_c1(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.top' op expects at least one dimension}}
  %y = tenon.top %x : tensor<f32> -> tensor<i32>
  return
}

// -----
// top C2.
func.func @top_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.top' op expects the dimensions of 'tensor<4x8xf32>' in front of the last one, got 'tensor<5x3xi32>'}}
  %y = tenon.top %x : tensor<4x8xf32> -> tensor<5x3xi32>
  return
}

// -----
// top C3.
func.func @top_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.top' op expects at most 8 places of a row, got 9}}
  %y = tenon.top %x : tensor<4x8xf32> -> tensor<4x9xi32>
  return
}

// -----
// gumbel C1.
func.func @gumbel_c1(%x: tensor<f32>) {
  // expected-error @+1 {{'tenon.gumbel' op expects at least one dimension}}
  %y = tenon.gumbel %x site 7 : tensor<f32>
  return
}

// -----
// gumbel C2.
func.func @gumbel_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tenon.gumbel' op attribute 'site' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative whose maximum value is 4294967295}}
  %y = tenon.gumbel %x site 4294967296 : tensor<8xf32>
  return
}

// -----
// dot_where C3: what dot asks for.
func.func @dot_where_c3(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>, %c: tensor<4xi1>) {
  // expected-error @+1 {{'tenon.dot_where' op expects result dimension 2 in an operand}}
  %y = tenon.dot_where %a[0, 3], %b[1, 3] where %c[0] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4xi1> -> tensor<4x5x6xf32>
  return
}

// -----
// dot_where C6: a label per dimension of the condition ..
func.func @dot_where_c6(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>, %c: tensor<4x8xi1>) {
  // expected-error @+1 {{'tenon.dot_where' op expects a label per dimension of its condition, at least one, all different, got 1 for rank 2}}
  %y = tenon.dot_where %a[0, 2], %b[1, 2] where %c[0] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xi1> -> tensor<4x5xf32>
  return
}

// -----
// dot_where C6: .. of its size.
func.func @dot_where_c6_size(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>, %c: tensor<5xi1>) {
  // expected-error @+1 {{'tenon.dot_where' op expects label 0 of its condition to have one size, got 4 and 5}}
  %y = tenon.dot_where %a[0, 2], %b[1, 2] where %c[0] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<5xi1> -> tensor<4x5xf32>
  return
}

// -----
// dot_where C7.
func.func @dot_where_c7(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>, %c: tensor<4x5xi1>) {
  // expected-error @+1 {{'tenon.dot_where' op expects a condition whose labels are all summed, or all of one operand alone}}
  %y = tenon.dot_where %a[0, 2], %b[1, 2] where %c[0, 1] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x5xi1> -> tensor<4x5xf32>
  return
}
