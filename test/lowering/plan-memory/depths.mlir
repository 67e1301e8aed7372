// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory))' | FileCheck %s

tenon.parameter @w stacked {offset = 64 : i64, stride = 256 : i64} : tensor<3x8x8xf32>

// The inputs of all depths are kept for the way back: one slot, a depth after the other, and the carry is its next element, so that nothing is copied. That slot is saved; what dies
// before the loss is brought out is not. Gradients are written where they stay, a stride apart.
// CHECK-LABEL: func.func @train
// CHECK-SAME: bytes = "512", offset = 0 : i64, saved}
// CHECK: tenon.stack 3
// CHECK-SAME: tenon.carries = ["workspace 0 + depth * 128"], tenon.places = [{{.*}}, "workspace 0"]
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["workspace 0 + (depth + 1) * 128"]}
// CHECK: tenon.stack 3 reverse
// CHECK: tenon.at_depth {{.*}}{tenon.places = ["workspace 0 + depth * 128"]}
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["gradients 64 + depth * 256"]}
func.func @train(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %y, %inputs = tenon.stack 3 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<3x4x8xf32>) {
  ^bb0(%depth: index, %h: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%depth] : tensor<8x8xf32>
    %n = tenon.gemm %h[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.yield %n, %h : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %loss = tenon.nest affine_map<() -> (1)> : tensor<1xf32> {
  ^bb0(%one: index):
    %sum = tenon.fold sum affine_map<() -> (4, 8)> : f32 {
    ^bb0(%i: index, %j: index):
      %e = tenon.at %y[%i, %j] : tensor<4x8xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%one], %sum : f32
  }
  tenon.output 0 "loss", %loss : tensor<1xf32>
  %back = tenon.stack 3 reverse (%y) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  ^bb0(%depth: index, %dy: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%depth] : tensor<8x8xf32>
    %h = tenon.at_depth %inputs[%depth] : tensor<3x4x8xf32> -> tensor<4x8xf32>
    %dw = tenon.gemm %dy[2, 0], %h[2, 1] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.write_gradient @w[%depth], %dw : tensor<8x8xf32>
    %dx = tenon.gemm %dy[0, 2], %w[2, 1] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.yield %dx : tensor<4x8xf32>
  }
  return
}

// No way back, no history: the carry moves between two slots that do not move with the depth, and nothing is saved.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: saved
// CHECK-NOT: depth *
// CHECK: tenon.stack 3
// CHECK-NOT: + depth
// CHECK: return
func.func @forward(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 3 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  ^bb0(%depth: index, %h: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%depth] : tensor<8x8xf32>
    %n = tenon.gemm %h[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.yield %n : tensor<4x8xf32>
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// A new state is made where the next run reads it; the old one is read where it lies.
// CHECK-LABEL: func.func @remember
// CHECK: tenon.nest {{.*}} attributes {{.*}}tenon.places = ["next_states 0"]}
func.func @remember(%x: tensor<8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [tensor<8xf32>]} {
  %old = tenon.read_state 0 : tensor<8xf32>
  %new = tenon.nest affine_map<() -> (8)> : tensor<8xf32> {
  ^bb0(%i: index):
    %a = tenon.at %old[%i] : tensor<8xf32> -> f32
    %b = tenon.at %x[%i] : tensor<8xf32> -> f32
    %c = arith.addf %a, %b : f32
    tenon.put 0 [%i], %c : f32
  }
  tenon.write_state 0, %new : tensor<8xf32>
  return
}

// What is scattered onto a carry twice lies where the carry lies, between the two as well: nothing is copied.
// CHECK-LABEL: func.func @onto
// CHECK: tenon.stack 3{{.*}}tenon.carries = ["workspace [[CARRY:[0-9]+]]"]
// CHECK-COUNT-2: tenon.scatter_add {{.*}}tenon.places = ["workspace [[CARRY]]"]}
func.func @onto(%dy: tensor<4x8xf32>, %ids: tensor<4xi32>, %x: tensor<5x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 3 (%x) : (tensor<5x8xf32>) -> (tensor<5x8xf32>) {
  ^bb0(%depth: index, %carry: tensor<5x8xf32>):
    %a = tenon.scatter_add %dy[%ids] onto %carry : tensor<5x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<5x8xf32>
    %b = tenon.scatter_add %dy[%ids] onto %a : tensor<5x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<5x8xf32>
    tenon.yield %b : tensor<5x8xf32>
  }
  tenon.output 0 "y", %y : tensor<5x8xf32>
  return
}

// The old carry is still read when the first of the two is there: that one has a place of its own, and the second is brought from
// there to where the carry lies.
// CHECK-LABEL: func.func @read
// CHECK: tenon.stack 3{{.*}}tenon.carries = ["workspace [[CARRY:[0-9]+]]"]
// CHECK-NOT: tenon.places = ["workspace [[CARRY]]"]
// CHECK: tenon.nest
// CHECK: tenon.scatter_add {{.*}}tenon.places = ["workspace [[CARRY]]"]}
func.func @read(%dy: tensor<4x8xf32>, %ids: tensor<4xi32>, %x: tensor<5x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 3 (%x) : (tensor<5x8xf32>) -> (tensor<5x8xf32>) {
  ^bb0(%depth: index, %carry: tensor<5x8xf32>):
    %a = tenon.scatter_add %dy[%ids] onto %carry : tensor<5x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<5x8xf32>
    %old = tenon.nest affine_map<() -> (4, 8)> : tensor<4x8xf32> {
    ^bb0(%i: index, %j: index):
      %e = tenon.at %carry[%i, %j] : tensor<5x8xf32> -> f32
      tenon.put 0 [%i, %j], %e : f32
    }
    %b = tenon.scatter_add %old[%ids] onto %a : tensor<5x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<5x8xf32>
    tenon.yield %b : tensor<5x8xf32>
  }
  tenon.output 0 "y", %y : tensor<5x8xf32>
  return
}
