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

// -----

// One place of a loop that has fewer of them than x.
tenon.parameter @u : tensor<5x4xf32>
func.func @train() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %x = tenon.read_parameter @u : tensor<5x4xf32>
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %y = tenon.stack 3 (%zero) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    // expected-error@+1 {{not supported yet: the gradient of what is read at a depth, but for all of a value from outside, in order}}
    %one = tenon.at_depth %x[%at] : tensor<5x4xf32> -> tensor<4xf32>
    %n = tenon.mul %h, %one : tensor<4xf32>
    tenon.yield %n : tensor<4xf32>
  }
  %l = tenon.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// Rounds that are skipped, and nothing says which.
tenon.parameter @w : tensor<4xf32>
func.func @train(%stop: tensor<i1>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4xf32>
  // expected-error@+1 {{not supported yet: the gradient of a stack that skips rounds and does not count the others}}
  %y = tenon.stack 3 (%w) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    tenon.skip %stop : tensor<i1>
    %n = tenon.mul %h, %w : tensor<4xf32>
    tenon.yield %n : tensor<4xf32>
  }
  %l = tenon.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
