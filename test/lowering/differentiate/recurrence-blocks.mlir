// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true},tenon-recompute-blocks,cse))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true},tenon-recompute-blocks))' --remark-format=emitRemark --remarks-filter-missed=split-rounds -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// WHY: Remark="it is a stack of layers: each round has parameters of its own"

// `save = blocks(steps = 4)` of a recurrence over 10 places: three blocks of up to four, the forward loop keeps its carry in front of each; going back, a block is run forward once more, which
// keeps what its own reversed loop reads. Places behind the last one are skipped in all three loops. What is collected of all places is the same memory, seen in blocks.
tenon.parameter @u : tensor<4xf32>
tenon.parameter @w : tensor<4xf32>
// CHECK-LABEL: func.func @train
// CHECK: %[[X:.*]] = tenon.mul
// CHECK: %[[Y:.*]]:2 = tenon.stack 3(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
// CHECK-NEXT: ^bb0(%[[B:.*]]: index, %[[H:.*]]: tensor<4xf32>):
// CHECK: %[[XS:.*]] = tenon.regroup %[[X]] : tensor<10x4xf32> -> tensor<3x4x4xf32>
// CHECK: %[[XB:.*]] = tenon.at_depth %[[XS]][%[[B]]] : tensor<3x4x4xf32> -> tensor<4x4xf32>
// CHECK: %[[I:.*]] = tenon.stack 4(%[[H]]) : (tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT: ^bb0(%[[R:.*]]: index, %{{.*}}: tensor<4xf32>):
// CHECK: %[[FIRST:.*]] = arith.muli %[[B]], %{{.*}} : index
// CHECK: %[[PLACE:.*]] = arith.addi %[[FIRST]], %[[R]] : index
// CHECK: %[[HERE:.*]] = tenon.depth_value %[[PLACE]] : tensor<i32>
// CHECK: %[[OVER:.*]] = tenon.compare le %{{.*}}, %[[HERE]] : tensor<i32> -> tensor<i1>
// CHECK: tenon.skip %[[OVER]] : tensor<i1>
// CHECK: tenon.at_depth %[[XB]][%[[R]]]
// CHECK: tenon.yield %[[I]], %[[H]] : tensor<4xf32>, tensor<4xf32>
// CHECK: %[[BACK:.*]]:3 = tenon.stack 3 reverse(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<3x4x4xf32>) {
// CHECK-NEXT: ^bb0(%[[B2:.*]]: index
// CHECK: %[[START:.*]] = tenon.at_depth %[[Y]]#1[%[[B2]]] : tensor<3x4xf32> -> tensor<4xf32>
// CHECK: %[[AGAIN:.*]]:{{[0-9]+}} = tenon.stack 4(%[[START]]) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>
// CHECK: tenon.skip
// CHECK: tenon.stack 4 reverse(
// CHECK-NEXT: ^bb0(%[[R2:.*]]: index
// CHECK: tenon.skip
// CHECK: tenon.at_depth %[[AGAIN]]#{{[1-9]}}[%[[R2]]] : tensor<4x4xf32> -> tensor<4xf32>
// CHECK: tenon.regroup %[[BACK]]#2 : tensor<3x4x4xf32> -> tensor<10x4xf32>
func.func @train(%a: tensor<10x4xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.save = "blocks", tenon.save_steps = 4 : i64} {
  %u = tenon.read_parameter @u : tensor<4xf32>
  %w = tenon.read_parameter @w : tensor<4xf32>
  %us = tenon.broadcast %u [1] : tensor<4xf32> -> tensor<10x4xf32>
  %x = tenon.mul %a, %us : tensor<10x4xf32>
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %y = tenon.stack 10 (%zero) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    %one = tenon.at_depth %x[%at] : tensor<10x4xf32> -> tensor<4xf32>
    %p = tenon.mul %h, %w : tensor<4xf32>
    %s = tenon.add %p, %one : tensor<4xf32>
    %n = tenon.tanh %s : tensor<4xf32>
    tenon.yield %n : tensor<4xf32>
  }
  %l = tenon.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// The last place of what is collected is the last carry.
tenon.parameter @u : tensor<4xf32>
// CHECK-LABEL: func.func @last
// CHECK: tenon.stack 3(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<3x4xf32>) {
// CHECK: tenon.skip
// CHECK-NOT: tenon.slice
// CHECK: tenon.stack 3 reverse
// CHECK: tenon.regroup %{{.*}} : tensor<3x4x4xf32> -> tensor<10x4xf32>
func.func @last(%a: tensor<10x4xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.save = "blocks", tenon.save_steps = 4 : i64} {
  %u = tenon.read_parameter @u : tensor<4xf32>
  %us = tenon.broadcast %u [1] : tensor<4xf32> -> tensor<10x4xf32>
  %x = tenon.mul %a, %us : tensor<10x4xf32>
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %y:2 = tenon.stack 10 (%zero) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<10x4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    %one = tenon.at_depth %x[%at] : tensor<10x4xf32> -> tensor<4xf32>
    %s = tenon.mul %h, %one : tensor<4xf32>
    %n = tenon.tanh %s : tensor<4xf32>
    tenon.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  %last = tenon.slice %y#1 0 from affine_map<() -> (9)> : tensor<10x4xf32> -> tensor<1x4xf32>
  %l = tenon.reduce sum %last [0, 1] : tensor<1x4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// Layers are no recurrence: they have parameters of their own, and are computed again one by one.
tenon.parameter @w stacked : tensor<10x4xf32>
// CHECK-LABEL: func.func @layers
// CHECK: tenon.stack 10(
// CHECK: tenon.stack 10 reverse
// CHECK-NOT: tenon.regroup
func.func @layers(%x: tensor<10x4xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.save = "blocks", tenon.save_steps = 4 : i64} {
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %y = tenon.stack 10 (%zero) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    %w = tenon.read_parameter @w[%at] : tensor<4xf32>
    %one = tenon.at_depth %x[%at] : tensor<10x4xf32> -> tensor<4xf32>
    %p = tenon.mul %h, %w : tensor<4xf32>
    %s = tenon.add %p, %one : tensor<4xf32>
    %n = tenon.tanh %s : tensor<4xf32>
    tenon.yield %n : tensor<4xf32>
  }
  %l = tenon.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
