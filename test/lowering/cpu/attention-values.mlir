// Values of relative positions, forward and backward, beside relative scores and alone, with dropout. Dims: queries, further keys, batch.
// RUN: tenon-kernel-test %s --dims=1,0,1 --dims=2,3,2 --dims=17,40,2 --dims=67,131,1 --dims=131,20,1 --dims=40,1100,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=17,40,2 --dims=40,1100,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d0 - 1)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>
#m4 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>
#m5 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m6 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 2, 40)>
#m7 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 2)>
#m8 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 2, 24)>
#m9 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 2, 40)>
#m10 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 2)>
#m11 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 2, 24)>
#m12 = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>
#m13 = affine_map<(d0, d1, d2) -> (-d1)>
#m14 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m15 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#m16 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 41)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 41)>
#m18 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m19 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 1, 24)>
#m20 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 1)>
#m21 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 1, 41)>
#m22 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 1, 41)>
#m23 = affine_map<(d0, d1, d2) -> (d1 - 9)>
#m24 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 64)>
#m25 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 64)>
#m26 = affine_map<(d0, d1, d2) -> (d0 * 2 + d1 - 1, 1, 64)>
#m27 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 1, 24)>
#m28 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 1, 64)>
#m29 = affine_map<(d0, d1, d2) -> (d2)>
#m30 = affine_map<(d0, d1, d2) -> (d2, d0 * 2 + d1 - 1, 1)>

func.func @scores_and_values(%I: index, %M: index, %B: index, %q: tensor<?x?x2x40xf32, #m1>, %k: tensor<?x?x2x40xf32, #m2>, %v: tensor<?x?x2x24xf32, #m3>, %dy: tensor<?x?x2x24xf32, #m4>, %p: tensor<?x?x2x40xf32, #m1>, %r: tensor<?x2x40xf32, #m6>, %t: tensor<?x2xf32, #m7>, %w: tensor<?x2x24xf32, #m8>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0>, place = [{rest = #m0, query = -1 : i64, key = 1 : i64}], mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x40xf32, #m1>, tensor<?x2x40xf32, #m6>, tensor<?x2xf32, #m7>, tensor<?x2x24xf32, #m8>) -> (tensor<?x?x2x24xf32, #m4>, tensor<?x2x?xf32, #m5>, tensor<?x2x?xf32, #m5>)
  %dq, %dk, %dv, %dp, %dr, %dt, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0>, place = [{rest = #m0, query = -1 : i64, key = 1 : i64}], mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.25 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, #m4>, tensor<?x?x2x24xf32, #m4>, tensor<?x2x?xf32, #m5>, tensor<?x2x?xf32, #m5>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x40xf32, #m1>, tensor<?x2x40xf32, #m6>, tensor<?x2xf32, #m7>, tensor<?x2x24xf32, #m8>) -> (tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x40xf32, #m9>, tensor<?x?x2xf32, #m10>, tensor<?x?x2x24xf32, #m11>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #m4>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m5>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m5>
  tenon.output 3 "dq", %dq : tensor<?x?x2x40xf32, #m1>
  tenon.output 4 "dk", %dk : tensor<?x?x2x40xf32, #m2>
  tenon.output 5 "dv", %dv : tensor<?x?x2x24xf32, #m3>
  tenon.output 6 "dp", %dp : tensor<?x?x2x40xf32, #m1>
  tenon.output 7 "dr", %dr : tensor<?x?x2x40xf32, #m9>
  tenon.output 8 "dt", %dt : tensor<?x?x2xf32, #m10>
  tenon.output 9 "dw", %dw : tensor<?x?x2x24xf32, #m11>
  return
}

func.func @values_alone(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf32, #m14>, %k: tensor<?x?x1x24xf32, #m15>, %v: tensor<?x?x1x41xf32, #m16>, %dy: tensor<?x?x1x41xf32, #m17>, %w: tensor<?x1x41xf32, #m21>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>, place = [{rest = #m12, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m13, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x41xf32, #m16>, tensor<?x1x41xf32, #m21>) -> (tensor<?x?x1x41xf32, #m17>, tensor<?x1x?xf32, #m18>, tensor<?x1x?xf32, #m18>)
  %dq, %dk, %dv, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0>, place = [{rest = #m12, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m13, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x41xf32, #m17>, tensor<?x?x1x41xf32, #m17>, tensor<?x1x?xf32, #m18>, tensor<?x1x?xf32, #m18>, tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x41xf32, #m16>, tensor<?x1x41xf32, #m21>) -> (tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x41xf32, #m16>, tensor<?x?x1x41xf32, #m22>)
  tenon.output 0 "y", %y : tensor<?x?x1x41xf32, #m17>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m18>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m18>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf32, #m14>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m15>
  tenon.output 5 "dv", %dv : tensor<?x?x1x41xf32, #m16>
  tenon.output 6 "dw", %dw : tensor<?x?x1x41xf32, #m22>
  return
}

func.func @window(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf32, #m14>, %k: tensor<?x?x1x24xf32, #m15>, %v: tensor<?x?x1x64xf32, #m24>, %dy: tensor<?x?x1x64xf32, #m25>, %p: tensor<?x?x1x24xf32, #m14>, %r: tensor<?x1x24xf32, #m19>, %w: tensor<?x1x64xf32, #m26>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0>, place = [{rest = #m12, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m13, query = -1 : i64, key = 1 : i64}, {test = "le", rest = #m23, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x64xf32, #m24>, tensor<?x?x1x24xf32, #m14>, tensor<?x1x24xf32, #m19>, tensor<?x1x64xf32, #m26>) -> (tensor<?x?x1x64xf32, #m25>, tensor<?x1x?xf32, #m18>, tensor<?x1x?xf32, #m18>)
  %dq, %dk, %dv, %dp, %dr, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0>, place = [{rest = #m12, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m13, query = -1 : i64, key = 1 : i64}, {test = "le", rest = #m23, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x1x64xf32, #m25>, tensor<?x?x1x64xf32, #m25>, tensor<?x1x?xf32, #m18>, tensor<?x1x?xf32, #m18>, tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x64xf32, #m24>, tensor<?x?x1x24xf32, #m14>, tensor<?x1x24xf32, #m19>, tensor<?x1x64xf32, #m26>) -> (tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x64xf32, #m24>, tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m27>, tensor<?x?x1x64xf32, #m28>)
  tenon.output 0 "y", %y : tensor<?x?x1x64xf32, #m25>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m18>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m18>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf32, #m14>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m15>
  tenon.output 5 "dv", %dv : tensor<?x?x1x64xf32, #m24>
  tenon.output 6 "dp", %dp : tensor<?x?x1x24xf32, #m14>
  tenon.output 7 "dr", %dr : tensor<?x?x1x24xf32, #m27>
  tenon.output 8 "dw", %dw : tensor<?x?x1x64xf32, #m28>
  return
}

func.func @rows_that_read_backwards(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf32, #m14>, %k: tensor<?x?x1x24xf32, #m15>, %v: tensor<?x?x1x24xf32, #m15>, %dy: tensor<?x?x1x24xf32, #m14>, %t: tensor<?x1xf32, #m20>, %w: tensor<?x1x24xf32, #m19>, %back: tensor<?xi1, #m29>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %w, %back) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0>, place = [{rest = #m0, query = -1 : i64, key = 1 : i64}, {rest = #m12, query = 1 : i64, key = -1 : i64}], back = 0 : i64, mask = [{test = "le", rest = #m13, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x24xf32, #m15>, tensor<?x1xf32, #m20>, tensor<?x1x24xf32, #m19>, tensor<?xi1, #m29>) -> (tensor<?x?x1x24xf32, #m14>, tensor<?x1x?xf32, #m18>, tensor<?x1x?xf32, #m18>)
  %dq, %dk, %dv, %dt, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %t, %w, %back) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0>, place = [{rest = #m0, query = -1 : i64, key = 1 : i64}, {rest = #m12, query = 1 : i64, key = -1 : i64}], back = 0 : i64, mask = [{test = "le", rest = #m13, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m14>, tensor<?x1x?xf32, #m18>, tensor<?x1x?xf32, #m18>, tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x24xf32, #m15>, tensor<?x1xf32, #m20>, tensor<?x1x24xf32, #m19>, tensor<?xi1, #m29>) -> (tensor<?x?x1x24xf32, #m14>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1x24xf32, #m15>, tensor<?x?x1xf32, #m30>, tensor<?x?x1x24xf32, #m27>)
  tenon.output 0 "y", %y : tensor<?x?x1x24xf32, #m14>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m18>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m18>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf32, #m14>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m15>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf32, #m15>
  tenon.output 6 "dt", %dt : tensor<?x?x1xf32, #m30>
  tenon.output 7 "dw", %dw : tensor<?x?x1x24xf32, #m27>
  return
}
