// What scores are multiplied by, and functions of the distance.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// A number that all contractions of keys have goes into the scale, a quotient too: no query is multiplied.
// CHECK-LABEL: @divided
// CHECK-NOT: tenon.mul
// CHECK-NOT: tenon.div
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2) <{{.*}} scale = 2.500000e-02 : f64
func.func @divided(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %ten = tenon.constant 10.0 : tensor<2x5x4x7xf32>
  %divided = tenon.div %s, %ten : tensor<2x5x4x7xf32>
  %half = tenon.constant 0.5 : tensor<2x5x4x7xf32>
  %halved = tenon.mul %half, %divided : tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%halved) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.5 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// ALiBi: the slope times the distance is a table of distances, made once; what divides the contraction and not the table is made up for there.
// CHECK-LABEL: @alibi
// CHECK: %[[PLACES:.*]] = tenon.iota 0 : tensor<11xi32>
// CHECK: tenon.mul {{.*}} : tensor<11x4xf32>
// CHECK: %[[TABLE:.*]] = tenon.mul {{.*}} : tensor<11x4xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[TABLE]])
// CHECK-SAME: place = [{key = 1 : i64, query = -1 : i64, rest = #map}]
// CHECK-SAME: scale = 1.000000e-01 : f64
func.func @alibi(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %slope: tensor<4xf32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %ten = tenon.constant 10.0 : tensor<2x5x4x7xf32>
  %divided = tenon.div %s, %ten : tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [1] : tensor<5xi32> -> tensor<7x5xi32>
  %js = tenon.broadcast %j [0] : tensor<7xi32> -> tensor<7x5xi32>
  %d = tenon.sub %js, %is : tensor<7x5xi32>
  %real = tenon.convert %d : tensor<7x5xi32> -> tensor<7x5xf32>
  %far = tenon.broadcast %real [1, 2] : tensor<7x5xf32> -> tensor<4x7x5xf32>
  %slopes = tenon.broadcast %slope [0] : tensor<4xf32> -> tensor<4x7x5xf32>
  %bias = tenon.mul %far, %slopes : tensor<4x7x5xf32>
  %y = tenon.attend scores(%divided, %bias) masks() value(%v) labels [[0, 1, 2, 4], [2, 4, 1], [0, 4, 2, 3]] scale 1.0 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<4x7x5xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A score per key and head is a table that is read at the key.
// CHECK-LABEL: @bias_of_a_key
// CHECK: %[[TABLE:.*]] = tenon.broadcast %arg3 [1, 0] : tensor<4x7xf32> -> tensor<7x4xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[TABLE]])
// CHECK-SAME: place = [{key = 1 : i64}]
func.func @bias_of_a_key(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<4x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Factors of query and key go to their side.
// CHECK-LABEL: @weighed
// CHECK: %[[Q:.*]] = tenon.div %arg0, {{.*}} : tensor<2x5x4x8xf32>
// CHECK: %[[K:.*]] = tenon.mul %arg1, {{.*}} : tensor<2x7x4x8xf32>
// CHECK: "tenon.attention"(%[[Q]], %[[K]], %arg2)
func.func @weighed(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %warm: tensor<2x5x4xf32>, %gain: tensor<4x7xf32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %warms = tenon.broadcast %warm [0, 1, 2] : tensor<2x5x4xf32> -> tensor<2x5x4x7xf32>
  %gains = tenon.broadcast %gain [2, 3] : tensor<4x7xf32> -> tensor<2x5x4x7xf32>
  %cool = tenon.div %s, %warms : tensor<2x5x4x7xf32>
  %score = tenon.mul %cool, %gains : tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%score) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
