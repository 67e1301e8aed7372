// Places far from each other: groups of queries, down to one.
// RUN: tenon-kernel-test %s --dims=67,700,2 --dims=3,1100,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=3,700,1 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=3,1100,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d1, 1, 24)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d1, 1, 40)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 40)>
#m4 = affine_map<(d0, d1, d2) -> (2 * d0 + 2 * d1 + 2, 1, 24)>
#m5 = affine_map<(d0, d1, d2) -> (d2, d0)>
#m6 = affine_map<(d0, d1, d2) -> (d2)>
#m7 = affine_map<(d0, d1, d2) -> (d2, d1)>
#m8 = affine_map<(d0, d1, d2) -> (d1)>
#m9 = affine_map<(d0, d1, d2) -> (d0 + d1 + 2)>
#m10 = affine_map<(d0, d1, d2) -> (1 - d1 floordiv 2)>
#m11 = affine_map<(d0, d1, d2) -> (1)>
#m12 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m13 = affine_map<(d0, d1, d2) -> (d2, 2 * d0 + 2 * d1 + 2, 1, 24)>

func.func @query_stream(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf32, #m0>, %k: tensor<?x?x1x24xf32, #m1>, %v: tensor<?x?x1x40xf32, #m2>, %dy: tensor<?x?x1x40xf32, #m3>, %p: tensor<?x?x1x24xf32, #m0>, %r: tensor<?x1x24xf32, #m4>, %at: tensor<?x?xi32, #m5> {test.bound = 700 : i64}, %back: tensor<?xi1, #m6>, %rq: tensor<?x?xi32, #m5> {test.bound = 60 : i64}, %rk: tensor<?x?xi32, #m7> {test.bound = 60 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %at, %back, %rq, %rk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 4, 0>, back = 1 : i64, place = [{rest = #m8, query = 0 : i64, key = -1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}, {rest = #m9, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], mask = [["or", {test = "le", rest = #m10, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m11, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 2>, coefficients = array<i64: 1, -1>}]], index_labels = [array<i64: 0, 1>, array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x24xf32, #m0>, tensor<?x?x1x24xf32, #m1>, tensor<?x?x1x40xf32, #m2>, tensor<?x?x1x24xf32, #m0>, tensor<?x1x24xf32, #m4>, tensor<?x?xi32, #m5>, tensor<?xi1, #m6>, tensor<?x?xi32, #m5>, tensor<?x?xi32, #m7>) -> (tensor<?x?x1x40xf32, #m3>, tensor<?x1x?xf32, #m12>, tensor<?x1x?xf32, #m12>)
  %dq, %dk, %dv, %dp, %dr = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %at, %back, %rq, %rk) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 4, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>, back = 1 : i64, place = [{rest = #m8, query = 0 : i64, key = -1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}, {rest = #m9, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], mask = [["or", {test = "le", rest = #m10, query = 0 : i64, key = 1 : i64}, {test = "le", rest = #m11, query = 0 : i64, key = 0 : i64, operands = array<i64: 3, 2>, coefficients = array<i64: 1, -1>}]], index_labels = [array<i64: 0, 1>, array<i64: 0>, array<i64: 0, 1>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x1x40xf32, #m3>, tensor<?x?x1x40xf32, #m3>, tensor<?x1x?xf32, #m12>, tensor<?x1x?xf32, #m12>, tensor<?x?x1x24xf32, #m0>, tensor<?x?x1x24xf32, #m1>, tensor<?x?x1x40xf32, #m2>, tensor<?x?x1x24xf32, #m0>, tensor<?x1x24xf32, #m4>, tensor<?x?xi32, #m5>, tensor<?xi1, #m6>, tensor<?x?xi32, #m5>, tensor<?x?xi32, #m7>) -> (tensor<?x?x1x24xf32, #m0>, tensor<?x?x1x24xf32, #m1>, tensor<?x?x1x40xf32, #m2>, tensor<?x?x1x24xf32, #m0>, tensor<?x?x1x24xf32, #m13>)
  tenon.output 0 "y", %y : tensor<?x?x1x40xf32, #m3>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m12>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m12>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x1x40xf32, #m2>
  tenon.output 6 "dp", %dp : tensor<?x?x1x24xf32, #m0>
  tenon.output 7 "dr", %dr : tensor<?x?x1x24xf32, #m13>
  return
}
