// What the verifier of tenon.attention refuses, constraint by constraint.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @widths(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x6xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error@+1 {{expects query [B, I, H, E], key [B, J, H, E]}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{mask = [], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @unknown_operand(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error@+1 {{has a mask that names an operand beyond the 0 it has}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{mask = [{test = "holds", operand = 0 : i64}], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @statistics(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error@+1 {{expects row statistics of shape [B, H, I]}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{mask = [], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x4x5xf32>)
  return
}
