// Of a gradient of what was joined, the rows that somebody reads are contracted alone, through sums of such gradients.
// RUN: tenon-opt %s --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-simplify{after-differentiation=true}))' | FileCheck %s

// CHECK-LABEL: func.func @segment
// CHECK-DAG: %[[V:.*]] = tenon.slice %arg0 1 from affine_map<() -> (5)> : tensor<2x9x6xf32> -> tensor<2x4x6xf32>
// CHECK-DAG: %[[K:.*]] = tenon.slice %arg1 1 from affine_map<() -> (5)> : tensor<2x9x6xf32> -> tensor<2x4x6xf32>
// CHECK-DAG: %[[DV:.*]] = tenon.dot %[[V]][0, 1, 3], %arg2[3, 2] : tensor<2x4x6xf32>, tensor<6x8xf32> -> tensor<2x4x8xf32>
// CHECK-DAG: %[[DK:.*]] = tenon.dot %[[K]][0, 1, 3], %arg2[3, 2] : tensor<2x4x6xf32>, tensor<6x8xf32> -> tensor<2x4x8xf32>
// CHECK: tenon.add %[[DV]], %[[DK]] : tensor<2x4x8xf32>
// CHECK-NOT: tenon.slice
func.func @segment(%dv: tensor<2x9x6xf32>, %dk: tensor<2x9x6xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %a = tenon.dot %dv[0, 1, 3], %w[3, 2] : tensor<2x9x6xf32>, tensor<6x8xf32> -> tensor<2x9x8xf32>
  %b = tenon.dot %dk[0, 1, 3], %w[3, 2] : tensor<2x9x6xf32>, tensor<6x8xf32> -> tensor<2x9x8xf32>
  %s = tenon.add %a, %b : tensor<2x9x8xf32>
  %y = tenon.slice %s 1 from affine_map<() -> (5)> : tensor<2x9x8xf32> -> tensor<2x4x8xf32>
  tenon.output 0 "y", %y : tensor<2x4x8xf32>
  return
}

// Both parts are read: the sum is made once.
// CHECK-LABEL: func.func @both
// CHECK: %[[A:.*]] = tenon.dot %arg0[0, 1, 3], %arg2[3, 2] : tensor<2x9x6xf32>
// CHECK: %[[S:.*]] = tenon.add
// CHECK: tenon.slice %[[S]] 1 from affine_map<() -> (0)>
// CHECK: tenon.slice %[[S]] 1 from affine_map<() -> (5)>
func.func @both(%dv: tensor<2x9x6xf32>, %dk: tensor<2x9x6xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %a = tenon.dot %dv[0, 1, 3], %w[3, 2] : tensor<2x9x6xf32>, tensor<6x8xf32> -> tensor<2x9x8xf32>
  %b = tenon.dot %dk[0, 1, 3], %w[3, 2] : tensor<2x9x6xf32>, tensor<6x8xf32> -> tensor<2x9x8xf32>
  %s = tenon.add %a, %b : tensor<2x9x8xf32>
  %m = tenon.slice %s 1 from affine_map<() -> (0)> : tensor<2x9x8xf32> -> tensor<2x5x8xf32>
  %x = tenon.slice %s 1 from affine_map<() -> (5)> : tensor<2x9x8xf32> -> tensor<2x4x8xf32>
  tenon.output 0 "m", %m : tensor<2x5x8xf32>
  tenon.output 1 "x", %x : tensor<2x4x8xf32>
  return
}

// No contraction is made for it: the sum stays in front of the slice.
// CHECK-LABEL: func.func @elements
// CHECK: %[[S:.*]] = tenon.add %arg0, %arg1
// CHECK: tenon.slice %[[S]]
func.func @elements(%a: tensor<2x9x8xf32>, %b: tensor<2x9x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %s = tenon.add %a, %b : tensor<2x9x8xf32>
  %y = tenon.slice %s 1 from affine_map<() -> (5)> : tensor<2x9x8xf32> -> tensor<2x4x8xf32>
  tenon.output 0 "y", %y : tensor<2x4x8xf32>
  return
}
