// Keys and values that all heads share, in f64.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=17,40,3 --dims=131,0,2 --tolerance=1e-12 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=1e-12 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

#q = affine_map<(d0, d1, d2) -> (d2, d0, 3, 41)>
#k = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 41)>
#v = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#y = affine_map<(d0, d1, d2) -> (d2, d0, 3, 24)>
#m = affine_map<(d0, d1, d2) -> (d2, 3, d0)>

func.func @shared(%I: index, %M: index, %B: index, %q: tensor<?x?x3x41xf64, #q>, %k: tensor<?x?x1x41xf64, #k>, %v: tensor<?x?x1x24xf64, #v>, %dy: tensor<?x?x3x24xf64, #y>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x3x41xf64, #q>, tensor<?x?x1x41xf64, #k>, tensor<?x?x1x24xf64, #v>) -> (tensor<?x?x3x24xf64, #y>, tensor<?x3x?xf64, #m>, tensor<?x3x?xf64, #m>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x3x24xf64, #y>, tensor<?x?x3x24xf64, #y>, tensor<?x3x?xf64, #m>, tensor<?x3x?xf64, #m>, tensor<?x?x3x41xf64, #q>, tensor<?x?x1x41xf64, #k>, tensor<?x?x1x24xf64, #v>) -> (tensor<?x?x3x41xf64, #q>, tensor<?x?x1x41xf64, #k>, tensor<?x?x1x24xf64, #v>)
  tenon.output 0 "y", %y : tensor<?x?x3x24xf64, #y>
  tenon.output 1 "m", %m : tensor<?x3x?xf64, #m>
  tenon.output 2 "s", %s : tensor<?x3x?xf64, #m>
  tenon.output 3 "dq", %dq : tensor<?x?x3x41xf64, #q>
  tenon.output 4 "dk", %dk : tensor<?x?x1x41xf64, #k>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf64, #v>
  return
}
