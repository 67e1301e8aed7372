// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s

// CHECK-LABEL: func.func @neutral
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: tenon.output 0 "y", %[[X]]
func.func @neutral(%x: tensor<4xf32>) {
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %one = tenon.constant 1.0 : tensor<4xf32>
  %a = tenon.add %x, %zero : tensor<4xf32>
  %b = tenon.add %zero, %a : tensor<4xf32>
  %c = tenon.sub %b, %zero : tensor<4xf32>
  %d = tenon.mul %c, %one : tensor<4xf32>
  %e = tenon.mul %one, %d : tensor<4xf32>
  %y = tenon.div %e, %one : tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}

// Neutral on the right alone, and only there: 0 - x and 1 / x are other values, and so is x * 0 where x is not finite.
// CHECK-LABEL: func.func @not_neutral
// CHECK: tenon.sub
// CHECK: tenon.div
// CHECK: tenon.mul
// CHECK: tenon.add
// CHECK: return
func.func @not_neutral(%x: tensor<4xf32>) {
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %one = tenon.constant 1.0 : tensor<4xf32>
  %minus = tenon.sub %zero, %x : tensor<4xf32>
  %inverse = tenon.div %one, %minus : tensor<4xf32>
  %gone = tenon.mul %inverse, %zero : tensor<4xf32>
  %y = tenon.add %gone, %one : tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}
