// Rows of A and steps of B that lie in two tensors are read where they are: strips end at the border (5 and 6 rows of 11), one range after the other is packed, and nothing is chosen by element. What else is
// computed from both is computed by element, in scratch.
// RUN: tenon-opt %s --tenon-cpu-pipeline=tier=x86-64-v3 | FileCheck %s --implicit-check-not=tenon.

// CHECK-LABEL: llvm.func internal @rows.gemm.body(
// CHECK-NOT: vector<8x
// CHECK: llvm.select %{{.*}}, %arg{{[0-9]+}}, %arg{{[0-9]+}} : i1, !llvm.ptr
// CHECK-NOT: vector<8x
// CHECK-DAG: llvm.call @tn_gemm_micro_avx2_f32_row_5x2_16
// CHECK-DAG: llvm.call @tn_gemm_micro_avx2_f32_row_6x2_16

// CHECK-LABEL: llvm.func internal @steps.gemm.body(
// CHECK: llvm.select %{{.*}}, %arg{{[0-9]+}}, %arg{{[0-9]+}} : i1, !llvm.ptr
// CHECK-NOT: vector<8x
// CHECK: llvm.call @tn_gemm_pack_avx2_f32_

// CHECK-LABEL: llvm.func internal @scaled.gemm.body(
// CHECK: llvm.select {{.*}}vector<8xf32>
// CHECK: llvm.return
func.func @rows(%m: tensor<2x5x24xf32>, %x: tensor<2x6x24xf32>, %w: tensor<32x24xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<2x11x24xf32>, tensor<32x24xf32> -> tensor<2x11x32xf32> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<() -> (0)>
    %last0 = tenon.size_value affine_map<() -> (4)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<2x5x24xf32> -> f32
    %low1 = tenon.size_value affine_map<() -> (5)>
    %last1 = tenon.size_value affine_map<() -> (5)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<2x6x24xf32> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "y", %y : tensor<2x11x32xf32>
  return
}
func.func @steps(%m: tensor<2x5x24xf32>, %x: tensor<2x6x24xf32>, %dy: tensor<2x11x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %dw = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<2x11x32xf32>, tensor<2x11x24xf32> -> tensor<32x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<() -> (0)>
    %last0 = tenon.size_value affine_map<() -> (4)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<2x5x24xf32> -> f32
    %low1 = tenon.size_value affine_map<() -> (5)>
    %last1 = tenon.size_value affine_map<() -> (5)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<2x6x24xf32> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    tenon.yield %s1 : f32
  }
  tenon.output 0 "dw", %dw : tensor<32x24xf32>
  return
}
func.func @scaled(%m: tensor<2x5x24xf32>, %x: tensor<2x6x24xf32>, %w: tensor<32x24xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<2x11x24xf32>, tensor<32x24xf32> -> tensor<2x11x32xf32> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0 : index
    %low0 = tenon.size_value affine_map<() -> (0)>
    %last0 = tenon.size_value affine_map<() -> (4)>
    %rest0 = arith.subi %j, %low0 : index
    %least0 = arith.minsi %rest0, %last0 : index
    %own0 = arith.maxsi %zero, %least0 : index
    %e0 = tenon.at %m[%i, %own0, %k] : tensor<2x5x24xf32> -> f32
    %low1 = tenon.size_value affine_map<() -> (5)>
    %last1 = tenon.size_value affine_map<() -> (5)>
    %rest1 = arith.subi %j, %low1 : index
    %least1 = arith.minsi %rest1, %last1 : index
    %own1 = arith.maxsi %zero, %least1 : index
    %e1 = tenon.at %x[%i, %own1, %k] : tensor<2x6x24xf32> -> f32
    %is1 = arith.cmpi sle, %low1, %j : index
    %s1 = arith.select %is1, %e1, %e0 : f32
    %twice = arith.addf %s1, %s1 : f32
    tenon.yield %twice : f32
  }
  tenon.output 0 "y", %y : tensor<2x11x32xf32>
  return
}
