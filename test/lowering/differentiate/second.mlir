// RUN: split-file %s %t
// RUN: tenon-opt %t/linear.mlir --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %t/linear.mlir
// RUN: not tenon-opt %t/refused.mlir --pass-pipeline='builtin.module(func.func(tenon-differentiate))' 2>&1 | FileCheck %t/refused.mlir
// Ops that only gradients are made of, differentiated once more. They are linear, so the rule is the transposed op: slice for pad, gather for scatter_add.

//--- linear.mlir
// CHECK: [[$LOW:#map[0-9]*]] = affine_map<() -> (2)>
// CHECK-LABEL: func.func @train
// CHECK: tenon.output 0
// CHECK-DAG: %[[SLICED:.*]] = tenon.slice %{{.*}} 1 from [[$LOW]] : tensor<4x8xf64> -> tensor<4x3xf64>
// CHECK-DAG: tenon.write_gradient @w, %[[SLICED]] : tensor<4x3xf64>
// CHECK-DAG: %[[PICKED:.*]] = tenon.gather %{{.*}}[%{{.*}}] dim 0 x_dims [-1, 1] index_dims [0] : tensor<6x8xf64>, tensor<5xi32> -> tensor<5x8xf64>
// CHECK-DAG: tenon.write_gradient @v, %[[PICKED]] : tensor<5x8xf64>
tenon.parameter @w : tensor<4x3xf64>
tenon.parameter @v : tensor<5x8xf64>
func.func @train(%c: tensor<4x8xf64>, %d: tensor<6x8xf64>, %ids: tensor<5xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4x3xf64>
  %v = tenon.read_parameter @v : tensor<5x8xf64>
  %p = tenon.pad %w 1 from affine_map<() -> (2)> : tensor<4x3xf64> -> tensor<4x8xf64>
  %s = tenon.scatter_add %v[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<5x8xf64>, tensor<5xi32> -> tensor<6x8xf64>
  %pc = tenon.mul %p, %c : tensor<4x8xf64>
  %sd = tenon.mul %s, %d : tensor<6x8xf64>
  %a = tenon.reduce sum %pc [0, 1] : tensor<4x8xf64> -> tensor<f64>
  %b = tenon.reduce sum %sd [0, 1] : tensor<6x8xf64> -> tensor<f64>
  %l = tenon.add %a, %b : tensor<f64>
  tenon.output 0 "loss", %l : tensor<f64>
  return
}

//--- refused.mlir
// CHECK: not supported yet
tenon.parameter @w : tensor<4xf64>
func.func @train(%c: tensor<4xf64>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<4xf64>
  %g = tenon.activation_grad "gelu" %w, %c : tensor<4xf64>
  %l = tenon.reduce sum %g [0] : tensor<4xf64> -> tensor<f64>
  tenon.output 0 "loss", %l : tensor<f64>
  return
}
