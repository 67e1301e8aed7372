// Relative positions, forward and backward: causal over memory (Transformer-XL), a window with scores by distance. Dims: queries, remembered keys, batch.
// RUN: tenon-kernel-test %s --dims=1,0,1 --dims=2,3,2 --dims=17,40,2 --dims=67,197,1 --dims=300,20,1 --dims=131,1000,1 --dims=17,2100,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=17,40,2 --dims=17,2100,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>
#m4 = affine_map<(d0, d1, d2) -> (d0 + d1, 2, 40)>
#m5 = affine_map<(d0, d1, d2) -> (d1)>
#m6 = affine_map<(d0, d1, d2) -> (-d1)>
#m7 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m8 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m9 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#m10 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 41)>
#m11 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 41)>
#m12 = affine_map<(d0, d1, d2) -> (d0 + d1, 1, 24)>
#m13 = affine_map<(d0, d1, d2) -> (d0 + d1, 1)>
#m14 = affine_map<(d0, d1, d2) -> (d1 - 9)>
#m15 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m16 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 64)>
#m18 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 64)>

func.func @relative(%I: index, %M: index, %B: index, %q: tensor<?x?x2x40xf32, #m0>, %k: tensor<?x?x2x40xf32, #m1>, %v: tensor<?x?x2x24xf32, #m2>, %dy: tensor<?x?x2x24xf32, #m3>, %p: tensor<?x?x2x40xf32, #m0>, %r: tensor<?x2x40xf32, #m4>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, place = [{rest = #m5, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m6, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x40xf32, #m0>, tensor<?x2x40xf32, #m4>) -> (tensor<?x?x2x24xf32, #m3>, tensor<?x2x?xf32, #m7>, tensor<?x2x?xf32, #m7>)
  %dq, %dk, %dv, %dp, %dr = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>, place = [{rest = #m5, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m6, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, #m3>, tensor<?x?x2x24xf32, #m3>, tensor<?x2x?xf32, #m7>, tensor<?x2x?xf32, #m7>, tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x40xf32, #m0>, tensor<?x2x40xf32, #m4>) -> (tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m1>, tensor<?x?x2x24xf32, #m2>, tensor<?x?x2x40xf32, #m0>, tensor<?x?x2x40xf32, #m1>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #m3>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m7>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m7>
  tenon.output 3 "dq", %dq : tensor<?x?x2x40xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x2x40xf32, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x2x24xf32, #m2>
  tenon.output 6 "dp", %dp : tensor<?x?x2x40xf32, #m0>
  tenon.output 7 "dr", %dr : tensor<?x?x2x40xf32, #m1>
  return
}

func.func @window(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf32, #m8>, %k: tensor<?x?x1x24xf32, #m9>, %v: tensor<?x?x1x41xf32, #m10>, %dy: tensor<?x?x1x41xf32, #m11>, %p: tensor<?x?x1x24xf32, #m8>, %r: tensor<?x1x24xf32, #m12>, %t: tensor<?x1xf32, #m13>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, place = [{rest = #m5, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m6, query = -1 : i64, key = 1 : i64}, {test = "le", rest = #m14, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m8>, tensor<?x?x1x24xf32, #m9>, tensor<?x?x1x41xf32, #m10>, tensor<?x?x1x24xf32, #m8>, tensor<?x1x24xf32, #m12>, tensor<?x1xf32, #m13>) -> (tensor<?x?x1x41xf32, #m11>, tensor<?x1x?xf32, #m15>, tensor<?x1x?xf32, #m15>)
  %dq, %dk, %dv, %dp, %dr, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0>, place = [{rest = #m5, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m6, query = -1 : i64, key = 1 : i64}, {test = "le", rest = #m14, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x41xf32, #m11>, tensor<?x?x1x41xf32, #m11>, tensor<?x1x?xf32, #m15>, tensor<?x1x?xf32, #m15>, tensor<?x?x1x24xf32, #m8>, tensor<?x?x1x24xf32, #m9>, tensor<?x?x1x41xf32, #m10>, tensor<?x?x1x24xf32, #m8>, tensor<?x1x24xf32, #m12>, tensor<?x1xf32, #m13>) -> (tensor<?x?x1x24xf32, #m8>, tensor<?x?x1x24xf32, #m9>, tensor<?x?x1x41xf32, #m10>, tensor<?x?x1x24xf32, #m8>, tensor<?x?x1x24xf32, #m9>, tensor<?x?x1xf32, #m16>)
  tenon.output 0 "y", %y : tensor<?x?x1x41xf32, #m11>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m15>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m15>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf32, #m8>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m9>
  tenon.output 5 "dv", %dv : tensor<?x?x1x41xf32, #m10>
  tenon.output 6 "dp", %dp : tensor<?x?x1x24xf32, #m8>
  tenon.output 7 "dr", %dr : tensor<?x?x1x24xf32, #m9>
  tenon.output 8 "dt", %dt : tensor<?x?x1xf32, #m16>
  return
}

func.func @scores_by_distance(%I: index, %M: index, %B: index, %q: tensor<?x?x1x64xf32, #m17>, %k: tensor<?x?x1x64xf32, #m18>, %v: tensor<?x?x1x64xf32, #m18>, %dy: tensor<?x?x1x64xf32, #m17>, %t: tensor<?x1xf32, #m13>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>, place = [{rest = #m5, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m6, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x64xf32, #m17>, tensor<?x?x1x64xf32, #m18>, tensor<?x?x1x64xf32, #m18>, tensor<?x1xf32, #m13>) -> (tensor<?x?x1x64xf32, #m17>, tensor<?x1x?xf32, #m15>, tensor<?x1x?xf32, #m15>)
  %dq, %dk, %dv, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0>, place = [{rest = #m5, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m6, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x64xf32, #m17>, tensor<?x?x1x64xf32, #m17>, tensor<?x1x?xf32, #m15>, tensor<?x1x?xf32, #m15>, tensor<?x?x1x64xf32, #m17>, tensor<?x?x1x64xf32, #m18>, tensor<?x?x1x64xf32, #m18>, tensor<?x1xf32, #m13>) -> (tensor<?x?x1x64xf32, #m17>, tensor<?x?x1x64xf32, #m18>, tensor<?x?x1x64xf32, #m18>, tensor<?x?x1xf32, #m16>)
  tenon.output 0 "y", %y : tensor<?x?x1x64xf32, #m17>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m15>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m15>
  tenon.output 3 "dq", %dq : tensor<?x?x1x64xf32, #m17>
  tenon.output 4 "dk", %dk : tensor<?x?x1x64xf32, #m18>
  tenon.output 5 "dv", %dv : tensor<?x?x1x64xf32, #m18>
  tenon.output 6 "dt", %dt : tensor<?x?x1xf32, #m16>
  return
}
