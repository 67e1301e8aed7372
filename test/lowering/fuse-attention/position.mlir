// Terms of relative positions at a place that is linear in query and key.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// The position term of Transformer-XL, contracted before or after the gather: tenon-simplify turns the second into the first.
// CHECK-LABEL: @content_and_position
// CHECK-NOT: tenon.gather
// CHECK-NOT: tenon.dot
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3, %arg4)
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, place = [{key = -1 : i64, query = 1 : i64, rest = #map}]
func.func @content_and_position(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %table: tensor<12x4x8xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %two = tenon.constant 2.0 : tensor<5xi32>
  %from = tenon.add %two, %i : tensor<5xi32>
  %is = tenon.broadcast %from [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %is, %js : tensor<5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] clamp : tensor<12x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %position = tenon.dot %p[0, 1, 2, 4], %rows[1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %position) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// One score that is a sum, its parts exchanged.
// CHECK-LABEL: @other_order
// CHECK-NOT: tenon.gather
// CHECK-NOT: tenon.dot
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3, %arg4)
func.func @other_order(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %table: tensor<12x4x8xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %two = tenon.constant 2.0 : tensor<5xi32>
  %from = tenon.add %two, %i : tensor<5xi32>
  %is = tenon.broadcast %from [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %is, %js : tensor<5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] clamp : tensor<12x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %position = tenon.dot %p[0, 1, 2, 4], %rows[1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %sum = tenon.add %position, %content : tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%sum) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// (q + u) . k and (q + u) . r, multiplied out.
// CHECK-LABEL: @multiplied_out
// CHECK-NOT: tenon.gather
// CHECK: %[[U:.*]] = tenon.broadcast %arg3 [2, 3]
// CHECK: %[[Q:.*]] = tenon.add %[[U]], %arg0
// CHECK: "tenon.attention"(%[[Q]], %arg1, %arg2, %[[Q]], %arg4)
func.func @multiplied_out(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %u: tensor<4x8xf32>, %table: tensor<12x4x8xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %two = tenon.constant 2.0 : tensor<5xi32>
  %from = tenon.add %two, %i : tensor<5xi32>
  %is = tenon.broadcast %from [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %is, %js : tensor<5x7xi32>
  %u_k = tenon.dot %u[0, 3], %k[1, 2, 0, 3] : tensor<4x8xf32>, tensor<2x7x4x8xf32> -> tensor<4x2x7xf32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] clamp : tensor<12x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %q_r = tenon.dot %q[0, 1, 2, 4], %rows[1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %u_r = tenon.dot %u[2, 3], %rows[0, 1, 2, 3] : tensor<4x8xf32>, tensor<5x7x4x8xf32> -> tensor<5x7x4xf32>
  %y = tenon.attend scores(%u_r, %q_r, %u_k, %content) masks() value(%v) labels [[1, 4, 2], [0, 1, 2, 4], [2, 0, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<5x7x4xf32>, tensor<2x5x4x7xf32>, tensor<4x2x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A constant factor goes to the query.
// CHECK-LABEL: @subtracted
// CHECK: %[[F:.*]] = tenon.constant -2.000000e+00
// CHECK: %[[P:.*]] = tenon.mul %arg3, %[[F]]
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[P]], %arg4)
func.func @subtracted(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %table: tensor<12x4x8xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %two = tenon.constant 2.0 : tensor<5xi32>
  %from = tenon.add %two, %i : tensor<5xi32>
  %is = tenon.broadcast %from [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %is, %js : tensor<5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] clamp : tensor<12x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %position = tenon.dot %p[0, 1, 2, 4], %rows[1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %twice = tenon.constant 2.0 : tensor<2x5x4x7xf32>
  %scaled = tenon.mul %twice, %position : tensor<2x5x4x7xf32>
  %difference = tenon.sub %content, %scaled : tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%difference) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A term that is switched off.
// CHECK-LABEL: @zero
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2)
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, place = []
func.func @zero(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %zero = tenon.constant 0.0 : tensor<f32>
  %zeros = tenon.broadcast %zero [] : tensor<f32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%zeros, %content) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Operands in another layout are brought into order.
// CHECK-LABEL: @other_layout
// CHECK: %[[Q:.*]] = tenon.broadcast %arg0 [0, 2, 1, 3]
// CHECK: %[[K:.*]] = tenon.broadcast %arg1 [0, 2, 1, 3]
// CHECK: "tenon.attention"(%[[Q]], %[[K]], %arg2)
func.func @other_layout(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x7x4x6xf32>) {
  %content = tenon.dot %q[0, 2, 1, 4], %k[0, 2, 3, 4] : tensor<2x4x5x8xf32>, tensor<2x4x7x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A score per relative position.
// CHECK-LABEL: @score_table
// CHECK-NOT: tenon.gather
// CHECK-NOT: tenon.dot
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>, place = [{key = -1 : i64, query = 1 : i64, rest = #map}]
func.func @score_table(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<12x4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %two = tenon.constant 2.0 : tensor<5xi32>
  %from = tenon.add %two, %i : tensor<5xi32>
  %is = tenon.broadcast %from [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %is, %js : tensor<5x7xi32>
  %bias = tenon.gather %t[%d] dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<12x4xf32>, tensor<5x7xi32> -> tensor<5x7x4xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [1, 4, 2], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7x4xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
