// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s

tenon.parameter @w : tensor<8x8xf32>
tenon.parameter @stacked stacked : tensor<3x8x8xf32>

// A shared projection is contracted once; what nobody reads goes.
// CHECK-LABEL: func.func @shared
// CHECK-COUNT-1: tenon.dot
// CHECK-NOT: tenon.dot
// CHECK-NOT: tenon.exp
// CHECK: return
func.func @shared(%x: tensor<4x8xf32>) {
  %w = tenon.read_parameter @w : tensor<8x8xf32>
  %again = tenon.read_parameter @w : tensor<8x8xf32>
  %a = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %b = tenon.dot %x[0, 2], %again[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %unread = tenon.exp %a : tensor<4x8xf32>
  %y = tenon.add %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// Other labels are another contraction; another site is another draw.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-2: tenon.dot
// CHECK-COUNT-2: tenon.dropout
// CHECK: return
func.func @different(%x: tensor<8x8xf32>) {
  %w = tenon.read_parameter @w : tensor<8x8xf32>
  %a = tenon.dot %x[0, 2], %w[1, 2] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %b = tenon.dot %x[0, 2], %w[2, 1] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %c = tenon.add %a, %b : tensor<8x8xf32>
  %first = tenon.dropout %c rate 0.1 site 1 : tensor<8x8xf32>
  %second = tenon.dropout %c rate 0.1 site 2 : tensor<8x8xf32>
  %y = tenon.add %first, %second : tensor<8x8xf32>
  tenon.output 0 "y", %y : tensor<8x8xf32>
  return
}

// What does not depend on the depth is read before the stack, the slice of a depth inside.
// CHECK-LABEL: func.func @outside
// CHECK: %[[W:.*]] = tenon.read_parameter @w :
// CHECK: tenon.stack
// CHECK-NOT: tenon.read_parameter @w :
// CHECK: tenon.read_parameter @stacked[
// CHECK-NOT: tenon.read_parameter @w :
// CHECK: return
func.func @outside(%x: tensor<4x8xf32>) {
  %y = tenon.stack 3 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  ^bb0(%depth: index, %h: tensor<4x8xf32>):
    %own = tenon.read_parameter @stacked[%depth] : tensor<8x8xf32>
    %w = tenon.read_parameter @w : tensor<8x8xf32>
    %a = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %b = tenon.dot %a[0, 2], %own[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    tenon.yield %b : tensor<4x8xf32>
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}
