// Keys that ask for the query's place (position to content), beside queries that do and alone, in groups, masked, in both directions, at places of the data.
// RUN: tenon-kernel-test %s --dims=1,0,1 --dims=2,3,2 --dims=17,40,2 --dims=67,130,1 --dims=131,1000,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=2,3,2 --dims=67,130,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>
#m4 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m5 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 2, 40)>
#m6 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 2)>
#m7 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 2, 40)>
#m8 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 2)>
#m9 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 2)>
#m10 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 24)>
#m11 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 41)>
#m12 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 41)>
#m13 = affine_map<(d0, d1, d2) -> (d2, 4, d0)>
#m14 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 4, 24)>
#m15 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 4)>
#m16 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 4, 24)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 4)>
#m18 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 2)>
#m19 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 41)>
#m20 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 41)>
#m21 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#m22 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m23 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m24 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 1, 41)>
#m25 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 1)>
#m26 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 1, 41)>
#m27 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 1)>
#m28 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 2)>
#m29 = affine_map<(d0, d1, d2) -> (d2, d0 + d1)>
#m30 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 2, 24)>
#m31 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 2, 24)>
#m32 = affine_map<(d0, d1, d2) -> (d2)>
#m33 = affine_map<(d0, d1, d2) -> (d0 + d1 + 5, 1, 24)>
#m34 = affine_map<(d0, d1, d2) -> (d0 + d1 + 5, 1)>
#m35 = affine_map<(d0, d1, d2) -> (d2, d0 + d1 + 5, 1, 24)>
#m36 = affine_map<(d0, d1, d2) -> (d2, d0 + d1 + 5, 1)>
#m37 = affine_map<(d0, d1, d2) -> (d2, d0)>

func.func @both_sides(%I: index, %M: index, %B: index, %q: tensor<?x?x2x40xf32, #m0>, %k: tensor<?x?x2x40xf32, #m1>, %v: tensor<?x?x2x24xf32, #m2>, %dy: tensor<?x?x2x24xf32, #m3>, %p: tensor<?x?x2x40xf32, #m0>, %r: tensor<?x2x40xf32, #m5>, %a: tensor<?x?x2x40xf32, #m1>, %w: tensor<?x2x40xf32, #m5>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %a, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x40xf32, #m0>, tensor<?x2x40xf32, #m5>, tensor<?x?x2x40xf32, #m1>, tensor<?x2x40xf32, #m5>) -> (tensor<?x?x2x24xf32, #m3>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>)
  %dq, %dk, %dv, %dp, %dr, %da, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %a, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x24xf32, #m3>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>, tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x40xf32, #m0>, tensor<?x2x40xf32, #m5>, tensor<?x?x2x40xf32, #m1>, tensor<?x2x40xf32, #m5>) -> (tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m7>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x40xf32, #m7>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #m3>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m4>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m4>
  tenon.output 3 "dq", %dq : tensor<?x?x2x40xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x2x40xf32, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x2x24xf32, #m2>
  tenon.output 6 "dp", %dp : tensor<?x?x2x40xf32, #m0>
  tenon.output 7 "dr", %dr : tensor<?x?x2x40xf32, #m7>
  tenon.output 8 "da", %da : tensor<?x?x2x40xf32, #m1>
  tenon.output 9 "dw", %dw : tensor<?x?x2x40xf32, #m7>
  return
}

func.func @keys_alone(%I: index, %M: index, %B: index, %q: tensor<?x?x4x24xf32, #m10>, %k: tensor<?x?x2x24xf32, #m2>, %v: tensor<?x?x2x41xf32, #m11>, %dy: tensor<?x?x4x41xf32, #m12>, %a: tensor<?x?x2x24xf32, #m2>, %w: tensor<?x4x24xf32, #m14>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %a, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x4x24xf32, #m10>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x41xf32, #m11>, tensor<?x?x2x24xf32, #m2>, tensor<?x4x24xf32, #m14>) -> (tensor<?x?x4x41xf32, #m12>, tensor<?x4x?xf32, #m13>, tensor<?x4x?xf32, #m13>)
  %dq, %dk, %dv, %da, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %a, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x4x41xf32, #m12>, tensor<?x?x4x41xf32, #m12>, tensor<?x4x?xf32, #m13>, tensor<?x4x?xf32, #m13>, tensor<?x?x4x24xf32, #m10>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x41xf32, #m11>, tensor<?x?x2x24xf32, #m2>, tensor<?x4x24xf32, #m14>) -> (tensor<?x?x4x24xf32, #m10>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x41xf32, #m11>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x4x24xf32, #m16>)
  tenon.output 0 "y", %y : tensor<?x?x4x41xf32, #m12>
  tenon.output 1 "m", %m : tensor<?x4x?xf32, #m13>
  tenon.output 2 "s", %s : tensor<?x4x?xf32, #m13>
  tenon.output 3 "dq", %dq : tensor<?x?x4x24xf32, #m10>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf32, #m2>
  tenon.output 5 "dv", %dv : tensor<?x?x2x41xf32, #m11>
  tenon.output 6 "da", %da : tensor<?x?x2x24xf32, #m2>
  tenon.output 7 "dw", %dw : tensor<?x?x4x24xf32, #m16>
  return
}

func.func @everything(%I: index, %M: index, %B: index, %q: tensor<?x?x1x41xf32, #m19>, %k: tensor<?x?x1x41xf32, #m20>, %v: tensor<?x?x1x24xf32, #m21>, %dy: tensor<?x?x1x24xf32, #m22>, %p: tensor<?x?x1x41xf32, #m19>, %r: tensor<?x1x41xf32, #m24>, %t: tensor<?x1xf32, #m25>, %a: tensor<?x?x1x41xf32, #m20>, %w: tensor<?x1x41xf32, #m24>, %h: tensor<?x?xi1, #m29> {test.bound = 2 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t, %a, %w, %h) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}], mask = [{test = "holds", operand = 0 : i64}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-9)>, query = -1 : i64, key = 1 : i64}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-70)>, query = 1 : i64, key = -1 : i64}], index_labels = [array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x41xf32, #m19>, tensor<?x?x1x41xf32, #m20>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x41xf32, #m19>, tensor<?x1x41xf32, #m24>, tensor<?x1xf32, #m25>, tensor<?x?x1x41xf32, #m20>, tensor<?x1x41xf32, #m24>, tensor<?x?xi1, #m29>) -> (tensor<?x?x1x24xf32, #m22>, tensor<?x1x?xf32, #m23>, tensor<?x1x?xf32, #m23>)
  %dq, %dk, %dv, %dp, %dr, %dt, %da, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t, %a, %w, %h) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}], mask = [{test = "holds", operand = 0 : i64}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-9)>, query = -1 : i64, key = 1 : i64}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-70)>, query = 1 : i64, key = -1 : i64}], index_labels = [array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m22>, tensor<?x?x1x24xf32, #m22>, tensor<?x1x?xf32, #m23>, tensor<?x1x?xf32, #m23>, tensor<?x?x1x41xf32, #m19>, tensor<?x?x1x41xf32, #m20>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x41xf32, #m19>, tensor<?x1x41xf32, #m24>, tensor<?x1xf32, #m25>, tensor<?x?x1x41xf32, #m20>, tensor<?x1x41xf32, #m24>, tensor<?x?xi1, #m29>) -> (tensor<?x?x1x41xf32, #m19>, tensor<?x?x1x41xf32, #m20>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x41xf32, #m19>, tensor<?x?x1x41xf32, #m26>, tensor<?x?x1xf32, #m27>, tensor<?x?x1x41xf32, #m20>, tensor<?x?x1x41xf32, #m26>)
  tenon.output 0 "y", %y : tensor<?x?x1x24xf32, #m22>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m23>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m23>
  tenon.output 3 "dq", %dq : tensor<?x?x1x41xf32, #m19>
  tenon.output 4 "dk", %dk : tensor<?x?x1x41xf32, #m20>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf32, #m21>
  tenon.output 6 "dp", %dp : tensor<?x?x1x41xf32, #m19>
  tenon.output 7 "dr", %dr : tensor<?x?x1x41xf32, #m26>
  tenon.output 8 "dt", %dt : tensor<?x?x1xf32, #m27>
  tenon.output 9 "da", %da : tensor<?x?x1x41xf32, #m20>
  tenon.output 10 "dw", %dw : tensor<?x?x1x41xf32, #m26>
  return
}

func.func @streams(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf32, #m3>, %k: tensor<?x?x2x24xf32, #m2>, %v: tensor<?x?x2x24xf32, #m2>, %dy: tensor<?x?x2x24xf32, #m3>, %t: tensor<?x2xf32, #m6>, %a: tensor<?x?x2x24xf32, #m2>, %w: tensor<?x2x24xf32, #m30>, %back: tensor<?xi1, #m32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %a, %w, %back) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}, {rest = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>, query = 1 : i64, key = -1 : i64}], back = 0 : i64, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x24xf32, #m2>, tensor<?x2xf32, #m6>, tensor<?x?x2x24xf32, #m2>, tensor<?x2x24xf32, #m30>, tensor<?xi1, #m32>) -> (tensor<?x?x2x24xf32, #m3>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>)
  %dq, %dk, %dv, %dt, %da, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %t, %a, %w, %back) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}, {rest = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>, query = 1 : i64, key = -1 : i64}], back = 0 : i64, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x24xf32, #m3>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>, tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x24xf32, #m2>, tensor<?x2xf32, #m6>, tensor<?x?x2x24xf32, #m2>, tensor<?x2x24xf32, #m30>, tensor<?xi1, #m32>) -> (tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2xf32, #m8>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x24xf32, #m31>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #m3>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m4>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m4>
  tenon.output 3 "dq", %dq : tensor<?x?x2x24xf32, #m3>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf32, #m2>
  tenon.output 5 "dv", %dv : tensor<?x?x2x24xf32, #m2>
  tenon.output 6 "dt", %dt : tensor<?x?x2xf32, #m8>
  tenon.output 7 "da", %da : tensor<?x?x2x24xf32, #m2>
  tenon.output 8 "dw", %dw : tensor<?x?x2x24xf32, #m31>
  return
}

func.func @any_query(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf32, #m22>, %k: tensor<?x?x1x24xf32, #m21>, %v: tensor<?x?x1x24xf32, #m21>, %dy: tensor<?x?x1x24xf32, #m22>, %a: tensor<?x?x1x24xf32, #m21>, %w: tensor<?x1x24xf32, #m33>, %at: tensor<?x?xi32, #m37> {test.bound = 5 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %a, %w, %at) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0>, place = [{key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}], index_labels = [array<i64: 0, 1>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m22>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x24xf32, #m21>, tensor<?x1x24xf32, #m33>, tensor<?x?xi32, #m37>) -> (tensor<?x?x1x24xf32, #m22>, tensor<?x1x?xf32, #m23>, tensor<?x1x?xf32, #m23>)
  %dq, %dk, %dv, %da, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %a, %w, %at) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0>, place = [{key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}], index_labels = [array<i64: 0, 1>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m22>, tensor<?x?x1x24xf32, #m22>, tensor<?x1x?xf32, #m23>, tensor<?x1x?xf32, #m23>, tensor<?x?x1x24xf32, #m22>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x24xf32, #m21>, tensor<?x1x24xf32, #m33>, tensor<?x?xi32, #m37>) -> (tensor<?x?x1x24xf32, #m22>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x24xf32, #m21>, tensor<?x?x1x24xf32, #m35>)
  tenon.output 0 "y", %y : tensor<?x?x1x24xf32, #m22>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m23>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m23>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf32, #m22>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m21>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf32, #m21>
  tenon.output 6 "da", %da : tensor<?x?x1x24xf32, #m21>
  tenon.output 7 "dw", %dw : tensor<?x?x1x24xf32, #m35>
  return
}
