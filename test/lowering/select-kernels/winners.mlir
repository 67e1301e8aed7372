// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// What is compared for equality with its own maximum is computed once: computed again it may round otherwise, and no element equals the maximum.
// CHECK-LABEL: func.func @sought
// CHECK-COUNT-1: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @sought(%p: tensor<4x6xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %x = tenon.mul %p, %p : tensor<4x6xf32>
  %top = tenon.reduce max %x [0] : tensor<4x6xf32> -> tensor<6xf32>
  %tops = tenon.broadcast %top [1] : tensor<6xf32> -> tensor<4x6xf32>
  %winners = tenon.compare eq %x, %tops : tensor<4x6xf32> -> tensor<4x6xi1>
  tenon.output 0 "winners", %winners : tensor<4x6xi1>
  return
}

// Another comparison does not hang on the last bit: the product is cheap, and computed where it is read.
// CHECK-LABEL: func.func @compared
// CHECK-COUNT-2: arith.mulf
// CHECK: return
func.func @compared(%p: tensor<4x6xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %x = tenon.mul %p, %p : tensor<4x6xf32>
  %top = tenon.reduce max %x [0] : tensor<4x6xf32> -> tensor<6xf32>
  %tops = tenon.broadcast %top [1] : tensor<6xf32> -> tensor<4x6xf32>
  %below = tenon.compare lt %x, %tops : tensor<4x6xf32> -> tensor<4x6xi1>
  tenon.output 0 "below", %below : tensor<4x6xi1>
  return
}
