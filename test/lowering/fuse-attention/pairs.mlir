// Scores of pairs or keys that lie in memory.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' | FileCheck %s

// In the order of the op: read where it lies.
// CHECK-LABEL: @every_pair
// CHECK-NOT: tenon.broadcast
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>
func.func @every_pair(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<2x4x5x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 2, 1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x4x5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Heads behind.
// CHECK-LABEL: @other_order
// CHECK: %[[PAIRS:.*]] = tenon.broadcast %arg3 [0, 2, 3, 1] : tensor<2x5x7x4xf32> -> tensor<2x4x5x7xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[PAIRS]])
func.func @other_order(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<2x5x7x4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 4, 2], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x7x4xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// What batch and heads have in common is not repeated.
// CHECK-LABEL: @same_for_all
// CHECK: %[[PAIRS:.*]] = tenon.broadcast %arg3 [2, 3] : tensor<5x7xf32> -> tensor<1x1x5x7xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[PAIRS]])
func.func @same_for_all(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<5x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A number for each key of a row of the batch, as padding.
// CHECK-LABEL: @of_a_key
// CHECK: %[[PAIRS:.*]] = tenon.broadcast %arg3 [0, 3] : tensor<2x7xf32> -> tensor<2x1x1x7xf32>
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %[[PAIRS]])
func.func @of_a_key(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<2x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Several are one, over what some of them has.
// CHECK-LABEL: @sum
// CHECK: tenon.add {{.*}} : tensor<2x5x7xf32>
// CHECK: "tenon.attention"
// CHECK-SAME: array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>
func.func @sum(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %a: tensor<5x7xf32>, %b: tensor<2x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %a, %b) masks() value(%v) labels [[0, 1, 2, 4], [1, 4], [0, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7xf32>, tensor<2x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// A contraction of vectors of pairs (triangle attention).
// CHECK-LABEL: @representation
// CHECK: %[[PAIRS:.*]] = tenon.dot
// CHECK-NOT: tenon.attend
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %
func.func @representation(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %z: tensor<2x5x7x3xf32>, %w: tensor<3x4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %bias = tenon.dot %z[0, 1, 2, 4], %w[4, 3] : tensor<2x5x7x3xf32>, tensor<3x4xf32> -> tensor<2x5x7x4xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 4, 2], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x7x4xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Of 16 bits: widened as they are read.
// CHECK-LABEL: @short
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: tensor<2x4x5x7xbf16>
func.func @short(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<2x4x5x7xbf16>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %wide = tenon.convert %bias : tensor<2x4x5x7xbf16> -> tensor<2x4x5x7xf32>
  %y = tenon.attend scores(%content, %wide) masks() value(%v) labels [[0, 1, 2, 4], [0, 2, 1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x4x5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// The scale of the sum is the op's.
// CHECK-LABEL: @factor_of_all
// CHECK-NOT: tenon.mul
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %arg3)
// CHECK-SAME: scale = 1.250000e-01
func.func @factor_of_all(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<2x4x5x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 2, 1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x4x5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// That of the content alone goes to the queries, which are fewer than pairs.
// CHECK-LABEL: @factor_of_content
// CHECK: tenon.mul {{.*}} : tensor<2x5x4x8xf32>
// CHECK: "tenon.attention"(%{{[0-9]+}}, %arg1, %arg2, %arg3)
func.func @factor_of_content(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<2x4x5x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %half = tenon.constant 0.5 : tensor<2x5x4x7xf32>
  %less = tenon.mul %content, %half : tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%less, %bias) masks() value(%v) labels [[0, 1, 2, 4], [0, 2, 1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x4x5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Inside of a function of the sum.
// CHECK-LABEL: @function_of_sum
// CHECK: "tenon.attention"(%arg0, %arg1, %arg2, %{{.*}})
// CHECK: math.tanh
func.func @function_of_sum(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %bias: tensor<2x5x4x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %sum = tenon.add %content, %bias : tensor<2x5x4x7xf32>
  %capped = tenon.tanh %sum : tensor<2x5x4x7xf32>
  %y = tenon.attend scores(%capped) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// The axes of the batch that it lacks are not repeated: those behind (rows that share pairs), those in front (windows).
// CHECK-LABEL: @batches
// CHECK: %[[PAIRS:.*]] = tenon.broadcast %arg3 [0, 2, 3] : tensor<2x5x7xf32> -> tensor<2x1x5x7xf32>
// CHECK: "tenon.attention"({{.*}}, %[[PAIRS]]) <{{.*}}pair_batch = affine_map<() -> (1, 3)>
// CHECK: %[[PARTS:.*]] = tenon.broadcast %arg4 [0, 2, 3] : tensor<3x5x7xf32> -> tensor<3x1x5x7xf32>
// CHECK: "tenon.attention"({{.*}}, %[[PARTS]]) <{{.*}}pair_batch = affine_map<() -> (2, 1)>
func.func @batches(%q: tensor<2x3x5x4x8xf32>, %k: tensor<2x3x7x4x8xf32>, %v: tensor<2x3x7x4x6xf32>, %bias: tensor<2x5x7xf32>, %parts: tensor<3x5x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 3, 5], %k[0, 1, 4, 3, 5] : tensor<2x3x5x4x8xf32>, tensor<2x3x7x4x8xf32> -> tensor<2x3x5x4x7xf32>
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 3, 5], [0, 2, 5], [0, 1, 5, 3, 4]] scale 0.125 rate 0.0 site 0 {queries = array<i64: 2>}
    : (tensor<2x3x5x4x7xf32>, tensor<2x5x7xf32>, tensor<2x3x7x4x6xf32>) -> tensor<2x3x5x4x6xf32>
  %z = tenon.attend scores(%content, %parts) masks() value(%v) labels [[0, 1, 2, 3, 5], [1, 2, 5], [0, 1, 5, 3, 4]] scale 0.125 rate 0.0 site 0 {queries = array<i64: 2>}
    : (tensor<2x3x5x4x7xf32>, tensor<3x5x7xf32>, tensor<2x3x7x4x6xf32>) -> tensor<2x3x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x3x5x4x6xf32>
  tenon.output 1 "z", %z : tensor<2x3x5x4x6xf32>
  return
}

// -----

// Scores that only the attention needs are not stored for it: they are neither fused nor silent.
// CHECK-LABEL: @made_of_keys
// CHECK: tenon.attend
func.func @made_of_keys(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %p: tensor<2x5x4x8xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %other = tenon.dot %p[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %square = tenon.mul %other, %other : tensor<2x5x4x7xf32>
  // expected-warning@+1 {{not supported yet: a function of one term of several}}
  %y = tenon.attend scores(%content, %square) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x4x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Nor are functions of the places.
// CHECK-LABEL: @of_places
// CHECK: tenon.attend
func.func @of_places(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %f: tensor<4xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %i = tenon.iota 0 : tensor<5xi32>
  %j = tenon.iota 0 : tensor<7xi32>
  %is = tenon.broadcast %i [0] : tensor<5xi32> -> tensor<5x7xi32>
  %js = tenon.broadcast %j [1] : tensor<7xi32> -> tensor<5x7xi32>
  %product = tenon.mul %is, %js : tensor<5x7xi32>
  %bias = tenon.convert %product : tensor<5x7xi32> -> tensor<5x7xf32>
  // expected-warning@+1 {{hidden keys belong in a `mask`}}
  %y = tenon.attend scores(%content, %bias) masks() value(%v) labels [[0, 1, 2, 4], [1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// -----

// Nor is a number of the key times one of the query made one of pairs.
// CHECK-LABEL: @weighed_keys
// CHECK: tenon.attend
func.func @weighed_keys(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %f: tensor<5xf32>, %bias: tensor<2x7xf32>) {
  %content = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32> -> tensor<2x5x4x7xf32>
  %fs = tenon.broadcast %f [1] : tensor<5xf32> -> tensor<2x5x7xf32>
  %bs = tenon.broadcast %bias [0, 2] : tensor<2x7xf32> -> tensor<2x5x7xf32>
  %w = tenon.mul %fs, %bs : tensor<2x5x7xf32>
  // expected-warning@+1 {{its factor depends on the query}}
  %y = tenon.attend scores(%content, %w) masks() value(%v) labels [[0, 1, 2, 4], [0, 1, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x4x7xf32>, tensor<2x5x7xf32>, tensor<2x7x4x6xf32>) -> tensor<2x5x4x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}
