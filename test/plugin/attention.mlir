// A plugin's elementwise op in a score of attention: fused, its scalar code is the step of the kernel; on a target without attention (--simple-kernels) that code goes on
// in a map, forward and backward, although the tensor form has no op for |x|.
// REQUIRES: tenon-run
// DEFINE: %{opt} = tenon-opt --load-dialect-plugin=%build/lib/tenon-demo.so
// DEFINE: %{grad} = %{opt} %s --tenon-fuse-pipeline --tenon-train-pipeline
// DEFINE: %{code} = --tenon-schedule-pipeline --tenon-emit-cpu='tier=portable bind=true' --tenon-llvm-pipeline
// RUN: %{grad} | FileCheck %s --check-prefix=GRAD --implicit-check-not=tenon.map --implicit-check-not=demo.softsign
// RUN: %{grad} --tenon-decompose-for-target='without=all' | FileCheck %s --check-prefix=APART --implicit-check-not=tenon.attention
// RUN: %{grad} --tenon-kernel-pipeline='simple-kernels=true' | FileCheck %s --check-prefix=KERNEL --implicit-check-not=tenon.map --implicit-check-not=tenon.attention
// RUN: %{grad} --tenon-kernel-pipeline='simple-kernels=true' %{code} | mlir-translate --mlir-to-llvmir > %t.ll
// RUN: clang -O1 -w -shared -fPIC %t.ll -o %t.so -lm
// RUN: %python %S/attention.py %t.so
// RUN: not %python %S/attention.py %t.so --spoil | FileCheck %s
// The kernels of the CPU, which take the same step.
// RUN: %{grad} --tenon-kernel-pipeline %{code} | mlir-translate --mlir-to-llvmir > %t.fused.ll
// RUN: clang -O1 -w -shared -fPIC %t.fused.ll -o %t.fused.so -lm
// RUN: %python %S/attention.py %t.fused.so
// CHECK: WRONG

// GRAD: "tenon.attention"(
// GRAD: math.absf
// GRAD: "tenon.attention_grad"(
// GRAD: math.absf

// The score alone in front, the score and its slope behind.
// APART: tenon.map {{.*}} : tensor<2x5x2x7xf32> -> tensor<2x5x2x7xf32> {
// APART-NEXT: ^bb0(%{{.*}}: f32):
// APART: math.absf
// APART: tenon.yield %{{.*}} : f32
// APART: tenon.reduce max
// APART: tenon.map
// APART: tenon.map
// APART: tenon.write_gradient

// The score is computed once, behind its contraction; its slope, of which the plugin says it by an op of the tensor form, in the backward pass.
// KERNEL: tenon.gemm
// KERNEL: math.absf
// KERNEL-NOT: math.absf
// KERNEL: tenon.fold max
// KERNEL-NOT: math.absf
// KERNEL: arith.cmpf olt
// KERNEL: tenon.write_gradient

tenon.parameter @w : tensor<4x4xf32>
func.func @train(%x: tensor<2x5x2x4xf32>, %k: tensor<2x7x2x4xf32>, %v: tensor<2x7x2x3xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4x4xf32>
  %q = tenon.dot %x[0, 1, 2, 4], %w[3, 4] : tensor<2x5x2x4xf32>, tensor<4x4xf32> -> tensor<2x5x2x4xf32>
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] : tensor<2x5x2x4xf32>, tensor<2x7x2x4xf32> -> tensor<2x5x2x7xf32>
  %p = demo.softsign %s : tensor<2x5x2x7xf32>
  %y = tenon.attend scores(%p) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 2.0 rate 0.0 site 0
    : (tensor<2x5x2x7xf32>, tensor<2x7x2x3xf32>) -> tensor<2x5x2x3xf32>
  %z = tenon.mul %y, %y : tensor<2x5x2x3xf32>
  %sum = tenon.reduce sum %z [0, 1, 2, 3] : tensor<2x5x2x3xf32> -> tensor<f32>
  %loss = tenon.convert %sum : tensor<f32> -> tensor<f64>
  tenon.output 0 "loss", %loss : tensor<f64>
  return
}
