// Truth values, choices, conversions.
// RUN: tenon-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @logic
// CHECK-SAME: (%[[P:.*]]: tensor<4xi1>)
func.func @logic(%p: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  // CHECK-DAG: %[[FALSE:.*]] = tenon.constant 0.000000e+00 : tensor<4xi1>
  // CHECK-DAG: %[[TRUE:.*]] = tenon.constant 1.000000e+00 : tensor<4xi1>
  %false = tenon.constant 0.0 : tensor<4xi1>
  %true = tenon.not %false : tensor<4xi1>
  %a = tenon.and %p, %true : tensor<4xi1>
  %b = tenon.and %false, %p : tensor<4xi1>
  %c = tenon.or %p, %true : tensor<4xi1>
  %d = tenon.or %false, %p : tensor<4xi1>
  %e = tenon.and %p, %p : tensor<4xi1>
  // CHECK: return %[[P]], %[[FALSE]], %[[TRUE]], %[[P]], %[[P]]
  return %a, %b, %c, %d, %e : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// With NaN neither a < b nor b <= a holds, and x <= x does not: of reals only (in)equality turns round.
// CHECK-LABEL: func.func @negated
// CHECK-SAME: (%[[I:.*]]: tensor<4xi32>, %[[J:.*]]: tensor<4xi32>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @negated(%i: tensor<4xi32>, %j: tensor<4xi32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %a = tenon.compare lt %i, %j : tensor<4xi32> -> tensor<4xi1>
  %b = tenon.compare eq %x, %y : tensor<4xf32> -> tensor<4xi1>
  %c = tenon.compare lt %x, %y : tensor<4xf32> -> tensor<4xi1>
  // CHECK-DAG: %[[FALSE:.*]] = tenon.constant 0.000000e+00 : tensor<4xi1>
  // CHECK-DAG: %[[C:.*]] = tenon.compare lt %[[X]], %[[Y]]
  // CHECK-DAG: %[[NA:.*]] = tenon.compare le %[[J]], %[[I]]
  // CHECK-DAG: %[[NB:.*]] = tenon.compare ne %[[X]], %[[Y]]
  // CHECK-DAG: %[[NC:.*]] = tenon.not %[[C]]
  // CHECK-DAG: %[[LE:.*]] = tenon.compare le %[[X]], %[[X]]
  %na = tenon.not %a : tensor<4xi1>
  %nb = tenon.not %b : tensor<4xi1>
  %nc = tenon.not %c : tensor<4xi1>
  %le = tenon.compare le %x, %x : tensor<4xf32> -> tensor<4xi1>
  %lt = tenon.compare lt %x, %x : tensor<4xf32> -> tensor<4xi1>
  // CHECK: return %[[NA]], %[[NB]], %[[NC]], %[[LE]], %[[FALSE]]
  return %na, %nb, %nc, %le, %lt : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @choices
// CHECK-SAME: (%[[C:.*]]: tensor<4xi1>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
func.func @choices(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %true = tenon.constant 1.0 : tensor<4xi1>
  %n = tenon.not %c : tensor<4xi1>
  %s = tenon.select %c, %a, %a : tensor<4xi1>, tensor<4xf32>
  %t = tenon.select %true, %a, %b : tensor<4xi1>, tensor<4xf32>
  // CHECK: %[[U:.*]] = tenon.select %[[C]], %[[B]], %[[A]]
  %u = tenon.select %n, %a, %b : tensor<4xi1>, tensor<4xf32>
  // CHECK-NEXT: return %[[A]], %[[A]], %[[U]]
  return %s, %t, %u : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// f32 -> f64 -> f32 and i1 -> i32 -> f32 lose nothing; f64 -> f32 -> f64 does, and i64 -> f64 -> f32 rounds twice.
// CHECK-LABEL: func.func @conversions
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<4xf64>, %[[P:.*]]: tensor<4xi1>, %[[L:.*]]: tensor<4xi64>)
func.func @conversions(%x: tensor<4xf32>, %d: tensor<4xf64>, %p: tensor<4xi1>, %l: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>) {
  %x1 = tenon.convert %x : tensor<4xf32> -> tensor<4xf64>
  %x2 = tenon.convert %x1 : tensor<4xf64> -> tensor<4xf32>
  // CHECK-DAG: %[[TENTH:.*]] = tenon.constant 0.10000000149011612 : tensor<4xf64>
  // CHECK-DAG: %[[D1:.*]] = tenon.convert %[[D]] : tensor<4xf64> -> tensor<4xf32>
  // CHECK-DAG: %[[D2:.*]] = tenon.convert %[[D1]] : tensor<4xf32> -> tensor<4xf64>
  %d1 = tenon.convert %d : tensor<4xf64> -> tensor<4xf32>
  %d2 = tenon.convert %d1 : tensor<4xf32> -> tensor<4xf64>
  // CHECK-DAG: %[[P2:.*]] = tenon.convert %[[P]] : tensor<4xi1> -> tensor<4xf32>
  %p1 = tenon.convert %p : tensor<4xi1> -> tensor<4xi32>
  %p2 = tenon.convert %p1 : tensor<4xi32> -> tensor<4xf32>
  // CHECK-DAG: %[[L1:.*]] = tenon.convert %[[L]] : tensor<4xi64> -> tensor<4xf64>
  // CHECK-DAG: %[[L2:.*]] = tenon.convert %[[L1]] : tensor<4xf64> -> tensor<4xf32>
  %l1 = tenon.convert %l : tensor<4xi64> -> tensor<4xf64>
  %l2 = tenon.convert %l1 : tensor<4xf64> -> tensor<4xf32>
  %tenth = tenon.constant 0.1 : tensor<4xf32>
  %t = tenon.convert %tenth : tensor<4xf32> -> tensor<4xf64>
  // CHECK: return %[[X]], %[[D2]], %[[P2]], %[[L2]], %[[TENTH]]
  return %x2, %d2, %p2, %l2, %t : tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64>
}
