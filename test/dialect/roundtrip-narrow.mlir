// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// Products of 16 bits are summed in f32; y may be rounded again.
// CHECK-LABEL: func.func @dot(
func.func @dot(%a: tensor<4x8xbf16>, %b: tensor<6x8xbf16>, %c: tensor<6x8xf16>, %d: tensor<4x8xf16>) {
  // CHECK: tenon.dot %{{.*}}[0, 2], %{{.*}}[1, 2] : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
  %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
  // CHECK: tenon.dot %{{.*}}[0, 2], %{{.*}}[1, 2] : tensor<4x8xf16>, tensor<6x8xf16> -> tensor<4x6xf16>
  %z = tenon.dot %d[0, 2], %c[1, 2] : tensor<4x8xf16>, tensor<6x8xf16> -> tensor<4x6xf16>
  return
}

// CHECK-LABEL: func.func @gemm(
func.func @gemm(%a: tensor<4x8xbf16>, %b: tensor<6x8xbf16>) -> tensor<4x6xbf16> {
  // CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[SUM:.*]]: f32):
  // CHECK: arith.truncf %[[SUM]] : f32 to bf16
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xbf16> {
  ^bb0(%i: index, %j: index, %sum: f32):
    %short = arith.truncf %sum : f32 to bf16
    tenon.put 0 [%i, %j], %short : bf16
  }
  return %y : tensor<4x6xbf16>
}
