// The optimizer on a parameter in panels of pairs: a row goes over all panels, so the lines of a row four lines later are asked for; row-major ones follow each other. Gradients are asked for a page ahead in either case.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule),tenon-emit-cpu)' | FileCheck %s

// CHECK-LABEL: llvm.func internal @step.update.body(
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[LATER:.*]] = arith.addi %[[PLACE:.*]], %c64_i64{{.*}} : i64
// CHECK-NEXT: %[[ADDRESS:.*]] = llvm.getelementptr inbounds %[[MATRIX:.*]][%[[LATER]]] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK-NEXT: "llvm.intr.prefetch"(%[[ADDRESS]]) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK-NEXT: %[[OWN:.*]] = llvm.getelementptr inbounds %[[MATRIX]][%[[PLACE]]] : (!llvm.ptr, i64) -> !llvm.ptr, i32
// CHECK-NEXT: llvm.load %[[OWN]] {{.*}} : !llvm.ptr -> vector<16xi32>
// CHECK: } else {
// CHECK-NOT: llvm.intr.prefetch
// CHECK: %[[AHEAD:.*]] = arith.addi %[[INDEX:.*]], %c1024_i64{{.*}} : i64
// CHECK-NEXT: %[[LATER_GRADIENT:.*]] = llvm.getelementptr inbounds %[[GRADIENTS:.*]][%[[AHEAD]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT: "llvm.intr.prefetch"(%[[LATER_GRADIENT]]) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
// CHECK: llvm.getelementptr inbounds %[[GRADIENTS]][%[[INDEX]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK: llvm.return

module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w {tenon.panels = array<i64: 1, 32, 2, 0>} : tensor<64x64xf32>

  func.func @step() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
    tenon.output 0 "grad_norm", %norm : tensor<f64>
    tenon.output 1 "learning_rate", %rate : tensor<f64>
    return
  }
}
