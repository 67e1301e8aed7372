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

// The halves of a parameter are joined.
module attributes {tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w stacked : tensor<3x8xf32>
  // CHECK-LABEL: func.func @halves(
  func.func @halves(%x: tensor<8xf32>) {
    %y = tenon.stack 3 (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
    ^bb0(%depth: index, %carry: tensor<8xf32>):
      // CHECK: %[[UPPER:.*]] = tenon.read_parameter @w[%[[DEPTH:.*]]] : tensor<8xbf16>
      // CHECK: %[[REST:.*]] = tenon.read_parameter @w[%[[DEPTH]]] remainder : tensor<8xi16>
      // CHECK: tenon.join %[[UPPER]], %[[REST]] : tensor<8xbf16>, tensor<8xi16> -> tensor<8xf32>
      %upper = tenon.read_parameter @w[%depth] : tensor<8xbf16>
      %rest = tenon.read_parameter @w[%depth] remainder : tensor<8xi16>
      %w = tenon.join %upper, %rest : tensor<8xbf16>, tensor<8xi16> -> tensor<8xf32>
      %next = tenon.add %carry, %w : tensor<8xf32>
      tenon.yield %next : tensor<8xf32>
    }
    return
  }
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
