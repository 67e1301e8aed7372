// RUN: tenon-opt %s --tenon-cpu-pipeline=tier=x86-64-v4-amx | FileCheck %s --check-prefixes=CHECK,TILES --implicit-check-not=tenon.
// RUN: tenon-opt %s --tenon-cpu-pipeline=tier=x86-64-v4-bf16 | FileCheck %s --check-prefixes=CHECK --implicit-check-not=tenon. --implicit-check-not=tile
// RUN: tenon-kernel-test %s --emit=asm --tier=amx | FileCheck %s --check-prefix=ASM

// Contractions of bf16 multiply tiles where there are rows enough, pairs where there are fewer than eight, and ask at run time where the number is not known. Tiles are configured around the work, for full strips of 32 rows, and
// anew for the strip that is left. Of f16 they widen.
// CHECK-DAG: llvm.func internal @tn_gemm_micro_{{.*}}_f32_row_
// TILES-DAG: llvm.func internal @tn_gemm_micro_amx_tiles_2x1_32
// TILES-DAG: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// TILES-DAG: llvm.func internal @tn_gemm_micro_amx_bf16_row_6x1_32
// TILES-DAG: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"

// TILES-LABEL: llvm.func internal @y.gemm.body(
// TILES-NOT: call_intrinsic
// TILES: llvm.call @tn_gemm_tiles_amx_configure
// TILES-NOT: llvm.call @tn_gemm_micro_amx_bf16
// TILES: llvm.call @tn_gemm_micro_amx_tiles_2x1_32
// TILES-NOT: llvm.call @tn_gemm_tiles_amx_configure
// TILES: llvm.call_intrinsic "llvm.x86.tilerelease"
// TILES-LABEL: llvm.func internal @y.gemm_1.body(
// TILES-NOT: tile
// TILES: llvm.call @tn_gemm_micro_amx_bf16_row_6x1_32
// TILES-NOT: tile
// TILES-LABEL: llvm.func internal @y.gemm_2.body(
// TILES: llvm.call @tn_gemm_tiles_amx_configure
// TILES: llvm.call @tn_gemm_tiles_amx_configure
// TILES: llvm.call @tn_gemm_micro_amx_tiles_2x1_32
// TILES: llvm.call @tn_gemm_micro_amx_tiles_1x1_32
// TILES: llvm.call @tn_gemm_tiles_amx_configure
// TILES: llvm.call @tn_gemm_micro_amx_bf16_row_7x1_32
// TILES-NOT: llvm.call @tn_gemm_tiles_amx_configure
// TILES: llvm.call_intrinsic "llvm.x86.tilerelease"

// ASM-DAG: ldtilecfg
// ASM-DAG: tileloadd
// ASM-DAG: tdpbf16ps
// ASM-DAG: tilestored
// ASM-DAG: tilerelease
func.func @y(%T: index, %a: tensor<64x9xbf16>, %b: tensor<5x9xbf16>, %few: tensor<6x9xbf16>, %some: tensor<?x9xbf16, affine_map<(d0) -> (d0, 9)>>, %c: tensor<32x9xf16>, %d: tensor<5x9xf16>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<64x9xbf16>, tensor<5x9xbf16> -> tensor<64x5xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %f = tenon.gemm %few[0, 2], %b[1, 2] rank 2 : tensor<6x9xbf16>, tensor<5x9xbf16> -> tensor<6x5xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %s = tenon.gemm %some[0, 2], %b[1, 2] rank 2 : tensor<?x9xbf16, affine_map<(d0) -> (d0, 9)>>, tensor<5x9xbf16> -> tensor<?x5xf32, affine_map<(d0) -> (d0, 5)>> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %z = tenon.gemm %c[0, 2], %d[1, 2] rank 2 : tensor<32x9xf16>, tensor<5x9xf16> -> tensor<32x5xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x5xf32>
  tenon.output 1 "f", %f : tensor<6x5xf32>
  tenon.output 2 "s", %s : tensor<?x5xf32, affine_map<(d0) -> (d0, 5)>>
  tenon.output 3 "z", %z : tensor<32x5xf32>
  return
}
