// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s
// A stack that is applied twice has one reverse loop per use; each depth of its parameters is written once, with the sum of both.

// CHECK-LABEL: func.func @train
// CHECK: %[[EARLIER:.*]]:2 = tenon.stack 3 reverse(
// CHECK-NOT: tenon.write_gradient
// CHECK: %[[FOUND:.*]] = tenon.at_depth %[[EARLIER]]#1
// CHECK: %[[SUM:.*]] = tenon.add %[[FOUND]], %{{.*}}
// CHECK: tenon.write_gradient @w[%{{.*}}], %[[SUM]]
// CHECK-NOT: tenon.write_gradient
tenon.parameter @w stacked : tensor<3x8x8xf64>
func.func @train(%x: tensor<4x8xf64>, %y: tensor<4x8xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %a = tenon.stack 3 (%x) : (tensor<4x8xf64>) -> (tensor<4x8xf64>) {
  ^bb0(%d: index, %h: tensor<4x8xf64>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf64>
    %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf64>, tensor<8x8xf64> -> tensor<4x8xf64>
    tenon.yield %z : tensor<4x8xf64>
  }
  %b = tenon.stack 3 (%y) : (tensor<4x8xf64>) -> (tensor<4x8xf64>) {
  ^bb0(%d: index, %h: tensor<4x8xf64>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf64>
    %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf64>, tensor<8x8xf64> -> tensor<4x8xf64>
    tenon.yield %z : tensor<4x8xf64>
  }
  %p = tenon.mul %a, %b : tensor<4x8xf64>
  %s = tenon.reduce sum %p [0, 1] : tensor<4x8xf64> -> tensor<f64>
  tenon.output 0 "l", %s : tensor<f64>
  return
}

// -----

// Other depths in the two loops: a loop of its own for the depths that both have, and one for the rest.
// CHECK-LABEL: func.func @unequal
// CHECK: %{{.*}}:2 = tenon.stack 2 reverse(
// CHECK-NOT: tenon.write_gradient
// CHECK: %{{.*}}:2 = tenon.stack 3 reverse(
// CHECK-NOT: tenon.write_gradient
// CHECK: tenon.stack 2()
// CHECK: ^bb0(%[[DEPTH:.*]]: index):
// CHECK: %[[SUM:.*]] = tenon.add
// CHECK: tenon.write_gradient @w[%[[DEPTH]]], %[[SUM]]
// CHECK: tenon.stack 1 from 2()
// CHECK: ^bb0(%[[DEPTH:.*]]: index):
// CHECK-NOT: tenon.add
// CHECK: tenon.write_gradient @w[%[[DEPTH]]]
// CHECK-NOT: tenon.write_gradient
tenon.parameter @w stacked : tensor<3x8xf64>
func.func @unequal(%x: tensor<8xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %a = tenon.stack 3 (%x) : (tensor<8xf64>) -> (tensor<8xf64>) {
  ^bb0(%d: index, %h: tensor<8xf64>):
    %w = tenon.read_parameter @w[%d] : tensor<8xf64>
    %z = tenon.mul %h, %w : tensor<8xf64>
    tenon.yield %z : tensor<8xf64>
  }
  %b = tenon.stack 2 (%a) : (tensor<8xf64>) -> (tensor<8xf64>) {
  ^bb0(%d: index, %h: tensor<8xf64>):
    %w = tenon.read_parameter @w[%d] : tensor<8xf64>
    %z = tenon.mul %h, %w : tensor<8xf64>
    tenon.yield %z : tensor<8xf64>
  }
  %s = tenon.reduce sum %b [0] : tensor<8xf64> -> tensor<f64>
  tenon.output 0 "l", %s : tensor<f64>
  return
}

// -----

// A stack inside a loop: each round adds to the gradients of all its depths, which are written once, behind the loop.
// CHECK-LABEL: func.func @rounds
// CHECK: tenon.stack 2 reverse(
// CHECK: %[[ROUND:.*]]:2 = tenon.stack 3 reverse(
// CHECK-NOT: tenon.write_gradient
// CHECK: tenon.add %{{.*}}, %[[ROUND]]#1
// CHECK: tenon.stack 3()
// CHECK: ^bb0(%[[DEPTH:.*]]: index):
// CHECK: %[[SUM:.*]] = tenon.at_depth
// CHECK: tenon.write_gradient @w[%[[DEPTH]]], %[[SUM]]
tenon.parameter @w stacked : tensor<3x8xf64>
func.func @rounds(%x: tensor<8xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %a = tenon.stack 2 (%x) : (tensor<8xf64>) -> (tensor<8xf64>) {
  ^bb0(%round: index, %y: tensor<8xf64>):
    %b = tenon.stack 3 (%y) : (tensor<8xf64>) -> (tensor<8xf64>) {
    ^bb0(%d: index, %h: tensor<8xf64>):
      %w = tenon.read_parameter @w[%d] : tensor<8xf64>
      %z = tenon.mul %h, %w : tensor<8xf64>
      tenon.yield %z : tensor<8xf64>
    }
    tenon.yield %b : tensor<8xf64>
  }
  %s = tenon.reduce sum %a [0] : tensor<8xf64> -> tensor<f64>
  tenon.output 0 "l", %s : tensor<f64>
  return
}

// -----

// Gradients of a value of 16 bits are added in f32, and the sum is rounded.
// CHECK-LABEL: func.func @short
// CHECK-NOT: tenon.add {{.*}}bf16
// CHECK: %[[SUM:.*]] = tenon.add %{{.*}}, %{{.*}} : tensor<4xf32>
// CHECK: %[[ROUNDED:.*]] = tenon.convert %[[SUM]] : tensor<4xf32> -> tensor<4xbf16>
// CHECK: %[[GRADIENT:.*]] = tenon.convert %[[ROUNDED]] : tensor<4xbf16> -> tensor<4xf32>
// CHECK: tenon.write_gradient @w, %[[GRADIENT]]
tenon.parameter @w : tensor<4xf32>
func.func @short() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4xf32>
  %r = tenon.convert %w : tensor<4xf32> -> tensor<4xbf16>
  %a = tenon.convert %r : tensor<4xbf16> -> tensor<4xf32>
  %h = tenon.convert %r : tensor<4xbf16> -> tensor<4xf16>
  %b = tenon.convert %h : tensor<4xf16> -> tensor<4xf32>
  %p = tenon.mul %a, %b : tensor<4xf32>
  %s = tenon.reduce sum %p [0] : tensor<4xf32> -> tensor<f32>
  %l = tenon.convert %s : tensor<f32> -> tensor<f64>
  tenon.output 0 "l", %l : tensor<f64>
  return
}
