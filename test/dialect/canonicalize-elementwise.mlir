// What folds has the same bits as before; what would not must stay.
// RUN: tenon-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @exact
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @exact(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %minus = tenon.constant -0.0 : tensor<4xf32>
  %one = tenon.constant 1.0 : tensor<4xf32>
  %n = tenon.neg %x : tensor<4xf32>
  %nn = tenon.neg %n : tensor<4xf32>
  %a = tenon.add %x, %minus : tensor<4xf32>
  %s = tenon.sub %x, %zero : tensor<4xf32>
  %m = tenon.mul %one, %x : tensor<4xf32>
  %d = tenon.div %x, %one : tensor<4xf32>
  %l = tenon.max %x, %x : tensor<4xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %nn, %a, %s, %m, %d, %l : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Zeros of either sign, infinities and NaN: x + 0, x - -0, x - x, x * 0, |-x|, -(x - y) stay.
// CHECK-LABEL: func.func @not_exact
func.func @not_exact(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %minus = tenon.constant -0.0 : tensor<4xf32>
  // CHECK: tenon.add
  %a = tenon.add %x, %zero : tensor<4xf32>
  // CHECK-NEXT: tenon.sub
  %s = tenon.sub %x, %minus : tensor<4xf32>
  // CHECK-NEXT: tenon.sub
  %e = tenon.sub %x, %x : tensor<4xf32>
  // CHECK-NEXT: tenon.mul
  %m = tenon.mul %x, %zero : tensor<4xf32>
  %n = tenon.neg %x : tensor<4xf32>
  // CHECK-NEXT: tenon.neg
  // CHECK-NEXT: tenon.abs
  %p = tenon.abs %n : tensor<4xf32>
  // CHECK-NEXT: tenon.sub
  %d = tenon.sub %x, %y : tensor<4xf32>
  // CHECK-NEXT: tenon.neg
  %f = tenon.neg %d : tensor<4xf32>
  // CHECK-NEXT: return
  return %a, %s, %e, %m, %p, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>)
func.func @integers(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>) {
  %zero = tenon.constant 0.0 : tensor<4xi32>
  %one = tenon.constant 1.0 : tensor<4xi32>
  %a = tenon.add %x, %zero : tensor<4xi32>
  %s = tenon.sub %x, %x : tensor<4xi32>
  %m = tenon.mul %zero, %x : tensor<4xi32>
  %q = tenon.floordiv %x, %one : tensor<4xi32>
  %e = tenon.compare le %x, %x : tensor<4xi32> -> tensor<4xi1>
  %r = tenon.mod %x, %one : tensor<4xi32>
  // CHECK-DAG: %[[ZERO:.*]] = tenon.constant 0.000000e+00 : tensor<4xi32>
  // CHECK-DAG: %[[TRUE:.*]] = tenon.constant 1.000000e+00 : tensor<4xi1>
  // CHECK: return %[[X]], %[[ZERO]], %[[ZERO]], %[[X]], %[[TRUE]], %[[ZERO]]
  return %a, %s, %m, %q, %e, %r : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi1>, tensor<4xi32>
}

// The floor of a negative quotient, a wrapped sum (-2147483647, whose f64 is printed by its bits), f32 rounded as the machine rounds: 0.1 + 0.2 is 0x3E99999A, which f64 prints as below.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %a = tenon.constant -7.0 : tensor<i32>
  %b = tenon.constant 2.0 : tensor<i32>
  %big = tenon.constant 2147483647.0 : tensor<i32>
  %tenth = tenon.constant 0.1 : tensor<f32>
  %fifth = tenon.constant 0.2 : tensor<f32>
  %two = tenon.constant 2.0 : tensor<f32>
  // CHECK-DAG: %[[QUOTIENT:.*]] = tenon.constant -4.000000e+00 : tensor<i32>
  %q = tenon.floordiv %a, %b : tensor<i32>
  // CHECK-DAG: %[[REST:.*]] = tenon.constant 1.000000e+00 : tensor<i32>
  %r = tenon.mod %a, %b : tensor<i32>
  // CHECK-DAG: %[[WRAPPED:.*]] = tenon.constant 0xC1DFFFFFFFC00000 : tensor<i32>
  %w = tenon.add %big, %b : tensor<i32>
  // CHECK-DAG: %[[SUM:.*]] = tenon.constant 0.30000001192092896 : tensor<f32>
  %s = tenon.add %tenth, %fifth : tensor<f32>
  // CHECK-DAG: %[[ROOT:.*]] = tenon.constant 1.4142135381698608 : tensor<f32>
  %root = tenon.sqrt %two : tensor<f32>
  // CHECK-DAG: %[[LARGER:.*]] = tenon.constant 2.000000e+00 : tensor<f32>
  %m = tenon.max %tenth, %two : tensor<f32>
  // CHECK: return %[[QUOTIENT]], %[[REST]], %[[WRAPPED]], %[[SUM]], %[[ROOT]], %[[LARGER]]
  return %q, %r, %w, %s, %root, %m : tensor<i32>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// Division by 0, NaN, f16 (whose kernels may compute in f32) and functions with bits of their own are left to the machine.
// CHECK-LABEL: func.func @unfolded_constants
func.func @unfolded_constants() -> (tensor<i32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<f32>) {
  %zero = tenon.constant 0.0 : tensor<i32>
  %nothing = tenon.constant 0.0 : tensor<f32>
  %half = tenon.constant 0.5 : tensor<f16>
  %minus = tenon.constant -1.0 : tensor<f32>
  // CHECK: tenon.floordiv
  %q = tenon.floordiv %zero, %zero : tensor<i32>
  // CHECK-NEXT: tenon.div
  %d = tenon.div %nothing, %nothing : tensor<f32>
  // CHECK-NEXT: tenon.add
  %h = tenon.add %half, %half : tensor<f16>
  // CHECK-NEXT: tenon.exp
  %e = tenon.exp %minus : tensor<f32>
  // CHECK-NEXT: tenon.sqrt
  %s = tenon.sqrt %minus : tensor<f32>
  // CHECK-NEXT: return
  return %q, %d, %h, %e, %s : tensor<i32>, tensor<f32>, tensor<f16>, tensor<f32>, tensor<f32>
}

// Signs move into sums, products and quotients; a quotient by a power of two is a product, one by 3 is not, nor one whose inverse is no normal number.
// CHECK-LABEL: func.func @signs
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @signs(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[QUARTER:.*]] = tenon.constant 2.500000e-01 : tensor<4xf32>
  // CHECK-DAG: %[[THREE:.*]] = tenon.constant 3.000000e+00 : tensor<4xf32>
  // CHECK-DAG: %[[TINY:.*]] = tenon.constant {{.*}} : tensor<4xf32>
  %four = tenon.constant 4.0 : tensor<4xf32>
  %three = tenon.constant 3.0 : tensor<4xf32>
  %tiny = tenon.constant 1.401298464324817e-45 : tensor<4xf32>
  %nx = tenon.neg %x : tensor<4xf32>
  %ny = tenon.neg %y : tensor<4xf32>
  // CHECK: %[[A:.*]] = tenon.sub %[[X]], %[[Y]]
  %a = tenon.add %x, %ny : tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = tenon.add %[[X]], %[[Y]]
  %b = tenon.sub %x, %ny : tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = tenon.mul %[[X]], %[[Y]]
  %c = tenon.mul %nx, %ny : tensor<4xf32>
  // CHECK-NEXT: %[[D:.*]] = tenon.mul %[[X]], %[[QUARTER]]
  %d = tenon.div %x, %four : tensor<4xf32>
  // CHECK-NEXT: %[[E:.*]] = tenon.div %[[X]], %[[THREE]]
  %e = tenon.div %x, %three : tensor<4xf32>
  // CHECK-NEXT: %[[F:.*]] = tenon.div %[[X]], %[[TINY]]
  %f = tenon.div %x, %tiny : tensor<4xf32>
  return %a, %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// 16 bits become f64 by way of f32, the type that they are computed in.
// CHECK-LABEL: func.func @widened
func.func @widened(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf64>) {
  // CHECK: %[[WIDE:.*]] = tenon.convert %{{.*}} : tensor<4xbf16> -> tensor<4xf32>
  // CHECK: %[[A:.*]] = tenon.convert %[[WIDE]] : tensor<4xf32> -> tensor<4xf64>
  %w = tenon.convert %x : tensor<4xbf16> -> tensor<4xf32>
  %a = tenon.convert %w : tensor<4xf32> -> tensor<4xf64>
  // CHECK: %[[B:.*]] = tenon.convert %{{.*}} : tensor<4xf32> -> tensor<4xf64>
  %b = tenon.convert %y : tensor<4xf32> -> tensor<4xf64>
  // CHECK: return %[[A]], %[[B]]
  return %a, %b : tensor<4xf64>, tensor<4xf64>
}
