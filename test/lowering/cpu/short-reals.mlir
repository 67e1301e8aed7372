// Every number of f16 and bf16, widened; and every one, every middle between two of them and its neighbours in f32, rounded: to nearest even, with the
// denormal numbers of f16, infinities and NaN. All tiers give the same bits, which the reference has from APFloat.
// RUN: tenon-kernel-test %s --dims=1 --tolerance=0 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=1 --tolerance=0 --corrupt=6e-8 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

func.func @f16(%N: index, %x: tensor<262144xf32> {test.every = f16}, %h: tensor<262144xf16> {test.every = f16}) {
  %y, %w = tenon.nest affine_map<() -> (262144)> : tensor<262144xf16>, tensor<262144xf32> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<262144xf32> -> f32
    %n = arith.truncf %e : f32 to f16
    tenon.put 0 [%i], %n : f16
    %b = tenon.at %h[%i] : tensor<262144xf16> -> f16
    %r = arith.extf %b : f16 to f32
    tenon.put 1 [%i], %r : f32
  }
  tenon.output 0 "y", %y : tensor<262144xf16>
  tenon.output 1 "w", %w : tensor<262144xf32>
  return
}
func.func @bf16(%N: index, %x: tensor<262144xf32> {test.every = bf16}, %h: tensor<262144xbf16> {test.every = bf16}) {
  %y, %w = tenon.nest affine_map<() -> (262144)> : tensor<262144xbf16>, tensor<262144xf32> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<262144xf32> -> f32
    %n = arith.truncf %e : f32 to bf16
    tenon.put 0 [%i], %n : bf16
    %b = tenon.at %h[%i] : tensor<262144xbf16> -> bf16
    %r = arith.extf %b : bf16 to f32
    tenon.put 1 [%i], %r : f32
  }
  tenon.output 0 "y", %y : tensor<262144xbf16>
  tenon.output 1 "w", %w : tensor<262144xf32>
  return
}
// One number at a time.
func.func @scalar(%N: index, %x: tensor<262144xf32> {test.every = f16}) {
  %y = tenon.nest affine_map<() -> (262144, 1)> : tensor<262144x1xf16> {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i] : tensor<262144xf32> -> f32
    %n = arith.truncf %e : f32 to f16
    tenon.put 0 [%i, %j], %n : f16
  }
  tenon.output 0 "y", %y : tensor<262144x1xf16>
  return
}
