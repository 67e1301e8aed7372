// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify{after-differentiation=true}))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s --check-prefix=BEFORE

// Before differentiation stop_gradient has work to do.
// CHECK-LABEL: func.func @stopped
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: tenon.output 0 "y", %[[X]]
// BEFORE-LABEL: func.func @stopped
// BEFORE: tenon.stop_gradient
func.func @stopped(%x: tensor<4xf32>) {
  %y = tenon.stop_gradient %x : tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}

// The gradient of a tied table: the rows are added onto the contraction.
// CHECK-LABEL: func.func @onto
// CHECK: %[[HEAD:.*]] = tenon.dot
// CHECK-NOT: tenon.add
// CHECK: %[[SUM:.*]] = tenon.scatter_add %{{.*}} onto %[[HEAD]]
// CHECK-NOT: tenon.add
// CHECK: tenon.output 0 "y", %[[SUM]]
// BEFORE-LABEL: func.func @onto
// BEFORE: tenon.add
func.func @onto(%dy: tensor<3x8xf32>, %ids: tensor<3xi32>, %l: tensor<3x10xf32>) {
  %head = tenon.dot %l[2, 0], %dy[2, 1] : tensor<3x10xf32>, tensor<3x8xf32> -> tensor<10x8xf32>
  %rows = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<10x8xf32>
  %y = tenon.add %head, %rows : tensor<10x8xf32>
  tenon.output 0 "y", %y : tensor<10x8xf32>
  return
}

// The gradient of two reads: rows onto rows, of which the first go onto the contraction.
// CHECK-LABEL: func.func @onto_both
// CHECK: %[[HEAD:.*]] = tenon.dot
// CHECK-NOT: tenon.add
// CHECK: %[[FIRST:.*]] = tenon.scatter_add %{{.*}} onto %[[HEAD]]
// CHECK: %[[BOTH:.*]] = tenon.scatter_add %{{.*}} onto %[[FIRST]]
// CHECK-NOT: tenon.add
// CHECK: tenon.output 0 "y", %[[BOTH]]
func.func @onto_both(%dy: tensor<3x8xf32>, %ids: tensor<3xi32>, %others: tensor<3xi32>, %l: tensor<3x10xf32>) {
  %head = tenon.dot %l[2, 0], %dy[2, 1] : tensor<3x10xf32>, tensor<3x8xf32> -> tensor<10x8xf32>
  %rows = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<10x8xf32>
  %more = tenon.scatter_add %dy[%others] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<10x8xf32>
  %both = tenon.add %rows, %more : tensor<10x8xf32>
  %y = tenon.add %head, %both : tensor<10x8xf32>
  tenon.output 0 "y", %y : tensor<10x8xf32>
  return
}

// Somebody else reads the first rows: they stay a tensor of their own, onto which nothing is added.
// CHECK-LABEL: func.func @rows_read_elsewhere
// CHECK: %[[ROWS:.*]] = tenon.scatter_add
// CHECK-NOT: onto %[[ROWS]]
// CHECK: return
func.func @rows_read_elsewhere(%dy: tensor<3x8xf32>, %ids: tensor<3xi32>, %others: tensor<3xi32>, %l: tensor<3x10xf32>) {
  %head = tenon.dot %l[2, 0], %dy[2, 1] : tensor<3x10xf32>, tensor<3x8xf32> -> tensor<10x8xf32>
  %rows = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<10x8xf32>
  %more = tenon.scatter_add %dy[%others] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<10x8xf32>
  %both = tenon.add %rows, %more : tensor<10x8xf32>
  %y = tenon.add %head, %both : tensor<10x8xf32>
  tenon.output 0 "y", %y : tensor<10x8xf32>
  tenon.output 1 "rows", %rows : tensor<10x8xf32>
  return
}

// The contraction is read by another op too: nothing may be added onto it.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: onto
// CHECK: tenon.add
// CHECK-NOT: onto
// CHECK: return
func.func @read_elsewhere(%dy: tensor<3x8xf32>, %ids: tensor<3xi32>, %l: tensor<3x10xf32>) {
  %head = tenon.dot %l[2, 0], %dy[2, 1] : tensor<3x10xf32>, tensor<3x8xf32> -> tensor<10x8xf32>
  %rows = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<10x8xf32>
  %y = tenon.add %head, %rows : tensor<10x8xf32>
  tenon.output 0 "y", %y : tensor<10x8xf32>
  tenon.output 1 "head", %head : tensor<10x8xf32>
  return
}

// An input belongs to the caller.
// CHECK-LABEL: func.func @input
// CHECK-NOT: onto
// CHECK: tenon.add
// CHECK-NOT: onto
// CHECK: return
func.func @input(%dy: tensor<3x8xf32>, %ids: tensor<3xi32>, %base: tensor<10x8xf32>) {
  %rows = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<10x8xf32>
  %y = tenon.add %base, %rows : tensor<10x8xf32>
  tenon.output 0 "y", %y : tensor<10x8xf32>
  return
}
