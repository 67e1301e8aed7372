// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters)' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters,tenon-panel-parameters)' | FileCheck %s

// A matrix [K, N] that contractions alone read: panels of 32 columns. Its other direction packs from them.
// CHECK: tenon.parameter @w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<63x96xf32>
// CHECK: tenon.gemm %{{.*}}[0, 2], %{{.*}}[2, 1] rank 2 {{.*}} attributes {tenon.panels = array<i64: 1, 32, 1, 0>}
// CHECK: tenon.gemm %{{.*}}[0, 2], %{{.*}}[1, 2] rank 2 {{.*}} attributes {tenon.panels = array<i64: 1, 32, 1, 0>}
tenon.parameter @w : tensor<63x96xf32>
func.func @infer(%x: tensor<8x63xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<63x96xf32>
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<8x63xf32>, tensor<63x96xf32> -> tensor<8x96xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %z = tenon.gemm %y[0, 2], %w[1, 2] rank 2 : tensor<8x96xf32>, tensor<63x96xf32> -> tensor<8x63xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "z", %z : tensor<8x63xf32>
  return
}

// -----

// A matrix [N, K] that is not trained: what the first contraction gives is cut, here dimensions 0 and 1 together.
// CHECK: tenon.parameter @heads stacked {tenon.panels = array<i64: 2, 32, 1, 1>} : tensor<2x4x8x50xf32>
tenon.parameter @heads stacked : tensor<2x4x8x50xf32>
func.func @infer(%x: tensor<8x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %zero = arith.constant 0 : index
  %w = tenon.read_parameter @heads[%zero] : tensor<4x8x50xf32>
  %y = tenon.gemm %x[0, 3], %w[1, 2, 3] rank 3 : tensor<8x50xf32>, tensor<4x8x50xf32> -> tensor<8x4x8xf32> {
  ^bb0(%i: index, %j: index, %k: index, %sum: f32):
    tenon.put 0 [%i, %j, %k], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<8x4x8xf32>
  return
}

// -----

// bf16: pairs of lines, of which there are a multiple of 32. The other half of a parameter stays row-major.
// CHECK: tenon.parameter @w {tenon.panels = array<i64: 1, 32, 2, 0>} : tensor<64x32xf32>
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<64x32xf32>
  func.func @infer(%x: tensor<8x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    %w = tenon.read_parameter @w : tensor<64x32xbf16>
    %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<8x64xbf16>, tensor<64x32xbf16> -> tensor<8x32xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.output 0 "y", %y : tensor<8x32xf32>
    return
  }
}

// -----

// 64 rows, and a number that is not known.
// CHECK: tenon.parameter @w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<64x32xf32>
tenon.parameter @w : tensor<64x32xf32>
func.func @infer(%B: index, %x: tensor<?x64xf32, affine_map<(d0) -> (d0, 64)>>, %few: tensor<8x8x64xf32>) attributes {tenon.kind = "out", tenon.dims = ["B"], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<64x32xf32>
  %a = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<?x64xf32, affine_map<(d0) -> (d0, 64)>>, tensor<64x32xf32> -> tensor<?x32xf32, affine_map<(d0) -> (d0, 32)>> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %b = tenon.gemm %few[0, 1, 3], %w[3, 2] rank 3 : tensor<8x8x64xf32>, tensor<64x32xf32> -> tensor<8x8x32xf32> {
  ^bb0(%i: index, %k: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %k, %j], %sum : f32
  }
  tenon.output 0 "a", %a : tensor<?x32xf32, affine_map<(d0) -> (d0, 32)>>
  tenon.output 1 "b", %b : tensor<8x8x32xf32>
  return
}
