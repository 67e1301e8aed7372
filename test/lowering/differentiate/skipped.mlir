// A loop that may end early: the reversed one runs over the rounds that ran, which are counted; of the others nothing is read.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-differentiate,tenon-simplify{after-differentiation=true}))' > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: sed -e '/reverse/,/yield/{/tenon.skip/d}' %t.mlir > %t.control
// RUN: not FileCheck %s < %t.control

// CHECK-LABEL: func.func @train
// CHECK: %[[FORWARD:.*]]:4 = tenon.stack 6(%{{.*}}, %{{.*}}) : (tensor<5x8xf32>, tensor<i32>) -> (tensor<5x8xf32>, tensor<i32>, tensor<6x5x8xf32>, tensor<6x5x8xf32>)
// CHECK: ^bb0(%[[D:.*]]: index, %[[H:.*]]: tensor<5x8xf32>, %[[N:.*]]: tensor<i32>)
// CHECK: %[[AT:.*]] = tenon.depth_value %[[D]]
// CHECK: %[[LATE:.*]] = tenon.compare lt %[[N]], %[[AT]]
// CHECK: tenon.skip %[[LATE]] counts %[[N]] : tensor<i1>, tensor<i32>
// CHECK: tenon.skip %{{.*}} : tensor<i1>
// CHECK: tenon.dot
// CHECK: tenon.stack 6 reverse(
// CHECK: %[[BACK:.*]] = tenon.depth_value
// CHECK-NEXT: %[[DONE:.*]] = tenon.compare le %[[FORWARD]]#1, %[[BACK]]
// CHECK-NEXT: tenon.skip %[[DONE]] : tensor<i1>
// The contraction of a weight's gradient stays in the loop: over all places it would read those of rounds that did not run.
// CHECK: tenon.at_depth %[[FORWARD]]#
// CHECK: tenon.dot
// CHECK: tenon.dot
// CHECK: tenon.yield
// CHECK: tenon.write_gradient @w

tenon.parameter @w : tensor<8x8xf32>
func.func @train(%x: tensor<5x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<8x8xf32>
  %none = tenon.constant 0.0 : tensor<i32>
  %y:2 = tenon.stack 6 (%x, %none) : (tensor<5x8xf32>, tensor<i32>) -> (tensor<5x8xf32>, tensor<i32>) {
  ^bb0(%d: index, %h: tensor<5x8xf32>, %n: tensor<i32>):
    %at = tenon.depth_value %d : tensor<i32>
    %late = tenon.compare lt %n, %at : tensor<i32> -> tensor<i1>
    tenon.skip %late counts %n : tensor<i1>, tensor<i32>
    %most = tenon.reduce max %h [0, 1] : tensor<5x8xf32> -> tensor<f32>
    %limit = tenon.constant 2.0 : tensor<f32>
    %stop = tenon.compare lt %limit, %most : tensor<f32> -> tensor<i1>
    tenon.skip %stop : tensor<i1>
    %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<5x8xf32>, tensor<8x8xf32> -> tensor<5x8xf32>
    %t = tenon.tanh %z : tensor<5x8xf32>
    %one = tenon.constant 1.0 : tensor<i32>
    %more = tenon.add %n, %one : tensor<i32>
    tenon.yield %t, %more : tensor<5x8xf32>, tensor<i32>
  }
  %s = tenon.reduce sum %y#0 [0, 1] : tensor<5x8xf32> -> tensor<f32>
  %s64 = tenon.convert %s : tensor<f32> -> tensor<f64>
  tenon.output 0 "loss", %s64 : tensor<f64>
  return
}
