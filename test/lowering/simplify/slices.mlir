// A part of a contraction of which nothing else is read is contracted alone: the logits of all places but the last.
// RUN: tenon-opt %s --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s

// CHECK-LABEL: func.func @shifted
// CHECK: %[[H:.*]] = tenon.slice %{{.*}} 1 from {{.*}} : tensor<2x5x8xf32> -> tensor<2x4x8xf32>
// CHECK: %[[Y:.*]] = tenon.dot %[[H]][0, 1, 3], %{{.*}}[2, 3] : tensor<2x4x8xf32>, tensor<9x8xf32> -> tensor<2x4x9xf32>
// CHECK: tenon.output 0 "y", %[[Y]]
func.func @shifted(%h: tensor<2x5x8xf32>, %w: tensor<9x8xf32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %l = tenon.dot %h[0, 1, 3], %w[2, 3] : tensor<2x5x8xf32>, tensor<9x8xf32> -> tensor<2x5x9xf32>
  %y = tenon.slice %l 1 from affine_map<() -> (0)> : tensor<2x5x9xf32> -> tensor<2x4x9xf32>
  tenon.output 0 "y", %y : tensor<2x4x9xf32>
  return
}

// A label of both operands: both are sliced. The number of places may be one of run time.
// CHECK-LABEL: func.func @batched
// CHECK-DAG: %[[A:.*]] = tenon.slice %arg1 0 from
// CHECK-DAG: %[[B:.*]] = tenon.slice %arg2 0 from
// CHECK: tenon.dot %[[A]][0, 1, 2], %[[B]][0, 2]
func.func @batched(%t: index, %a: tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>, %b: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>) attributes {tenon.kind = "eval", tenon.dims = ["T"], tenon.states = []} {
  %l = tenon.dot %a[0, 1, 2], %b[0, 2] : tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>, tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<?x5xf32, affine_map<(d0) -> (d0, 5)>>
  %y = tenon.slice %l 0 from affine_map<(d0) -> (1)> : tensor<?x5xf32, affine_map<(d0) -> (d0, 5)>> -> tensor<?x5xf32, affine_map<(d0) -> (d0 - 1, 5)>>
  tenon.output 0 "y", %y : tensor<?x5xf32, affine_map<(d0) -> (d0 - 1, 5)>>
  return
}

// Queries and keys of one contraction: both parts are read, and it stays one.
// CHECK-LABEL: func.func @parts
// CHECK: %[[L:.*]] = tenon.dot %arg0[0, 2], %arg1[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
// CHECK-DAG: tenon.slice %[[L]] 1 from {{.*}}(0)
// CHECK-DAG: tenon.slice %[[L]] 1 from {{.*}}(3)
func.func @parts(%h: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %l = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %q = tenon.slice %l 1 from affine_map<() -> (0)> : tensor<4x6xf32> -> tensor<4x3xf32>
  %k = tenon.slice %l 1 from affine_map<() -> (3)> : tensor<4x6xf32> -> tensor<4x3xf32>
  tenon.output 0 "q", %q : tensor<4x3xf32>
  tenon.output 1 "k", %k : tensor<4x3xf32>
  return
}

// What multiplies in a type of its own goes on doing so.
// CHECK-LABEL: func.func @pinned
// CHECK: %[[H:.*]] = tenon.slice %arg0 0 from
// CHECK: tenon.dot %[[H]][0, 2], %arg1[1, 2] {tenon.compute = f32} : tensor<3x8xf32>, tensor<6x8xf32> -> tensor<3x6xf32>
func.func @pinned(%h: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %l = tenon.dot %h[0, 2], %w[1, 2] {tenon.compute = f32} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %y = tenon.slice %l 0 from affine_map<() -> (0)> : tensor<4x6xf32> -> tensor<3x6xf32>
  tenon.output 0 "y", %y : tensor<3x6xf32>
  return
}

// What else reads the whole result keeps it whole.
// CHECK-LABEL: func.func @others
// CHECK: %[[L:.*]] = tenon.dot %arg0[0, 2], %arg1[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
// CHECK-DAG: tenon.slice %[[L]] 0 from
// CHECK-DAG: tenon.output 1 "l", %[[L]]
func.func @others(%h: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %l = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %y = tenon.slice %l 0 from affine_map<() -> (0)> : tensor<4x6xf32> -> tensor<3x6xf32>
  tenon.output 0 "y", %y : tensor<3x6xf32>
  tenon.output 1 "l", %l : tensor<4x6xf32>
  return
}
