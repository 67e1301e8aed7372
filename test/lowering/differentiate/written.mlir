// A value that its type rounds to 16 bits is saved in 16 bits, its contraction's f32 is not, and its gradient is rounded likewise.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s

// CHECK-LABEL: func.func @written
// CHECK: %[[S:.*]]:{{[0-9]+}} = tenon.stack 2(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, {{.*}}tensor<2x4x8xbf16>
// CHECK: %[[H:.*]] = tenon.dot
// CHECK: %[[SHORT:.*]] = tenon.convert %[[H]] : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: tenon.yield
// CHECK-NOT: %[[H]],
// CHECK-SAME: %[[SHORT]]
// CHECK: tenon.stack 2 reverse
// CHECK: %[[LOADED:.*]] = tenon.at_depth %[[S]]#{{[0-9]+}}[%{{.*}}] : tensor<2x4x8xbf16> -> tensor<4x8xbf16>
// CHECK: tenon.convert %[[LOADED]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: %[[D:.*]] = tenon.convert %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: %[[BACK:.*]] = tenon.convert %[[D]] : tensor<4x8xbf16> -> tensor<4x8xf32>
// CHECK: tenon.dot {{.*}}%[[BACK]]
tenon.parameter @w stacked : tensor<2x8x8xf32>
func.func @written(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "train", tenon.states = []} {
  %s = tenon.stack 2(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%depth: index, %carry: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%depth] : tensor<8x8xf32>
    %h = tenon.dot %carry[0, 2], %w[2, 1] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %short = tenon.convert %h : tensor<4x8xf32> -> tensor<4x8xbf16>
    %wide = tenon.convert %short : tensor<4x8xbf16> -> tensor<4x8xf32>
    %t = tenon.tanh %wide : tensor<4x8xf32>
    %m = tenon.add %carry, %t : tensor<4x8xf32>
    tenon.yield %m : tensor<4x8xf32>
  }
  %l = tenon.reduce sum %s [0, 1] : tensor<4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
