// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-differentiate))'

// A gradient of a gradient that has no rule yet.
tenon.parameter @w : tensor<4xf64>
func.func @train(%c: tensor<4xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4xf64>
  // expected-error @+1 {{not supported yet: a second derivative}}
  %g = tenon.activation_grad "gelu" %w, %c : tensor<4xf64>
  %l = tenon.reduce sum %g [0] : tensor<4xf64> -> tensor<f64>
  tenon.output 0 "loss", %l : tensor<f64>
  return
}

// -----
// A gradient that has no rule at all.
tenon.parameter @w : tensor<4x8xf64>
func.func @train(%c: tensor<4x8xf64>, %m: tensor<4xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4x8xf64>
  // expected-error @+1 {{'tenon.normalize_grad' op expects a gradient rule, got none}}
  %g = tenon.normalize_grad %w, %c, %m, %m : tensor<4x8xf64>, tensor<4xf64>
  %l = tenon.reduce sum %g [0, 1] : tensor<4x8xf64> -> tensor<f64>
  tenon.output 0 "loss", %l : tensor<f64>
  return
}
