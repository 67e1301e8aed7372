// A contraction under a condition: its operand is 0 elsewhere, in code that says so.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s --implicit-check-not=tenon.dot_where

// CHECK-LABEL: func.func @where
// CHECK: tenon.gemm element[0, 2], %{{.*}}[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
// CHECK: } a {
// CHECK: %[[KEEP:.*]] = tenon.at %{{.*}}[%[[I:.*]]] : tensor<4xi1> -> i1
// CHECK: %[[E:.*]] = arith.select %[[KEEP]], %{{.*}}, %{{.*}} : f32
// CHECK: tenon.yield %[[E]] : f32
func.func @where(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %c: tensor<4xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.dot_where %x[0, 2], %w[1, 2] where %c[0] : tensor<4x8xf32>, tensor<6x8xf32>, tensor<4xi1> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}
