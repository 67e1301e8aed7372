// Masks whose tiles are skipped: the blocks of 64 up to the one behind the query, the first one, of the last 8 of every 128
// keys what an interval cannot tell, under lengths; more keys than a chunk, queries that end inside a tile.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=17,40,2 --dims=197,0,1 --dims=131,1000,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=131,200,1 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=131,200,1 --storage=bf16 --tolerance=4e-3 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#m4 = affine_map<(d0, d1, d2) -> (d2)>
#m5 = affine_map<(d0, d1, d2) -> (1)>
#m6 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m7 = affine_map<(d0, d1, d2) -> (-1)>
#m8 = affine_map<(d0, d1, d2) -> (-63)>
#m9 = affine_map<(d0, d1, d2) -> (120)>

func.func @sparse(%I: index, %M: index, %B: index, %q: tensor<?x?x2x64xf32, #m0>, %k: tensor<?x?x2x64xf32, #m1>, %v: tensor<?x?x2x40xf32, #m2>, %dy: tensor<?x?x2x40xf32, #m3>, %len: tensor<?xi32, #m4> {test.bound = 40 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, mask = [{test = "le", rest = #m5, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}, ["or", {test = "le", rest = #m7, parts = [{div = 64 : i64, of = {query = 1 : i64}, times = -1 : i64}, {div = 64 : i64, of = {key = 1 : i64}, times = 1 : i64}]}, {test = "le", rest = #m8, key = 1 : i64}, ["and", {test = "le", rest = #m9, parts = [{mod = 128 : i64, of = {key = 1 : i64}, times = -1 : i64}]}, {test = "eq", parts = [{mod = 3 : i64, of = {query = 5 : i64, key = -1 : i64}, times = 1 : i64}]}]]], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x64xf32, #m0>, tensor<?x?x2x64xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?xi32, #m4>) -> (tensor<?x?x2x40xf32, #m3>, tensor<?x2x?xf32, #m6>, tensor<?x2x?xf32, #m6>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m5, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}, ["or", {test = "le", rest = #m7, parts = [{div = 64 : i64, of = {query = 1 : i64}, times = -1 : i64}, {div = 64 : i64, of = {key = 1 : i64}, times = 1 : i64}]}, {test = "le", rest = #m8, key = 1 : i64}, ["and", {test = "le", rest = #m9, parts = [{mod = 128 : i64, of = {key = 1 : i64}, times = -1 : i64}]}, {test = "eq", parts = [{mod = 3 : i64, of = {query = 5 : i64, key = -1 : i64}, times = 1 : i64}]}]]], index_labels = [array<i64: 0>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, #m3>, tensor<?x?x2x40xf32, #m3>, tensor<?x2x?xf32, #m6>, tensor<?x2x?xf32, #m6>, tensor<?x?x2x64xf32, #m0>, tensor<?x?x2x64xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?xi32, #m4>) -> (tensor<?x?x2x64xf32, #m0>, tensor<?x?x2x64xf32, #m1>, tensor<?x?x2x40xf32, #m2>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf32, #m3>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m6>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m6>
  tenon.output 3 "dq", %dq : tensor<?x?x2x64xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x2x64xf32, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf32, #m2>
  return
}
