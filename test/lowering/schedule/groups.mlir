// Which launch finishes which gradients: what is known of them when a run is told that a group is ready.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-schedule))' | FileCheck %s --implicit-check-not=tenon.ready --implicit-check-not=tenon.sum_slices

// CHECK-DAG: [[$FIRST:#map[0-9]*]] = affine_map<() -> (0)>
// CHECK-DAG: [[$DEPTH:#map[0-9]*]] = affine_map<(d0) -> (-d0 + 3)>
// CHECK-DAG: [[$LAST:#map[0-9]*]] = affine_map<() -> (4)>
tenon.parameter @emb : tensor<8x8xf32>
tenon.parameter @bias {offset = 256 : i64} : tensor<8xf32>
tenon.parameter @blocks.w stacked {offset = 320 : i64, stride = 256 : i64} : tensor<3x8x8xf32>

// The table is written twice, the second time onto the first: it is ready behind the second. A loop counts on from depth to depth, downwards here; no launch is told of twice.
// CHECK-LABEL: func.func @tied
// CHECK: tenon.gemm {{.*}}tenon.places = [#tenon.place<gradients 0>]
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<gradients 256>]
// CHECK: tenon.ready [[$FIRST]]() [#tenon.place<gradients 256>]
// CHECK: tenon.loop 3 reverse {
// CHECK: tenon.gemm {{.*}}tenon.places = [#tenon.place<gradients 320, [<0, () -> (256), 0>]>]
// CHECK: tenon.ready [[$DEPTH]](%{{.*}}) [#tenon.place<gradients 320, [<0, () -> (256), 0>]>]
// CHECK: tenon.scatter_add {{.*}}tenon.places = [#tenon.place<gradients 0>]
// CHECK: tenon.ready [[$LAST]]() [#tenon.place<gradients 0>]
func.func @tied(%ids: tensor<4xi32>, %x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %dw = tenon.gemm %x[2, 0], %x[2, 1] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %db = tenon.nest affine_map<() -> (8)> : tensor<8xf32> {
  ^bb0(%i: index):
    %zero = arith.constant 0 : index
    %e = tenon.at %x[%zero, %i] : tensor<4x8xf32> -> f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.write_gradient @bias, %db : tensor<8xf32>
  %back = tenon.stack 3 reverse (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  ^bb0(%depth: index, %dy: tensor<4x8xf32>):
    %dv = tenon.gemm %dy[2, 0], %x[2, 1] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.write_gradient @blocks.w[%depth], %dv : tensor<8x8xf32>
    %next = tenon.nest affine_map<() -> (4, 8)> : tensor<4x8xf32> {
    ^bb0(%i: index, %j: index):
      %e = tenon.at %dy[%i, %j] : tensor<4x8xf32> -> f32
      tenon.put 0 [%i, %j], %e : f32
    }
    tenon.yield %next : tensor<4x8xf32>
  }
  %sum = tenon.scatter_add %back[%ids] onto %dw : tensor<8x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<8x8xf32>
  tenon.write_gradient @emb, %sum : tensor<8x8xf32>
  return
}

// -----

tenon.parameter @w : tensor<8x8xf32>

// In slices each gradient is added to those before it, then it is ready.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: tenon.slices = 4
// CHECK: tenon.gemm {{.*}}tenon.places = [#tenon.place<gradients 0>]
// CHECK: tenon.sum_slices <gradients 0> : tensor<8x8xf32>
// CHECK-NEXT: tenon.ready #map{{[0-9]*}}() [#tenon.place<gradients 0>]
func.func @slices(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.slices = 4 : i64} {
  %dw = tenon.gemm %x[2, 0], %x[2, 1] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.write_gradient @w, %dw : tensor<8x8xf32>
  return
}

// -----

tenon.parameter @w : tensor<8x8xf32>

// A slice is the whole batch, and a function without gradients has no groups.
// CHECK-LABEL: func.func @one
// CHECK: tenon.ready
// CHECK-LABEL: func.func @forward
func.func @one(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.slices = 1 : i64} {
  %dw = tenon.gemm %x[2, 0], %x[2, 1] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.write_gradient @w, %dw : tensor<8x8xf32>
  return
}
func.func @forward(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  tenon.output 0 "x", %x : tensor<4x8xf32>
  return
}

// -----

tenon.parameter @one : tensor<8xf32>
tenon.parameter @other {offset = 64 : i64} : tensor<8xf32>
tenon.parameter @blocks.each stacked {offset = 128 : i64, stride = 64 : i64} : tensor<3x8xf32>

// The gradient of several parameters is computed once, and copied: it is ready, and summed, behind the last that reads it, be that in a loop.
// CHECK-LABEL: func.func @shared
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<gradients 64>]
// CHECK: tenon.copy %{{.*}} to <gradients 0>
// CHECK-NEXT: tenon.sum_slices <gradients 0>
// CHECK-NEXT: tenon.ready #map{{[0-9]*}}() [#tenon.place<gradients 0>]
// CHECK: tenon.loop 3 {
// CHECK: tenon.copy
// CHECK-NEXT: tenon.sum_slices <gradients 128,
// CHECK-NEXT: tenon.ready
// CHECK: }
// CHECK-NEXT: tenon.sum_slices <gradients 64>
// CHECK-NEXT: tenon.ready #map{{[0-9]*}}() [#tenon.place<gradients 64>]
func.func @shared(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.slices = 4 : i64} {
  %db = tenon.nest affine_map<() -> (8)> : tensor<8xf32> {
  ^bb0(%i: index):
    %zero = arith.constant 0 : index
    %e = tenon.at %x[%zero, %i] : tensor<4x8xf32> -> f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.write_gradient @one, %db : tensor<8xf32>
  tenon.stack 3 () : () -> () {
  ^bb0(%depth: index):
    tenon.write_gradient @blocks.each[%depth], %db : tensor<8xf32>
    tenon.yield
  }
  tenon.write_gradient @other, %db : tensor<8xf32>
  return
}
