// RUN: tenon-opt %s --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true},tenon-recompute-blocks))'

// `save = blocks(steps = k)` of a recurrence whose length is known at run time only.
tenon.parameter @w : tensor<4xf32>
func.func @long(%t: index, %x: tensor<?x4xf32, affine_map<(d0) -> (d0, 4)>>) attributes {tenon.kind = "train", tenon.dims = ["T"], tenon.states = [], tenon.save = "blocks", tenon.save_steps = 4 : i64} {
  %w = tenon.read_parameter @w : tensor<4xf32>
  %zero = tenon.constant 0.0 : tensor<4xf32>
  // expected-error @+1 {{not supported yet: `save = blocks(steps = 4)` of a recurrence whose length is known at run time only; `bind` it}}
  %y = tenon.stack affine_map<(d0) -> (d0)> (%zero) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    %one = tenon.at_depth %x[%at] : tensor<?x4xf32, affine_map<(d0) -> (d0, 4)>> -> tensor<4xf32>
    %p = tenon.mul %h, %w : tensor<4xf32>
    %s = tenon.add %p, %one : tensor<4xf32>
    %n = tenon.tanh %s : tensor<4xf32>
    tenon.yield %n : tensor<4xf32>
  }
  %l = tenon.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
