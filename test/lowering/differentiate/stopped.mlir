// RUN: not tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-differentiate))' 2>&1 | FileCheck %s
// No gradient passes stop_gradient: a loss that no parameter reaches is refused.
// CHECK: error: no trained parameter reaches the loss
tenon.parameter @w : tensor<4xf32>
func.func @train() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4xf32>
  %s = tenon.stop_gradient %w : tensor<4xf32>
  %l = tenon.reduce sum %s [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
