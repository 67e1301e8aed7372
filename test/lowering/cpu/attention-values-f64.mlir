// Values of relative positions in f64.
// RUN: tenon-kernel-test %s --dims=1,0,1 --dims=2,3,2 --dims=17,0,2 --dims=67,40,1 --dims=131,10,1 --dims=20,1100,1 --tolerance=1e-11 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=1e-11 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d0 - 1)>
#m1 = affine_map<(d0, d1, d2) -> (-d1)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#m4 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 41)>
#m5 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 41)>
#m6 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m7 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 1, 24)>
#m8 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 1)>
#m9 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 1, 41)>
#m10 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 1, 24)>
#m11 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 1)>
#m12 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 1, 41)>
#m13 = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>
#m14 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 16)>
#m15 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 16)>
#m16 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>
#m18 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m19 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 2, 16)>
#m20 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 2)>
#m21 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 2, 64)>
#m22 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 2, 64)>

func.func @scores_and_values(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf64, #m2>, %k: tensor<?x?x1x24xf64, #m3>, %v: tensor<?x?x1x41xf64, #m4>, %dy: tensor<?x?x1x41xf64, #m5>, %p: tensor<?x?x1x24xf64, #m2>, %r: tensor<?x1x24xf64, #m7>, %t: tensor<?x1xf64, #m8>, %w: tensor<?x1x41xf64, #m9>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0>, place = [{rest = #m0, query = -1 : i64, key = 1 : i64}], mask = [{test = "le", rest = #m1, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x41xf64, #m4>, tensor<?x?x1x24xf64, #m2>, tensor<?x1x24xf64, #m7>, tensor<?x1xf64, #m8>, tensor<?x1x41xf64, #m9>) -> (tensor<?x?x1x41xf64, #m5>, tensor<?x1x?xf64, #m6>, tensor<?x1x?xf64, #m6>)
  %dq, %dk, %dv, %dp, %dr, %dt, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0>, place = [{rest = #m0, query = -1 : i64, key = 1 : i64}], mask = [{test = "le", rest = #m1, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x1x41xf64, #m5>, tensor<?x?x1x41xf64, #m5>, tensor<?x1x?xf64, #m6>, tensor<?x1x?xf64, #m6>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x41xf64, #m4>, tensor<?x?x1x24xf64, #m2>, tensor<?x1x24xf64, #m7>, tensor<?x1xf64, #m8>, tensor<?x1x41xf64, #m9>) -> (tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x41xf64, #m4>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x24xf64, #m10>, tensor<?x?x1xf64, #m11>, tensor<?x?x1x41xf64, #m12>)
  tenon.output 0 "y", %y : tensor<?x?x1x41xf64, #m5>
  tenon.output 1 "m", %m : tensor<?x1x?xf64, #m6>
  tenon.output 2 "s", %s : tensor<?x1x?xf64, #m6>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf64, #m2>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf64, #m3>
  tenon.output 5 "dv", %dv : tensor<?x?x1x41xf64, #m4>
  tenon.output 6 "dp", %dp : tensor<?x?x1x24xf64, #m2>
  tenon.output 7 "dr", %dr : tensor<?x?x1x24xf64, #m10>
  tenon.output 8 "dt", %dt : tensor<?x?x1xf64, #m11>
  tenon.output 9 "dw", %dw : tensor<?x?x1x41xf64, #m12>
  return
}

func.func @values_alone(%I: index, %M: index, %B: index, %q: tensor<?x?x2x16xf64, #m14>, %k: tensor<?x?x2x16xf64, #m15>, %v: tensor<?x?x2x64xf64, #m16>, %dy: tensor<?x?x2x64xf64, #m17>, %w: tensor<?x2x64xf64, #m21>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>, place = [{rest = #m13, query = 1 : i64, key = -1 : i64}], mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x16xf64, #m14>, tensor<?x?x2x16xf64, #m15>, tensor<?x?x2x64xf64, #m16>, tensor<?x2x64xf64, #m21>) -> (tensor<?x?x2x64xf64, #m17>, tensor<?x2x?xf64, #m18>, tensor<?x2x?xf64, #m18>)
  %dq, %dk, %dv, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0>, place = [{rest = #m13, query = 1 : i64, key = -1 : i64}], mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x64xf64, #m17>, tensor<?x?x2x64xf64, #m17>, tensor<?x2x?xf64, #m18>, tensor<?x2x?xf64, #m18>, tensor<?x?x2x16xf64, #m14>, tensor<?x?x2x16xf64, #m15>, tensor<?x?x2x64xf64, #m16>, tensor<?x2x64xf64, #m21>) -> (tensor<?x?x2x16xf64, #m14>, tensor<?x?x2x16xf64, #m15>, tensor<?x?x2x64xf64, #m16>, tensor<?x?x2x64xf64, #m22>)
  tenon.output 0 "y", %y : tensor<?x?x2x64xf64, #m17>
  tenon.output 1 "m", %m : tensor<?x2x?xf64, #m18>
  tenon.output 2 "s", %s : tensor<?x2x?xf64, #m18>
  tenon.output 3 "dq", %dq : tensor<?x?x2x16xf64, #m14>
  tenon.output 4 "dk", %dk : tensor<?x?x2x16xf64, #m15>
  tenon.output 5 "dv", %dv : tensor<?x?x2x64xf64, #m16>
  tenon.output 6 "dw", %dw : tensor<?x?x2x64xf64, #m22>
  return
}
