// A loop that may end early, of cpu/skip.mlir: its carries stay at one place, so that they lie there whichever round was the last; what is
// saved goes where the depth says, behind the skips.
// RUN: tenon-opt %S/../cpu/skip.mlir --pass-pipeline='builtin.module(func.func(tenon-schedule))' > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: tenon-opt %t.mlir --verify-roundtrip | FileCheck %s
// RUN: sed -e '0,/tenon.skip/{/tenon.skip/d}' %t.mlir > %t.control
// RUN: not FileCheck %s < %t.control

// CHECK: tenon.copy %{{.*}} to <workspace [[#C:]]>
// CHECK: tenon.loop 6 {
// CHECK: %[[CARRY:.*]] = tenon.place <workspace [[#C]]> : tensor<?x8xf32
// CHECK: %[[ROUNDS:.*]] = tenon.place <workspace [[#N:]]> : tensor<i32>
// CHECK: %[[LATE:.*]] = tenon.nest {{.*}} : tensor<i1>
// CHECK: tenon.skip %[[LATE]] counts %[[ROUNDS]] : tensor<i1>, tensor<i32>
// CHECK: %[[STOP:.*]] = tenon.nest {{.*}} : tensor<i1>
// CHECK-NOT: tenon.copy
// CHECK: tenon.skip %[[STOP]] : tensor<i1>
// CHECK: tenon.copy %[[CARRY]] to <workspace [[#KEPT:]], [<0, (d0) -> (d0 * 32), 0>]>
// CHECK: tenon.copy %{{.*}} to <workspace [[#C]]>
// CHECK: tenon.loop 6 reverse {
// CHECK: %[[DONE:.*]] = tenon.nest {{.*}} : tensor<i1>
// CHECK: tenon.skip %[[DONE]] : tensor<i1>
