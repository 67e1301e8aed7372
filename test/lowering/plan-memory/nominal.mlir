// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory{nominal=4}))' | FileCheck %s --check-prefix=SMALL

#x = affine_map<(d0) -> (d0, 8)>

// The larger slot comes first; which one that is, the nominal size of the dims says. The formulas hold for every size.
// CHECK-LABEL: func.func @sizes
// CHECK-SAME: tenon.workspace = [{after = array<i64>, bytes = "d0 * 32", offset = 0 : i64}, {after = array<i64: 0>, bytes = "512", offset = 2048 : i64}]
// SMALL-LABEL: func.func @sizes
// SMALL-SAME: tenon.workspace = [{after = array<i64>, bytes = "512", offset = 0 : i64}, {after = array<i64: 0>, bytes = "d0 * 32", offset = 512 : i64}]
func.func @sizes(%T: index, %x: tensor<?x8xf32, #x>, %w: tensor<16x8xf32>, %u: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %rows = tenon.gemm %x[0, 2], %u[1, 2] rank 2 : tensor<?x8xf32, #x>, tensor<8x8xf32> -> tensor<?x8xf32, #x> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %fixed = tenon.gemm %w[0, 2], %u[1, 2] rank 2 : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %y = tenon.gemm %rows[0, 2], %fixed[1, 2] rank 2 : tensor<?x8xf32, #x>, tensor<16x8xf32> -> tensor<?x16xf32, affine_map<(d0) -> (d0, 16)>> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x16xf32, affine_map<(d0) -> (d0, 16)>>
  return
}
