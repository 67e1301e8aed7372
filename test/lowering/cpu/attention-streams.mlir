// The two streams of XLNet: permutation masks, segments, rows of the batch that read backwards, gathered places (near each other, far apart), dropout.
// RUN: tenon-kernel-test %s --dims=1,4,1 --dims=2,6,2 --dims=17,5,3 --dims=67,140,2 --dims=131,700,2 --dims=17,1100,2 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,5,3 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=17,5,3 --dims=17,1100,2 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>
#m2 = affine_map<(d0, d1, d2) -> (2 * d0 + 2 * d1 + 2, 2, 24)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 2)>
#m4 = affine_map<(d0, d1, d2) -> (2 * d0 + 2 * d1 + 2, 2)>
#m5 = affine_map<(d0, d1, d2) -> (d2)>
#m6 = affine_map<(d0, d1, d2) -> (d2, d0)>
#m7 = affine_map<(d0, d1, d2) -> (d2, d0 + d1)>
#m8 = affine_map<(d0, d1, d2) -> (d0 + d1 + 1)>
#m9 = affine_map<(d0, d1, d2) -> (d0)>
#m10 = affine_map<(d0, d1, d2) -> (1 - d1 floordiv 2)>
#m11 = affine_map<(d0, d1, d2) -> (1)>
#m12 = affine_map<(d0, d1, d2) -> (-3)>
#m13 = affine_map<(d0, d1, d2) -> (0)>
#m14 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m15 = affine_map<(d0, d1, d2) -> (d2, 2 * d0 + 2 * d1 + 2, 2, 24)>
#m16 = affine_map<(d0, d1, d2) -> (d2, 2 * d0 + 2 * d1 + 2, 2)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 41)>
#m18 = affine_map<(d0, d1, d2) -> (d2, d1, 1, 41)>
#m19 = affine_map<(d0, d1, d2) -> (d2, d1, 1, 24)>
#m20 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m21 = affine_map<(d0, d1, d2) -> (2 * d0 + 2 * d1 + 2, 1, 41)>
#m22 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 2)>
#m23 = affine_map<(d0, d1, d2) -> (d2, d1)>
#m24 = affine_map<(d0, d1, d2) -> (d1)>
#m25 = affine_map<(d0, d1, d2) -> (d0 + d1 + 2)>
#m26 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m27 = affine_map<(d0, d1, d2) -> (d2, 2 * d0 + 2 * d1 + 2, 1, 41)>

func.func @content_stream(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf32, #m0>, %k: tensor<?x?x2x24xf32, #m1>, %v: tensor<?x?x2x24xf32, #m1>, %dy: tensor<?x?x2x24xf32, #m0>, %p: tensor<?x?x2x24xf32, #m0>, %r: tensor<?x2x24xf32, #m2>, %g: tensor<?x?x2x2xf32, #m3>, %t: tensor<?x2xf32, #m4>, %back: tensor<?xi1, #m5>, %rq: tensor<?x?xi32, #m6> {test.bound = 60 : i64}, %rk: tensor<?x?xi32, #m7> {test.bound = 60 : i64}, %sq: tensor<?x?xi32, #m6> {test.bound = 3 : i64}, %sk: tensor<?x?xi32, #m7> {test.bound = 3 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %g, %t, %back, %rq, %rk, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 5, 0>, back = 0 : i64, place = [{rest = #m8, query = 1 : i64, key = -1 : i64}, {rest = #m9, query = -1 : i64, key = 1 : i64}], mask = [["or", {test = "le", rest = #m10, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m11, query = 0 : i64, key = 0 : i64, operands = array<i64: 2, 1>, coefficients = array<i64: 1, -1>}], ["not", {test = "eq", rest = #m12, query = 0 : i64, key = 1 : i64}]], select = ["not", {test = "eq", rest = #m13, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 4>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x24xf32, #m0>, tensor<?x2x24xf32, #m2>, tensor<?x?x2x2xf32, #m3>, tensor<?x2xf32, #m4>, tensor<?xi1, #m5>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m7>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m7>) -> (tensor<?x?x2x24xf32, #m0>, tensor<?x2x?xf32, #m14>, tensor<?x2x?xf32, #m14>)
  %dq, %dk, %dv, %dp, %dr, %dg, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %g, %t, %back, %rq, %rk, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 5, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>, back = 0 : i64, place = [{rest = #m8, query = 1 : i64, key = -1 : i64}, {rest = #m9, query = -1 : i64, key = 1 : i64}], mask = [["or", {test = "le", rest = #m10, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m11, query = 0 : i64, key = 0 : i64, operands = array<i64: 2, 1>, coefficients = array<i64: 1, -1>}], ["not", {test = "eq", rest = #m12, query = 0 : i64, key = 1 : i64}]], select = ["not", {test = "eq", rest = #m13, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 4>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m0>, tensor<?x2x?xf32, #m14>, tensor<?x2x?xf32, #m14>, tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x24xf32, #m0>, tensor<?x2x24xf32, #m2>, tensor<?x?x2x2xf32, #m3>, tensor<?x2xf32, #m4>, tensor<?xi1, #m5>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m7>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m7>) -> (tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m15>, tensor<?x?x2x2xf32, #m3>, tensor<?x?x2xf32, #m16>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #m0>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m14>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m14>
  tenon.output 3 "dq", %dq : tensor<?x?x2x24xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf32, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x2x24xf32, #m1>
  tenon.output 6 "dp", %dp : tensor<?x?x2x24xf32, #m0>
  tenon.output 7 "dr", %dr : tensor<?x?x2x24xf32, #m15>
  tenon.output 8 "dg", %dg : tensor<?x?x2x2xf32, #m3>
  tenon.output 9 "dt", %dt : tensor<?x?x2xf32, #m16>
  return
}

func.func @query_stream(%I: index, %M: index, %B: index, %q: tensor<?x?x1x41xf32, #m17>, %k: tensor<?x?x1x41xf32, #m18>, %v: tensor<?x?x1x24xf32, #m19>, %dy: tensor<?x?x1x24xf32, #m20>, %p: tensor<?x?x1x41xf32, #m17>, %r: tensor<?x1x41xf32, #m21>, %g: tensor<?x?x1x2xf32, #m22>, %at: tensor<?x?xi32, #m6> {test.bound = 5 : i64}, %back: tensor<?xi1, #m5>, %rq: tensor<?x?xi32, #m6> {test.bound = 60 : i64}, %rk: tensor<?x?xi32, #m23> {test.bound = 60 : i64}, %sq: tensor<?x?xi32, #m6> {test.bound = 3 : i64}, %sk: tensor<?x?xi32, #m23> {test.bound = 3 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %g, %at, %back, %rq, %rk, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 6, 0>, back = 1 : i64, place = [{rest = #m24, query = 0 : i64, key = -1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}, {rest = #m25, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], mask = [["or", {test = "le", rest = #m10, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m11, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 2>, coefficients = array<i64: 1, -1>}]], select = ["not", {test = "eq", rest = #m13, query = 0 : i64, key = 0 : i64, operands = array<i64: 4, 5>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0, 1>, array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x41xf32, #m17>, tensor<?x?x1x41xf32, #m18>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x41xf32, #m17>, tensor<?x1x41xf32, #m21>, tensor<?x?x1x2xf32, #m22>, tensor<?x?xi32, #m6>, tensor<?xi1, #m5>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m23>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m23>) -> (tensor<?x?x1x24xf32, #m20>, tensor<?x1x?xf32, #m26>, tensor<?x1x?xf32, #m26>)
  %dq, %dk, %dv, %dp, %dr, %dg = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %g, %at, %back, %rq, %rk, %sq, %sk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 6, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>, back = 1 : i64, place = [{rest = #m24, query = 0 : i64, key = -1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}, {rest = #m25, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], mask = [["or", {test = "le", rest = #m10, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m11, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 2>, coefficients = array<i64: 1, -1>}]], select = ["not", {test = "eq", rest = #m13, query = 0 : i64, key = 0 : i64, operands = array<i64: 4, 5>, coefficients = array<i64: 1, -1>}], index_labels = [array<i64: 0, 1>, array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m20>, tensor<?x?x1x24xf32, #m20>, tensor<?x1x?xf32, #m26>, tensor<?x1x?xf32, #m26>, tensor<?x?x1x41xf32, #m17>, tensor<?x?x1x41xf32, #m18>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x41xf32, #m17>, tensor<?x1x41xf32, #m21>, tensor<?x?x1x2xf32, #m22>, tensor<?x?xi32, #m6>, tensor<?xi1, #m5>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m23>, tensor<?x?xi32, #m6>, tensor<?x?xi32, #m23>) -> (tensor<?x?x1x41xf32, #m17>, tensor<?x?x1x41xf32, #m18>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x41xf32, #m17>, tensor<?x?x1x41xf32, #m27>, tensor<?x?x1x2xf32, #m22>)
  tenon.output 0 "y", %y : tensor<?x?x1x24xf32, #m20>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m26>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m26>
  tenon.output 3 "dq", %dq : tensor<?x?x1x41xf32, #m17>
  tenon.output 4 "dk", %dk : tensor<?x?x1x41xf32, #m18>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf32, #m19>
  tenon.output 6 "dp", %dp : tensor<?x?x1x41xf32, #m17>
  tenon.output 7 "dr", %dr : tensor<?x?x1x41xf32, #m27>
  tenon.output 8 "dg", %dg : tensor<?x?x1x2xf32, #m22>
  return
}
