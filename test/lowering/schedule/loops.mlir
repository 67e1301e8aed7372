// The entries of plan-memory/depths.mlir: what the plan decided stands in the text, and nothing is left that carries or saves.
// RUN: tenon-opt %S/../plan-memory/depths.mlir --pass-pipeline='builtin.module(func.func(tenon-schedule))' | FileCheck %s --implicit-check-not=tenon.stack --implicit-check-not=tenon.read_ --implicit-check-not=tenon.write_ --implicit-check-not="tenon.output {{[0-9]}}" --implicit-check-not=tenon.at_depth
// RUN: tenon-opt %S/../plan-memory/depths.mlir --pass-pipeline='builtin.module(func.func(tenon-schedule))' | tenon-opt --verify-roundtrip | FileCheck %s --check-prefix=AGAIN

// The carry of depth d is element d of what is saved: the input becomes element 0, each new carry the next one, and no depth copies.
// CHECK-LABEL: func.func @train
// CHECK-SAME: tenon.outputs = [tensor<1xf32>]
// CHECK-SAME: tenon.slots = [#tenon.slot<() -> (512) saved true>, #tenon.slot<() -> (128) after[0] saved true>
// CHECK: tenon.copy %{{.*}} to <workspace 0, [<-1, () -> (128), 0>]>
// CHECK: tenon.loop 3 {
// CHECK: %[[H:.*]] = tenon.place <workspace 0, [<0, () -> (128), 0>]>
// CHECK: %[[W:.*]] = tenon.place <parameters 64, [<0, () -> (256), 0>]>
// CHECK-NOT: tenon.copy
// CHECK: tenon.gemm %[[H]][0, 2], %[[W]][1, 2] {{.*}}tenon.places = [#tenon.place<workspace 0, [<0, () -> (128), 1>]>]
// CHECK: tenon.place <workspace 0, [<-1, () -> (128), 3>]>
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<output 0>]
// CHECK: tenon.loop 3 reverse {
// CHECK: tenon.place <workspace 0, [<0, () -> (128), 0>]>
// CHECK: tenon.gemm {{.*}}tenon.places = [#tenon.place<gradients 64, [<0, () -> (256), 0>]>]
// AGAIN: tenon.loop {{.*}} reverse

// Two slots take turns: the new carry is copied to where the next depth reads it.
// CHECK-LABEL: func.func @forward
// CHECK: tenon.loop
// CHECK: tenon.place <workspace 0>
// CHECK: %[[NEW:.*]] = tenon.gemm {{.*}}tenon.places = [#tenon.place<workspace 1>]
// CHECK: tenon.copy %[[NEW]] to <workspace 0>
// CHECK: tenon.copy %{{.*}} to <output 0>

// CHECK-LABEL: func.func @remember
// CHECK: tenon.place <states 0>
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<next_states 0>]
