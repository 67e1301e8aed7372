// What an optimizer cannot be emitted for. What its settings may not be is the verifier's: dialect/invalid-optimize.mlir.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule),tenon-emit-cpu)'

// expected-error@+1 {{not supported yet: an optimizer for 'bf16'}}
tenon.parameter @short : tensor<4xbf16>
func.func @short_elements() {
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "norm", %norm : tensor<f64>
  return
}

// -----

tenon.parameter @frozen frozen : tensor<4xf32>
func.func @nothing() {
  // expected-error@+1 {{expects a parameter to train, got none}}
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "norm", %norm : tensor<f64>
  return
}

// -----

// Vectors of the pass lie along the last dimensions.
// expected-error@+1 {{not supported yet: an optimizer for a parameter in panels along its first dimensions, or in several widths}}
tenon.parameter @across {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<32x4xf32>
func.func @panels() {
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "norm", %norm : tensor<f64>
  return
}
