// What the verifiers of elementwise ops refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// activation_grad C1: a known activation.
func.func @activation_grad_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.activation_grad' op expects the activation gelu or gelu_tanh, got relu}}
  %y = tenon.activation_grad "relu" %x, %x : tensor<4xf32>
  return
}

// -----
// compare C1: truth values of the same shape.
func.func @compare_c1(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.compare' op inferred type(s) 'tensor<4xi1>' are incompatible with return type(s) of operation 'tensor<5xi1>'}}
  %y = tenon.compare lt %x, %x : tensor<4xf32> -> tensor<5xi1>
  return
}

// -----
// select C1: one truth value per element.
func.func @select_c1(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.select' op expects a condition of the shape of the result, got 'tensor<i1>'}}
  %y = tenon.select %c, %x, %x : tensor<i1>, tensor<4xf32>
  return
}

// -----
// convert C1: one shape.
func.func @convert_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.convert' op expects operand and result of one shape, got 'tensor<4xf32>' and 'tensor<5xf64>'}}
  %y = tenon.convert %x : tensor<4xf32> -> tensor<5xf64>
  return
}

// -----
// convert C2: nothing is lost unseen.
func.func @convert_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.convert' op does not turn reals into integers}}
  %y = tenon.convert %x : tensor<4xf32> -> tensor<4xi32>
  return
}
