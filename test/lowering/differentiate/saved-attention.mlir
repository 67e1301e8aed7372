// What a stack keeps for attention and for what reads windows: y and the statistics of each row instead of probabilities, the tensor that windows are of instead of windows.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not=tenon.yield --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient

// CHECK-LABEL: func.func @attention(
// CHECK: ^bb0(%{{.*}}: index, %[[CARRY:.*]]: tensor<2x5x4x8xf32>):
// CHECK: %[[QUERY:.*]] = tenon.dot %[[CARRY]]
// CHECK-NEXT: %y, %row_max, %row_sum_inverse = "tenon.attention"(%[[QUERY]], %[[CARRY]], %[[CARRY]])
// CHECK-NEXT: tenon.yield %y, %y, %row_max, %row_sum_inverse, %[[QUERY]], %[[CARRY]] : tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[Y:.*]] = tenon.at_depth
// CHECK-NEXT: %[[M:.*]] = tenon.at_depth
// CHECK-NEXT: %[[S:.*]] = tenon.at_depth
// CHECK-NEXT: %[[Q:.*]] = tenon.at_depth
// CHECK-NEXT: %[[H:.*]] = tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: "tenon.attention_grad"(%{{.*}}, %[[Y]], %[[M]], %[[S]], %[[Q]], %[[H]], %[[H]])
// CHECK: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<2x5x4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x4x8x4x8xf32>
  func.func @attention(%x: tensor<2x5x4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %o = tenon.stack 2 (%x) : (tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32> {
    ^bb0(%d: index, %h: tensor<2x5x4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<4x8x4x8xf32>
      %q = tenon.dot %h[0, 1, 4, 5], %w[2, 3, 4, 5] : tensor<2x5x4x8xf32>, tensor<4x8x4x8xf32> -> tensor<2x5x4x8xf32>
      %y, %m, %s = "tenon.attention"(%q, %h, %h) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
        mask = [{test = "le", rest = affine_map<() -> (0)>, query = -1 : i64, key = 1 : i64}], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> :
        (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
      tenon.yield %y : tensor<2x5x4x8xf32>
    }
    %l = tenon.reduce sum %o [0, 1, 2, 3] : tensor<2x5x4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// The carry is kept, and no windows of it.
// CHECK-LABEL: func.func @window(
// CHECK: ^bb0(%{{.*}}: index, %[[CARRY:.*]]: tensor<6x8xf32>):
// CHECK: tenon.window %[[CARRY]] [0]
// CHECK-NEXT: %[[Z:.*]] = tenon.dot
// CHECK-NEXT: tenon.yield %[[Z]], %[[CARRY]] : tensor<6x8xf32>, tensor<6x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK: %[[H:.*]] = tenon.at_depth
// CHECK: tenon.window %[[H]] [0]
// CHECK: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<6x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x3x8xf32>
  func.func @window(%x: tensor<6x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %o = tenon.stack 2 (%x) : (tensor<6x8xf32>) -> tensor<6x8xf32> {
    ^bb0(%d: index, %h: tensor<6x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x3x8xf32>
      %t = tenon.window %h [0] stride [1] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<6x8xf32> -> tensor<6x3x8xf32>
      %z = tenon.dot %t[0, 2, 3], %w[1, 2, 3] : tensor<6x3x8xf32>, tensor<8x3x8xf32> -> tensor<6x8xf32>
      tenon.yield %z : tensor<6x8xf32>
    }
    %l = tenon.reduce sum %o [0, 1] : tensor<6x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
