// The gradient of a contraction's windows is summed in the contraction: its terms, which are as many as the windows have places, are in no memory.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify{after-differentiation=true}))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s --check-prefix=BEFORE

// Two windowed dimensions, steps of 8 along one: too many for a contraction of each phase (window-phases.mlir).
// CHECK-LABEL: func.func @convolution
// CHECK-NEXT: %[[WINDOWS:.*]] = tenon.window %arg0 [2, 3] stride [1, 1] dilation [-1, -1] pad [-1, -1] divisor [1, 8] fill 0.000000e+00 : tensor<2x6x8x4xf32> -> tensor<2x6x8x3x26x3xf32>
// CHECK-NEXT: %[[DX:.*]] = tenon.dot %[[WINDOWS]][0, 6, 2, 4, 3, 5], %arg1[6, 1, 4, 5] : tensor<2x6x8x3x26x3xf32>, tensor<6x3x3x3xf32> -> tensor<2x3x8x26xf32>
// CHECK-NEXT: tenon.output 0 "dx", %[[DX]]
// BEFORE-LABEL: func.func @convolution
// BEFORE: tenon.window paired
func.func @convolution(%dy: tensor<2x6x8x4xf32>, %w: tensor<6x3x3x3xf32>) {
  %g = tenon.dot %dy[0, 6, 2, 4], %w[6, 1, 3, 5] : tensor<2x6x8x4xf32>, tensor<6x3x3x3xf32> -> tensor<2x3x8x3x4x3xf32>
  %t = tenon.window paired %g [2, 4] stride [1, 1] dilation [-1, -1] pad [-1, -1] divisor [1, 8] fill 0.0 : tensor<2x3x8x3x4x3xf32> -> tensor<2x3x8x3x26x3xf32>
  %dx = tenon.reduce sum %t [3, 5] : tensor<2x3x8x3x26x3xf32> -> tensor<2x3x8x26xf32>
  tenon.output 0 "dx", %dx : tensor<2x3x8x26xf32>
  return
}

// The windows are those of the second operand.
// CHECK-LABEL: func.func @second
// CHECK-NEXT: %[[WINDOWS:.*]] = tenon.window %arg0 [0] stride [1] dilation [-2] pad [-2] divisor [1] fill 0.000000e+00 : tensor<8x6xf32> -> tensor<8x3x6xf32>
// CHECK-NEXT: tenon.dot %[[WINDOWS]][0, 2, 3], %arg1[2, 3, 1] : tensor<8x3x6xf32>, tensor<3x6x5xf32> -> tensor<8x5xf32>
func.func @second(%dy: tensor<8x6xf32>, %w: tensor<3x6x5xf32>) {
  %g = tenon.dot %w[1, 3, 2], %dy[0, 3] : tensor<3x6x5xf32>, tensor<8x6xf32> -> tensor<8x3x5xf32>
  %t = tenon.window paired %g [0] stride [1] dilation [-2] pad [-2] divisor [1] fill 0.0 : tensor<8x3x5xf32> -> tensor<8x3x5xf32>
  %dx = tenon.reduce sum %t [1] : tensor<8x3x5xf32> -> tensor<8x5xf32>
  tenon.output 0 "dx", %dx : tensor<8x5xf32>
  return
}

// Windows of one place, a contraction that others read, a maximum, places that the windowed operand has itself: all stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: tenon.window paired
// CHECK-NOT: tenon.window %
func.func @others(%dy: tensor<4x6xf32>, %w: tensor<6x1xf32>, %v: tensor<6x3xf32>, %u: tensor<4x3x6xf32>) {
  %a = tenon.dot %dy[0, 2], %w[2, 1] : tensor<4x6xf32>, tensor<6x1xf32> -> tensor<4x1xf32>
  %ta = tenon.window paired %a [0] stride [1] dilation [-1] pad [0] divisor [2] fill 0.0 : tensor<4x1xf32> -> tensor<8x1xf32>
  %da = tenon.reduce sum %ta [1] : tensor<8x1xf32> -> tensor<8xf32>
  %b = tenon.dot %dy[0, 2], %v[2, 1] : tensor<4x6xf32>, tensor<6x3xf32> -> tensor<4x3xf32>
  %tb = tenon.window paired %b [0] stride [1] dilation [-1] pad [0] divisor [1] fill 0.0 : tensor<4x3xf32> -> tensor<6x3xf32>
  %db = tenon.reduce sum %tb [1] : tensor<6x3xf32> -> tensor<6xf32>
  %c = tenon.dot %v[2, 1], %dy[0, 2] : tensor<6x3xf32>, tensor<4x6xf32> -> tensor<4x3xf32>
  %tc = tenon.window paired %c [0] stride [1] dilation [-1] pad [0] divisor [1] fill 0.0 : tensor<4x3xf32> -> tensor<6x3xf32>
  %dc = tenon.reduce max %tc [1] : tensor<6x3xf32> -> tensor<6xf32>
  %d = tenon.dot %u[0, 1, 2], %v[2, 1] : tensor<4x3x6xf32>, tensor<6x3xf32> -> tensor<4x3xf32>
  %td = tenon.window paired %d [0] stride [1] dilation [-1] pad [0] divisor [1] fill 0.0 : tensor<4x3xf32> -> tensor<6x3xf32>
  %dd = tenon.reduce sum %td [1] : tensor<6x3xf32> -> tensor<6xf32>
  tenon.output 0 "da", %da : tensor<8xf32>
  tenon.output 1 "db", %db : tensor<6xf32>
  tenon.output 2 "b", %b : tensor<4x3xf32>
  tenon.output 3 "dc", %dc : tensor<6xf32>
  tenon.output 4 "dd", %dd : tensor<6xf32>
  return
}
