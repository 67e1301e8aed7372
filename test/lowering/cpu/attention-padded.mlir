// Keys in front of a number of each row of the batch are hidden, as where texts are padded on the left: rows of the band begin later than the panel of the first key, by more than the rows of a micro-kernel tile on wide tiers. Beside it a window that moves with the query.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=17,0,3 --dims=22,0,3 --dims=45,0,2 --dims=131,0,1 --tolerance=2e-5 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=17,0,3 --dims=30,0,2 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,0,3 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#q = affine_map<(d0, d1, d2) -> (d2, d0, 2, 20)>
#r = affine_map<(d0, d1, d2) -> (2 * d0 - 1, 2, 20)>
#g = affine_map<(d0, d1, d2) -> (d2, d0, 2, 2)>
#s = affine_map<(d0, d1, d2) -> (d2, d0)>
#b = affine_map<(d0, d1, d2) -> (d2)>
#m = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#t = affine_map<(d0, d1, d2) -> (d2, 2 * d0 - 1, 2, 20)>
#n = affine_map<(d0, d1, d2) -> (d0)>
#p = affine_map<(d0, d1, d2) -> (d0 - 1)>
#w = affine_map<(d0, d1, d2) -> (-9)>
#z = affine_map<(d0, d1, d2) -> (0)>

func.func @padded(%I: index, %M: index, %B: index, %q: tensor<?x?x2x20xf32, #q>, %k: tensor<?x?x2x20xf32, #q>, %v: tensor<?x?x2x20xf32, #q>, %dy: tensor<?x?x2x20xf32, #q>, %p: tensor<?x?x2x20xf32, #q>, %r: tensor<?x2x20xf32, #r>, %g: tensor<?x?x2x2xf32, #g>, %sq: tensor<?x?xi32, #s> {test.bound = 3 : i64}, %sk: tensor<?x?xi32, #s> {test.bound = 3 : i64}, %n: tensor<?xi32, #b> {test.bound = 30 : i64}) attributes {tenon.kind = "out", tenon.dims = ["I", "M", "B"], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %g, %sq, %sk, %n) <{index_labels = [array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0>], mask = [{coefficients = array<i64: -1>, key = -1 : i64, operands = array<i64: 2>, rest = #n, test = "le"}], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 3, 0>, place = [{key = -1 : i64, query = 1 : i64, rest = #p}], rate = 0.0 : f64, scale = 0.2 : f64, select = ["not", {coefficients = array<i64: 1, -1>, operands = array<i64: 0, 1>, test = "eq"}], site = 0 : i64}> :
    (tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x2x20xf32, #r>, tensor<?x?x2x2xf32, #g>, tensor<?x?xi32, #s>, tensor<?x?xi32, #s>, tensor<?xi32, #b>) -> (tensor<?x?x2x20xf32, #q>, tensor<?x2x?xf32, #m>, tensor<?x2x?xf32, #m>)
  %dq, %dk, %dv, %dp, %dr, %dg = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %g, %sq, %sk, %n) <{index_labels = [array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0>], mask = [{coefficients = array<i64: -1>, key = -1 : i64, operands = array<i64: 2>, rest = #n, test = "le"}], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 3, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>, place = [{key = -1 : i64, query = 1 : i64, rest = #p}], rate = 0.0 : f64, scale = 0.2 : f64, select = ["not", {coefficients = array<i64: 1, -1>, operands = array<i64: 0, 1>, test = "eq"}], site = 0 : i64}> :
    (tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x2x?xf32, #m>, tensor<?x2x?xf32, #m>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x2x20xf32, #r>, tensor<?x?x2x2xf32, #g>, tensor<?x?xi32, #s>, tensor<?x?xi32, #s>, tensor<?xi32, #b>) -> (tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #t>, tensor<?x?x2x2xf32, #g>)
  tenon.output 0 "y", %y : tensor<?x?x2x20xf32, #q>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m>
  tenon.output 3 "dq", %dq : tensor<?x?x2x20xf32, #q>
  tenon.output 4 "dk", %dk : tensor<?x?x2x20xf32, #q>
  tenon.output 5 "dv", %dv : tensor<?x?x2x20xf32, #q>
  tenon.output 6 "dp", %dp : tensor<?x?x2x20xf32, #q>
  tenon.output 7 "dr", %dr : tensor<?x?x2x20xf32, #t>
  tenon.output 8 "dg", %dg : tensor<?x?x2x2xf32, #g>
  return
}

func.func @window(%I: index, %M: index, %B: index, %q: tensor<?x?x2x20xf32, #q>, %k: tensor<?x?x2x20xf32, #q>, %v: tensor<?x?x2x20xf32, #q>, %dy: tensor<?x?x2x20xf32, #q>, %p: tensor<?x?x2x20xf32, #q>, %r: tensor<?x2x20xf32, #r>, %g: tensor<?x?x2x2xf32, #g>, %sq: tensor<?x?xi32, #s> {test.bound = 3 : i64}, %sk: tensor<?x?xi32, #s> {test.bound = 3 : i64}, %n: tensor<?xi32, #b> {test.bound = 30 : i64}) attributes {tenon.kind = "out", tenon.dims = ["I", "M", "B"], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %g, %sq, %sk, %n) <{index_labels = [array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0>], mask = [{coefficients = array<i64: -1>, key = -1 : i64, operands = array<i64: 2>, rest = #n, test = "le"}, {query = 1 : i64, key = -1 : i64, rest = #w, test = "le"}, {query = -1 : i64, key = 1 : i64, rest = #z, test = "le"}], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 3, 0>, place = [{key = -1 : i64, query = 1 : i64, rest = #p}], rate = 0.0 : f64, scale = 0.2 : f64, select = ["not", {coefficients = array<i64: 1, -1>, operands = array<i64: 0, 1>, test = "eq"}], site = 0 : i64}> :
    (tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x2x20xf32, #r>, tensor<?x?x2x2xf32, #g>, tensor<?x?xi32, #s>, tensor<?x?xi32, #s>, tensor<?xi32, #b>) -> (tensor<?x?x2x20xf32, #q>, tensor<?x2x?xf32, #m>, tensor<?x2x?xf32, #m>)
  %dq, %dk, %dv, %dp, %dr, %dg = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %g, %sq, %sk, %n) <{index_labels = [array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0>], mask = [{coefficients = array<i64: -1>, key = -1 : i64, operands = array<i64: 2>, rest = #n, test = "le"}, {query = 1 : i64, key = -1 : i64, rest = #w, test = "le"}, {query = -1 : i64, key = 1 : i64, rest = #z, test = "le"}], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 3, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>, place = [{key = -1 : i64, query = 1 : i64, rest = #p}], rate = 0.0 : f64, scale = 0.2 : f64, select = ["not", {coefficients = array<i64: 1, -1>, operands = array<i64: 0, 1>, test = "eq"}], site = 0 : i64}> :
    (tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x2x?xf32, #m>, tensor<?x2x?xf32, #m>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x2x20xf32, #r>, tensor<?x?x2x2xf32, #g>, tensor<?x?xi32, #s>, tensor<?x?xi32, #s>, tensor<?xi32, #b>) -> (tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #q>, tensor<?x?x2x20xf32, #t>, tensor<?x?x2x2xf32, #g>)
  tenon.output 0 "y", %y : tensor<?x?x2x20xf32, #q>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m>
  tenon.output 3 "dq", %dq : tensor<?x?x2x20xf32, #q>
  tenon.output 4 "dk", %dk : tensor<?x?x2x20xf32, #q>
  tenon.output 5 "dv", %dv : tensor<?x?x2x20xf32, #q>
  tenon.output 6 "dp", %dp : tensor<?x?x2x20xf32, #q>
  tenon.output 7 "dr", %dr : tensor<?x?x2x20xf32, #t>
  tenon.output 8 "dg", %dg : tensor<?x?x2x2xf32, #g>
  return
}
