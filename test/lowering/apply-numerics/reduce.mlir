// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' | FileCheck %s

// With `reduce = f64` what sums is computed in f64 and gives f32; a maximum, elementwise ops and contractions are not.
module attributes {tenon.reduce = f64} {
  // CHECK-LABEL: func.func @rows(
  // CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>
  func.func @rows(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>, %labels: tensor<4xi32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[WIDE:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xf64>
    // CHECK-NEXT: %[[S:.*]] = tenon.reduce sum %[[WIDE]] [1] : tensor<4x8xf64> -> tensor<4xf64>
    // CHECK-NEXT: %[[SUM:.*]] = tenon.convert %[[S]] : tensor<4xf64> -> tensor<4xf32>
    %sum = tenon.reduce sum %x [1] : tensor<4x8xf32> -> tensor<4xf32>
    // CHECK: tenon.reduce max %[[X]] [1] : tensor<4x8xf32> -> tensor<4xf32>
    %max = tenon.reduce max %x [1] : tensor<4x8xf32> -> tensor<4xf32>
    // CHECK: tenon.softmax %[[WIDE]] : tensor<4x8xf64>
    %soft = tenon.softmax %x : tensor<4x8xf32>
    // CHECK: %[[N:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = tenon.normalize %[[WIDE]] eps {{.*}} : tensor<4x8xf64> -> tensor<4x8xf64>, tensor<4xf64>, tensor<4xf64>
    %n, %mean, %rstd = tenon.normalize %x eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
    // CHECK: tenon.normalize_grad %{{.*}}, %[[WIDE]], %[[MEAN]], %[[RSTD]] : tensor<4x8xf64>, tensor<4xf64>
    %dn = tenon.normalize_grad %soft, %x, %mean, %rstd : tensor<4x8xf32>, tensor<4xf32>
    // CHECK: tenon.cross_entropy %[[WIDE]], %{{.*}} : tensor<4x8xf64>, tensor<4xi32> -> tensor<4xf64>
    %loss, %lse = tenon.cross_entropy %x, %labels : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
    // CHECK: tenon.cross_entropy_grad {{.*}} : tensor<4x8xf64>, tensor<4xi32>, tensor<4xf64>
    %dl = tenon.cross_entropy_grad %sum, %x, %labels, %lse : tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>
    // CHECK: tenon.dot %[[X]][0, 2], %{{.*}}[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    // CHECK: tenon.output 0 "sum", %[[SUM]] : tensor<4xf32>
    tenon.output 0 "sum", %sum : tensor<4xf32>
    tenon.output 1 "max", %max : tensor<4xf32>
    tenon.output 2 "n", %n : tensor<4x8xf32>
    tenon.output 3 "dn", %dn : tensor<4x8xf32>
    tenon.output 4 "loss", %loss : tensor<4xf32>
    tenon.output 5 "dl", %dl : tensor<4x8xf32>
    tenon.output 6 "y", %y : tensor<4x6xf32>
    return
  }
}

// -----

// Attention: factors and result are rounded as without it, between them all is f64, its step too.
module attributes {tenon.compute = bf16, tenon.reduce = f64} {
  // CHECK-LABEL: func.func @attention(
  // CHECK-SAME: %[[Q:[^:]*]]: tensor<2x5x4x8xf32>
  func.func @attention(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[Q16:.*]] = tenon.convert %[[Q]] : tensor<2x5x4x8xf32> -> tensor<2x5x4x8xbf16>
    // CHECK: %[[Q32:.*]] = tenon.convert %[[Q16]] : tensor<2x5x4x8xbf16> -> tensor<2x5x4x8xf32>
    // CHECK: %[[Q64:.*]] = tenon.convert %[[Q32]] : tensor<2x5x4x8xf32> -> tensor<2x5x4x8xf64>
    // CHECK: %[[Y:[^,]*]], %{{.*}} = "tenon.attention"(%[[Q64]]
    // CHECK-NEXT: ^bb0(%[[SCORE:.*]]: f64):
    // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2.000000e+00 : f64
    // CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[SCORE]], %[[TWO]] : f64
    // CHECK-NEXT: tenon.yield %[[PRODUCT]], %[[TWO]] : f64, f64
    // CHECK: (tensor<2x5x4x8xf64>, tensor<2x7x4x8xf64>, tensor<2x7x4x6xf64>) -> (tensor<2x5x4x6xf64>, tensor<2x4x5xf64>, tensor<2x4x5xf64>)
    // CHECK: %[[Y32:.*]] = tenon.convert %[[Y]] : tensor<2x5x4x6xf64> -> tensor<2x5x4x6xf32>
    // CHECK: tenon.convert %[[Y32]] : tensor<2x5x4x6xf32> -> tensor<2x5x4x6xbf16>
    %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> ({
    ^bb0(%score: f32):
      %two = arith.constant 2.0 : f32
      %product = arith.mulf %score, %two : f32
      tenon.yield %product, %two : f32, f32
    }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
    tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
    return
  }
}

// -----

// What only sums read of each other stays f64, also where a stack saves it; what something else reads is rounded.
module attributes {tenon.reduce = f64} {
  // CHECK-LABEL: func.func @saved(
  func.func @saved(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[S:.*]]:4 = tenon.stack 2(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4xf64>, tensor<2x4xf64>, tensor<2x4x8xf32>)
    %s:4 = tenon.stack 2(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>) {
    ^bb0(%depth: index, %carry: tensor<4x8xf32>):
      // CHECK: %{{.*}}, %[[MEAN:.*]], %[[RSTD:.*]] = tenon.normalize
      %n, %mean, %rstd = tenon.normalize %carry eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
      // CHECK: tenon.yield %{{.*}}, %[[MEAN]], %[[RSTD]], %{{.*}} : tensor<4x8xf32>, tensor<4xf64>, tensor<4xf64>, tensor<4x8xf32>
      tenon.yield %n, %mean, %rstd, %carry : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
    }
    %b = tenon.stack 2 reverse(%s#0) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%depth: index, %carry: tensor<4x8xf32>):
      // CHECK: %[[M:.*]] = tenon.at_depth %[[S]]#1[%{{.*}}] : tensor<2x4xf64> -> tensor<4xf64>
      // CHECK: %[[R:.*]] = tenon.at_depth %[[S]]#2[%{{.*}}] : tensor<2x4xf64> -> tensor<4xf64>
      %mean = tenon.at_depth %s#1[%depth] : tensor<2x4xf32> -> tensor<4xf32>
      %rstd = tenon.at_depth %s#2[%depth] : tensor<2x4xf32> -> tensor<4xf32>
      %x0 = tenon.at_depth %s#3[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      // CHECK: tenon.normalize_grad %{{.*}}, %{{.*}}, %[[M]], %[[R]]
      %d = tenon.normalize_grad %carry, %x0, %mean, %rstd : tensor<4x8xf32>, tensor<4xf32>
      tenon.yield %d : tensor<4x8xf32>
    }
    tenon.output 0 "b", %b : tensor<4x8xf32>
    return
  }
}

// -----

// Without the attribute nothing changes.
// CHECK-LABEL: func.func @as_it_is(
// CHECK-NOT: tenon.convert
// CHECK: return
func.func @as_it_is(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
  %sum = tenon.reduce sum %x [1] : tensor<4x8xf32> -> tensor<4xf32>
  tenon.output 0 "sum", %sum : tensor<4xf32>
  return
}
