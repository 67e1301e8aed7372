// Contractions, reductions, moves by an index, losses, attention, scalar code of kernels.
// RUN: tenon-opt %s --canonicalize | FileCheck %s

// A transposition goes into the labels; a repetition is no transposition.
// CHECK-LABEL: func.func @contractions
// CHECK-SAME: (%[[A:.*]]: tensor<8x4xf32>, %[[B:.*]]: tensor<5x8xf32>, %[[ROW:.*]]: tensor<8xf32>)
func.func @contractions(%a: tensor<8x4xf32>, %b: tensor<5x8xf32>, %row: tensor<8xf32>) -> (tensor<5x4xf32>, tensor<4x5xf32>) {
  // CHECK: %[[Y:.*]] = tenon.dot %[[A]][2, 1], %[[B]][0, 2] : tensor<8x4xf32>, tensor<5x8xf32> -> tensor<5x4xf32>
  %t = tenon.broadcast %a [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %y = tenon.dot %t[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  %yt = tenon.broadcast %y [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  // CHECK: %[[R:.*]] = tenon.broadcast %[[ROW]] [1]
  // CHECK: %[[Z:.*]] = tenon.dot %[[R]][0, 2], %[[B]][1, 2]
  %r = tenon.broadcast %row [1] : tensor<8xf32> -> tensor<4x8xf32>
  %z = tenon.dot %r[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  // CHECK: return %[[Y]], %[[Z]]
  return %yt, %z : tensor<5x4xf32>, tensor<4x5xf32>
}

// Integers are reduced in any order, reals in one.
// CHECK-LABEL: func.func @reductions
func.func @reductions(%i: tensor<2x3x4xi32>, %x: tensor<2x3x4xf32>) -> (tensor<i32>, tensor<f32>, tensor<f32>) {
  // CHECK-DAG: %[[TWO:.*]] = tenon.constant 2.000000e+00 : tensor<f32>
  // CHECK-DAG: %[[I:.*]] = tenon.reduce sum %{{.*}} [0, 1, 2] : tensor<2x3x4xi32> -> tensor<i32>
  %i1 = tenon.reduce sum %i [1] : tensor<2x3x4xi32> -> tensor<2x4xi32>
  %i2 = tenon.reduce sum %i1 [0, 1] : tensor<2x4xi32> -> tensor<i32>
  // CHECK-DAG: %[[X1:.*]] = tenon.reduce sum %{{.*}} [1]
  // CHECK-DAG: %[[X2:.*]] = tenon.reduce sum %[[X1]] [0, 1]
  %x1 = tenon.reduce sum %x [1] : tensor<2x3x4xf32> -> tensor<2x4xf32>
  %x2 = tenon.reduce sum %x1 [0, 1] : tensor<2x4xf32> -> tensor<f32>
  %two = tenon.constant 2.0 : tensor<4xf32>
  %m = tenon.reduce max %two [0] : tensor<4xf32> -> tensor<f32>
  // CHECK: return %[[I]], %[[X2]], %[[TWO]]
  return %i2, %x2, %m : tensor<i32>, tensor<f32>, tensor<f32>
}

// Zeros added to nothing are zeros; onto a tensor they stay, for -0 + 0 is 0.
// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<5x8xf32>, %ids: tensor<3xi32>) -> (tensor<8xf32>, tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) {
  %two = tenon.constant 2.0 : tensor<i32>
  %zeros = tenon.constant 0.0 : tensor<3x8xf32>
  %half = tenon.constant 0.5 : tensor<5x8xf32>
  // CHECK-DAG: %[[ZEROS:.*]] = tenon.constant 0.000000e+00 : tensor<5x8xf32>
  // CHECK-DAG: %[[HALF:.*]] = tenon.constant 5.000000e-01 : tensor<3x8xf32>
  // CHECK: %[[SLICE:.*]] = tenon.slice %{{.*}} 0 from
  // CHECK: %[[ROW:.*]] = tenon.reshape %[[SLICE]] [-2]
  %row = tenon.gather %x[%two] dim 0 x_dims [-1, 0] index_dims [] : tensor<5x8xf32>, tensor<i32> -> tensor<8xf32>
  %same = tenon.gather %half[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<5x8xf32>, tensor<3xi32> -> tensor<3x8xf32>
  %none = tenon.scatter_add %zeros[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<5x8xf32>
  // CHECK: %[[ONTO:.*]] = tenon.scatter_add
  %onto = tenon.scatter_add %zeros[%ids] onto %x : tensor<5x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<5x8xf32>
  %gone = tenon.dropout %x rate 1.0 site 3 : tensor<5x8xf32>
  // CHECK: return %[[ROW]], %[[HALF]], %[[ZEROS]], %[[ONTO]], %[[ZEROS]]
  return %row, %same, %none, %onto, %gone : tensor<8xf32>, tensor<3x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
}

// What always holds is not asked. A mask over more than the scores have stays: it widens p.
// CHECK-LABEL: func.func @attention
func.func @attention(%x: tensor<4x8xf32>, %l: tensor<4xi32>, %s: tensor<5x7xf32>, %t: tensor<7xf32>, %v: tensor<7x6xf32>) -> (tensor<4xf32>, tensor<5x6xf32>, tensor<5x6xf32>) {
  %rows = tenon.constant 1.0 : tensor<4xi1>
  %pairs = tenon.constant 1.0 : tensor<5x7xi1>
  %keys = tenon.constant 1.0 : tensor<7xi1>
  // CHECK: tenon.cross_entropy %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %loss, %lse = tenon.cross_entropy %x, %l where %rows : tensor<4xi1>, : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  // CHECK: tenon.attend scores(%{{.*}}) masks() value
  %y = tenon.attend scores(%s) masks(%pairs, %keys) value(%v) labels [[0, 2], [0, 2], [2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<5x7xi1>, tensor<7xi1>, tensor<7x6xf32>) -> tensor<5x6xf32>
  // CHECK: tenon.attend scores(%{{.*}}) masks(%{{.*}}) value
  %z = tenon.attend scores(%t) masks(%pairs) value(%v) labels [[2], [0, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<7xf32>, tensor<5x7xi1>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return %loss, %y, %z : tensor<4xf32>, tensor<5x6xf32>, tensor<5x6xf32>
}

// CHECK-LABEL: func.func @scalars
func.func @scalars(%depth: index) -> (tensor<4xf32>, f32, index, i1, i1, tensor<i32>, tensor<1xi32>) {
  %c = tenon.constant 0.1 : tensor<3x4xf32>
  // CHECK-DAG: %[[C:.*]] = tenon.constant 1.000000e-01 : tensor<4xf32>
  // CHECK-DAG: %[[E:.*]] = arith.constant 1.000000e-01 : f32
  // CHECK-DAG: %[[N:.*]] = arith.constant 150 : index
  // CHECK-DAG: %[[TRUE:.*]] = arith.constant true
  // CHECK-DAG: %[[P:.*]] = tenon.constant 0.000000e+00 : tensor<1xi32>
  // CHECK-DAG: %[[S:.*]] = tenon.constant 1.500000e+02 : tensor<i32>
  // CHECK-DAG: %[[KEEP:.*]] = tenon.random_keep %{{.*}} site 3 threshold 6554
  %d = tenon.at_depth %c[%depth] : tensor<3x4xf32> -> tensor<4xf32>
  %e = tenon.at %c[%depth, %depth] : tensor<3x4xf32> -> f32
  %n = tenon.size_value affine_map<() -> (150)>
  %always = tenon.random_keep %depth site 3 threshold 0
  %keep = tenon.random_keep %depth site 3 threshold 6554
  %s = tenon.size affine_map<() -> (150)> : tensor<i32>
  %p = tenon.iota 0 : tensor<1xi32>
  // CHECK: return %[[C]], %[[E]], %[[N]], %[[TRUE]], %[[KEEP]], %[[S]], %[[P]]
  return %d, %e, %n, %always, %keep, %s, %p : tensor<4xf32>, f32, index, i1, i1, tensor<i32>, tensor<1xi32>
}

// Constants stay in the body of a stack.
// CHECK-LABEL: func.func @stack
func.func @stack(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: tenon.constant
  // CHECK: tenon.stack
  // CHECK: tenon.constant 5.000000e-01
  // CHECK: tenon.mul
  %y = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    %two = tenon.constant 2.0 : tensor<4xf32>
    %d = tenon.div %h, %two : tensor<4xf32>
    tenon.yield %d : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
