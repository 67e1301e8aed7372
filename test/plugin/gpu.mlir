// A plugin's kernel on a second target: attached from outside, and generated with the others.
// DEFINE: %{opt} = tenon-opt --load-dialect-plugin=%build/lib/tenon-demo.so %s
// RUN: %{opt} --tenon-kernel-pipeline='target=sm_80' --tenon-schedule-pipeline='target=sm_80' --tenon-emit-gpu | FileCheck %s --implicit-check-not=demo.

// The mirror of its row, then what reads it, in one nest with softsign.
// CHECK: llvm.func @tn_run_infer(
// CHECK: llvm.func ptx_kernelcc @infer_mirror_0
// CHECK: arith.remui
// CHECK: llvm.store
// CHECK: llvm.func ptx_kernelcc @infer_nest_1
// CHECK: math.absf
func.func @infer(%x: tensor<5x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %m = demo.mirror %x : tensor<5x8xf32>
  %s = demo.softsign %m : tensor<5x8xf32>
  tenon.output 0 "y", %s : tensor<5x8xf32>
  return
}
