// Heads that share keys, several batches, dimensions in other orders.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// Groups of three heads read one head of the keys: no copy of keys or values.
// CHECK-LABEL: @groups
// CHECK: %[[Q:.*]] = tenon.reshape %arg0 [1, 1, -2, 1] : tensor<2x5x2x3x8xf32> -> tensor<2x5x6x8xf32>
// CHECK: %[[Y:.*]], %{{.*}}, %{{.*}} = "tenon.attention"(%[[Q]], %arg1, %arg2)
// CHECK-SAME: (tensor<2x5x6x8xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x6xf32>)
// CHECK: tenon.reshape %[[Y]] [1, 1, 2, 1] : tensor<2x5x6x6xf32> -> tensor<2x5x2x3x6xf32>
func.func @groups(%q: tensor<2x5x2x3x8xf32>, %k: tensor<2x7x2x8xf32>, %v: tensor<2x7x2x6xf32>) {
  %s = tenon.dot %q[0, 1, 2, 3, 5], %k[0, 4, 2, 5] : tensor<2x5x2x3x8xf32>, tensor<2x7x2x8xf32> -> tensor<2x5x2x3x7xf32>
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 1, 2, 3, 5], [0, 5, 2, 4]] scale 0.125 rate 0.0 site 0 {queries = array<i64: 1>}
    : (tensor<2x5x2x3x7xf32>, tensor<2x7x2x6xf32>) -> tensor<2x5x2x3x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x2x3x6xf32>
  return
}

// -----

// Keys without heads: one head that all share, put in by a view.
// CHECK-LABEL: @shared
// CHECK: %[[K:.*]] = tenon.broadcast %arg1 [0, 1, 3] : tensor<2x7x8xf32> -> tensor<2x7x1x8xf32>
// CHECK: %[[V:.*]] = tenon.broadcast %arg2 [0, 1, 3] : tensor<2x7x6xf32> -> tensor<2x7x1x6xf32>
// CHECK: "tenon.attention"(%arg0, %[[K]], %[[V]])
func.func @shared(%q: tensor<2x5x6x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x6xf32>) {
  %keys = tenon.broadcast %k [0, 1, 3] : tensor<2x7x8xf32> -> tensor<2x7x6x8xf32>
  %s = tenon.dot %q[0, 1, 2, 4], %keys[0, 3, 2, 4] : tensor<2x5x6x8xf32>, tensor<2x7x6x8xf32> -> tensor<2x5x6x7xf32>
  %values = tenon.broadcast %v [0, 1, 3] : tensor<2x7x6xf32> -> tensor<2x7x6x6xf32>
  %y = tenon.attend scores(%s) masks() value(%values) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0 {queries = array<i64: 1>}
    : (tensor<2x5x6x7xf32>, tensor<2x7x6x6xf32>) -> tensor<2x5x6x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x6x6xf32>
  return
}

// -----

// Groups of another order: heads that the keys have come first.
// CHECK-LABEL: @inner_groups
// CHECK: "tenon.attention"({{.*}}, %arg1, %arg2)
// CHECK-SAME: (tensor<2x5x6x8xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x6xf32>)
// CHECK: tenon.output 0 "y", %{{.*}} : tensor<2x5x3x2x6xf32>
func.func @inner_groups(%q: tensor<2x5x3x2x8xf32>, %k: tensor<2x7x2x8xf32>, %v: tensor<2x7x2x6xf32>) {
  %s = tenon.dot %q[0, 1, 2, 3, 5], %k[0, 4, 3, 5] : tensor<2x5x3x2x8xf32>, tensor<2x7x2x8xf32> -> tensor<2x5x3x2x7xf32>
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 1, 2, 3, 5], [0, 5, 3, 4]] scale 0.125 rate 0.0 site 0 {queries = array<i64: 1>}
    : (tensor<2x5x3x2x7xf32>, tensor<2x7x2x6xf32>) -> tensor<2x5x3x2x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x3x2x6xf32>
  return
}

// -----

// Two batches: merged; a mask of one of them is repeated for the other.
// CHECK-LABEL: @two_batches
// CHECK-DAG: tenon.reshape %arg0 [-2, 1, 1, 1] : tensor<2x3x5x4x8xf32> -> tensor<6x5x4x8xf32>
// CHECK-DAG: %[[LENGTHS:.*]] = tenon.broadcast %arg3 [0] : tensor<2xi32> -> tensor<2x3xi32>
// CHECK-DAG: tenon.reshape %[[LENGTHS]] [-2] : tensor<2x3xi32> -> tensor<6xi32>
// CHECK: "tenon.attention"
// CHECK-SAME: index_labels = [array<i64: 0>]
func.func @two_batches(%q: tensor<2x3x5x4x8xf32>, %k: tensor<2x3x7x4x8xf32>, %v: tensor<2x3x7x4x6xf32>, %len: tensor<2xi32>) {
  %content = tenon.dot %q[0, 1, 2, 3, 5], %k[0, 1, 4, 3, 5] : tensor<2x3x5x4x8xf32>, tensor<2x3x7x4x8xf32> -> tensor<2x3x5x4x7xf32>
  %j = tenon.iota 0 : tensor<7xi32>
  %row = tenon.broadcast %j [0] : tensor<7xi32> -> tensor<7x2xi32>
  %lengths = tenon.broadcast %len [1] : tensor<2xi32> -> tensor<7x2xi32>
  %real = tenon.compare lt %row, %lengths : tensor<7x2xi32> -> tensor<7x2xi1>
  %y = tenon.attend scores(%content) masks(%real) value(%v) labels [[0, 1, 2, 3, 5], [5, 0], [0, 1, 5, 3, 4]] scale 0.125 rate 0.0 site 0
    : (tensor<2x3x5x4x7xf32>, tensor<7x2xi1>, tensor<2x3x7x4x6xf32>) -> tensor<2x3x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x3x5x4x6xf32>
  return
}

// -----

// A mask that depends on the head makes it a batch.
// CHECK-LABEL: @mask_of_a_head
// CHECK: "tenon.attention"
// CHECK-SAME: index_labels = [array<i64: 0, 2>]
// CHECK-SAME: (tensor<8x5x1x8xf32>, tensor<8x7x1x8xf32>, tensor<8x7x1x6xf32>, tensor<8x7xi1>)
func.func @mask_of_a_head(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %m: tensor<4x7xi1>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content) masks(%m) value(%v) labels [[0, 1, 2, 4], [2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<4x7xi1>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
