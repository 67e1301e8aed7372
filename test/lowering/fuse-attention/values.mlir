// Relative values: tables at functions of the distance that are added to the values of the keys.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// With the query in front, as the language gives it; the place is linear and the table stays as it is.
// CHECK-LABEL: @query_in_front
// CHECK-NOT: tenon.gather
// CHECK: %[[TABLE:.*]] = tenon.broadcast %arg3 [0, 2] : tensor<12x6xf32> -> tensor<12x4x6xf32>
// CHECK: %[[Y:.*]], %{{.*}}, %{{.*}} = "tenon.attention"(%arg0, %arg1, %arg2, %[[TABLE]])
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>, place = [{key = -1 : i64, query = 1 : i64, rest = #map}]
// CHECK: tenon.broadcast %[[Y]] [1, 0, 2, 3] : tensor<2x5x4x6xf32> -> tensor<5x2x4x6xf32>
func.func @query_in_front(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %table: tensor<12x6xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %six = tenon.constant 6.0 : tensor<5xi32>
  %from = tenon.add %i, %six : tensor<5xi32>
  %is = tenon.broadcast %from [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %is, %js : tensor<5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<12x6xf32>, tensor<5x7xi32> -> tensor<5x7x6xf32>
  %far = tenon.broadcast %rows [0, 2, 4] : tensor<5x7x6xf32> -> tensor<5x2x7x4x6xf32>
  %near = tenon.broadcast %v [1, 2, 3, 4] : tensor<2x7x4x6xf32> -> tensor<5x2x7x4x6xf32>
  %values = tenon.add %far, %near : tensor<5x2x7x4x6xf32>
  %y = tenon.attend scores(%content) masks() value(%values) labels [[1, 0, 2, 4], [0, 1, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x2x7x4x6xf32>) -> tensor<5x2x4x6xf32>
  tenon.output 0 "y", %y : tensor<5x2x4x6xf32>
  return
}

// -----

// Clipped, beside a table of scores at another place: both in the order of the distance.
// CHECK-LABEL: @clipped
// CHECK-DAG: %[[BIAS:.*]] = tenon.gather %arg4[%{{.*}}] dim 0 x_dims [-1, 1] index_dims [0] clamp : tensor<12x4xf32>, tensor<11xi32> -> tensor<11x4xf32>
// CHECK-DAG: %[[TABLE:.*]] = tenon.gather %arg3[%{{.*}}] dim 0 x_dims [-1, 1, 2] index_dims [0] : tensor<3x4x6xf32>, tensor<11xi32> -> tensor<11x4x6xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[BIAS]], %[[TABLE]])
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0>, place = [{key = 1 : i64, query = -1 : i64, rest = #map}]
// CHECK-NOT: 5x7x
func.func @clipped(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %table: tensor<3x4x6xf32>, %bias: tensor<12x4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %is, %js : tensor<5x7xi32>
  %term = tenon.gather %bias[%d] dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<12x4xf32>, tensor<5x7xi32> -> tensor<5x7x4xf32>
  %low = tenon.constant -1.0 : tensor<5x7xi32>
  %one = tenon.constant 1.0 : tensor<5x7xi32>
  %above = tenon.max %d, %low : tensor<5x7xi32>
  %within = tenon.min %above, %one : tensor<5x7xi32>
  %place = tenon.add %within, %one : tensor<5x7xi32>
  %rows = tenon.gather %table[%place] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] : tensor<3x4x6xf32>, tensor<5x7xi32> -> tensor<5x7x4x6xf32>
  %far = tenon.broadcast %rows [1, 2, 3, 4] : tensor<5x7x4x6xf32> -> tensor<2x5x7x4x6xf32>
  %near = tenon.broadcast %v [0, 2, 3, 4] : tensor<2x7x4x6xf32> -> tensor<2x5x7x4x6xf32>
  %values = tenon.add %near, %far : tensor<2x5x7x4x6xf32>
  %y = tenon.attend scores(%content, %term) masks() value(%values) labels [[0, 1, 2, 4], [1, 4, 2], [0, 1, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7x4xf32>, tensor<2x5x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Values of a pair that no table gives.
// CHECK-LABEL: @of_the_pair
// CHECK: tenon.attend
func.func @of_the_pair(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %w: tensor<5x7x6xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %far = tenon.broadcast %w [1, 2, 4] : tensor<5x7x6xf32> -> tensor<2x5x7x4x6xf32>
  %near = tenon.broadcast %v [0, 2, 3, 4] : tensor<2x7x4x6xf32> -> tensor<2x5x7x4x6xf32>
  %values = tenon.add %near, %far : tensor<2x5x7x4x6xf32>
  // expected-warning@+1 {{the value depends on the query other than by a table of relative positions; not fused, so that its scores take 1120 bytes}}
  %y = tenon.attend scores(%content) masks() value(%values) labels [[0, 1, 2, 4], [0, 1, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A table at a place that is no function of the distance.
// CHECK-LABEL: @of_the_key
// CHECK: tenon.attend
func.func @of_the_key(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %table: tensor<12x6xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.max %is, %js : tensor<5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<12x6xf32>, tensor<5x7xi32> -> tensor<5x7x6xf32>
  %far = tenon.broadcast %rows [1, 2, 4] : tensor<5x7x6xf32> -> tensor<2x5x7x4x6xf32>
  %near = tenon.broadcast %v [0, 2, 3, 4] : tensor<2x7x4x6xf32> -> tensor<2x5x7x4x6xf32>
  %values = tenon.add %near, %far : tensor<2x5x7x4x6xf32>
  // expected-warning@+1 {{the table of the value: not supported yet: a place that is no function of the distance j - i; not fused, so that its scores take 1120 bytes}}
  %y = tenon.attend scores(%content) masks() value(%values) labels [[0, 1, 2, 4], [0, 1, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
