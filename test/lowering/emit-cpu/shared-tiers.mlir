// RUN: tenon-kernel-test %s --emit=llvm | FileCheck %s
// RUN: tenon-kernel-test %s --emit=llvm --tier=amx | FileCheck %s --check-prefix=ALONE --implicit-check-not=declare{{.*}}@y
// RUN: tenon-kernel-test %s --dims=3 --dims=40 --tolerance=2e-5 | FileCheck %s --check-prefix=RUNS

// What the tiers for bf16 have as x86-64-v4 has it is compiled there and shown to them, with the helpers it calls; contractions of bf16 they have themselves. Vector code of other widths is nobody else's.
// CHECK-LABEL: source_filename = "portable"
// CHECK-DAG: define internal {{.*}}@y.nest(
// CHECK-LABEL: source_filename = "avx2"
// CHECK-DAG: define internal {{.*}}@y.nest(
// CHECK-LABEL: source_filename = "avx512"
// CHECK: define hidden void @y.gemm(
// CHECK: define hidden void @y.nest(
// CHECK: define internal void @y.gemm_1(
// CHECK-LABEL: source_filename = "avx512bf16"
// CHECK-NOT: _f32_
// CHECK: declare hidden void @y.gemm(
// CHECK: declare hidden void @y.nest(
// CHECK: define internal void @y.gemm_1(
// CHECK-NOT: define {{.*}}@y.
// CHECK-LABEL: source_filename = "amx"
// CHECK-NOT: _f32_
// CHECK: declare hidden void @y.gemm(
// CHECK: declare hidden void @y.nest(
// CHECK: define internal void @y.gemm_1(
// CHECK-NOT: define {{.*}}@y.

// ALONE: define internal {{.*}}@y.nest(
// RUNS: ok: {{[0-9]+}} runs
#x = affine_map<(d0) -> (d0, 24)>
#y = affine_map<(d0) -> (d0, 40)>
func.func @y(%T: index, %x: tensor<?x24xf32, #x>, %w: tensor<40x24xf32>, %a: tensor<?x24xbf16, #x>, %b: tensor<40x24xbf16>) {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<?x24xf32, #x>, tensor<40x24xf32> -> tensor<?x40xf32, #y> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %z = tenon.nest affine_map<(d0) -> (d0)> : tensor<?x40xf32, #y> {
  ^bb0(%i: index):
    tenon.each affine_map<(d0) -> (40)> {
    ^bb0(%j: index):
      %e = tenon.at %y[%i, %j] : tensor<?x40xf32, #y> -> f32
      %s = arith.addf %e, %e : f32
      tenon.put 0 [%i, %j], %s : f32
    }
  }
  %p = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<?x24xbf16, #x>, tensor<40x24xbf16> -> tensor<?x40xf32, #y> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "z", %z : tensor<?x40xf32, #y>
  tenon.output 1 "p", %p : tensor<?x40xf32, #y>
  return
}
