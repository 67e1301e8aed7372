// Experts of a loop: a sum grows where the last one lies, and its rows that no expert adds to stay as they are; what is read under the condition alone is put where that holds.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse,tenon-schedule))' | FileCheck %s --implicit-check-not=tenon.copy
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80},cse,tenon-schedule{target=sm_80}))' | FileCheck %s --check-prefix=GPU --implicit-check-not=tenon.row_if

// CHECK-LABEL: func.func @experts(
// CHECK: tenon.copy %arg0 to <workspace [[SUM:[0-9]+]]>
// CHECK: tenon.loop 3 {
// CHECK: %[[CARRY:.*]] = tenon.place <workspace [[SUM]]> : tensor<4x8xf32>
// CHECK: tenon.nest
// CHECK: tenon.row_if
// CHECK: tenon.gemm {{.*}}tenon.places = [#tenon.place<workspace [[SUM]]>]
// CHECK: tenon.at %[[CARRY]]
// CHECK: tenon.copy %{{.*}} to <output 0>
// GPU: tenon.loop 3 {
// GPU: tenon.gemm
// GPU: tenon.copy %{{.*}} to <workspace
func.func @experts(%x: tensor<4x8xf32>, %c: tensor<4xi1>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 3(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %a, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
    %o = tenon.dot_where %a[0, 2], %w[1, 2] where %c[0] : tensor<4x8xf32>, tensor<8x8xf32>, tensor<4xi1> -> tensor<4x8xf32>
    %n = tenon.add %h, %o : tensor<4x8xf32>
    tenon.yield %n : tensor<4x8xf32>
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}
