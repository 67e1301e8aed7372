// What the gradient of a loss starts from: the loss scale where the optimizer divides by it, a number that the gradients are divided by again where
// there is no optimizer, else 1.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-differentiate))' | FileCheck %s

// CHECK-LABEL: func.func @scaled
// CHECK: %[[S:.*]] = tenon.read_loss_scale : tensor<f32>
// CHECK: %[[G:.*]] = tenon.mul %[[S]], %arg0
// CHECK: tenon.write_gradient @w, %[[G]]
tenon.parameter @w : tensor<f32>
func.func @scaled(%x: tensor<f32>) attributes {tenon.kind = "train", tenon.optimizer = {rule = "sgd", settings = {lr = 1.0, scale_growth = 2.0, scale_backoff = 0.5, scale_every = 3.0}}} {
  %w = tenon.read_parameter @w : tensor<f32>
  %l = tenon.mul %w, %x : tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// CHECK-LABEL: func.func @constant
// CHECK-NOT: read_loss_scale
// CHECK: %[[S:.*]] = tenon.constant 1.024000e+03 : tensor<f32>
// CHECK: %[[G:.*]] = tenon.mul %[[S]], %arg0
// CHECK: %[[R:.*]] = tenon.constant 9.765625E-4 : tensor<f32>
// CHECK: %[[D:.*]] = tenon.mul %[[G]], %[[R]]
// CHECK: tenon.write_gradient @w, %[[D]]
tenon.parameter @w : tensor<f32>
func.func @constant(%x: tensor<f32>) attributes {tenon.kind = "train", tenon.gradient_scale = 1024.0} {
  %w = tenon.read_parameter @w : tensor<f32>
  %l = tenon.mul %w, %x : tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// CHECK-LABEL: func.func @plain
// CHECK-NOT: read_loss_scale
// CHECK: tenon.constant 1.000000e+00 : tensor<f32>
// CHECK: tenon.write_gradient @w
tenon.parameter @w : tensor<f32>
func.func @plain(%x: tensor<f32>) attributes {tenon.kind = "train", tenon.optimizer = {rule = "sgd", settings = {lr = 1.0}}} {
  %w = tenon.read_parameter @w : tensor<f32>
  %l = tenon.mul %w, %x : tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
