// The gradients of contractions, reductions, normalizers, losses and dropout, as ops; %arg0 is the gradient of y. Nothing is computed besides.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not='= tenon.'

// CHECK-LABEL: func.func @dropout(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.dropout
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[DROPOUT2:.*]] = tenon.dropout %arg0 rate 1.000000e-01 site 7
// CHECK-NEXT: tenon.write_gradient @a, %[[DROPOUT2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @dropout(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.dropout %a rate 0.1 site 7 : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @dot(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[B:.*]] = tenon.read_parameter @b
// CHECK: tenon.dot %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[DOT2:.*]] = tenon.dot %arg0[0, 2], %[[B]][2, 1]
// CHECK-NEXT: %[[DOT3:.*]] = tenon.dot %arg0[2, 0], %[[A]][2, 1]
// CHECK-NEXT: tenon.write_gradient @b, %[[DOT3]]
// CHECK-NEXT: tenon.write_gradient @a, %[[DOT2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x5xf32>
  tenon.parameter @b : tensor<8x5xf32>
  func.func @dot(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x5xf32>
    %b = tenon.read_parameter @b : tensor<8x5xf32>
    %y = tenon.dot %a[0, 2], %b[1, 2] : tensor<4x5xf32>, tensor<8x5xf32> -> tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @reduce_sum(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.reduce sum
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %arg0 [0]
// CHECK-NEXT: tenon.write_gradient @a, %[[BROADCAST]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @reduce_sum(%dy: tensor<4xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.reduce sum %a [1] : tensor<4x8xf32> -> tensor<4xf32>
    %w = tenon.mul %y, %dy : tensor<4xf32>
    %l = tenon.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @reduce_max(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[REDUCE:.*]] = tenon.reduce max %[[A]] [1]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[REDUCE]] [0]
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare eq %[[A]], %[[BROADCAST]]
// CHECK-NEXT: %[[CONVERT:.*]] = tenon.convert %[[COMPARE]]
// CHECK-NEXT: %[[REDUCE3:.*]] = tenon.reduce sum %[[CONVERT]] [1]
// CHECK-NEXT: %[[DIV:.*]] = tenon.div %arg0, %[[REDUCE3]]
// CHECK-NEXT: %[[BROADCAST2:.*]] = tenon.broadcast %[[DIV]] [0]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[CONVERT]], %[[BROADCAST2]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @reduce_max(%dy: tensor<4xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.reduce max %a [1] : tensor<4x8xf32> -> tensor<4xf32>
    %w = tenon.mul %y, %dy : tensor<4xf32>
    %l = tenon.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @running_sum(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.running_sum
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[RUNNING_SUM2:.*]] = tenon.running_sum %arg0 dim 1 reverse
// CHECK-NEXT: tenon.write_gradient @a, %[[RUNNING_SUM2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @running_sum(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.running_sum %a dim 1 : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[SOFTMAX:.*]] = tenon.softmax %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %arg0, %[[SOFTMAX]]
// CHECK-NEXT: %[[REDUCE2:.*]] = tenon.reduce sum %[[MUL2]] [1]
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[REDUCE2]] [0]
// CHECK-NEXT: %[[SUB:.*]] = tenon.sub %arg0, %[[BROADCAST]]
// CHECK-NEXT: %[[MUL3:.*]] = tenon.mul %[[SOFTMAX]], %[[SUB]]
// CHECK-NEXT: tenon.write_gradient @a, %[[MUL3]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @softmax(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.softmax %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @log_softmax(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[SOFTMAX:.*]] = tenon.softmax log %[[A]]
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[EXP:.*]] = tenon.exp %[[SOFTMAX]]
// CHECK-NEXT: %[[REDUCE2:.*]] = tenon.reduce sum %arg0 [1]
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[REDUCE2]] [0]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[EXP]], %[[BROADCAST]]
// CHECK-NEXT: %[[SUB:.*]] = tenon.sub %arg0, %[[MUL2]]
// CHECK-NEXT: tenon.write_gradient @a, %[[SUB]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @log_softmax(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.softmax log %a : tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @normalize(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = tenon.normalize %[[A]] eps 1.000000e-05
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[NORMALIZE_GRAD:.*]] = tenon.normalize_grad %arg0, %[[A]], %[[MEAN]], %[[RSTD]]
// CHECK-NEXT: tenon.write_gradient @a, %[[NORMALIZE_GRAD]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @normalize(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y, %m, %r = tenon.normalize %a eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @cross_entropy(
// CHECK: %[[A:.*]] = tenon.read_parameter @a
// CHECK: %[[LOSS:.*]], %[[LSE:.*]] = tenon.cross_entropy %[[A]], %arg1
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[CROSS_ENTROPY_GRAD:.*]] = tenon.cross_entropy_grad %arg0, %[[A]], %arg1, %[[LSE]]
// CHECK-NEXT: tenon.write_gradient @a, %[[CROSS_ENTROPY_GRAD]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @cross_entropy(%dy: tensor<4xf32>, %t: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y, %s = tenon.cross_entropy %a, %t : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
    %w = tenon.mul %y, %dy : tensor<4xf32>
    %l = tenon.reduce sum %w [0] : tensor<4xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
