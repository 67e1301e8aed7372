// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s

// CHECK-LABEL: func.func @composed
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK-NEXT: %[[Y:.*]] = tenon.broadcast %[[X]] [2] : tensor<8xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT: tenon.output 0 "y", %[[Y]]
func.func @composed(%x: tensor<8xf32>) {
  %rows = tenon.broadcast %x [1] : tensor<8xf32> -> tensor<4x8xf32>
  %y = tenon.broadcast %rows [1, 2] : tensor<4x8xf32> -> tensor<2x4x8xf32>
  tenon.output 0 "y", %y : tensor<2x4x8xf32>
  return
}

// A broadcast that changes nothing goes, a broadcast of a constant is a constant.
// CHECK-LABEL: func.func @nothing
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>)
// CHECK-NOT: tenon.broadcast
// CHECK: %[[C:.*]] = tenon.constant 2.0{{.*}} : tensor<4x4xf32>
// CHECK-NOT: tenon.broadcast
// CHECK: tenon.mul %[[X]], %[[C]]
func.func @nothing(%x: tensor<4x4xf32>) {
  %same = tenon.broadcast %x [0, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
  %two = tenon.constant 2.0 : tensor<4xf32>
  %twos = tenon.broadcast %two [1] : tensor<4xf32> -> tensor<4x4xf32>
  %y = tenon.mul %same, %twos : tensor<4x4xf32>
  tenon.output 0 "y", %y : tensor<4x4xf32>
  return
}

// Same type and yet not the same: a transposition of a square.
// CHECK-LABEL: func.func @square
// CHECK: %[[Y:.*]] = tenon.broadcast %{{.*}} [1, 0]
// CHECK: tenon.output 0 "y", %[[Y]]
func.func @square(%x: tensor<4x4xf32>) {
  %y = tenon.broadcast %x [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  tenon.output 0 "y", %y : tensor<4x4xf32>
  return
}

// CHECK-LABEL: func.func @read_transposed
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[W:.*]]: tensor<6x8xf32>)
// CHECK-NOT: tenon.broadcast
// CHECK: tenon.dot %[[X]][2, 0], %[[W]][1, 2] : tensor<8x4xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
func.func @read_transposed(%x: tensor<8x4xf32>, %w: tensor<6x8xf32>) {
  %t = tenon.broadcast %x [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %y = tenon.dot %t[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}

// A repetition is more than a transposition: it stays.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[R:.*]] = tenon.broadcast
// CHECK: tenon.dot %[[R]][0, 2]
func.func @repeated(%x: tensor<8xf32>, %w: tensor<6x8xf32>) {
  %r = tenon.broadcast %x [1] : tensor<8xf32> -> tensor<4x8xf32>
  %y = tenon.dot %r[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @written_transposed
// CHECK-NOT: tenon.broadcast
// CHECK: tenon.dot %{{.*}}[1, 2], %{{.*}}[0, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<6x4xf32>
func.func @written_transposed(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) {
  %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %t = tenon.broadcast %y [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  tenon.output 0 "t", %t : tensor<6x4xf32>
  return
}

// Both forms are read: contracted once, not twice.
// CHECK-LABEL: func.func @both_forms
// CHECK-COUNT-1: tenon.dot
// CHECK-NOT: tenon.dot
// CHECK: tenon.broadcast
// CHECK: return
func.func @both_forms(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) {
  %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %t = tenon.broadcast %y [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  tenon.output 1 "t", %t : tensor<6x4xf32>
  return
}
