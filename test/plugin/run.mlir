// What the code of a plugin's ops computes, beside plain Python; the softsign of a mirrored tensor and a contraction.
// REQUIRES: tenon-run
// DEFINE: %{code} = tenon-opt --load-dialect-plugin=%build/lib/tenon-demo.so %s --tenon-kernel-pipeline --tenon-schedule-pipeline --tenon-emit-cpu='tier=portable bind=true' --tenon-llvm-pipeline
// RUN: %{code} | mlir-translate --mlir-to-llvmir > %t.ll
// RUN: clang -O1 -w -shared -fPIC %t.ll -o %t.so -lm
// RUN: %python %S/run.py %t.so
// RUN: not %python %S/run.py %t.so --spoil | FileCheck %s
// CHECK: WRONG

func.func @infer(%x: tensor<5x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %m = demo.mirror %x : tensor<5x8xf32>
  %s = demo.softsign %m : tensor<5x8xf32>
  %n = demo.mirror %s : tensor<5x8xf32>
  %y = tenon.add %n, %x : tensor<5x8xf32>
  tenon.output 0 "y", %y : tensor<5x8xf32>
  return
}
