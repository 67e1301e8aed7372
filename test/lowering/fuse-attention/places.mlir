// Tables at a place that is computed for each pair, and keys that are contracted with a table.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention{without=computed,key}))' 2>&1 | FileCheck %s --check-prefix=WITHOUT --implicit-check-not='"tenon.attention"'
// WITHOUT: not supported yet: a computed term; not fused
// WITHOUT: not supported yet: a key term; not fused

// The offset in a grid of three columns: one integer of the query and one of the key are left, numbers among them.
// CHECK-LABEL: @grid
// CHECK-DAG: %[[I:.*]] = tenon.iota 0 : tensor<6xi32>
// CHECK: %[[QUERY:.*]] = tenon.add %{{.*}} : tensor<6xi32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3, %{{.*}}, %{{.*}}) <{computes_place, index_labels = [array<i64: 1>, array<i64: 2>]
// CHECK-SAME: place = []
// CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32):
// CHECK-NEXT: %[[D:.*]] = arith.addi %[[A]], %[[B]] : i32
// CHECK-NEXT: tenon.yield %[[D]] : i32
// CHECK-NOT: tensor<6x6xi32>
func.func @grid(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x4x8xf32>, %v: tensor<2x6x4x6xf32>, %t: tensor<15x4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x6x4x8xf32>, tensor<2x6x4x8xf32> -> tensor<2x6x4x6xf32>
  %i = tenon.iota 0 : tensor<6xi32>
  %columns = tenon.constant 3.0 : tensor<6xi32>
  %row = tenon.floordiv %i, %columns : tensor<6xi32>
  %column = tenon.mod %i, %columns : tensor<6xi32>
  %rows_i = tenon.broadcast %row [0] : tensor<6xi32> -> tensor<6x6xi32>
  %rows_j = tenon.broadcast %row [1] : tensor<6xi32> -> tensor<6x6xi32>
  %columns_i = tenon.broadcast %column [0] : tensor<6xi32> -> tensor<6x6xi32>
  %columns_j = tenon.broadcast %column [1] : tensor<6xi32> -> tensor<6x6xi32>
  %down = tenon.sub %rows_i, %rows_j : tensor<6x6xi32>
  %right = tenon.sub %columns_i, %columns_j : tensor<6x6xi32>
  %one = tenon.constant 1.0 : tensor<6x6xi32>
  %two = tenon.constant 2.0 : tensor<6x6xi32>
  %five = tenon.constant 5.0 : tensor<6x6xi32>
  %from = tenon.add %down, %one : tensor<6x6xi32>
  %scaled = tenon.mul %from, %five : tensor<6x6xi32>
  %at = tenon.add %right, %two : tensor<6x6xi32>
  %d = tenon.add %scaled, %at : tensor<6x6xi32>
  %bias = tenon.gather %t[%d] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<15x4xf32>, tensor<6x6xi32> -> tensor<6x6x4xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [1, 4, 2], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x6x4x6xf32>, tensor<6x6x4xf32>, tensor<2x6x4x6xf32>) -> tensor<2x6x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x6x4x6xf32>
  return
}

// -----

// A function of the distance beside one of the key's place: rows of one table behind each other, which add up.
// CHECK-LABEL: @distance_and_place
// CHECK: tenon.pad {{.*}} -> tensor<4x18xf32>
// CHECK: tenon.pad {{.*}} -> tensor<18xf32>
// CHECK: "tenon.attention"
// CHECK-SAME: computes_place
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, {{[0-9]+}}, 0>, place = []
// CHECK: tenon.yield %{{.*}}, %{{.*}} : i32, i32
func.func @distance_and_place(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<4x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %d = tenon.sub %js, %is : tensor<5x7xi32>
  %far = tenon.convert %d : tensor<5x7xi32> -> tensor<5x7xf32>
  %y = tenon.attend scores(%content, %bias, %far) masks() value(%v) labels [[0, 1, 2, 4], [2, 4], [1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<4x7xf32>, tensor<5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// So it is where only one is a table of vectors.
// CHECK-LABEL: @other_choice
// CHECK: "tenon.attention"
// CHECK-SAME: computes_place
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, {{[0-9]+}}, 0>, place = []
// CHECK: tenon.yield %{{.*}}, %{{.*}} : i32, i32
func.func @other_choice(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>, %table: tensor<12x4x8xf32>, %at: tensor<2x5xi32>, %back: tensor<2xi1>, %odd: tensor<7xi1>, %bias: tensor<4x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %at_row = tenon.broadcast %at [0, 1] : tensor<2x5xi32> -> tensor<2x5x7xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %js = tenon.broadcast %j [2] : tensor<7xi32> -> tensor<2x5x7xi32>
  %ahead = tenon.sub %at_row, %js : tensor<2x5x7xi32>
  %behind = tenon.sub %js, %at_row : tensor<2x5x7xi32>
  %back_row = tenon.broadcast %back [0] : tensor<2xi1> -> tensor<2x5x7xi1>
  %odd_row = tenon.broadcast %odd [2] : tensor<7xi1> -> tensor<2x5x7xi1>
  %signed = tenon.select %odd_row, %behind, %ahead : tensor<2x5x7xi1>, tensor<2x5x7xi32>
  %six = tenon.constant 6.0 : tensor<2x5x7xi32>
  %d = tenon.add %six, %signed : tensor<2x5x7xi32>
  %rows = tenon.gather %table[%d] dim 0 x_dims [-1, 3, 4] index_dims [0, 1, 2] : tensor<12x4x8xf32>, tensor<2x5x7xi32> -> tensor<2x5x7x4x8xf32>
  %position = tenon.dot %p[0, 1, 2, 4], %rows[0, 1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %position, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Disentangled attention: both tables in the order of the distance, read at one place.
// CHECK-LABEL: @disentangled
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg0, %{{.*}}, %arg1, %{{.*}}) <{
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0>, place = [{key = 1 : i64, query = -1 : i64, rest = #map}]
func.func @disentangled(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %r: tensor<6x4x8xf32>, %w: tensor<6x4x8xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %three = tenon.constant 3.0 : tensor<5x7xi32>
  %zero = tenon.constant 0.0 : tensor<5x7xi32>
  %five = tenon.constant 5.0 : tensor<5x7xi32>
  %behind = tenon.sub %is, %js : tensor<5x7xi32>
  %ahead = tenon.sub %js, %is : tensor<5x7xi32>
  %b0 = tenon.add %behind, %three : tensor<5x7xi32>
  %b1 = tenon.max %b0, %zero : tensor<5x7xi32>
  %b2 = tenon.min %b1, %five : tensor<5x7xi32>
  %a0 = tenon.add %ahead, %three : tensor<5x7xi32>
  %a1 = tenon.max %a0, %zero : tensor<5x7xi32>
  %a2 = tenon.min %a1, %five : tensor<5x7xi32>
  %r_rows = tenon.gather %r[%b2] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] : tensor<6x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %w_rows = tenon.gather %w[%a2] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] : tensor<6x4x8xf32>, tensor<5x7xi32> -> tensor<5x7x4x8xf32>
  %to_place = tenon.dot %q[0, 1, 2, 4], %r_rows[1, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %of_place = tenon.dot %k[0, 3, 2, 4], %w_rows[1, 3, 2, 4] : tensor<2x7x4x8xf32>, tensor<5x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %to_place, %of_place) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
