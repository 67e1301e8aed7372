// The loss scale has a memory of its own, which kernels read where it lies.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule))' | FileCheck %s --implicit-check-not=tenon.read_ --implicit-check-not=tenon.copy
// CHECK-LABEL: func.func @f
// CHECK: %[[S:.*]] = tenon.place {{.*}}loss_scale{{.*}} : tensor<f32>
// CHECK: tenon.at %[[S]][] : tensor<f32> -> f32
func.func @f(%x: tensor<9xf32>) {
  %s = tenon.read_loss_scale : tensor<f32>
  %y = tenon.nest affine_map<() -> (9)> : tensor<9xf32> {
  ^bb0(%i: index):
    %scale = tenon.at %s[] : tensor<f32> -> f32
    %e = tenon.at %x[%i] : tensor<9xf32> -> f32
    %p = arith.mulf %e, %scale : f32
    tenon.put 0 [%i], %p : f32
  }
  tenon.output 0 "y", %y : tensor<9xf32>
  return
}
