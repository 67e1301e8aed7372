// The gradient of a contraction under a condition has that condition; a stack keeps its sum and its operand as for any other.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient

// CHECK-LABEL: func.func @where(
// CHECK: ^bb0(%{{.*}}: index, %[[CARRY:.*]]: tensor<4x8xf32>):
// CHECK: %[[Y:.*]] = tenon.dot_where %[[CARRY]][0, 2], %{{.*}}[1, 2] where %arg0[0] : tensor<4x8xf32>, tensor<8x8xf32>, tensor<4xi1> -> tensor<4x8xf32>
// CHECK: tenon.stack 2 reverse
// CHECK: %[[X:.*]] = tenon.at_depth
// CHECK: tenon.dot_where %{{.*}} where %arg0[{{.*}}]
// CHECK: tenon.dot_where %{{.*}} where %arg0[{{.*}}]
// CHECK: tenon.write_gradient @w
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @where(%c: tensor<4xi1>, %x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %h = tenon.stack 2(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %in: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %y = tenon.dot_where %in[0, 2], %w[1, 2] where %c[0] : tensor<4x8xf32>, tensor<8x8xf32>, tensor<4xi1> -> tensor<4x8xf32>
      tenon.yield %y : tensor<4x8xf32>
    }
    %l = tenon.reduce sum %h [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
