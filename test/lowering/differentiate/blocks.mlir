// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true},tenon-recompute-blocks,cse))' | FileCheck %s

// A stack saves what it is given at each depth, and nothing that it computes; the reversed loop computes the product and its tanh again before it goes back, and not
// the sum that is given on, nor is the state written twice.
tenon.parameter @w stacked : tensor<2x8x8xf32>
// CHECK-LABEL: func.func @train(
// CHECK: %[[O:.*]]:2 = tenon.stack 2(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xf32>) {
// CHECK-NEXT: ^bb0(%[[D:.*]]: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: tenon.write_state
// CHECK: tenon.yield %{{.*}}, %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0(%[[AT:.*]]: index
// CHECK-NOT: tenon.write_state
// CHECK-NOT: tenon.at_depth
// CHECK: %[[GIVEN:.*]] = tenon.at_depth %[[O]]#1[%[[AT]]] : tensor<2x4x8xf32> -> tensor<4x8xf32>
// CHECK-NOT: tenon.at_depth
// CHECK-NOT: tenon.write_state
// CHECK: %[[W:.*]] = tenon.read_parameter @w[%[[AT]]]
// CHECK-NEXT: %[[Z:.*]] = tenon.dot %[[GIVEN]][0, 2], %[[W]][1, 2]
// CHECK: tenon.tanh
// CHECK-NOT: tenon.at_depth
// CHECK-NOT: tenon.add %[[GIVEN]]
// CHECK: tenon.write_gradient @w[%[[AT]]]
func.func @train(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.save = "blocks", tenon.states = [tensor<2x4x8xf32>]} {
  %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    tenon.write_state 0[%d], %z : tensor<4x8xf32>
    %t = tenon.tanh %z : tensor<4x8xf32>
    %s = tenon.add %h, %t : tensor<4x8xf32>
    tenon.yield %s : tensor<4x8xf32>
  }
  %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// All else: the pass leaves a function alone whose recipe does not ask for it.
tenon.parameter @w stacked : tensor<2x8x8xf32>
// CHECK-LABEL: func.func @all(
// CHECK: tenon.stack 2(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xf32>) {
// CHECK: tenon.tanh
// CHECK: tenon.stack 2 reverse
// CHECK-NOT: tenon.tanh
// CHECK: tenon.write_gradient
func.func @all(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.save = "all", tenon.states = []} {
  %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %t = tenon.tanh %h : tensor<4x8xf32>
    %z = tenon.dot %t[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    tenon.yield %z : tensor<4x8xf32>
  }
  %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// A stack in a stack: the copy of the inner one in the reversed loop saves its carries, for one depth of the outer one; the inner reversed loop computes its products.
tenon.parameter @w stacked {levels = 2 : i64} : tensor<3x2x8x8xf32>
// CHECK-LABEL: func.func @nested(
// CHECK: %[[O:.*]]:2 = tenon.stack 3(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<3x4x8xf32>) {
// CHECK: tenon.stack 2(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK: tenon.stack 3 reverse
// CHECK-NEXT: ^bb0(%[[AT:.*]]: index
// CHECK: %[[GIVEN:.*]] = tenon.at_depth %[[O]]#1[%[[AT]]]
// CHECK: %[[I:.*]]:2 = tenon.stack 2(%[[GIVEN]]) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xf32>) {
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0(%[[IN:.*]]: index
// CHECK-NOT: tenon.at_depth
// CHECK: tenon.at_depth %[[I]]#1[%[[IN]]]
// CHECK-NOT: tenon.at_depth
// CHECK: tenon.write_gradient @w[%[[AT]], %[[IN]]]
func.func @nested(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.save = "blocks", tenon.states = []} {
  %o = tenon.stack 3 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %i = tenon.stack 2 (%h) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%e: index, %k: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d, %e] : tensor<8x8xf32>
      %z = tenon.dot %k[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %t = tenon.tanh %z : tensor<4x8xf32>
      %s = tenon.add %k, %t : tensor<4x8xf32>
      tenon.yield %s : tensor<4x8xf32>
    }
    tenon.yield %i : tensor<4x8xf32>
  }
  %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
