// Content scores alone under a mask of lengths, rows that see no key included.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=2,3,2 --dims=17,40,3 --dims=197,0,1 --dims=131,1000,2 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=17,40,3 --storage=bf16 --tolerance=4e-3 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=17,40,3 --dims=131,1000,2 --storage=f16 --tolerance=1e-3 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --storage=bf16 --tolerance=10 --corrupt=0.5 | FileCheck %s --check-prefix=BITS
// CHECK: ok:
// CONTROL: FAILED:
// BITS: output 5 is not what the f32 kernel gives

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#m4 = affine_map<(d0, d1, d2) -> (d2)>
#m5 = affine_map<(d0, d1, d2) -> (1)>
#m6 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>

func.func @content(%I: index, %M: index, %B: index, %q: tensor<?x?x2x64xf32, #m0>, %k: tensor<?x?x2x64xf32, #m1>, %v: tensor<?x?x2x40xf32, #m2>, %dy: tensor<?x?x2x40xf32, #m3>, %len: tensor<?xi32, #m4> {test.bound = 40 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, mask = [{test = "le", rest = #m5, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x64xf32, #m0>, tensor<?x?x2x64xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?xi32, #m4>) -> (tensor<?x?x2x40xf32, #m3>, tensor<?x2x?xf32, #m6>, tensor<?x2x?xf32, #m6>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m5, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, #m3>, tensor<?x?x2x40xf32, #m3>, tensor<?x2x?xf32, #m6>, tensor<?x2x?xf32, #m6>, tensor<?x?x2x64xf32, #m0>, tensor<?x?x2x64xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?xi32, #m4>) -> (tensor<?x?x2x64xf32, #m0>, tensor<?x?x2x64xf32, #m1>, tensor<?x?x2x40xf32, #m2>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf32, #m3>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m6>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m6>
  tenon.output 3 "dq", %dq : tensor<?x?x2x64xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x2x64xf32, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf32, #m2>
  return
}
