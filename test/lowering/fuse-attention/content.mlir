// One content term under masks that are linear in query and key.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// CHECK-LABEL: @causal_and_length
// CHECK-NOT: tenon.dot
// CHECK-NOT: tenon.compare
// CHECK: "tenon.attention"
// CHECK-SAME: index_labels = [array<i64: 0>]
// CHECK-SAME: key = 1 : i64, query = -1 : i64, rest = #map, test = "le"
// CHECK-SAME: coefficients = array<i64: -1>, key = 1 : i64, operands = array<i64: 0>, rest = #map1
func.func @causal_and_length(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %len: tensor<2xi32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %two = tenon.constant 2.0 : tensor<5xi32>
  %place = tenon.add %i, %two : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %places = tenon.broadcast %place [1] : tensor<5xi32> -> tensor<7x5xi32>
  %keys = tenon.broadcast %j [0] : tensor<7xi32> -> tensor<7x5xi32>
  %causal = tenon.compare le %keys, %places : tensor<7x5xi32> -> tensor<7x5xi1>
  %row = tenon.broadcast %j [0] : tensor<7xi32> -> tensor<7x2xi32>
  %lengths = tenon.broadcast %len [1] : tensor<2xi32> -> tensor<7x2xi32>
  %real = tenon.compare lt %row, %lengths : tensor<7x2xi32> -> tensor<7x2xi1>
  %y = tenon.attend scores(%s) masks(%causal, %real) value(%v) labels [[0, 1, 2, 4], [4, 1], [4, 0], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<7x5xi1>, tensor<7x2xi1>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Stored short: statistics and what is added to scores are of the type that scores are computed in.
// CHECK-LABEL: @short
// CHECK-NOT: tenon.attend
// CHECK: %[[TABLE:.*]] = tenon.convert %{{.*}} : tensor<7x4xbf16> -> tensor<7x4xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[TABLE]])
// CHECK-SAME: -> (tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
func.func @short(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x7x4x8xbf16>, %v: tensor<2x7x4x6xbf16>, %bias: tensor<4x7xbf16>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xbf16>, tensor<2x7x4x8xbf16> -> tensor<2x5x4x7xbf16>
  %y = tenon.attend scores(%s, %bias) masks() value(%v) labels [[0, 1, 2, 4], [2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xbf16>, tensor<4x7xbf16>, tensor<2x7x4x6xbf16>) -> tensor<2x5x4x6xbf16>
  tenon.output 0 "y", %y : tensor<2x5x4x6xbf16>
  return
}

// -----

// Contractions that share neither side are one over both widths; queries of the same keys are added.
// CHECK-LABEL: @beside
// CHECK-DAG: %[[SUM:.*]] = tenon.add %arg0, %arg4 : tensor<2x5x4x8xf32>
// CHECK-DAG: %[[QUERY:.*]] = tenon.concat 3 %[[SUM]], %arg2
// CHECK-DAG: %[[SHARED:.*]] = tenon.broadcast %arg3 [0, 1, 3] : tensor<2x7x3xf32> -> tensor<2x7x4x3xf32>
// CHECK-DAG: %[[KEY:.*]] = tenon.concat 3 %arg1, %[[SHARED]]
// CHECK: "tenon.attention"(%[[QUERY]], %[[KEY]], %arg5)
func.func @beside(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %p: tensor<2x5x4x3xf32>, %r: tensor<2x7x3xf32>, %u: tensor<2x5x4x8xf32>, %v: tensor<2x7x4x6xf32>) {
  %a = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %b = tenon.dot %p[0, 1, 2, 4], %r[0, 3, 4] : tensor<2x5x4x3xf32>, tensor<2x7x3xf32> -> tensor<2x5x4x7xf32>
  %c = tenon.dot %u[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%a, %b, %c) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
