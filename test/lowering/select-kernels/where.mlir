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

// What is read under the condition alone need not be put in other rows: by the contraction, by a nest behind it, and by nests of
// the loop that goes back. A sum onto something else is put everywhere.
// CHECK-LABEL: func.func @unread
// CHECK: tenon.stack
// CHECK: tenon.gemm {{.*}} attributes {rest_unread = array<i1: true>}
// CHECK: tenon.gemm {{.*}} -> tensor<4x8xf32> {
// CHECK: tenon.stack 2 reverse
// CHECK: tenon.nest #{{.*}} : tensor<4x6xf32>
// CHECK-NEXT: ^bb0(%[[ROW:.*]]: index):
// CHECK-NEXT: %[[HOLDS:.*]] = tenon.at %{{.*}}[%[[ROW]]] : tensor<4xi1> -> i1
// CHECK-NEXT: tenon.row_if %[[HOLDS]]
func.func @unread(%x: tensor<4x8xf32>, %c: tensor<4xi1>, %g: tensor<4x6xf32>, %w: tensor<6x8xf32>, %v: tensor<8x6xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %last, %cs, %hs = tenon.stack 2(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4xi1>, tensor<2x4x6xf32>) {
  ^bb0(%d: index, %e: tensor<4x8xf32>):
    %h = tenon.dot_where %e[0, 2], %w[1, 2] where %c[0] : tensor<4x8xf32>, tensor<6x8xf32>, tensor<4xi1> -> tensor<4x6xf32>
    %o = tenon.dot_where %h[0, 2], %v[1, 2] where %c[0] : tensor<4x6xf32>, tensor<8x6xf32>, tensor<4xi1> -> tensor<4x8xf32>
    %s = tenon.add %e, %o : tensor<4x8xf32>
    tenon.yield %s, %c, %h : tensor<4x8xf32>, tensor<4xi1>, tensor<4x6xf32>
  }
  %y = tenon.stack 2 reverse(%g) : (tensor<4x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%d: index, %e: tensor<4x6xf32>):
    %own = tenon.at_depth %cs[%d] : tensor<2x4xi1> -> tensor<4xi1>
    %h = tenon.at_depth %hs[%d] : tensor<2x4x6xf32> -> tensor<4x6xf32>
    %a = tenon.exp %h : tensor<4x6xf32>
    %n = tenon.dot_where %a[0, 2], %g[1, 2] where %own[0] : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4xi1> -> tensor<4x4xf32>
    %m = tenon.dot %n[0, 2], %e[2, 1] : tensor<4x4xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
    tenon.yield %m : tensor<4x6xf32>
  }
  tenon.output 0 "y", %last : tensor<4x8xf32>
  tenon.output 1 "n", %y : tensor<4x6xf32>
  return
}

// One operand that is both factors is read under the condition by one of them alone.
// CHECK-LABEL: func.func @both
// CHECK-NOT: rest_unread
// CHECK: return
func.func @both(%x: tensor<4x8xf32>, %c: tensor<4xi1>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h = tenon.dot_where %x[0, 2], %w[1, 2] where %c[0] : tensor<4x8xf32>, tensor<6x8xf32>, tensor<4xi1> -> tensor<4x6xf32>
  %y = tenon.dot_where %h[0, 2], %h[1, 2] where %c[0] : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4xi1> -> tensor<4x4xf32>
  tenon.output 0 "y", %y : tensor<4x4xf32>
  return
}
