// A training step in code: each half runs unless only the other one is asked for, and who wants to know of gradients that are ready is called behind the kernel.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule),tenon-emit-cpu)' | FileCheck %s

// CHECK-LABEL: llvm.func @tn_run_step_portable(
// CHECK: %[[FLAGS:.*]] = llvm.getelementptr inbounds %{{.*}}[88] :
// CHECK: %[[ASKED:.*]] = llvm.load %[[FLAGS]]
// CHECK: %[[TWO:.*]] = arith.constant 2 : i64
// CHECK: %[[UPDATE:.*]] = arith.andi %[[ASKED]], %[[TWO]] : i64
// CHECK: %[[NOT:.*]] = arith.cmpi eq, %[[UPDATE]]
// CHECK: scf.if %[[NOT]] {
// CHECK: scf.for
// CHECK: llvm.call @step.gemm(
// CHECK: llvm.call @step.sum_slices(
// CHECK: %[[CALLBACK:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK: %[[SET:.*]] = arith.cmpi ne, %[[CALLBACK]]
// CHECK: scf.if %[[SET]] {
// CHECK: %[[CALLEE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[NUMBER:.*]] = arith.addi
// CHECK-NEXT: llvm.call %[[CALLEE]](%{{.*}}, %[[NUMBER]]) : !llvm.ptr, (!llvm.ptr, i64) -> ()
// CHECK-NOT: llvm.call @step
// CHECK: %[[GRADIENTS:.*]] = arith.andi %{{.*}}, %{{.*}} : i64
// CHECK: %[[OTHER:.*]] = arith.cmpi eq, %[[GRADIENTS]]
// CHECK: scf.if %[[OTHER]] {
// CHECK: llvm.call @step.gradient_norm(
// CHECK: llvm.call @step.step_scalars(
// CHECK: llvm.call @step.update(
// CHECK: llvm.return

// A partial sum is as far from its start as the gradient is, and one is kept for each level of the tree: one of two slices.
// CHECK-LABEL: llvm.func internal @step.sum_slices.body(
// CHECK: scf.for %[[LEVEL:.*]] = %{{.*}} to %c1_i64 step
// CHECK: arith.shrui %{{.*}}, %[[LEVEL]] : i64
// CHECK: arith.muli %[[LEVEL]], %{{.*}} : i64
// CHECK: arith.addf %{{.*}} : vector<16xf32>
// CHECK: llvm.store
// CHECK: scf.if
// CHECK: "llvm.intr.memcpy"

tenon.parameter @w stacked {stride = 256 : i64} : tensor<3x8x8xf32>

func.func @step(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.slices = 2 : i64} {
  %back = tenon.stack 3 reverse (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
  ^bb0(%depth: index, %dy: tensor<4x8xf32>):
    %dw = tenon.gemm %dy[2, 0], %x[2, 1] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.write_gradient @w[%depth], %dw : tensor<8x8xf32>
    tenon.yield %dy : tensor<4x8xf32>
  }
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  return
}
