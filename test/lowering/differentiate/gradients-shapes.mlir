// The gradients of views and moves of elements, as ops; %arg0 is the gradient of y. Nothing is computed besides.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not='= tenon.'

// CHECK-LABEL: func.func @broadcast(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.broadcast
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[REDUCE2:.*]] = tenon.reduce sum %arg0 [0]
// CHECK-NEXT: tenon.write_gradient @a, %[[REDUCE2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<8xf32>
  func.func @broadcast(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<8xf32>
    %y = tenon.broadcast %a [1] : tensor<8xf32> -> tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @reshape(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.reshape
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[RESHAPE2:.*]] = tenon.reshape %arg0 [1, 2]
// CHECK-NEXT: tenon.write_gradient @a, %[[RESHAPE2]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x2x4xf32>
  func.func @reshape(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x2x4xf32>
    %y = tenon.reshape %a [1, -2] : tensor<4x2x4xf32> -> tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @slice(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.slice
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[PAD:.*]] = tenon.pad %arg0 0 from affine_map<() -> (2)>
// CHECK-NEXT: tenon.write_gradient @a, %[[PAD]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<9x8xf32>
  func.func @slice(%dy: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<9x8xf32>
    %y = tenon.slice %a 0 from affine_map<() -> (2)> : tensor<9x8xf32> -> tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @pad(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.pad
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SLICE:.*]] = tenon.slice %arg0 0 from affine_map<() -> (1)>
// CHECK-NEXT: tenon.write_gradient @a, %[[SLICE]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @pad(%dy: tensor<6x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.pad %a 0 from affine_map<() -> (1)> : tensor<4x8xf32> -> tensor<6x8xf32>
    %w = tenon.mul %y, %dy : tensor<6x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<6x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @concat(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.read_parameter @b
// CHECK: tenon.concat 0
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SLICE:.*]] = tenon.slice %arg0 0 from affine_map<() -> (0)>
// CHECK-NEXT: %[[SLICE2:.*]] = tenon.slice %arg0 0 from affine_map<() -> (4)>
// CHECK-NEXT: tenon.write_gradient @b, %[[SLICE2]]
// CHECK-NEXT: tenon.write_gradient @a, %[[SLICE]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @concat(%dy: tensor<8x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.concat 0 %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
    %w = tenon.mul %y, %dy : tensor<8x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<8x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @gather(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.gather
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[SCATTER_ADD:.*]] = tenon.scatter_add %arg0[%arg1] dim 0 x_dims [-1, 1] index_dims [0]
// CHECK-NEXT: tenon.write_gradient @a, %[[SCATTER_ADD]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<50x8xf32>
  func.func @gather(%dy: tensor<4x8xf32>, %i: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<50x8xf32>
    %y = tenon.gather %a[%i] dim 0 x_dims [-1, 1] index_dims [0] : tensor<50x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @scatter_add(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.read_parameter @b
// CHECK: tenon.scatter_add
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[GATHER:.*]] = tenon.gather %arg0[%arg1] dim 0 x_dims [-1, 1] index_dims [0]
// CHECK-NEXT: tenon.write_gradient @b, %arg0
// CHECK-NEXT: tenon.write_gradient @a, %[[GATHER]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  tenon.parameter @b : tensor<4x8xf32>
  func.func @scatter_add(%dy: tensor<4x8xf32>, %i: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %b = tenon.read_parameter @b : tensor<4x8xf32>
    %y = tenon.scatter_add %a[%i] onto %b : tensor<4x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
    %w = tenon.mul %y, %dy : tensor<4x8xf32>
    %l = tenon.reduce sum %w [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// Stride and divisor change places, dilation and pad their sign.
// CHECK-LABEL: func.func @window(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.window
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[TERMS:.*]] = tenon.window paired %arg0 [1] stride [1] dilation [-2] pad [-1] divisor [3] fill 0.000000e+00 : tensor<4x3x2xf32> -> tensor<4x8x2xf32>
// CHECK-NEXT: %[[SUM:.*]] = tenon.reduce sum %[[TERMS]] [2] : tensor<4x8x2xf32> -> tensor<4x8xf32>
// CHECK-NEXT: tenon.write_gradient @a, %[[SUM]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x8xf32>
  func.func @window(%dy: tensor<4x3x2xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x8xf32>
    %y = tenon.window %a [1] stride [3] dilation [2] pad [1] divisor [1] fill 0.5 : tensor<4x8xf32> -> tensor<4x3x2xf32>
    %w = tenon.mul %y, %dy : tensor<4x3x2xf32>
    %l = tenon.reduce sum %w [0, 1, 2] : tensor<4x3x2xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// And back again.
// CHECK-LABEL: func.func @paired(
// CHECK: tenon.read_parameter @a
// CHECK: tenon.window
// CHECK: tenon.mul
// CHECK: tenon.reduce sum
// CHECK: tenon.output 0
// CHECK-NEXT: %[[TERMS:.*]] = tenon.window paired %arg0 [1] stride [3] dilation [2] pad [1] divisor [1] fill 0.000000e+00 : tensor<4x8x2xf32> -> tensor<4x3x2xf32>
// CHECK-NEXT: tenon.write_gradient @a, %[[TERMS]]
// CHECK-NEXT: return
module {
  tenon.parameter @a : tensor<4x3x2xf32>
  func.func @paired(%dy: tensor<4x8x2xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %a = tenon.read_parameter @a : tensor<4x3x2xf32>
    %y = tenon.window paired %a [1] stride [1] dilation [-2] pad [-1] divisor [3] fill 0.0 : tensor<4x3x2xf32> -> tensor<4x8x2xf32>
    %w = tenon.mul %y, %dy : tensor<4x8x2xf32>
    %l = tenon.reduce sum %w [0, 1, 2] : tensor<4x8x2xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
