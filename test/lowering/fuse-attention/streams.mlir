// Places chosen per row of the batch, gathered places, and terms selected by a condition.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// XLNet: gathered places, reversed in the rows that `back` names.
// CHECK-LABEL: @query_stream
// CHECK-NOT: tenon.gather
// CHECK-NOT: tenon.dot
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6)
// CHECK-SAME: back = 1 : i64, index_labels = [array<i64: 0, 1>, array<i64: 0>]
// CHECK-SAME: place = [{coefficients = array<i64: 1>, key = -1 : i64, operands = array<i64: 0>, rest = #map}, {coefficients = array<i64: -1>, key = 1 : i64, operands = array<i64: 0>, rest = #map}]
func.func @query_stream(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %table: tensor<12x4x8xf32>, %at: tensor<2x5xi32>, %back: tensor<2xi1>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %at_row = tenon.broadcast %at [0, 1] : tensor<2x5xi32> -> tensor<2x5x7xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %js = tenon.broadcast %j [2] : tensor<7xi32> -> tensor<2x5x7xi32>
  %ahead = tenon.sub %at_row, %js : tensor<2x5x7xi32>
  %behind = tenon.sub %js, %at_row : tensor<2x5x7xi32>
  %back_row = tenon.broadcast %back [0] : tensor<2xi1> -> tensor<2x5x7xi1>
  %signed = tenon.select %back_row, %behind, %ahead : tensor<2x5x7xi1>, tensor<2x5x7xi32>
  %six = tenon.constant 6.0 : tensor<2x5x7xi32>
  %d = tenon.add %six, %signed : tensor<2x5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 3, 4] index_dims [0, 1, 2] : tensor<12x4x8xf32>, tensor<2x5x7xi32> -> tensor<2x5x7x4x8xf32>
  %position = tenon.dot %p[0, 1, 2, 4], %rows[0, 1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%position, %content) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// CHECK-LABEL: @segments
// CHECK-NOT: tenon.gather
// CHECK: %[[G:.*]] = tenon.dot %arg3{{.*}} -> tensor<2x5x4x2xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[G]], %arg5, %arg6)
// CHECK-SAME: select = ["not", {coefficients = array<i64: 1, -1>, operands = array<i64: 0, 1>, test = "eq"}]
func.func @segments(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %same: tensor<2x4x8xf32>, %segments: tensor<2x5xi32>, %others: tensor<2x7xi32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %mine = tenon.broadcast %segments [0, 1] : tensor<2x5xi32> -> tensor<2x5x7xi32>
  %theirs = tenon.broadcast %others [0, 2] : tensor<2x7xi32> -> tensor<2x5x7xi32>
  %differ = tenon.compare ne %mine, %theirs : tensor<2x5x7xi32> -> tensor<2x5x7xi1>
  %one = tenon.constant 1.0 : tensor<2x5x7xi32>
  %none = tenon.constant 0.0 : tensor<2x5x7xi32>
  %g = tenon.select %differ, %one, %none : tensor<2x5x7xi1>, tensor<2x5x7xi32>
  %keys = tenon.gather %same[%g] dim 0 x_dims [-1, 3, 4] index_dims [0, 1, 2] : tensor<2x4x8xf32>, tensor<2x5x7xi32> -> tensor<2x5x7x4x8xf32>
  %segment = tenon.dot %p[0, 1, 2, 4], %keys[0, 1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %segment) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// The other value where the condition holds.
// CHECK-LABEL: @segments_exchanged
// CHECK-NOT: tenon.gather
// CHECK: "tenon.attention"
// CHECK-SAME: select = ["not", ["not", {coefficients
func.func @segments_exchanged(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %same: tensor<2x4x8xf32>, %segments: tensor<2x5xi32>, %others: tensor<2x7xi32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %mine = tenon.broadcast %segments [0, 1] : tensor<2x5xi32> -> tensor<2x5x7xi32>
  %theirs = tenon.broadcast %others [0, 2] : tensor<2x7xi32> -> tensor<2x5x7xi32>
  %differ = tenon.compare ne %mine, %theirs : tensor<2x5x7xi32> -> tensor<2x5x7xi1>
  %one = tenon.constant 1.0 : tensor<2x5x7xi32>
  %none = tenon.constant 0.0 : tensor<2x5x7xi32>
  %g = tenon.select %differ, %none, %one : tensor<2x5x7xi1>, tensor<2x5x7xi32>
  %keys = tenon.gather %same[%g] dim 0 x_dims [-1, 3, 4] index_dims [0, 1, 2] : tensor<2x4x8xf32>, tensor<2x5x7xi32> -> tensor<2x5x7x4x8xf32>
  %segment = tenon.dot %p[0, 1, 2, 4], %keys[0, 1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %segment) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
