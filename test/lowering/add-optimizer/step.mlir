// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-add-optimizer)' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-add-optimizer,tenon-add-optimizer)' | FileCheck %s

// NaN is the optimizer's own decay; a number of the parameter's own stays.
// CHECK: tenon.parameter @w {decay = array<f64: 1.000000e-01>}
// CHECK: tenon.parameter @b stacked {decay = array<f64: 0.000000e+00, 1.000000e-01>}
// CHECK: tenon.parameter @plain :
tenon.parameter @w {decay = array<f64: 0x7FF8000000000000>} : tensor<4x8xf32>
tenon.parameter @b stacked {decay = array<f64: 0.0, 0x7FF8000000000000>} : tensor<2x8xf32>
tenon.parameter @plain : tensor<8xf32>

// The step is one op behind the gradients; its results are the outputs behind those of the function. Once: a second run of the pass adds nothing.
// CHECK-LABEL: func.func @train
// CHECK-NOT: tenon.optimizer
// CHECK: tenon.write_gradient @w
// CHECK-NEXT: %[[NORM:.*]], %[[RATE:.*]] = tenon.optimize "adamw" {settings = {clip = 1.000000e+00 : f64, decay = 1.000000e-01 : f64, lr = 1.000000e-03 : f64}} : tensor<f64>, tensor<f64>
// CHECK-NEXT: tenon.output 2 "grad_norm", %[[NORM]] : tensor<f64>
// CHECK-NEXT: tenon.output 3 "learning_rate", %[[RATE]] : tensor<f64>
// CHECK-NEXT: return
func.func @train(%l: tensor<f32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [],
    tenon.optimizer = {rule = "adamw", settings = {lr = 1.0e-3, decay = 0.1, clip = 1.0}}} {
  tenon.output 0 "loss", %l : tensor<f32>
  tenon.output 1 "part", %l : tensor<f32>
  tenon.write_gradient @w, %g : tensor<4x8xf32>
  return
}

// Gradients alone, as `tenon compile --grad` makes them: nothing is updated.
// CHECK-LABEL: func.func @grad
// CHECK-NEXT: tenon.output 0
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: return
func.func @grad(%l: tensor<f32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  tenon.output 0 "loss", %l : tensor<f32>
  tenon.write_gradient @w, %g : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @eval
// CHECK-NEXT: tenon.output 0
// CHECK-NEXT: return
func.func @eval(%l: tensor<f32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
