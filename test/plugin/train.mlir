// Ops that no file of the compiler names: taken through differentiation, selection and planning like its own.
// DEFINE: %{opt} = tenon-opt --load-dialect-plugin=%build/lib/tenon-demo.so
// RUN: %{opt} %s --tenon-train-pipeline | FileCheck %s --check-prefix=GRAD
// RUN: %{opt} %s --tenon-train-pipeline --tenon-kernel-pipeline | FileCheck %s --check-prefix=KERNEL --implicit-check-not=demo.softsign
// RUN: %{opt} %s --tenon-train-pipeline --tenon-kernel-pipeline | %{opt} --pass-pipeline='builtin.module(func.func(tenon-plan-memory{costs=true}))' | FileCheck %s --check-prefix=PLAN

// On every tier of the machine: the loss and the gradients of all depths.
// REQUIRES: tenon-run
// DEFINE: %{tier} =
// DEFINE: %{march} =
// DEFINE: %{symbol} =
// DEFINE: %{build} = %{opt} %s --tenon-train-pipeline --tenon-kernel-pipeline --tenon-schedule-pipeline --tenon-emit-cpu='tier=%{tier} bind=true' --tenon-llvm-pipeline | mlir-translate --mlir-to-llvmir > %t.%{symbol}.ll && clang -O1 -w -march=%{march} -shared -fPIC %t.%{symbol}.ll -o %t.%{symbol}.so -lm
// DEFINE: %{run} = %python %S/train.py %t.%{symbol}.so %{symbol}
// REDEFINE: %{tier} = portable
// REDEFINE: %{march} = x86-64
// REDEFINE: %{symbol} = portable
// RUN: %{build}
// RUN: %{run}
// RUN: not %{run} --spoil | FileCheck %s --check-prefix=SPOIL
// SPOIL: WRONG
// REDEFINE: %{tier} = x86-64-v3
// REDEFINE: %{march} = x86-64-v3
// REDEFINE: %{symbol} = avx2
// RUN: %if avx2 %{ %{build} %}
// RUN: %if avx2 %{ %{run} %}
// REDEFINE: %{tier} = x86-64-v4
// REDEFINE: %{march} = x86-64-v4
// REDEFINE: %{symbol} = avx512
// RUN: %if avx512 %{ %{build} %}
// RUN: %if avx512 %{ %{run} %}

// Saved are the operand of the contraction and what mirror gives, which is no element computation; softsign is computed again.
// GRAD: tenon.stack 3(
// GRAD: demo.softsign
// GRAD: demo.mirror
// GRAD: tenon.stack 3 reverse(
// GRAD: tenon.at_depth
// GRAD: demo.mirror
// GRAD: tenon.abs

// KERNEL: tenon.gemm
// KERNEL: math.absf
// KERNEL: demo.mirror
// KERNEL: tenon.stack 3 reverse(
// KERNEL: demo.mirror
// KERNEL: tenon.nest
// KERNEL: arith.cmpf olt

// PLAN: demo.mirror {{.*}}tenon.cost = {bytes = "320", flops = "0", parallel = "5, 8"}, tenon.places = ["workspace

tenon.parameter @w stacked : tensor<3x8x8xf32>
func.func @train(%x: tensor<5x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 3 (%x) : (tensor<5x8xf32>) -> (tensor<5x8xf32>) {
  ^bb0(%d: index, %h: tensor<5x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<5x8xf32>, tensor<8x8xf32> -> tensor<5x8xf32>
    %s = demo.softsign %z : tensor<5x8xf32>
    %m = demo.mirror %s : tensor<5x8xf32>
    %o = tenon.add %m, %h : tensor<5x8xf32>
    tenon.yield %o : tensor<5x8xf32>
  }
  %sum = tenon.reduce sum %y [0, 1] : tensor<5x8xf32> -> tensor<f32>
  %loss = tenon.convert %sum : tensor<f32> -> tensor<f64>
  tenon.output 0 "loss", %loss : tensor<f64>
  return
}
