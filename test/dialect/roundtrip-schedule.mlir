// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-DAG: [[$NUMBER:#map[0-9]*]] = affine_map<(d0) -> (d0 * -2 + 7)>
// CHECK-DAG: [[$ROWS:#map[0-9]*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @loops
// CHECK-SAME: tenon.slots = [#tenon.slot<(d0) -> (d0 * 32) saved true>, #tenon.slot<(d0) -> (128) after[0] temporary true>]
func.func @loops(%b: index, %x: tensor<4x8xf32>) attributes {tenon.dims = ["B"], tenon.slots = [#tenon.slot<(d0) -> (d0 * 32) saved true>, #tenon.slot<(d0) -> (128) after[0] temporary true>]} {
  // CHECK: tenon.loop [[$ROWS]] {
  // CHECK-NEXT: ^bb0(%{{.*}}: index):
  tenon.loop affine_map<(d0) -> (d0)> {
  ^bb0(%i: index):
    // CHECK: tenon.loop #map{{[0-9]*}} from 2 reverse {
    tenon.loop affine_map<(d0) -> (3)> from 2 reverse {
    ^bb0(%j: index):
      // CHECK: %[[H:.*]] = tenon.place <workspace 0, [<0, (d0) -> (d0 * 8), 0>, <1, (d0) -> (32), 1>, <-1, (d0) -> (4), 2>]> : tensor<8xf32>
      %h = tenon.place <workspace 0, [<0, (d0) -> (d0 * 8), 0>, <1, (d0) -> (32), 1>, <-1, (d0) -> (4), 2>]> : tensor<8xf32>
      // CHECK: tenon.copy %[[H]] to <output 1, [<0, (d0) -> (32), 0>]> : tensor<8xf32>
      tenon.copy %h to <output 1, [<0, (d0) -> (32), 0>]> : tensor<8xf32>
    }
  }
  // CHECK: tenon.place <kept_states 1>
  %k = tenon.place <kept_states 1> : tensor<4x8xf32>
  // CHECK: tenon.copy %{{.*}} to <next_states 0>
  tenon.copy %x to <next_states 0> : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @gradients
func.func @gradients() attributes {tenon.kind = "train", tenon.dims = [], tenon.slices = 4} {
  tenon.loop 3 reverse {
  ^bb0(%i: index):
    // CHECK: tenon.sum_slices <gradients 64, [<0, () -> (256), 0>]> : tensor<8x8xf32>
    tenon.sum_slices <gradients 64, [<0, () -> (256), 0>]> : tensor<8x8xf32>
    // CHECK: tenon.ready [[$NUMBER]](%{{.*}}) [#tenon.place<gradients 64, [<0, () -> (256), 0>]>]
    tenon.ready affine_map<(d0) -> (d0 * -2 + 7)>(%i) [#tenon.place<gradients 64, [<0, () -> (256), 0>]>]
  }
  return
}
