// Attention in f64, and without relative terms.
// RUN: tenon-kernel-test %s --dims=1,0,1 --dims=2,3,2 --dims=67,40,2 --dims=197,10,1 --dims=17,1100,1 --tolerance=1e-11 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=1e-11 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 41)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 41)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m4 = affine_map<(d0, d1, d2) -> (d0 + d1, 1, 41)>
#m5 = affine_map<(d0, d1, d2) -> (d0 + d1, 1)>
#m6 = affine_map<(d0, d1, d2) -> (d1)>
#m7 = affine_map<(d0, d1, d2) -> (-d1)>
#m8 = affine_map<(d0, d1, d2) -> (d1 - 9)>
#m9 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m10 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1)>
#m11 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 40)>
#m12 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 40)>
#m13 = affine_map<(d0, d1, d2) -> (2 * d0 + 2 * d1 + 2, 1, 24)>
#m14 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 2)>
#m15 = affine_map<(d0, d1, d2) -> (d2)>
#m16 = affine_map<(d0, d1, d2) -> (d2, d0)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0 + d1)>
#m18 = affine_map<(d0, d1, d2) -> (d0 + d1 + 1)>
#m19 = affine_map<(d0, d1, d2) -> (d0)>
#m20 = affine_map<(d0, d1, d2) -> (1 - d1 floordiv 2)>
#m21 = affine_map<(d0, d1, d2) -> (1)>
#m22 = affine_map<(d0, d1, d2) -> (-3)>
#m23 = affine_map<(d0, d1, d2) -> (0)>
#m24 = affine_map<(d0, d1, d2) -> (d2, 2 * d0 + 2 * d1 + 2, 1, 24)>
#m25 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>
#m26 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>
#m27 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#m28 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#m29 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>

func.func @relative(%I: index, %M: index, %B: index, %q: tensor<?x?x1x41xf64, #m0>, %k: tensor<?x?x1x41xf64, #m1>, %v: tensor<?x?x1x24xf64, #m2>, %dy: tensor<?x?x1x24xf64, #m3>, %p: tensor<?x?x1x41xf64, #m0>, %r: tensor<?x1x41xf64, #m4>, %t: tensor<?x1xf64, #m5>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, place = [{rest = #m6, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m7, query = -1 : i64, key = 1 : i64}, {test = "le", rest = #m8, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x41xf64, #m0>, tensor<?x?x1x41xf64, #m1>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x41xf64, #m0>, tensor<?x1x41xf64, #m4>, tensor<?x1xf64, #m5>) -> (tensor<?x?x1x24xf64, #m3>, tensor<?x1x?xf64, #m9>, tensor<?x1x?xf64, #m9>)
  %dq, %dk, %dv, %dp, %dr, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0>, place = [{rest = #m6, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m7, query = -1 : i64, key = 1 : i64}, {test = "le", rest = #m8, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x24xf64, #m3>, tensor<?x1x?xf64, #m9>, tensor<?x1x?xf64, #m9>, tensor<?x?x1x41xf64, #m0>, tensor<?x?x1x41xf64, #m1>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x41xf64, #m0>, tensor<?x1x41xf64, #m4>, tensor<?x1xf64, #m5>) -> (tensor<?x?x1x41xf64, #m0>, tensor<?x?x1x41xf64, #m1>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x41xf64, #m0>, tensor<?x?x1x41xf64, #m1>, tensor<?x?x1xf64, #m10>)
  tenon.output 0 "y", %y : tensor<?x?x1x24xf64, #m3>
  tenon.output 1 "m", %m : tensor<?x1x?xf64, #m9>
  tenon.output 2 "s", %s : tensor<?x1x?xf64, #m9>
  tenon.output 3 "dq", %dq : tensor<?x?x1x41xf64, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x1x41xf64, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf64, #m2>
  tenon.output 6 "dp", %dp : tensor<?x?x1x41xf64, #m0>
  tenon.output 7 "dr", %dr : tensor<?x?x1x41xf64, #m1>
  tenon.output 8 "dt", %dt : tensor<?x?x1xf64, #m10>
  return
}

func.func @streams(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf64, #m3>, %k: tensor<?x?x1x24xf64, #m2>, %v: tensor<?x?x1x40xf64, #m11>, %dy: tensor<?x?x1x40xf64, #m12>, %p: tensor<?x?x1x24xf64, #m3>, %r: tensor<?x1x24xf64, #m13>, %g: tensor<?x?x1x2xf64, #m14>, %back: tensor<?xi1, #m15>, %rq: tensor<?x?xi32, #m16> {test.bound = 60 : i64}, %rk: tensor<?x?xi32, #m17> {test.bound = 60 : i64}, %sq: tensor<?x?xi32, #m16> {test.bound = 3 : i64}, %sk: tensor<?x?xi32, #m17> {test.bound = 3 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %g, %back, %rq, %rk, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 5, 0>, back = 0 : i64, place = [{rest = #m18, query = 1 : i64, key = -1 : i64}, {rest = #m19, query = -1 : i64, key = 1 : i64}], mask = [["or", {test = "le", rest = #m20, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m21, query = 0 : i64, key = 0 : i64, operands = array<i64: 2, 1>, coefficients = array<i64: 1, -1>}], ["not", {test = "eq", rest = #m22, query = 0 : i64, key = 1 : i64}]], select = ["not", {test = "eq", rest = #m23, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 4>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x40xf64, #m11>, tensor<?x?x1x24xf64, #m3>, tensor<?x1x24xf64, #m13>, tensor<?x?x1x2xf64, #m14>, tensor<?xi1, #m15>, tensor<?x?xi32, #m16>, tensor<?x?xi32, #m17>, tensor<?x?xi32, #m16>, tensor<?x?xi32, #m17>) -> (tensor<?x?x1x40xf64, #m12>, tensor<?x1x?xf64, #m9>, tensor<?x1x?xf64, #m9>)
  %dq, %dk, %dv, %dp, %dr, %dg = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %g, %back, %rq, %rk, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 5, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>, back = 0 : i64, place = [{rest = #m18, query = 1 : i64, key = -1 : i64}, {rest = #m19, query = -1 : i64, key = 1 : i64}], mask = [["or", {test = "le", rest = #m20, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m21, query = 0 : i64, key = 0 : i64, operands = array<i64: 2, 1>, coefficients = array<i64: 1, -1>}], ["not", {test = "eq", rest = #m22, query = 0 : i64, key = 1 : i64}]], select = ["not", {test = "eq", rest = #m23, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 4>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x1x40xf64, #m12>, tensor<?x?x1x40xf64, #m12>, tensor<?x1x?xf64, #m9>, tensor<?x1x?xf64, #m9>, tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x40xf64, #m11>, tensor<?x?x1x24xf64, #m3>, tensor<?x1x24xf64, #m13>, tensor<?x?x1x2xf64, #m14>, tensor<?xi1, #m15>, tensor<?x?xi32, #m16>, tensor<?x?xi32, #m17>, tensor<?x?xi32, #m16>, tensor<?x?xi32, #m17>) -> (tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x24xf64, #m2>, tensor<?x?x1x40xf64, #m11>, tensor<?x?x1x24xf64, #m3>, tensor<?x?x1x24xf64, #m24>, tensor<?x?x1x2xf64, #m14>)
  tenon.output 0 "y", %y : tensor<?x?x1x40xf64, #m12>
  tenon.output 1 "m", %m : tensor<?x1x?xf64, #m9>
  tenon.output 2 "s", %s : tensor<?x1x?xf64, #m9>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf64, #m3>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf64, #m2>
  tenon.output 5 "dv", %dv : tensor<?x?x1x40xf64, #m11>
  tenon.output 6 "dp", %dp : tensor<?x?x1x24xf64, #m3>
  tenon.output 7 "dr", %dr : tensor<?x?x1x24xf64, #m24>
  tenon.output 8 "dg", %dg : tensor<?x?x1x2xf64, #m14>
  return
}

func.func @content(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf64, #m25>, %k: tensor<?x?x2x24xf64, #m26>, %v: tensor<?x?x2x40xf64, #m27>, %dy: tensor<?x?x2x40xf64, #m28>, %len: tensor<?xi32, #m15> {test.bound = 40 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, mask = [{test = "le", rest = #m21, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf64, #m25>, tensor<?x?x2x24xf64, #m26>, tensor<?x?x2x40xf64, #m27>, tensor<?xi32, #m15>) -> (tensor<?x?x2x40xf64, #m28>, tensor<?x2x?xf64, #m29>, tensor<?x2x?xf64, #m29>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m21, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf64, #m28>, tensor<?x?x2x40xf64, #m28>, tensor<?x2x?xf64, #m29>, tensor<?x2x?xf64, #m29>, tensor<?x?x2x24xf64, #m25>, tensor<?x?x2x24xf64, #m26>, tensor<?x?x2x40xf64, #m27>, tensor<?xi32, #m15>) -> (tensor<?x?x2x24xf64, #m25>, tensor<?x?x2x24xf64, #m26>, tensor<?x?x2x40xf64, #m27>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf64, #m28>
  tenon.output 1 "m", %m : tensor<?x2x?xf64, #m29>
  tenon.output 2 "s", %s : tensor<?x2x?xf64, #m29>
  tenon.output 3 "dq", %dq : tensor<?x?x2x24xf64, #m25>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf64, #m26>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf64, #m27>
  return
}
