// sine and cosine: near their zeros the error is relative to 1.
// RUN: tenon-kernel-test %s --dims=20011 --tolerance=1.2e-7 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=20011 --tolerance=1.2e-7 --scale=30000 | FileCheck %s
// CHECK: ok:

#x = affine_map<(d0) -> (d0)>

func.func @sin(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.sin %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @cos(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.cos %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}
