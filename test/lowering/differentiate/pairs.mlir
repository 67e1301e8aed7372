// The gradient of stored scores of pairs is summed over what the operand has once; nothing of it is left where nobody asks.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s

// CHECK-LABEL: func.func @parts(
// CHECK: %dpair_scores = "tenon.attention_grad"
// CHECK: %[[APART:.*]] = tenon.reshape %dpair_scores [3, 1, 1, 1] : tensor<6x4x5x7xf32> -> tensor<1x2x3x4x5x7xf32>
// CHECK-NEXT: %[[SUM:.*]] = tenon.reduce sum %[[APART]] [0, 2] : tensor<1x2x3x4x5x7xf32> -> tensor<2x4x5x7xf32>
// CHECK-NEXT: tenon.write_gradient @b, %[[SUM]]
module {
  tenon.parameter @b : tensor<2x4x5x7xf32>
  func.func @parts(%q: tensor<6x5x4x8xf32>, %k: tensor<6x7x4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %b = tenon.read_parameter @b : tensor<2x4x5x7xf32>
    %y, %m, %s = "tenon.attention"(%q, %k, %k, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>,
      pair_batch = affine_map<() -> (1, 3)>, scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x8xf32>, tensor<2x4x5x7xf32>) -> (tensor<6x5x4x8xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>)
    %l = tenon.reduce sum %y [0, 1, 2, 3] : tensor<6x5x4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @keys(
// CHECK: tenon.reduce sum %dpair_scores [1, 2] : tensor<6x4x5x7xf32> -> tensor<6x7xf32>
module {
  tenon.parameter @b : tensor<6x1x1x7xf32>
  func.func @keys(%q: tensor<6x5x4x8xf32>, %k: tensor<6x7x4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %b = tenon.read_parameter @b : tensor<6x1x1x7xf32>
    %y, %m, %s = "tenon.attention"(%q, %k, %k, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>,
      scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x1x1x7xf32>) -> (tensor<6x5x4x8xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>)
    %l = tenon.reduce sum %y [0, 1, 2, 3] : tensor<6x5x4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @constant(
// CHECK: "tenon.attention_grad"
// CHECK-NOT: tenon.reduce sum %dpair_scores
module {
  tenon.parameter @w : tensor<6x5x4x8xf32>
  func.func @constant(%k: tensor<6x7x4x8xf32>, %b: tensor<1x1x5x7xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %q = tenon.read_parameter @w : tensor<6x5x4x8xf32>
    %y, %m, %s = "tenon.attention"(%q, %k, %k, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>,
      scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x8xf32>, tensor<1x1x5x7xf32>) -> (tensor<6x5x4x8xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>)
    %l = tenon.reduce sum %y [0, 1, 2, 3] : tensor<6x5x4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
