// Queries that are rows of a whole: where they stand there becomes an index operand that dropout draws by.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// The mask reads the same places: one operand.
// CHECK-LABEL: @rows
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: drawn_at = 0 : i64, drawn_of = #[[WHOLE:.*]], index_labels = [array<i64: 0, 1>]
// CHECK-SAME: operands = array<i64: 0>
// CHECK-SAME: rate = 1.000000e-01
func.func @rows(%q: tensor<2x3x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %at: tensor<2x3xi32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x3x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x3x4x7xf32>
  %j = tenon.iota 0 : tensor<7xi32>
  %keys = tenon.broadcast %j [2] : tensor<7xi32> -> tensor<2x3x7xi32>
  %places = tenon.broadcast %at [0, 1] : tensor<2x3xi32> -> tensor<2x3x7xi32>
  %causal = tenon.compare le %keys, %places : tensor<2x3x7xi32> -> tensor<2x3x7xi1>
  %y = tenon.attend scores(%s) masks(%causal) value(%v) drawn(%at) of affine_map<() -> (7)> labels [[0, 1, 2, 4], [0, 1, 4], [0, 4, 2, 3], [0, 1]] scale 0.125 rate 0.1 site 3
    : (tensor<2x3x4x7xf32>, tensor<2x3x7xi1>, tensor<2x7x4x6xf32>, tensor<2x3xi32>) -> tensor<2x3x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x3x4x6xf32>
  return
}

// -----

// Places that all texts share.
// CHECK-LABEL: @shared
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: drawn_at = 0 : i64, drawn_of = #{{.*}}, index_labels = [array<i64: 1>]
func.func @shared(%q: tensor<2x3x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %at: tensor<3xi32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x3x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x3x4x7xf32>
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (7)> labels [[0, 1, 2, 4], [0, 4, 2, 3], [1]] scale 0.125 rate 0.1 site 3
    : (tensor<2x3x4x7xf32>, tensor<2x7x4x6xf32>, tensor<3xi32>) -> tensor<2x3x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x3x4x6xf32>
  return
}

// -----

// Rows of the batch are drawn by the parts that the op is taken into.
// CHECK-LABEL: @batch
// CHECK: tenon.attend
func.func @batch(%q: tensor<2x3x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %at: tensor<2xi32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x3x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x3x4x7xf32>
  // expected-warning @+1 {{what dropout draws is that of some rows of a whole, which are not its queries or differ by head; not fused}}
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (9)> labels [[0, 1, 2, 4], [0, 4, 2, 3], [0]] scale 0.125 rate 0.1 site 3
    : (tensor<2x3x4x7xf32>, tensor<2x7x4x6xf32>, tensor<2xi32>) -> tensor<2x3x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x3x4x6xf32>
  return
}
