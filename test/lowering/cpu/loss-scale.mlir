// The optimizer divides gradients by the loss scale, before norms and clipping, and the scale goes on as it should: here it doubles after the fifth
// good update (the test begins with 8 and four of them).
// RUN: tenon-kernel-test %s --dims=1 --dims=17 --tolerance=4e-6 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=17 --halves --tolerance=4e-6 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#x = affine_map<(d0) -> (d0)>
tenon.parameter @w {offset = 0 : i64} : tensor<20xf32>
tenon.parameter @v {offset = 128 : i64, gradient = array<f64: 2.0>} : tensor<7x5xf32>

func.func @scaled(%B: index, %x: tensor<?xf32, #x>, %g: tensor<20xf32>, %h: tensor<7x5xf32>) attributes {tenon.kind = "train"} {
  %s = tenon.read_loss_scale : tensor<f32>
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %scale = tenon.at %s[] : tensor<f32> -> f32
    %e = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %p = arith.mulf %e, %scale : f32
    tenon.put 0 [%i], %p : f32
  }
  tenon.write_gradient @w, %g : tensor<20xf32>
  tenon.write_gradient @v, %h : tensor<7x5xf32>
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 0.01, decay = 0.1, clip = 0.5, scale_growth = 2.0, scale_backoff = 0.5, scale_every = 5}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  tenon.output 1 "learning_rate", %rate : tensor<f64>
  tenon.output 2 "y", %y : tensor<?xf32, #x>
  return
}
