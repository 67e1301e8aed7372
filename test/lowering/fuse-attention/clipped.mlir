// Tables at a function of the distance between key and query: their rows are put into the order of the distance, where the place is linear.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// table[clip(j - i, -2, 2) + 2] of 5 queries and 7 keys: eleven distances, of which nothing is read that the table does not have.
// CHECK-LABEL: @clipped
// CHECK-DAG: %[[D:.*]] = tenon.iota 0 : tensor<11xi32>
// CHECK-DAG: %[[LEAST:.*]] = tenon.constant -4.000000e+00 : tensor<11xi32>
// CHECK: %[[DISTANCE:.*]] = tenon.add %[[D]], %[[LEAST]]
// CHECK: %[[LOW:.*]] = tenon.max %[[DISTANCE]]
// CHECK: %[[HIGH:.*]] = tenon.min %[[LOW]]
// CHECK: %[[ROW:.*]] = tenon.add %[[HIGH]]
// CHECK: %[[TABLE:.*]] = tenon.gather %arg4[%[[ROW]]] dim 0 x_dims [-1, 1, 2] index_dims [0] : tensor<5x4x8xf32>, tensor<11xi32> -> tensor<11x4x8xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3, %[[TABLE]])
// CHECK-SAME: place = [{key = 1 : i64, query = -1 : i64, rest = #map}]
// CHECK-NOT: tensor<5x7x
func.func @clipped(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %table: tensor<5x4x8xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %distance = tenon.sub %js, %is : tensor<5x7xi32>
  %low = tenon.constant -2.0 : tensor<5x7xi32>
  %high = tenon.constant 2.0 : tensor<5x7xi32>
  %above = tenon.max %distance, %low : tensor<5x7xi32>
  %within = tenon.min %above, %high : tensor<5x7xi32>
  %d = tenon.add %within, %high : tensor<5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] : tensor<5x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %position = tenon.dot %p[0, 1, 2, 4], %rows[1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %position) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A linear place beside a clipped one: both tables in the order of the distance, with the clamp of each.
// CHECK-LABEL: @clipped_beside_linear
// CHECK-DAG: %[[TABLE:.*]] = tenon.gather %arg3[%{{.*}}] dim 0 x_dims [-1, 1, 2] index_dims [0] clamp : tensor<12x4x8xf32>, tensor<11xi32> -> tensor<11x4x8xf32>
// CHECK-DAG: %[[BIAS:.*]] = tenon.gather %arg4[%{{.*}}] dim 1 x_dims [0, -1] index_dims [1] : tensor<4x3xf32>, tensor<11xi32> -> tensor<4x11xf32>
// CHECK: %[[SCORES:.*]] = tenon.broadcast %[[BIAS]] [1, 0]
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg0, %[[TABLE]], %[[SCORES]])
func.func @clipped_beside_linear(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %table: tensor<12x4x8xf32>, %bias: tensor<4x3xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %back = tenon.sub %is, %js : tensor<5x7xi32>
  %two = tenon.constant 2.0 : tensor<5x7xi32>
  %d = tenon.add %back, %two : tensor<5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] clamp : tensor<12x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %position = tenon.dot %q[0, 1, 2, 4], %rows[1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %far = tenon.abs %back : tensor<5x7xi32>
  %near = tenon.min %far, %two : tensor<5x7xi32>
  %distance = tenon.gather %bias[%near] dim 1 x_dims [0, -1] index_dims [1, 2] : tensor<4x3xf32>, tensor<5x7xi32> -> tensor<4x5x7xf32>
  %y = tenon.attend scores(%content, %position, %distance) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [2, 1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<4x5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Queries that are as many places further on as earlier calls have brought: one number for all of them.
// CHECK-LABEL: @walked
// CHECK: %[[POSITION:.*]] = tenon.read_state 0
// CHECK: tenon.broadcast %[[POSITION]] [] : tensor<i32> -> tensor<11xi32>
// CHECK: "tenon.attention"
func.func @walked(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<3x4xf32>) attributes {tenon.states = [tensor<i32>]} {
  %position = tenon.read_state 0 : tensor<i32>
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %new = tenon.iota 0 : tensor<5xi32>
  %from = tenon.broadcast %position [] : tensor<i32> -> tensor<5xi32>
  %i = tenon.add %new, %from : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %back = tenon.sub %is, %js : tensor<5x7xi32>
  %two = tenon.constant 2.0 : tensor<5x7xi32>
  %d = tenon.min %back, %two : tensor<5x7xi32>
  %bias = tenon.gather %t[%d] dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<3x4xf32>, tensor<5x7xi32> -> tensor<5x7x4xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [1, 4, 2], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7x4xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A bound that depends on the query is no function of the distance: the place is computed for each pair.
// CHECK-LABEL: @bound_of_the_query
// CHECK: "tenon.attention"
// CHECK-SAME: computes_place
// CHECK-SAME: index_labels = [array<i64: 1>, array<i64: 2>, array<i64: 1>]
// CHECK-NEXT: ^bb0(%[[MINUS:.*]]: i32, %[[J:.*]]: i32, %[[I:.*]]: i32):
// CHECK-NEXT: %[[D:.*]] = arith.addi %[[MINUS]], %[[J]] : i32
// CHECK-NEXT: %[[LESS:.*]] = arith.cmpi slt, %[[D]], %[[I]] : i32
func.func @bound_of_the_query(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<12x4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %distance = tenon.sub %js, %is : tensor<5x7xi32>
  %d = tenon.max %distance, %is : tensor<5x7xi32>
  %bias = tenon.gather %t[%d] dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<12x4xf32>, tensor<5x7xi32> -> tensor<5x7x4xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [1, 4, 2], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7x4xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// So it is where a distance is from a place that each row of the batch has of its own.
// CHECK-LABEL: @own_places
// CHECK: "tenon.attention"
// CHECK-SAME: computes_place
func.func @own_places(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %at: tensor<2x5xi32>, %t: tensor<12x4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %ats = tenon.broadcast %at [0, 1] : tensor<2x5xi32> -> tensor<2x5x7xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %js = tenon.broadcast %j [2] : tensor<7xi32> -> tensor<2x5x7xi32>
  %distance = tenon.sub %js, %ats : tensor<2x5x7xi32>
  %three = tenon.constant 3.0 : tensor<2x5x7xi32>
  %d = tenon.min %distance, %three : tensor<2x5x7xi32>
  %bias = tenon.gather %t[%d] dim 0 x_dims [-1, 3] index_dims [0, 1, 2] clamp : tensor<12x4xf32>, tensor<2x5x7xi32> -> tensor<2x5x7x4xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 4, 2], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x7x4xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
