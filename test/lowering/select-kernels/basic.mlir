// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels{fuse=false},cse))' | FileCheck %s --check-prefix=ALONE

// Bias, activation and residual go into the epilogue; the normalisation is one row kernel with its statistics first.
// CHECK-LABEL: func.func @infer
// CHECK: tenon.nest
// CHECK: tenon.fold sum
// CHECK: tenon.fold sum
// CHECK: tenon.each
// CHECK: tenon.gemm
// CHECK: math.erf
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
// CHECK: tenon.output 0 "y"

// ALONE-LABEL: func.func @infer
// ALONE: tenon.gemm
// ALONE: tenon.put 0
// ALONE: tenon.nest
// ALONE: math.erf
// ALONE: tenon.output 0 "y"
func.func @infer(%h: tensor<4x5x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %n, %m, %r = tenon.normalize %h eps 1.0e-5 : tensor<4x5x8xf32> -> tensor<4x5x8xf32>, tensor<4x5xf32>, tensor<4x5xf32>
  %z = tenon.dot %n[0, 1, 3], %w[2, 3] : tensor<4x5x8xf32>, tensor<8x8xf32> -> tensor<4x5x8xf32>
  %bb = tenon.broadcast %b [2] : tensor<8xf32> -> tensor<4x5x8xf32>
  %a = tenon.add %z, %bb : tensor<4x5x8xf32>
  %g = tenon.gelu %a : tensor<4x5x8xf32>
  %o = tenon.add %g, %h : tensor<4x5x8xf32>
  tenon.output 0 "y", %o : tensor<4x5x8xf32>
  return
}

// What a contraction reads must exist: no epilogue reaches through a second contraction.
// CHECK-LABEL: func.func @chain
// CHECK: %[[FIRST:.*]] = tenon.gemm
// CHECK: tenon.gemm %[[FIRST]]
func.func @chain(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %b = tenon.dot %a[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  tenon.output 0 "y", %b : tensor<4x8xf32>
  return
}
