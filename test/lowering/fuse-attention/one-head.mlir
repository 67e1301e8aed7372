// Attention without heads, without a batch, without both: one of each. The value of the last one depends on the query, so that no
// dimension is known to be the query: it stays.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-fuse-attention,tenon-simplify))' 2>/dev/null | FileCheck %s

// CHECK-LABEL: @without_heads
// CHECK: "tenon.attention"({{.*}}) <{{.*}}> : (tensor<2x5x1x8xf32>, tensor<2x7x1x8xf32>, tensor<2x7x1x6xf32>)
// CHECK: tenon.output 0 "y", %{{.*}} : tensor<2x5x6xf32>
func.func @without_heads(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x6xf32>) {
  %content = tenon.dot %q[0, 1, 3], %k[0, 2, 3] : tensor<2x5x8xf32>, tensor<2x7x8xf32> -> tensor<2x5x7xf32>
  %y = tenon.attend scores(%content) masks() value(%v) labels [[0, 1, 3], [0, 3, 2]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x7xf32>, tensor<2x7x6xf32>) -> tensor<2x5x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x6xf32>
  return
}

// -----

// CHECK-LABEL: @without_batch
// CHECK: "tenon.attention"({{.*}}) <{{.*}}> : (tensor<1x5x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
func.func @without_batch(%q: tensor<5x4x8xf32>, %k: tensor<7x4x8xf32>, %v: tensor<7x4x6xf32>) {
  %content = tenon.dot %q[0, 1, 3], %k[2, 1, 3] : tensor<5x4x8xf32>, tensor<7x4x8xf32> -> tensor<5x4x7xf32>
  %y = tenon.attend scores(%content) masks() value(%v) labels [[0, 1, 3], [3, 1, 2]] scale 0.125 rate 0.0 site 0
    : (tensor<5x4x7xf32>, tensor<7x4x6xf32>) -> tensor<5x4x6xf32>
  tenon.output 0 "y", %y : tensor<5x4x6xf32>
  return
}

// -----

// CHECK-LABEL: @neither
// CHECK: "tenon.attention"({{.*}}) <{{.*}}> : (tensor<1x5x1x8xf32>, tensor<1x7x1x8xf32>, tensor<1x7x1x6xf32>)
func.func @neither(%q: tensor<5x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x6xf32>) {
  %content = tenon.dot %q[0, 2], %k[1, 2] : tensor<5x8xf32>, tensor<7x8xf32> -> tensor<5x7xf32>
  %y = tenon.attend scores(%content) masks() value(%v) labels [[0, 2], [2, 1]] scale 0.125 rate 0.0 site 0
    : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  tenon.output 0 "y", %y : tensor<5x6xf32>
  return
}

// -----

// CHECK-LABEL: @value_of_the_query
// CHECK: tenon.attend
// CHECK-SAME: -> tensor<2x5x6xf32>
func.func @value_of_the_query(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x5x7x6xf32>) {
  %content = tenon.dot %q[0, 1, 3], %k[0, 2, 3] : tensor<2x5x8xf32>, tensor<2x7x8xf32> -> tensor<2x5x7xf32>
  %y = tenon.attend scores(%content) masks() value(%v) labels [[0, 1, 3], [0, 1, 3, 2]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x7xf32>, tensor<2x5x7x6xf32>) -> tensor<2x5x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x6xf32>
  return
}

// -----

// A scale that is a tensor goes to the queries; its labels move with the others.
// CHECK-LABEL: @scale_of_the_query
// CHECK: %[[FACTOR:.*]] = tenon.broadcast %arg3 [1] : tensor<5xf32> -> tensor<2x5x8xf32>
// CHECK: tenon.mul %arg0, %[[FACTOR]]
// CHECK: "tenon.attention"
func.func @scale_of_the_query(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x6xf32>, %f: tensor<5xf32>) {
  %content = tenon.dot %q[0, 1, 3], %k[0, 2, 3] : tensor<2x5x8xf32>, tensor<2x7x8xf32> -> tensor<2x5x7xf32>
  %y = tenon.attend scores(%content) masks() value(%v) factor(%f) labels [[0, 1, 3], [0, 3, 2], [1]] scale 0.125 rate 0.0 site 0
    : (tensor<2x5x7xf32>, tensor<2x7x6xf32>, tensor<5xf32>) -> tensor<2x5x6xf32>
  tenon.output 0 "y", %y : tensor<2x5x6xf32>
  return
}
