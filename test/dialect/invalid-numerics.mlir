// What the attributes that say the types of arithmetic may not say.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// A module in mixed precision multiplies 16 bits ..
// expected-error @+1 {{'builtin.module' op expects f16 or bf16 as tenon.compute, got f32}}
module attributes {tenon.compute = f32} {
}

// -----
// .. keeps parameters in 16 bits ..
// expected-error @+1 {{'builtin.module' op expects f16 or bf16 as tenon.parameters, got f64}}
module attributes {tenon.parameters = f64} {
}

// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects tenon.parameters of a module}}
  %y = tenon.dot %a[0, 2], %b[1, 2] {tenon.parameters = bf16} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  return
}

// -----
// .. in that type alone: copies in another one are none ..
module attributes {tenon.parameters = bf16, tenon.compute = f16} {
  tenon.parameter @w : tensor<6x8xf32>
  func.func @f() {
    // expected-error @+1 {{'tenon.read_parameter' op expects a value of 'tensor<6x8xf32>' for @w, got 'tensor<6x8xf16>'}}
    %w = tenon.read_parameter @w : tensor<6x8xf16>
    return
  }
}

// -----
// .. or beside them what rounding took, which makes f32 of bf16 alone ..
// expected-error @+1 {{'builtin.module' op expects i16 as tenon.remainders, beside tenon.parameters of bf16, got i16}}
module attributes {tenon.parameters = f16, tenon.remainders = i16} {
}

// -----
// expected-error @+1 {{'builtin.module' op expects i16 as tenon.remainders, beside tenon.parameters of bf16, got i16}}
module attributes {tenon.compute = bf16, tenon.remainders = i16} {
}

// -----
// .. as bits, not as numbers.
// expected-error @+1 {{'builtin.module' op expects i16 as tenon.remainders, beside tenon.parameters of bf16, got bf16}}
module attributes {tenon.parameters = bf16, tenon.remainders = bf16} {
}

// -----
func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.tanh' op expects tenon.remainders of a module}}
  %y = tenon.tanh %a {tenon.remainders = i16} : tensor<4x8xf32>
  return
}

// -----
module attributes {tenon.compute = bf16, tenon.parameters = bf16} {
  tenon.parameter @w : tensor<6x8xf32>
  func.func @f() {
    // expected-error @+1 {{'tenon.read_parameter' op expects a remainder to be a value of 'i16', and that to be the remainder of a parameter that lies in two halves, got 'tensor<6x8xi16>'}}
    %w = tenon.read_parameter @w remainder : tensor<6x8xi16>
    return
  }
}

// -----
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<6x8xf32>
  func.func @f() {
    // expected-error @+1 {{'tenon.read_parameter' op expects a remainder to be a value of 'i16', and that to be the remainder of a parameter that lies in two halves, got 'tensor<6x8xf32>'}}
    %w = tenon.read_parameter @w remainder : tensor<6x8xf32>
    return
  }
}

// -----
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<6x8xf32>
  func.func @f() {
    // expected-error @+1 {{'tenon.read_parameter' op expects a remainder to be a value of 'i16', and that to be the remainder of a parameter that lies in two halves, got 'tensor<6x8xi16>'}}
    %w = tenon.read_parameter @w : tensor<6x8xi16>
    return
  }
}

// -----
func.func @f(%a: tensor<4xf16>, %b: tensor<4xi16>) {
  // expected-error @+1 {{'tenon.join' op expects an upper half of bf16 and a result of f32, got 'tensor<4xf16>' and 'tensor<4xf32>'}}
  %y = tenon.join %a, %b : tensor<4xf16>, tensor<4xi16> -> tensor<4xf32>
  return
}

// -----
func.func @f(%a: tensor<5xbf16>, %b: tensor<4xi16>) {
  // expected-error @+1 {{'tenon.join' op expects operands and result of one shape, got 'tensor<4xi16>' and 'tensor<5xf32>'}}
  %y = tenon.join %a, %b : tensor<5xbf16>, tensor<4xi16> -> tensor<5xf32>
  return
}

// -----
// .. and sums in f64, where it says so.
// expected-error @+1 {{'builtin.module' op expects f64 as tenon.reduce, got bf16}}
module attributes {tenon.reduce = bf16} {
}

// -----
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.dot' op expects f32, f16 or bf16 as tenon.compute, got f64}}
  %y = tenon.dot %a[0, 2], %b[1, 2] {tenon.compute = f64} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  return
}

// -----
func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.tanh' op expects tenon.compute of a module or a contraction}}
  %y = tenon.tanh %a {tenon.compute = f32} : tensor<4x8xf32>
  return
}

// -----
func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.reduce' op expects tenon.reduce of a module}}
  %y = tenon.reduce sum %a [1] {tenon.reduce = f64} : tensor<4x8xf32> -> tensor<4xf32>
  return
}
