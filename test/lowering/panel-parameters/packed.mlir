// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters)' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters)' --remark-format=emitRemark --remarks-filter-missed=pack-operands -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY --implicit-check-not=Remark=
// WHY: Remark="it reads the parameter's own panels where they are"
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters{target=sm_80})' --remark-format=emitRemark --remarks-filter-missed=pack-operands -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=Remark=
// NONE-COUNT-6: Remark="the target has no panels for the type"
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters,tenon-panel-parameters)' | FileCheck %s

// A recurrence in a stack of layers: the weight [out, in] of a layer is packed in front of the loop over places, whose number is not known, for the forward contraction and once more for the other direction, in whose loop two contractions share it. Sizes leave a rest.
// CHECK-LABEL: func.func @recurrence
// CHECK: tenon.stack 3
// CHECK-NEXT: ^bb0(%[[LAYER:.*]]: index, %{{.*}}: tensor
// CHECK-NEXT: %[[W:.*]] = tenon.read_parameter @w[%[[LAYER]]] : tensor<4x50x50xf32>
// CHECK-NEXT: %[[FORWARD:.*]] = tenon.pack %[[W]] {tenon.panels = array<i64: 2, 32, 1, 1>} : tensor<4x50x50xf32>
// CHECK-NEXT: tenon.stack #
// CHECK-NOT: tenon.pack
// CHECK: tenon.gemm %{{.*}}[0, 3], %[[FORWARD]][1, 2, 3] rank 3 {{.*}} attributes {tenon.panels = array<i64: 2, 32, 1, 1>}
// CHECK: %[[V:.*]] = tenon.read_parameter @w[%[[LAYER]]] : tensor<4x50x50xf32>
// CHECK-NEXT: %[[BACKWARD:.*]] = tenon.pack %[[V]] {tenon.panels = array<i64: 2, 32, 1, 0>} : tensor<4x50x50xf32>
// CHECK-NEXT: tenon.stack #{{.*}} reverse
// CHECK-NOT: tenon.pack
// CHECK: tenon.gemm %{{.*}}[0, 2, 3], %[[BACKWARD]][2, 3, 1] rank 2 {{.*}} attributes {tenon.panels = array<i64: 2, 32, 1, 0>}
// CHECK: tenon.gemm %{{.*}}[0, 2, 3], %[[BACKWARD]][2, 3, 1] rank 2 {{.*}} attributes {tenon.panels = array<i64: 2, 32, 1, 0>}
// CHECK: return
#h = affine_map<(d0, d1) -> (d0, 50)>
#g = affine_map<(d0, d1) -> (d0, 4, 50)>
tenon.parameter @w stacked : tensor<3x4x50x50xf32>
func.func @recurrence(%B: index, %T: index, %x: tensor<?x50xf32, #h>, %z: tensor<?x4x50xf32, #g>) attributes {tenon.kind = "out", tenon.dims = ["B", "T"], tenon.states = []} {
  %y = tenon.stack 3 (%x) : (tensor<?x50xf32, #h>) -> (tensor<?x50xf32, #h>) {
  ^bb0(%layer: index, %in: tensor<?x50xf32, #h>):
    %last = tenon.stack affine_map<(d0, d1) -> (d1)> (%z) : (tensor<?x4x50xf32, #g>) -> (tensor<?x4x50xf32, #g>) {
    ^bb0(%t: index, %old: tensor<?x4x50xf32, #g>):
      %w = tenon.read_parameter @w[%layer] : tensor<4x50x50xf32>
      %n = tenon.gemm %in[0, 3], %w[1, 2, 3] rank 3 : tensor<?x50xf32, #h>, tensor<4x50x50xf32> -> tensor<?x4x50xf32, #g> {
      ^bb0(%b: index, %k: index, %j: index, %sum: f32):
        %o = tenon.at %old[%b, %k, %j] : tensor<?x4x50xf32, #g> -> f32
        %s = arith.addf %o, %sum : f32
        tenon.put 0 [%b, %k, %j], %s : f32
      }
      tenon.yield %n : tensor<?x4x50xf32, #g>
    }
    %v = tenon.read_parameter @w[%layer] : tensor<4x50x50xf32>
    %first = tenon.stack affine_map<(d0, d1) -> (d1)> reverse (%in) : (tensor<?x50xf32, #h>) -> (tensor<?x50xf32, #h>) {
    ^bb0(%t: index, %old: tensor<?x50xf32, #h>):
      %n = tenon.gemm %last[0, 2, 3], %v[2, 3, 1] rank 2 : tensor<?x4x50xf32, #g>, tensor<4x50x50xf32> -> tensor<?x50xf32, #h> {
      ^bb0(%b: index, %j: index, %sum: f32):
        %o = tenon.at %old[%b, %j] : tensor<?x50xf32, #h> -> f32
        %s = arith.addf %o, %sum : f32
        tenon.put 0 [%b, %j], %s : f32
      }
      %m = tenon.gemm %z[0, 2, 3], %v[2, 3, 1] rank 2 : tensor<?x4x50xf32, #g>, tensor<4x50x50xf32> -> tensor<?x50xf32, #h> {
      ^bb0(%b: index, %j: index, %sum: f32):
        %o = tenon.at %n[%b, %j] : tensor<?x50xf32, #h> -> f32
        %s = arith.addf %o, %sum : f32
        tenon.put 0 [%b, %j], %s : f32
      }
      tenon.yield %m : tensor<?x50xf32, #h>
    }
    tenon.yield %first : tensor<?x50xf32, #h>
  }
  tenon.output 0 "y", %y : tensor<?x50xf32, #h>
  return
}

// -----

// All rounds of both loops read the same: packed in front of the outer one. 64 rows, and pairs of bf16.
// CHECK-LABEL: func.func @blocks
// CHECK-NEXT: %[[W:.*]] = tenon.read_parameter @w : tensor<40x40xbf16>
// CHECK-NEXT: %[[PACKED:.*]] = tenon.pack %[[W]] {tenon.panels = array<i64: 1, 32, 2, 0>} : tensor<40x40xbf16>
// CHECK-NEXT: tenon.stack 2
// CHECK-NOT: tenon.pack
// CHECK: tenon.gemm %{{.*}}[0, 2], %[[PACKED]][2, 1] rank 2 {{.*}} attributes {tenon.panels = array<i64: 1, 32, 2, 0>}
// CHECK: return
module attributes {tenon.compute = bf16, tenon.parameters = bf16} {
  tenon.parameter @w : tensor<40x40xf32>
  func.func @blocks(%x: tensor<64x40xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    %y = tenon.stack 2 (%x) : (tensor<64x40xbf16>) -> (tensor<64x40xbf16>) {
    ^bb0(%block: index, %in: tensor<64x40xbf16>):
      %z = tenon.stack 7 (%in) : (tensor<64x40xbf16>) -> (tensor<64x40xbf16>) {
      ^bb0(%t: index, %h: tensor<64x40xbf16>):
        %w = tenon.read_parameter @w : tensor<40x40xbf16>
        %n = tenon.gemm %h[0, 2], %w[2, 1] rank 2 : tensor<64x40xbf16>, tensor<40x40xbf16> -> tensor<64x40xbf16> {
        ^bb0(%b: index, %j: index, %sum: f32):
          %s = arith.truncf %sum : f32 to bf16
          tenon.put 0 [%b, %j], %s : bf16
        }
        tenon.yield %n : tensor<64x40xbf16>
      }
      tenon.yield %z : tensor<64x40xbf16>
    }
    tenon.output 0 "y", %y : tensor<64x40xbf16>
    return
  }
}

// -----

// A weight that lies in panels: what reads them as they lie goes on so, what reads across them has its own, packed from there.
// CHECK-LABEL: func.func @across
// CHECK: %[[W:.*]] = tenon.read_parameter @w : tensor<64x96xf32>
// CHECK-NEXT: %[[PACKED:.*]] = tenon.pack %[[W]] from [1, 32, 1, 0] {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<64x96xf32>
// CHECK-NEXT: tenon.stack 5
// CHECK-NOT: tenon.pack
// CHECK: tenon.gemm %{{.*}}[0, 2], %[[W]][2, 1] rank 2 {{.*}} attributes {tenon.panels = array<i64: 1, 32, 1, 0>}
// CHECK: tenon.gemm %{{.*}}[0, 2], %[[PACKED]][1, 2] rank 2 {{.*}} attributes {tenon.panels = array<i64: 1, 32, 1, 1>}
// CHECK: return
tenon.parameter @w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<64x96xf32>
func.func @across(%x: tensor<8x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<64x96xf32>
  %z = tenon.stack 5 (%x) : (tensor<8x64xf32>) -> (tensor<8x64xf32>) {
  ^bb0(%t: index, %h: tensor<8x64xf32>):
    %y = tenon.gemm %h[0, 2], %w[2, 1] rank 2 : tensor<8x64xf32>, tensor<64x96xf32> -> tensor<8x96xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 0>} {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    %n = tenon.gemm %y[0, 2], %w[1, 2] rank 2 : tensor<8x96xf32>, tensor<64x96xf32> -> tensor<8x64xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 0>} {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.yield %n : tensor<8x64xf32>
  }
  tenon.output 0 "z", %z : tensor<8x64xf32>
  return
}
