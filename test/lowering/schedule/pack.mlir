// A weight that is packed in front of a loop: its place is one of the workspace, with room for whole panels, that the loop's own values leave alone.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-panel-parameters,func.func(tenon-schedule))' | FileCheck %s --implicit-check-not=tenon.stack --implicit-check-not=tenon.read_
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-panel-parameters,func.func(tenon-schedule))' | tenon-opt --verify-roundtrip | FileCheck %s
// 70 columns are three panels, 70 lines of each have room for 96.
// CHECK: tenon.slots = [#tenon.slot<() -> (36864)>, #tenon.slot<() -> (2240) after[0]>, #tenon.slot<() -> (2240) after[1]>]
// CHECK: %[[W:.*]] = tenon.place <parameters 0> : tensor<70x70xf32>
// CHECK-NEXT: %[[P:.*]] = tenon.pack %[[W]] {tenon.panels = array<i64: 1, 32, 1, 1>, tenon.places = [#tenon.place<workspace 0>]} : tensor<70x70xf32>
// CHECK: tenon.loop 9 {
// CHECK-NOT: tenon.pack
// CHECK: tenon.gemm %{{.*}}[0, 2], %[[P]][1, 2] rank 2
// CHECK-SAME: tenon.panels = array<i64: 1, 32, 1, 1>, tenon.places = [#tenon.place<workspace 2>]

// A text may not give it less room, read it otherwise than it lies, or say panels that the target has not.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-panel-parameters,func.func(tenon-schedule))' -o %t
// RUN: sed 's/(36864)/(19600)/' %t | not tenon-opt --tenon-emit-cpu 2>&1 | FileCheck %s --check-prefix=ROOM
// ROOM: error: 'tenon.pack' op expects
// RUN: sed '/tenon.pack/s/array<i64: 1, 32, 1, 1>/array<i64: 1, 32, 1, 0>/' %t | not tenon-opt --tenon-emit-cpu 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: 'tenon.pack' op expects to be read as operand b of gemms alone, with tenon.panels = array<i64: 1, 32, 1, 0>
// RUN: sed 's/array<i64: 1, 32, 1, 1>/array<i64: 1, 16, 1, 1>/' %t | not tenon-opt --tenon-emit-cpu 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: error: 'tenon.pack' op expects to pack into panels in which contractions of the target cpu read
tenon.parameter @w {offset = 0 : i64, stride = 19648 : i64} : tensor<70x70xf32>
func.func @infer(%x: tensor<8x70xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 9 (%x) : (tensor<8x70xf32>) -> (tensor<8x70xf32>) {
  ^bb0(%t: index, %h: tensor<8x70xf32>):
    %w = tenon.read_parameter @w : tensor<70x70xf32>
    %n = tenon.gemm %h[0, 2], %w[1, 2] rank 2 : tensor<8x70xf32>, tensor<70x70xf32> -> tensor<8x70xf32> {
    ^bb0(%b: index, %j: index, %sum: f32):
      tenon.put 0 [%b, %j], %sum : f32
    }
    tenon.yield %n : tensor<8x70xf32>
  }
  tenon.output 0 "y", %y : tensor<8x70xf32>
  return
}
