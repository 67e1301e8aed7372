// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose{only=attend}))' | FileCheck %s

// Scores are added, scaled, masked, and weigh the values; masked keys weigh nothing.
// CHECK-LABEL: func.func @masked
// CHECK-SAME: (%[[S:.*]]: tensor<2x5x4x7xf32>, %[[M:.*]]: tensor<5x7xi1>, %[[V:.*]]: tensor<2x7x4x6xf32>)
// CHECK-NOT: tenon.attend
// CHECK: %[[MASKS:.*]] = tenon.broadcast %[[M]] [1, 3] : tensor<5x7xi1> -> tensor<2x5x4x7xi1>
// CHECK: tenon.select %[[MASKS]], %{{.*}} : tensor<2x5x4x7xi1>, tensor<2x5x4x7xf32>
// CHECK: tenon.exp
// CHECK: tenon.reduce sum
// CHECK: %[[P:.*]] = tenon.div
// CHECK: tenon.dot %[[P]][0, 1, 2, 4], %[[V]][0, 4, 2, 3]
// CHECK-NOT: tenon.attend
// CHECK: return
func.func @masked(%s: tensor<2x5x4x7xf32>, %m: tensor<5x7xi1>, %v: tensor<2x7x4x6xf32>) {
  %y = tenon.attend scores(%s) masks(%m) value(%v) labels [[0, 1, 2, 4], [1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7xi1>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// No mask, no choice between scores: the one that is left is for rows without weights.
// CHECK-LABEL: func.func @unmasked
// CHECK-NOT: tensor<2x5x4x7xi1>
// CHECK-NOT: tenon.dropout
// CHECK: tenon.dot
// CHECK-NOT: tenon.dropout
// CHECK: return
func.func @unmasked(%s: tensor<2x5x4x7xf32>, %v: tensor<2x7x4x6xf32>) {
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// Dropout of the weights keeps its site: the same draws as in the fused op.
// CHECK-LABEL: func.func @dropped
// CHECK: tenon.dropout %{{.*}} rate 1.000000e-01 site 7
// CHECK: tenon.dot
func.func @dropped(%s: tensor<2x5x4x7xf32>, %v: tensor<2x7x4x6xf32>) {
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.1 site 7
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// Of rows of a whole: all that the whole draws, and of that what stands at their places.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[S:.*]]: tensor<2x3x4x7xf32>, %[[V:.*]]: tensor<2x7x4x6xf32>, %[[AT:.*]]: tensor<2x3xi32>)
// CHECK: %[[ONES:.*]] = tenon.constant 1.000000e+00 : tensor<2x5x4x7xf32>
// CHECK: %[[ALL:.*]] = tenon.dropout %[[ONES]] rate 1.000000e-01 site 7 : tensor<2x5x4x7xf32>
// CHECK: %[[FACTOR:.*]] = tenon.gather %[[ALL]][%[[AT]]] dim 1 x_dims [0, -1, 2, 3] index_dims [0, 1] : {{.*}} -> tensor<2x3x4x7xf32>
// CHECK: %[[P:.*]] = tenon.mul %{{.*}}, %[[FACTOR]]
// CHECK: tenon.dot %[[P]][0, 1, 2, 4], %[[V]]
func.func @rows(%s: tensor<2x3x4x7xf32>, %v: tensor<2x7x4x6xf32>, %at: tensor<2x3xi32>) {
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (5)> labels [[0, 1, 2, 4], [0, 4, 2, 3], [0, 1]] scale 0.125 rate 0.1 site 7
    : (tensor<2x3x4x7xf32>, tensor<2x7x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x3x4x6xf32>
  return
}

// Only `attend` was asked for.
// CHECK-LABEL: func.func @other
// CHECK: tenon.cross_entropy
func.func @other(%l: tensor<4x5xf32>, %t: tensor<4xi32>) {
  %y, %lse = tenon.cross_entropy %l, %t : tensor<4x5xf32>, tensor<4xi32> -> tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}
