// What reads whole rows is one launch, whose folds are the statistics; what is kept of them has a slot. Terms that a condition leaves out are listed in a temporary; what only moves elements is read where it lies.
// DEFINE: %{schedule} = tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse,tenon-schedule))'
// DEFINE: %{check} = FileCheck %s --implicit-check-not='tenon.{{nest|gemm|softmax|normalize|cross_entropy|dot_where|window|gather|temporaries|copy}}'
// RUN: %{schedule} | %{check}
// RUN: %{schedule} | tenon-opt --split-input-file | %{check}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME: tenon.slots = []
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<output 0>]
// CHECK: tenon.fold max
// CHECK: tenon.fold sum
// CHECK: tenon.put 0
// CHECK: return
func.func @softmax(%x: tensor<4x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.softmax %x : tensor<4x50xf32>
  tenon.output 0 "y", %y : tensor<4x50xf32>
  return
}

// -----

// The normalized rows and both statistics come from one launch; the gradient reads the statistics where they lie.
// CHECK-LABEL: func.func @normalize(
// CHECK-SAME: tenon.slots = [#tenon.slot<() -> (16)>, #tenon.slot<() -> (16) after[0]>]
// CHECK: %[[N:.*]]:3 = tenon.nest {{.*}}tenon.places = [#tenon.place<workspace 0>, #tenon.place<workspace 1>, #tenon.place<output 0>]
// CHECK: tenon.fold sum
// CHECK: tenon.fold sum
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<output 1>]
// CHECK: tenon.at %[[N]]#{{[01]}}
// CHECK: tenon.fold sum
// CHECK: return
func.func @normalize(%x: tensor<4x50xf32>, %dy: tensor<4x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %n, %mean, %rstd = tenon.normalize %x eps 1.0e-5 : tensor<4x50xf32> -> tensor<4x50xf32>, tensor<4xf32>, tensor<4xf32>
  tenon.output 0 "n", %n : tensor<4x50xf32>
  %dx = tenon.normalize_grad %dy, %x, %mean, %rstd : tensor<4x50xf32>, tensor<4xf32>
  tenon.output 1 "dx", %dx : tensor<4x50xf32>
  return
}

// -----

// Of the logits one number per row is kept for the gradient, which has no fold.
// CHECK-LABEL: func.func @loss(
// CHECK-SAME: tenon.slots = [#tenon.slot<() -> (16)>]
// CHECK: %[[LOSS:.*]]:2 = tenon.nest {{.*}}tenon.places = [#tenon.place<output 0>, #tenon.place<workspace 0>]
// CHECK: tenon.fold max
// CHECK: tenon.fold sum
// CHECK: tenon.put 0
// CHECK: tenon.put 1
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<output 1>]
// CHECK: tenon.at %[[LOSS]]#1
// CHECK-NOT: tenon.fold
// CHECK: return
func.func @loss(%x: tensor<4x50xf32>, %label: tensor<4xi32>, %d: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %loss, %lse = tenon.cross_entropy %x, %label : tensor<4x50xf32>, tensor<4xi32> -> tensor<4xf32>
  tenon.output 0 "loss", %loss : tensor<4xf32>
  %g = tenon.cross_entropy_grad %d, %x, %label, %lse : tensor<4x50xf32>, tensor<4xi32>, tensor<4xf32>
  tenon.output 1 "g", %g : tensor<4x50xf32>
  return
}

// -----

// The rows that are worth a sum are listed in front, by a launch of its own: their numbers, and how many.
// CHECK-LABEL: func.func @listed(
// CHECK-SAME: tenon.slots = [#tenon.slot<() -> (32) temporary true>, #tenon.slot<() -> (8) after[0] temporary true>]
// CHECK: tenon.gemm element[0, 2], %arg1[1, 2] rank 2 {{.*}}tenon.launches = ["gemm_list", "gemm"]{{.*}}tenon.temporaries = [#tenon.place<workspace 0>, #tenon.place<workspace 1>]
// CHECK: arith.select
// CHECK: return
func.func @listed(%x: tensor<4x8xf32>, %w: tensor<5x8xf32>, %where: tensor<4xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.dot_where %x[0, 2], %w[1, 2] where %where[0] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4xi1> -> tensor<4x5xf32>
  tenon.output 0 "y", %y : tensor<4x5xf32>
  return
}

// -----

// Rows that are gathered, and windows, are not stored: the contraction reads them in its operand.
// CHECK-LABEL: func.func @moved(
// CHECK-SAME: tenon.slots = []
// CHECK: tenon.gemm element[0, 2], %arg2[1, 2] {{.*}}tenon.places = [#tenon.place<output 0>]
// CHECK: tenon.gemm {{.*}}element[{{.*}}tenon.places = [#tenon.place<output 1>]
// CHECK: return
func.func @moved(%table: tensor<50x8xf32>, %ids: tensor<4xi32>, %w: tensor<5x8xf32>, %x: tensor<2x3x8xf32>, %v: tensor<6x3x3xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %rows = tenon.gather %table[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<50x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
  %y = tenon.dot %rows[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  tenon.output 0 "y", %y : tensor<4x5xf32>
  %windows = tenon.window %x [2] stride [1] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<2x3x8xf32> -> tensor<2x3x8x3xf32>
  %z = tenon.dot %v[1, 3, 4], %windows[0, 3, 2, 4] : tensor<6x3x3xf32>, tensor<2x3x8x3xf32> -> tensor<2x6x8xf32>
  tenon.output 1 "z", %z : tensor<2x6x8xf32>
  return
}
