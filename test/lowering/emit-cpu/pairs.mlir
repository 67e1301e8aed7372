// RUN: tenon-opt %s --tenon-cpu-pipeline=tier=x86-64-v4-bf16 | FileCheck %s --check-prefixes=CHECK,PAIRS --implicit-check-not=tenon.
// RUN: tenon-opt %s --tenon-cpu-pipeline=tier=x86-64-v4 | FileCheck %s --check-prefixes=CHECK,FUSED --implicit-check-not=tenon. --implicit-check-not=bf16ps
// RUN: tenon-kernel-test %s --emit=asm --tier=avx512bf16 | FileCheck %s --check-prefix=ASM

// Contractions of bf16 multiply pairs where the tier has the instruction, those of f16 are widened there too.
// CHECK-DAG: llvm.func internal @tn_gemm_micro_avx512{{(bf16)?}}_f32_row_6x1_32
// PAIRS-DAG: llvm.func internal @tn_gemm_micro_avx512bf16_bf16_row_6x1_32
// PAIRS-DAG: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// FUSED-DAG: llvm.intr.fma
// ASM: vdpbf16ps
func.func @y(%a: tensor<6x9xbf16>, %b: tensor<5x9xbf16>, %c: tensor<6x9xf16>, %d: tensor<5x9xf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<6x9xbf16>, tensor<5x9xbf16> -> tensor<6x5xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %z = tenon.gemm %c[0, 2], %d[1, 2] rank 2 : tensor<6x9xf16>, tensor<5x9xf16> -> tensor<6x5xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<6x5xf32>
  tenon.output 1 "z", %z : tensor<6x5xf32>
  return
}
