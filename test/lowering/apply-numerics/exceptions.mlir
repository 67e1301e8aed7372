// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' | FileCheck %s

// A contraction that says f32 keeps its factors; the other one of the same values is rounded.
module attributes {tenon.compute = bf16} {
  tenon.parameter @w : tensor<6x8xf32>
  // CHECK-LABEL: func.func @wide(
  // CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>
  func.func @wide(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK-DAG: %[[X16:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK-DAG: %[[W16:.*]] = tenon.read_parameter @w : tensor<6x8xbf16>
    // CHECK-DAG: %[[W:.*]] = tenon.read_parameter @w : tensor<6x8xf32>
    // CHECK: tenon.dot %[[X]][0, 2], %[[W]][1, 2] {{.*}}: tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    // CHECK: tenon.dot %[[X16]][0, 2], %[[W16]][1, 2] : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
    %w = tenon.read_parameter @w : tensor<6x8xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] {tenon.compute = f32} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %z = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    tenon.output 0 "y", %y : tensor<4x6xf32>
    tenon.output 1 "z", %z : tensor<4x6xf32>
    return
  }

  // CHECK-LABEL: func.func @attention(
  // CHECK-NOT: tenon.convert
  // CHECK: "tenon.attention"
  // CHECK-SAME: (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  func.func @attention(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.compute = f32} :
      (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
    tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
    return
  }
}

// -----

// The reverse: in a module of f32 one contraction multiplies bf16. There is no copy of the parameter, so it is rounded here.
tenon.parameter @w : tensor<6x8xf32>
// CHECK-LABEL: func.func @narrow(
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>
func.func @narrow(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
  // CHECK-DAG: %[[X16:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK-DAG: %[[W:.*]] = tenon.read_parameter @w : tensor<6x8xf32>
  // CHECK-DAG: %[[W16:.*]] = tenon.convert %[[W]] : tensor<6x8xf32> -> tensor<6x8xbf16>
  // CHECK: tenon.dot %[[X16]][0, 2], %[[W16]][1, 2] {{.*}}: tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
  // CHECK: tenon.dot %[[X]][0, 2], %[[W]][1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %w = tenon.read_parameter @w : tensor<6x8xf32>
  %y = tenon.dot %x[0, 2], %w[1, 2] {tenon.compute = bf16} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %z = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  tenon.output 1 "z", %z : tensor<4x6xf32>
  return
}

// -----

// A value that the text rounds is contracted as it is, without a second rounding; in another type of 16 bits it is rounded once more.
module attributes {tenon.compute = bf16} {
  // CHECK-LABEL: func.func @written(
  // CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[Y:[^:]*]]: tensor<4x8xf32>
  func.func @written(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK-NEXT: %[[XB:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK-NEXT: %[[Y16:.*]] = tenon.convert %[[Y]] : tensor<4x8xf32> -> tensor<4x8xf16>
    // CHECK-NEXT: %[[YF:.*]] = tenon.convert %[[Y16]] : tensor<4x8xf16> -> tensor<4x8xf32>
    // CHECK-NEXT: %[[YB:.*]] = tenon.convert %[[YF]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK-NEXT: tenon.dot %[[XB]][0, 2], %[[YB]][1, 2]
    %x16 = tenon.convert %x : tensor<4x8xf32> -> tensor<4x8xbf16>
    %xr = tenon.convert %x16 : tensor<4x8xbf16> -> tensor<4x8xf32>
    %y16 = tenon.convert %y : tensor<4x8xf32> -> tensor<4x8xf16>
    %yr = tenon.convert %y16 : tensor<4x8xf16> -> tensor<4x8xf32>
    %z = tenon.dot %xr[0, 2], %yr[1, 2] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
    tenon.output 0 "z", %z : tensor<4x4xf32>
    return
  }
}

// -----

// What a stack saves: the sum of a contraction in f32 (%h), and what such a contraction reads again in the backward pass (%n, a normalizer's result), stay f32; the sum of the other
// one (%g) is rounded.
module attributes {tenon.compute = bf16} {
  // CHECK-LABEL: func.func @saved(
  func.func @saved(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[S:.*]]:4 = tenon.stack 2(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xbf16>)
    %s:4 = tenon.stack 2(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) {
    ^bb0(%depth: index, %carry: tensor<4x8xf32>):
      %n, %mean, %rstd = tenon.normalize %carry eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
      %h = tenon.dot %n[0, 2], %w[2, 1] {tenon.compute = f32} : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %g = tenon.dot %h[0, 2], %w[2, 1] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      tenon.yield %g, %n, %h, %g : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
    }
    %b = tenon.stack 2 reverse(%s#0) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%depth: index, %carry: tensor<4x8xf32>):
      %n = tenon.at_depth %s#1[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %h = tenon.at_depth %s#2[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %g = tenon.at_depth %s#3[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %d = tenon.mul %n, %g : tensor<4x8xf32>
      %e = tenon.dot %d[0, 2], %carry[1, 2] {tenon.compute = f32} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
      %f = tenon.dot %e[0, 2], %h[2, 1] : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
      tenon.yield %f : tensor<4x8xf32>
    }
    tenon.output 0 "b", %b : tensor<4x8xf32>
    return
  }
}
