// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-differentiate))'

// expected-error@+1 {{has no loss to differentiate}}
func.func @train() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  return
}

// -----

// Frozen throughout: a loss that nothing can lower.
tenon.parameter @w frozen : tensor<4xf32>
func.func @train() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4xf32>
  %l = tenon.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
  // expected-error@+1 {{no trained parameter reaches the loss}}
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
