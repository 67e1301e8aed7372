// Fused attention and its gradient are kernels as they stand: what they read is in memory, what reads them loads it, and none of their steps is a kernel beside them. So is the optimizer.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// A query that is computed is a nest of its own, which the kernel reads; keys and values are read where they are; the step of the score stays inside.
// CHECK-LABEL: func.func @forward(
// CHECK: %[[Q:.*]] = tenon.nest {{.*}} : tensor<2x5x4x8xf32> {
// CHECK: tenon.at %arg0
// CHECK: arith.mulf
// CHECK: tenon.put 0
// CHECK: %[[Y:.*]], %{{.*}}, %{{.*}} = "tenon.attention"(%[[Q]], %arg1, %arg2) <{{.*}}scale = 5.000000e-01 : f64
// CHECK: ^bb0(%[[S:.*]]: f32):
// CHECK: %[[TANH:.*]] = math.tanh %[[S]] : f32
// CHECK: tenon.yield %[[TANH]], %{{.*}} : f32, f32
// CHECK: tenon.nest {{.*}} : tensor<2x5x4x6xf32> {
// CHECK: tenon.at %[[Y]]
// CHECK-NEXT: math.exp
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
// CHECK-NOT: tenon.gemm
// CHECK-NOT: tenon.fold
func.func @forward(%x: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %q = tenon.mul %x, %x : tensor<2x5x4x8xf32>
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> ({
  ^bb0(%score: f32):
    %one = arith.constant 1.0 : f32
    %tanh = math.tanh %score : f32
    %square = arith.mulf %tanh, %tanh : f32
    %slope = arith.subf %one, %square : f32
    tenon.yield %tanh, %slope : f32, f32
  }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %z = tenon.exp %y : tensor<2x5x4x6xf32>
  tenon.output 0 "z", %z : tensor<2x5x4x6xf32>
  return
}

// -----

// The gradient reads the result and the statistics of its rows; what comes in is computed in front of it, what goes out is read behind it.
// CHECK-LABEL: func.func @backward(
// CHECK: %[[Y:.*]], %[[MAX:.*]], %[[SUM:.*]] = "tenon.attention"(%arg0, %arg1, %arg2) <
// CHECK: %[[DY:.*]] = tenon.nest {{.*}} : tensor<2x5x4x6xf32> {
// CHECK: math.exp
// CHECK: tenon.put 0
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = "tenon.attention_grad"(%[[DY]], %[[Y]], %[[MAX]], %[[SUM]], %arg0, %arg1, %arg2) <
// CHECK: tenon.nest {{.*}} : tensor<2x5x4x8xf32> {
// CHECK: tenon.at %[[DQ]]
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tenon.put 0
// CHECK: tenon.output 1 "dk", %[[DK]]
// CHECK-NEXT: tenon.output 2 "dv", %[[DV]]
// CHECK-NOT: tenon.nest
// CHECK-NOT: tenon.gemm
// CHECK-NOT: tenon.fold
func.func @backward(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %g: tensor<2x5x4x6xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.1 : f64, site = 3 : i64}> : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %dy = tenon.exp %g : tensor<2x5x4x6xf32>
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.1 : f64, site = 3 : i64}> : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) ->
    (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>)
  %n = tenon.neg %dq : tensor<2x5x4x8xf32>
  tenon.output 0 "dq", %n : tensor<2x5x4x8xf32>
  tenon.output 1 "dk", %dk : tensor<2x7x4x8xf32>
  tenon.output 2 "dv", %dv : tensor<2x7x4x6xf32>
  return
}

// -----

tenon.parameter @w : tensor<4x8xf32>

// What is written of a gradient is a nest in front of the update, which has no code of its own: nothing beside it computes a step.
// CHECK-LABEL: func.func @update(
// CHECK: tenon.nest {{.*}} : tensor<4x8xf32> {
// CHECK: arith.negf
// CHECK: tenon.write_gradient @w
// CHECK-NEXT: tenon.optimize "adamw" {settings = {lr = 1.000000e-03 : f64}}
// CHECK-NOT: tenon.nest
func.func @update(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %g = tenon.neg %x : tensor<4x8xf32>
  tenon.write_gradient @w, %g : tensor<4x8xf32>
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3}} : tensor<f64>, tensor<f64>
  tenon.output 0 "norm", %norm : tensor<f64>
  tenon.output 1 "rate", %rate : tensor<f64>
  return
}
