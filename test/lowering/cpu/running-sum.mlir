// Running sums along the last dimension, in front of others, and backwards; of integers too.
// RUN: tenon-kernel-test %s --dims=1 --dims=3 --dims=67 --dims=131 --tolerance=4e-6 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=67 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#x = affine_map<(d0) -> (3, d0, 70)>
#y = affine_map<(d0) -> (5, d0)>

func.func @infer(%T: index, %x: tensor<3x?x70xf32, #x>, %y: tensor<5x?xf32, #y>, %n: tensor<5x?xi32, #y>) {
  %a = tenon.running_sum %x dim 1 : tensor<3x?x70xf32, #x>
  tenon.output 0 "a", %a : tensor<3x?x70xf32, #x>
  %b = tenon.running_sum %x dim 0 reverse : tensor<3x?x70xf32, #x>
  tenon.output 1 "b", %b : tensor<3x?x70xf32, #x>
  %c = tenon.running_sum %y dim 1 : tensor<5x?xf32, #y>
  tenon.output 2 "c", %c : tensor<5x?xf32, #y>
  %d = tenon.running_sum %y dim 1 reverse : tensor<5x?xf32, #y>
  tenon.output 3 "d", %d : tensor<5x?xf32, #y>
  %e = tenon.running_sum %n dim 1 : tensor<5x?xi32, #y>
  tenon.output 4 "e", %e : tensor<5x?xi32, #y>
  %f = tenon.running_sum %n dim 0 reverse : tensor<5x?xi32, #y>
  tenon.output 5 "f", %f : tensor<5x?xi32, #y>
  return
}
