// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// dot C2: one label, two sizes.
func.func @dot_c2(%a: tensor<4x8xf32>, %b: tensor<5x7xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects label 2 to have one size, got 8 and 7}}
  %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<5x7xf32> -> tensor<4x5xf32>
  return
}

// -----
// dot C4: a label is summed that only one operand has.
func.func @dot_c4(%a: tensor<4x8xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects the summed label 2 in both operands}}
  %y = tenon.dot %a[0, 2], %b[1] : tensor<4x8xf32>, tensor<5xf32> -> tensor<4x5xf32>
  return
}

// -----
// broadcast C2.
func.func @broadcast_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{'tenon.broadcast' op expects dimension 0 to keep its size, got 8 and 4}}
  %y = tenon.broadcast %x [0] : tensor<8xf32> -> tensor<4x8xf32>
  return
}

// -----
// concat C2: the sizes do not add up.
func.func @concat_c2(%a: tensor<2x8xf32>, %b: tensor<3x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.concat' op inferred type(s) 'tensor<5x8xf32>' are incompatible with return type(s) of operation 'tensor<6x8xf32>'}}
  %y = tenon.concat 0 %a, %b : tensor<2x8xf32>, tensor<3x8xf32> -> tensor<6x8xf32>
  return
}

// -----
// reduce C3: all takes truth values.
func.func @reduce_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.reduce' op expects truth values for all and any, numbers otherwise, got 'f32'}}
  %y = tenon.reduce all %x [1] : tensor<4x8xf32> -> tensor<4xf32>
  return
}

// -----
// stack C2: a carry changes its type.
func.func @stack_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects carry 0 to keep its type 'tensor<4x8xf32>', got 'tensor<4x9xf32>'}}
  %y = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  ^bb0(%depth: index, %h: tensor<4x8xf32>):
    %z = tenon.constant 0.0 : tensor<4x9xf32>
    tenon.yield %z : tensor<4x9xf32>
  }
  return
}

// -----
// dropout: the rate.
func.func @dropout_rate(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.dropout' op expects a rate in 0 .. 1, got 1.5}}
  %y = tenon.dropout %x rate 1.5 site 0 : tensor<4xf32>
  return
}

// -----
// append_state C1: the dimension exists.
func.func @append_state_c1(%rows: tensor<2x3x8xf32>, %position: tensor<i32>) {
  // expected-error @+1 {{'tenon.append_state' op expects a dimension of 'tensor<2x16x8xf32>', got 3}}
  %w = tenon.append_state 0, %rows at %position dim 3 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
  return
}

// -----
// append_state C2: rows agree with the state but along the dimension.
func.func @append_state_c2(%rows: tensor<2x3x8xf32>, %position: tensor<i32>) {
  // expected-error @+1 {{'tenon.append_state' op expects rows of the shape of 'tensor<2x16x9xf32>' but for dimension 1, got 'tensor<2x3x8xf32>'}}
  %w = tenon.append_state 0, %rows at %position dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x9xf32>
  return
}

// -----
// append_state C3: one element type.
func.func @append_state_c3(%rows: tensor<2x3x8xf64>, %position: tensor<i32>) {
  // expected-error @+1 {{'tenon.append_state' op expects rows of 'f32', got 'f64'}}
  %w = tenon.append_state 0, %rows at %position dim 1 : tensor<2x3x8xf64>, tensor<i32> -> tensor<2x16x8xf32>
  return
}

// -----
// append_state C4: one position.
func.func @append_state_c4(%rows: tensor<2x3x8xf32>, %position: tensor<2xi32>) {
  // expected-error @+1 {{'tenon.append_state' op expects a scalar as position, got 'tensor<2xi32>'}}
  %w = tenon.append_state 0, %rows at %position dim 1 : tensor<2x3x8xf32>, tensor<2xi32> -> tensor<2x16x8xf32>
  return
}
