// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule),tenon-emit-cpu)' | FileCheck %s --check-prefix=PORTABLE --implicit-check-not=tenon. --implicit-check-not=@tn_bind
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule),tenon-emit-cpu{tier=x86-64-v4})' | FileCheck %s --check-prefix=AVX512 --implicit-check-not=tenon. --implicit-check-not='vector<4xf32>'
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule),tenon-emit-cpu{bind=true})' | FileCheck %s --check-prefix=BIND
// RUN: tenon-opt %s --tenon-cpu-pipeline=tier=x86-64-v3 | FileCheck %s --check-prefix=LLVM --implicit-check-not=tenon. --implicit-check-not=scf. --implicit-check-not=arith. --implicit-check-not=vector. --implicit-check-not=builtin.unrealized
// RUN: not tenon-opt %s --tenon-cpu-pipeline=tier=x86-64-v5 2>&1 | FileCheck %s --check-prefix=TIER
// RUN: tenon-opt %s --tenon-llvm-pipeline | FileCheck %s --check-prefix=KERNELS

// An entry becomes a function that calls its kernels, a kernel one of a tile; the module holds them and nothing else. Vectors are as wide as the tier's registers.
// PORTABLE-DAG: llvm.func @tn_run_y_portable(%{{.*}}: !llvm.ptr) -> i32
// PORTABLE-DAG: vector<4xf32>
// AVX512-DAG: llvm.func @tn_run_y_avx512(%{{.*}}: !llvm.ptr) -> i32
// AVX512-DAG: vector<16xf32>
// BIND: llvm.func @tn_bind_y
// LLVM: llvm.func @tn_run_y_avx2
// TIER: error: expects the tier portable, x86-64-v3, x86-64-v4, x86-64-v4-bf16 or x86-64-v4-amx, got x86-64-v5

// The end of the pipeline is passes of MLIR alone: they leave what was not emitted as it is.
// KERNELS: tenon.gemm
// KERNELS-NOT: @tn_run
func.func @y(%T: index, %x: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>, tensor<8x8xf32> -> tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>
  return
}
