// Images stay in the order in which convolutions make them: transpositions go behind windows of one place that contractions alone read, into the labels, and loops carry what they make.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s

// Of size 1 with steps of 1: no window is left, dimensions of one element are.
// CHECK-LABEL: func.func @ones
// CHECK-NEXT: %[[SPLIT:.*]] = tenon.reshape %arg0 [1, 2, 2, 1] : tensor<2x7x5x3xf32> -> tensor<2x7x1x5x1x3xf32>
// CHECK-NEXT: tenon.dot %[[SPLIT]][0, 1, 5, 2, 6, 4], %arg1[3, 4, 5, 6]
func.func @ones(%x: tensor<2x7x5x3xf32>, %w: tensor<6x3x1x1xf32>) {
  %t = tenon.broadcast %x [0, 2, 3, 1] : tensor<2x7x5x3xf32> -> tensor<2x3x7x5xf32>
  %r = tenon.reshape %t [1, 1, 2, 2] : tensor<2x3x7x5xf32> -> tensor<2x3x7x1x5x1xf32>
  %y = tenon.dot %r[0, 4, 1, 5, 2, 6], %w[3, 4, 5, 6] : tensor<2x3x7x1x5x1xf32>, tensor<6x3x1x1xf32> -> tensor<2x7x5x6xf32>
  tenon.output 0 "y", %y : tensor<2x7x5x6xf32>
  return
}

// With steps, which change places with the dimensions.
// CHECK-LABEL: func.func @steps
// CHECK-NEXT: %[[WINDOWS:.*]] = tenon.window %arg0 [0, 2] stride [3, 2] dilation [1, 1] pad [0, 0] divisor [1, 1] fill 0.000000e+00 : tensor<7x3x5xf32> -> tensor<3x1x3x3x1xf32>
// CHECK-NEXT: tenon.dot %[[WINDOWS]][1, 5, 3, 0, 4], %arg1[2, 3, 4, 5]
func.func @steps(%x: tensor<7x3x5xf32>, %w: tensor<6x3x1x1xf32>) {
  %t = tenon.broadcast %x [2, 0, 1] : tensor<7x3x5xf32> -> tensor<3x5x7xf32>
  %r = tenon.window %t [1, 2] stride [2, 3] dilation [1, 1] pad [0, 0] divisor [1, 1] fill 0.0 : tensor<3x5x7xf32> -> tensor<3x3x1x3x1xf32>
  %y = tenon.dot %r[3, 0, 4, 1, 5], %w[2, 3, 4, 5] : tensor<3x3x1x3x1xf32>, tensor<6x3x1x1xf32> -> tensor<3x3x6xf32>
  tenon.output 0 "y", %y : tensor<3x3x6xf32>
  return
}

// A carry that is turned at the end of a round and turned back: the initial value is transposed once, in front of the loop.
// CHECK-LABEL: func.func @carry
// CHECK: %[[FIRST:.*]] = tenon.broadcast %arg0 [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
// CHECK-NEXT: %[[LAST:.*]] = tenon.stack 4(%[[FIRST]]) : (tensor<5x3xf32>) -> tensor<5x3xf32> {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<5x3xf32>):
// CHECK-NEXT: %[[D:.*]] = tenon.dot %[[H]][0, 2], %arg1[1, 2]
// CHECK-NEXT: %[[S:.*]] = tenon.add %[[H]], %[[D]]
// CHECK-NEXT: tenon.yield %[[S]]
// CHECK: tenon.broadcast %[[LAST]] [1, 0]
func.func @carry(%x: tensor<3x5xf32>, %w: tensor<3x3xf32>) {
  %y = tenon.stack 4(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32> {
  ^bb0(%d: index, %h: tensor<3x5xf32>):
    %t = tenon.broadcast %h [1, 0] : tensor<3x5xf32> -> tensor<5x3xf32>
    %p = tenon.dot %h[2, 0], %w[1, 2] : tensor<3x5xf32>, tensor<3x3xf32> -> tensor<5x3xf32>
    %s = tenon.add %t, %p : tensor<5x3xf32>
    %n = tenon.broadcast %s [1, 0] : tensor<5x3xf32> -> tensor<3x5xf32>
    tenon.yield %n : tensor<3x5xf32>
  }
  tenon.output 0 "y", %y : tensor<3x5xf32>
  return
}

// Windows of more places, what an elementwise op reads as well, a dimension that is split, a carry that is read as it is: all stay.
// CHECK-LABEL: func.func @others
// CHECK: %[[A:.*]] = tenon.broadcast %arg0
// CHECK: tenon.window %[[A]] [1] stride
// CHECK: tenon.reshape %[[A]] [1, 2] : tensor<3x8xf32> -> tensor<3x8x1xf32>
// CHECK: tenon.reshape %[[A]] [1, 2] : tensor<3x8xf32> -> tensor<3x4x2xf32>
// CHECK: tenon.stack 4(%arg2) : (tensor<3x3xf32>)
func.func @others(%x: tensor<8x3xf32>, %w: tensor<6x3x2xf32>, %v: tensor<3x3xf32>) {
  %t = tenon.broadcast %x [1, 0] : tensor<8x3xf32> -> tensor<3x8xf32>
  %a = tenon.window %t [1] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<3x8xf32> -> tensor<3x7x2xf32>
  %ya = tenon.dot %a[2, 0, 3], %w[1, 2, 3] : tensor<3x7x2xf32>, tensor<6x3x2xf32> -> tensor<7x6xf32>
  %b = tenon.reshape %t [1, 2] : tensor<3x8xf32> -> tensor<3x8x1xf32>
  %eb = tenon.tanh %b : tensor<3x8x1xf32>
  %yb = tenon.dot %b[2, 0, 3], %eb[2, 1, 3] : tensor<3x8x1xf32>, tensor<3x8x1xf32> -> tensor<8x8xf32>
  %c = tenon.reshape %t [1, 2] : tensor<3x8xf32> -> tensor<3x4x2xf32>
  %yc = tenon.dot %c[2, 0, 3], %w[1, 2, 3] : tensor<3x4x2xf32>, tensor<6x3x2xf32> -> tensor<4x6xf32>
  %y = tenon.stack 4(%v) : (tensor<3x3xf32>) -> tensor<3x3xf32> {
  ^bb0(%d: index, %h: tensor<3x3xf32>):
    %e = tenon.tanh %h : tensor<3x3xf32>
    %p = tenon.broadcast %h [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
    %q = tenon.mul %e, %p : tensor<3x3xf32>
    %s = tenon.tanh %q : tensor<3x3xf32>
    %n = tenon.broadcast %s [1, 0] : tensor<3x3xf32> -> tensor<3x3xf32>
    tenon.yield %n : tensor<3x3xf32>
  }
  tenon.output 0 "ya", %ya : tensor<7x6xf32>
  tenon.output 1 "yb", %yb : tensor<8x8xf32>
  tenon.output 2 "yc", %yc : tensor<4x6xf32>
  tenon.output 3 "y", %y : tensor<3x3xf32>
  return
}
