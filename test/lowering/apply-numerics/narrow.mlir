// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' | FileCheck %s

// Factors are rounded where they are made, sums are f32; of a parameter the copy is read.
module attributes {tenon.compute = bf16} {
  tenon.parameter @w : tensor<6x8xf32>
  // CHECK-LABEL: func.func @dot(
  // CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
  func.func @dot(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK-DAG: %[[X16:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK-DAG: %[[W16:.*]] = tenon.read_parameter @w : tensor<6x8xbf16>
    // CHECK: %[[Y:.*]] = tenon.dot %[[X16]][0, 2], %[[W16]][1, 2] : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
    // CHECK-NEXT: %[[R:.*]] = tenon.relu %[[Y]] : tensor<4x6xf32>
    // CHECK-NEXT: %[[R16:.*]] = tenon.convert %[[R]] : tensor<4x6xf32> -> tensor<4x6xbf16>
    // CHECK-NEXT: tenon.dot %[[R16]][0, 2], %[[R16]][1, 2] : tensor<4x6xbf16>, tensor<4x6xbf16> -> tensor<4x4xf32>
    %w = tenon.read_parameter @w : tensor<6x8xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %r = tenon.relu %y : tensor<4x6xf32>
    %z = tenon.dot %r[0, 2], %r[1, 2] : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x4xf32>
    tenon.output 0 "z", %z : tensor<4x4xf32>
    return
  }
}

// -----

// Attention rounds its result, too; what reads that as a factor reads the rounded one. Statistics stay f32.
module attributes {tenon.compute = bf16} {
  // CHECK-LABEL: func.func @attention(
  func.func @attention(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %w: tensor<4x6x3xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[Y:.*]], %{{.*}}, %{{.*}} = "tenon.attention"
    // CHECK-SAME: (tensor<2x5x4x8xbf16>, tensor<2x7x4x8xbf16>, tensor<2x7x4x6xbf16>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
    // CHECK-NOT: tenon.convert %[[Y]]
    // CHECK: tenon.dot %[[Y]][0, 1, 3, 4]
    %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
    %z = tenon.dot %y[0, 1, 3, 4], %w[3, 4, 2] : tensor<2x5x4x6xf32>, tensor<4x6x3xf32> -> tensor<2x5x3xf32>
    tenon.output 0 "z", %z : tensor<2x5x3xf32>
    return
  }
}

// -----

// Without the attribute, and of doubles, nothing changes.
// CHECK-LABEL: func.func @as_it_is(
// CHECK-NOT: tenon.convert
// CHECK: return
func.func @as_it_is(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  return
}

// -----

module attributes {tenon.compute = bf16} {
  // CHECK-LABEL: func.func @doubles(
  // CHECK-NOT: tenon.convert
  // CHECK: return
  func.func @doubles(%a: tensor<4x8xf64>, %b: tensor<6x8xf64>) {
    %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x8xf64>, tensor<6x8xf64> -> tensor<4x6xf64>
    return
  }
}

// -----

// A sum over rows of what a product rounds reads the rounded numbers; a maximum does not.
module attributes {tenon.compute = bf16} {
  // CHECK-LABEL: func.func @shared(
  // CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>
  func.func @shared(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[X16:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK: %[[BACK:.*]] = tenon.convert %[[X16]] : tensor<4x8xbf16> -> tensor<4x8xf32>
    // CHECK: tenon.reduce sum %[[BACK]] [0]
    // CHECK: tenon.reduce max %[[X]] [0]
    %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %s = tenon.reduce sum %x [0] : tensor<4x8xf32> -> tensor<8xf32>
    %m = tenon.reduce max %x [0] : tensor<4x8xf32> -> tensor<8xf32>
    tenon.output 0 "y", %y : tensor<4x6xf32>
    tenon.output 1 "s", %s : tensor<8xf32>
    tenon.output 2 "m", %m : tensor<8xf32>
    return
  }
}
