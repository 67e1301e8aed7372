// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s
// Rounds of several layers: the depth of a layer is a sum over the loops around it, in reading and in writing.

// Each layer of a round writes at its own place, inside the reverse loop over rounds.
// CHECK-LABEL: func.func @two
// CHECK: tenon.stack 3 reverse(
// CHECK: ^bb0(%[[ROUND:.*]]: index,
// CHECK-DAG: %[[LOW:.*]] = arith.muli %[[ROUND]], %{{.*}} : index
// CHECK-DAG: %[[SECOND:.*]] = arith.addi %[[LOW]], %{{.*}} : index
// CHECK-DAG: tenon.write_gradient @w[%[[SECOND]]]
// CHECK-DAG: tenon.write_gradient @w[%[[LOW]]]
// CHECK-NOT: tenon.write_gradient
// CHECK: return
tenon.parameter @w stacked : tensor<6x8xf64>
func.func @two(%x: tensor<8xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %a = tenon.stack 3 (%x) : (tensor<8xf64>) -> (tensor<8xf64>) {
  ^bb0(%round: index, %h: tensor<8xf64>):
    %two = arith.constant 2 : index
    %one = arith.constant 1 : index
    %low = arith.muli %round, %two : index
    %high = arith.addi %low, %one : index
    %w = tenon.read_parameter @w[%low] : tensor<8xf64>
    %v = tenon.read_parameter @w[%high] : tensor<8xf64>
    %z = tenon.mul %h, %w : tensor<8xf64>
    %t = tenon.tanh %z : tensor<8xf64>
    %y = tenon.mul %t, %v : tensor<8xf64>
    tenon.yield %y : tensor<8xf64>
  }
  %s = tenon.reduce sum %a [0] : tensor<8xf64> -> tensor<f64>
  tenon.output 0 "l", %s : tensor<f64>
  return
}

// -----

// One call in rounds of two, the other layer by layer: every depth is written once, by the sum of both, in loops of one step each.
// CHECK-LABEL: func.func @unequal
// CHECK: tenon.stack 4 reverse(
// CHECK-NOT: tenon.write_gradient
// CHECK: tenon.stack 2 reverse(
// CHECK-NOT: tenon.write_gradient
// CHECK: tenon.stack 1()
// CHECK: %[[SUM:.*]] = tenon.add
// CHECK: tenon.write_gradient @w[%{{.*}}], %[[SUM]]
// CHECK: tenon.stack 1 from 1()
// CHECK: tenon.write_gradient
// CHECK: tenon.stack 1 from 2()
// CHECK: tenon.write_gradient
// CHECK: tenon.stack 1 from 3()
// CHECK: tenon.write_gradient
// CHECK-NOT: tenon.write_gradient
// CHECK: return
tenon.parameter @w stacked : tensor<4x8xf64>
func.func @unequal(%x: tensor<8xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %a = tenon.stack 2 (%x) : (tensor<8xf64>) -> (tensor<8xf64>) {
  ^bb0(%round: index, %h: tensor<8xf64>):
    %two = arith.constant 2 : index
    %low = arith.muli %round, %two : index
    %y = tenon.stack 2 (%h) : (tensor<8xf64>) -> (tensor<8xf64>) {
    ^bb0(%place: index, %g: tensor<8xf64>):
      %depth = arith.addi %low, %place : index
      %w = tenon.read_parameter @w[%depth] : tensor<8xf64>
      %z = tenon.mul %g, %w : tensor<8xf64>
      tenon.yield %z : tensor<8xf64>
    }
    tenon.yield %y : tensor<8xf64>
  }
  %b = tenon.stack 4 (%a) : (tensor<8xf64>) -> (tensor<8xf64>) {
  ^bb0(%d: index, %h: tensor<8xf64>):
    %w = tenon.read_parameter @w[%d] : tensor<8xf64>
    %z = tenon.mul %h, %w : tensor<8xf64>
    tenon.yield %z : tensor<8xf64>
  }
  %s = tenon.reduce sum %b [0] : tensor<8xf64> -> tensor<f64>
  tenon.output 0 "l", %s : tensor<f64>
  return
}
