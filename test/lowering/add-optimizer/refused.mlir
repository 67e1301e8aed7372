// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-add-optimizer)'

// expected-error@+1 {{has an optimizer and no gradient; tenon-differentiate comes first}}
func.func @train(%l: tensor<f32>) attributes {tenon.kind = "train", tenon.optimizer = {rule = "sgd", settings = {lr = 1.0}}} {
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// expected-error@+1 {{expects a rule and settings as tenon.optimizer, got {rule = "sgd"}}}
func.func @train(%l: tensor<f32>) attributes {tenon.kind = "train", tenon.optimizer = {rule = "sgd"}} {
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

tenon.parameter @w : tensor<f32>
func.func @train(%l: tensor<f32>) attributes {tenon.kind = "train", tenon.optimizer = {rule = "sgd", settings = {lr = 1.0}}} {
  tenon.write_gradient @w, %l : tensor<f32>
  return
}
// expected-error@+1 {{has an optimizer, as @train has: the parameters of a module have one}}
func.func @again(%l: tensor<f32>) attributes {tenon.kind = "train", tenon.optimizer = {rule = "sgd", settings = {lr = 1.0}}} {
  tenon.write_gradient @w, %l : tensor<f32>
  return
}
