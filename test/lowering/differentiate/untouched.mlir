// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-differentiate))' | FileCheck %s --implicit-check-not="write_gradient @kept" --implicit-check-not="write_gradient @unread"

// What the recipe freezes gets no gradient, and neither does what the loss does not read, which is frozen from then on.
// CHECK: tenon.parameter @trained :
// CHECK: tenon.parameter @kept frozen
// CHECK: tenon.parameter @unread frozen
tenon.parameter @trained : tensor<4x8xf32>
tenon.parameter @kept frozen : tensor<4x8xf32>
tenon.parameter @unread : tensor<4x8xf32>

// CHECK-LABEL: func.func @train
// CHECK: tenon.write_gradient @trained
// CHECK: return
func.func @train() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %t = tenon.read_parameter @trained : tensor<4x8xf32>
  %k = tenon.read_parameter @kept : tensor<4x8xf32>
  %p = tenon.mul %t, %k : tensor<4x8xf32>
  %l = tenon.reduce sum %p [0, 1] : tensor<4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// Entries of another kind are not differentiated.
// CHECK-LABEL: func.func @eval
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.reduce
// CHECK-NEXT: tenon.output
// CHECK-NEXT: return
func.func @eval() attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %t = tenon.read_parameter @trained : tensor<4x8xf32>
  %l = tenon.reduce sum %t [0, 1] : tensor<4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
