// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose{only=softmax}))' | FileCheck %s --check-prefix=SOFTMAX
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose{only=attend}))' | FileCheck %s --check-prefix=ATTEND

// The greatest score is subtracted before exp: nothing overflows.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: tenon.softmax
// CHECK: tenon.reduce max
// CHECK: tenon.sub
// CHECK: tenon.exp
// CHECK: tenon.reduce sum
// CHECK: tenon.div
// CHECK-NOT: tenon.softmax
// CHECK: return
// SOFTMAX-LABEL: func.func @softmax
// SOFTMAX-NOT: tenon.softmax
// SOFTMAX: return
// ATTEND-LABEL: func.func @softmax
// ATTEND: tenon.softmax
func.func @softmax(%x: tensor<4x8xf32>) {
  %y = tenon.softmax %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// All three results: the value and the statistics that the gradient reads.
// CHECK-LABEL: func.func @normalize
// CHECK-NOT: tenon.normalize
// CHECK: tenon.reduce sum
// CHECK: tenon.reduce sum
// CHECK: tenon.sqrt
// CHECK-NOT: tenon.normalize
// CHECK: return
// SOFTMAX-LABEL: func.func @normalize
// SOFTMAX: tenon.normalize
// ATTEND-LABEL: func.func @normalize
// ATTEND: tenon.normalize
func.func @normalize(%x: tensor<4x8xf32>) {
  %y, %mean, %rstd = tenon.normalize %x eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  tenon.output 1 "mean", %mean : tensor<4xf32>
  tenon.output 2 "rstd", %rstd : tensor<4xf32>
  return
}

// Inside a stack too; the other ops there keep their order.
// CHECK-LABEL: func.func @in_a_stack
// CHECK: tenon.stack 3
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.tanh
// CHECK-NOT: tenon.softmax
// CHECK: tenon.div
// CHECK-NEXT: tenon.yield
func.func @in_a_stack(%x: tensor<4x8xf32>) {
  %y = tenon.stack 3 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  ^bb0(%depth: index, %h: tensor<4x8xf32>):
    %t = tenon.tanh %h : tensor<4x8xf32>
    %s = tenon.softmax %t : tensor<4x8xf32>
    tenon.yield %s : tensor<4x8xf32>
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// What has no simpler form stays as it is: contractions, gathers, elementwise ops.
// CHECK-LABEL: func.func @simple
// CHECK-NEXT: tenon.gather
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.gelu
// CHECK-NEXT: tenon.output
// CHECK-NEXT: return
func.func @simple(%table: tensor<50x8xf32>, %ids: tensor<3xi32>, %w: tensor<4x8xf32>) {
  %x = tenon.gather %table[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<50x8xf32>, tensor<3xi32> -> tensor<3x8xf32>
  %d = tenon.dot %x[0, 2], %w[1, 2] : tensor<3x8xf32>, tensor<4x8xf32> -> tensor<3x4xf32>
  %y = tenon.gelu %d : tensor<3x4xf32>
  tenon.output 0 "y", %y : tensor<3x4xf32>
  return
}

// All pairs of places: of reals a contraction with a triangle of ones, of integers a sum under a condition.
// CHECK-LABEL: func.func @running_sums
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[N:.*]]: tensor<4xi32>)
// CHECK-NOT: tenon.running_sum
// CHECK: %[[FROM:.*]] = tenon.iota 1 : tensor<8x8xi32>
// CHECK: %[[TO:.*]] = tenon.iota 0 : tensor<8x8xi32>
// CHECK: %[[COUNTS:.*]] = tenon.compare le %[[FROM]], %[[TO]]
// CHECK: %[[TRIANGLE:.*]] = tenon.convert %[[COUNTS]]
// CHECK: tenon.dot %[[X]][0, 2], %[[TRIANGLE]][1, 2]
// CHECK: %[[SOURCE:.*]] = tenon.iota 1 : tensor<4x4xi32>
// CHECK: %[[TARGET:.*]] = tenon.iota 0 : tensor<4x4xi32>
// CHECK: tenon.compare le %[[TARGET]], %[[SOURCE]]
// CHECK: tenon.select
// CHECK: tenon.reduce sum %{{.*}} [1] : tensor<4x4xi32> -> tensor<4xi32>
// CHECK-NOT: tenon.running_sum
// CHECK: return
func.func @running_sums(%x: tensor<4x8xf32>, %n: tensor<4xi32>) {
  %y = tenon.running_sum %x dim 1 : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  %m = tenon.running_sum %n dim 0 reverse : tensor<4xi32>
  tenon.output 1 "m", %m : tensor<4xi32>
  return
}

// The first place of the largest; the number of elements before each one is its place in the order, a NaN behind all others.
// CHECK-LABEL: func.func @places
// CHECK-NOT: tenon.argmax
// CHECK-NOT: tenon.top
// CHECK: tenon.reduce max
// CHECK: tenon.compare eq
// CHECK: tenon.iota 1 : tensor<4x8xi32>
// CHECK: tenon.reduce min %{{.*}} [1] : tensor<4x8xi32> -> tensor<4xi32>
// CHECK: tenon.compare lt %[[OWN:.*]], %[[OTHER:.*]] : tensor<4x8x8xf32>
// CHECK: tenon.compare eq %[[OWN]], %[[OTHER]]
// CHECK: tenon.compare ne %[[OWN]], %[[OWN]]
// CHECK: tenon.reduce sum %{{.*}} [2] : tensor<4x8x8xi32> -> tensor<4x8xi32>
// CHECK: tenon.compare eq %{{.*}} : tensor<4x3x8xi32>
// CHECK: tenon.reduce sum %{{.*}} [2] : tensor<4x3x8xi32> -> tensor<4x3xi32>
// CHECK: return
func.func @places(%x: tensor<4x8xf32>) {
  %y = tenon.argmax %x dim 1 : tensor<4x8xf32> -> tensor<4xi32>
  tenon.output 0 "y", %y : tensor<4xi32>
  %k = tenon.top %x : tensor<4x8xf32> -> tensor<4x3xi32>
  tenon.output 1 "k", %k : tensor<4x3xi32>
  return
}
