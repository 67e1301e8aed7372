// Row ops, contractions, and what stays as it is.
// RUN: tenon-opt %s --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// Row ops: one nest, the statistics of a row first.
// CHECK-LABEL: func.func @cross_entropy(
// CHECK: tenon.nest affine_map<() -> (4)> : tensor<4xf32>
// CHECK: tenon.fold max
// CHECK: tenon.fold sum
// CHECK: math.exp
// CHECK: math.log
// CHECK: arith.subf
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @cross_entropy(%x: tensor<4x8xf32>, %t: tensor<4xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %s = tenon.cross_entropy %x, %t : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @normalize(
// CHECK: tenon.nest affine_map<() -> (4)> : tensor<4x8xf32>
// CHECK: tenon.fold sum
// CHECK: arith.divf
// CHECK: tenon.fold sum
// CHECK: math.sqrt
// CHECK: tenon.each
// CHECK: arith.subf
// CHECK: arith.mulf
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @normalize(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @stop_gradient(
// CHECK: tenon.nest
// CHECK: tenon.at
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.stop_gradient
// CHECK-NOT: tenon.nest
func.func @stop_gradient(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stop_gradient %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @dot(
// CHECK: tenon.gemm %arg0[0, 2], %arg1[1, 2] rank 2
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @dot(%a: tensor<4x5xf32>, %b: tensor<8x5xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x5xf32>, tensor<8x5xf32> -> tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @size(
// CHECK: tenon.nest affine_map<() -> ()>
// CHECK: tenon.size_value affine_map<(d0) -> (d0 + 2)>
// CHECK: arith.index_cast
// CHECK: tenon.put 0[]
// CHECK-NOT: tenon.size affine
// CHECK: return
func.func @size(%T: index) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.size affine_map<(d0) -> (d0 + 2)> : tensor<i32>
  tenon.output 0 "y", %y : tensor<i32>
  return
}

// What has a kernel of its own, and addresses, stay; the depth is a number inside of the code.
// CHECK-LABEL: func.func @kept(
// CHECK: tenon.append_state 1, %arg3 at %arg4 dim 0
// CHECK: tenon.stack 2
// CHECK: %[[OLD:.*]] = tenon.read_state 0
// CHECK: %[[NEW:.*]] = tenon.nest
// CHECK: arith.index_cast %arg5 : index to i32
// CHECK: tenon.at %[[OLD]]
// CHECK: tenon.write_state 0[%arg5], %[[NEW]]
// CHECK-NEXT: tenon.yield %[[NEW]], %arg6
// CHECK: %[[SUMS:.*]] = tenon.running_sum
// CHECK-NEXT: tenon.scatter_add %[[SUMS]][%arg2] onto %arg1
// CHECK: tenon.top %[[SUMS]]
// CHECK-NOT: tenon.nest
func.func @kept(%x: tensor<4x8xf32>, %g: tensor<2x8xf32>, %ids: tensor<4xi32>, %new: tensor<1x8xf32>, %at: tensor<i32>)
    attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [tensor<2x4x8xf32>, tensor<6x8xf32>], tenon.in_place = array<i1: false, true>} {
  %whole = tenon.append_state 1, %new at %at dim 0 : tensor<1x8xf32>, tensor<i32> -> tensor<6x8xf32>
  %last, %all = tenon.stack 2(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xf32>) {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %m = tenon.read_state 0[%d] : tensor<4x8xf32>
    %i = tenon.depth_value %d : tensor<i32>
    %f = tenon.convert %i : tensor<i32> -> tensor<f32>
    %b = tenon.broadcast %f [] : tensor<f32> -> tensor<4x8xf32>
    %s = tenon.mul %h, %b : tensor<4x8xf32>
    %n = tenon.add %s, %m : tensor<4x8xf32>
    tenon.write_state 0[%d], %n : tensor<4x8xf32>
    tenon.yield %n, %h : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %sums = tenon.running_sum %last dim 0 : tensor<4x8xf32>
  %added = tenon.scatter_add %sums[%ids] onto %g : tensor<2x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<2x8xf32>
  tenon.output 0 "y", %added : tensor<2x8xf32>
  tenon.output 1 "whole", %whole : tensor<6x8xf32>
  %best = tenon.top %sums : tensor<4x8xf32> -> tensor<4x3xi32>
  tenon.output 2 "best", %best : tensor<4x3xi32>
  return
}

// CHECK-LABEL: func.func @packed(
// CHECK: %[[PACKED:.*]] = tenon.pack %arg1 {tenon.panels = array<i64: 1, 32, 1, 1>}
// CHECK-NEXT: tenon.gemm %arg0[0, 2], %[[PACKED]][1, 2] rank 2
// CHECK-NOT: tenon.nest
func.func @packed(%x: tensor<4x5xf32>, %w: tensor<8x5xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %p = tenon.pack %w {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<8x5xf32>
  %y = tenon.gemm %x[0, 2], %p[1, 2] rank 2 : tensor<4x5xf32>, tensor<8x5xf32> -> tensor<4x8xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 1>} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @at_depth(
// CHECK: tenon.stack 2
// CHECK: %[[SLICE:.*]] = tenon.at_depth %arg0
// CHECK: tenon.nest
// CHECK: tenon.at %[[SLICE]]
// CHECK-NEXT: math.exp
// CHECK-NOT: tenon.nest
func.func @at_depth(%x: tensor<2x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %z = tenon.constant 0.0 : tensor<8xf32>
  %y = tenon.stack 2(%z) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%d: index, %h: tensor<8xf32>):
    %r = tenon.at_depth %x[%d] : tensor<2x8xf32> -> tensor<8xf32>
    %e = tenon.exp %r : tensor<8xf32>
    %s = tenon.add %h, %e : tensor<8xf32>
    tenon.yield %s : tensor<8xf32>
  }
  tenon.output 0 "y", %y : tensor<8xf32>
  return
}

// CHECK-LABEL: func.func @regrouped(
// CHECK: %[[BLOCKS:.*]] = tenon.regroup %arg0 : tensor<10x8xf32> -> tensor<3x4x8xf32>
// CHECK: tenon.nest
// CHECK: tenon.at %[[BLOCKS]]
// CHECK-NEXT: math.exp
// CHECK-NOT: tenon.nest
func.func @regrouped(%x: tensor<10x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %b = tenon.regroup %x : tensor<10x8xf32> -> tensor<3x4x8xf32>
  %y = tenon.exp %b : tensor<3x4x8xf32>
  tenon.output 0 "y", %y : tensor<3x4x8xf32>
  return
}

// CHECK-LABEL: func.func @depth_value(
// CHECK: tenon.stack 2
// CHECK-NEXT: ^bb0(%[[DEPTH:.*]]: index, %[[CARRY:.*]]: tensor<i32>)
// CHECK-NEXT: tenon.nest affine_map<() -> ()>
// CHECK: arith.index_cast %[[DEPTH]] : index to i32
// CHECK: arith.addi
// CHECK-NEXT: tenon.put 0
func.func @depth_value(%x: tensor<i32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 2(%x) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%d: index, %h: tensor<i32>):
    %i = tenon.depth_value %d : tensor<i32>
    %s = tenon.add %h, %i : tensor<i32>
    tenon.yield %s : tensor<i32>
  }
  tenon.output 0 "y", %y : tensor<i32>
  return
}
