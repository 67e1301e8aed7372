// What lanes would gather in every round of a fold is copied once, in the order of the lanes.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels))' --remark-format=emitRemark --remarks-filter-missed=order-operands 2>&1 | FileCheck %s --check-prefix=REMARK

// A filter with its places last, of a convolution whose lanes are channels.
// CHECK-LABEL: func.func @filter(
// CHECK: %[[W:.*]] = tenon.nest #{{.*}} : tensor<3x32xf32>
// CHECK-NEXT: ^bb0(%[[K:.*]]: index):
// CHECK: ^bb0(%[[D:.*]]: index):
// CHECK: tenon.at %arg1[%[[D]], %[[K]]] : tensor<32x3xf32>
// CHECK: tenon.put 0[%[[K]], %[[D]]]
// CHECK: tenon.nest #{{.*}} : tensor<16x32xf32>
// CHECK: tenon.each
// CHECK-NEXT: ^bb0(%[[LANE:.*]]: index):
// CHECK: tenon.fold sum
// CHECK-NEXT: ^bb0(%[[PLACE:.*]]: index):
// CHECK: tenon.at %[[W]][%[[PLACE]], %[[LANE]]] : tensor<3x32xf32>
func.func @filter(%x: tensor<18x32xf32>, %w: tensor<32x3xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %u = tenon.window %x [0] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<18x32xf32> -> tensor<16x3x32xf32>
  %b = tenon.broadcast %w [2, 1] : tensor<32x3xf32> -> tensor<16x3x32xf32>
  %p = tenon.mul %u, %b : tensor<16x3x32xf32>
  %y = tenon.reduce sum %p [1] : tensor<16x3x32xf32> -> tensor<16x32xf32>
  tenon.output 0 "y", %y : tensor<16x32xf32>
  return
}

// -----

// In front of the loop in whose rounds it is the same.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[W:.*]] = tenon.nest #{{.*}} : tensor<3x32xf32>
// CHECK: tenon.stack
// CHECK: tenon.at %[[W]][
func.func @loop(%x: tensor<16x32xf32>, %w: tensor<32x3xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %last = tenon.stack 2(%x) : (tensor<16x32xf32>) -> tensor<16x32xf32> {
  ^bb0(%d: index, %h: tensor<16x32xf32>):
    %u = tenon.window %h [0] stride [1] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<16x32xf32> -> tensor<16x3x32xf32>
    %b = tenon.broadcast %w [2, 1] : tensor<32x3xf32> -> tensor<16x3x32xf32>
    %p = tenon.mul %u, %b : tensor<16x3x32xf32>
    %y = tenon.reduce sum %p [1] : tensor<16x3x32xf32> -> tensor<16x32xf32>
    tenon.yield %y : tensor<16x32xf32>
  }
  tenon.output 0 "y", %last : tensor<16x32xf32>
  return
}

// -----

// A transposed copy is one itself: each element is read once.
// CHECK-LABEL: func.func @once(
// CHECK: tenon.nest #{{.*}} : tensor<3x32xf32>
// CHECK: tenon.at %arg0[
// CHECK-NOT: tenon.nest
// CHECK: return
// REMARK: what its lanes gather is read few times
func.func @once(%w: tensor<32x3xf32>, %v: tensor<3x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %b = tenon.broadcast %w [1, 0] : tensor<32x3xf32> -> tensor<3x32xf32>
  %y = tenon.add %b, %v : tensor<3x32xf32>
  tenon.output 0 "y", %y : tensor<3x32xf32>
  return
}
