// Tables at places that are computed for each pair: a grid's offsets, buckets, with vectors, groups, data, dropout, a step, several chunks of keys.
// RUN: tenon-kernel-test %s --dims=1,0,1 --dims=2,3,2 --dims=67,130,1 --dims=17,2100,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=2,3,2 --dims=67,130,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#m0 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>
#m1 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>
#m2 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#m3 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#m4 = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#m5 = affine_map<(d0, d1, d2) -> (d2, 63, 2, 24)>
#m6 = affine_map<(d0, d1, d2) -> (d2, 63, 2)>
#m7 = affine_map<(d0, d1, d2) -> (d2, d0, 2, 2)>
#m8 = affine_map<(d0, d1, d2) -> (d0)>
#m9 = affine_map<(d0, d1, d2) -> (d0 + d1)>
#m10 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 40)>
#m11 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 24)>
#m12 = affine_map<(d0, d1, d2) -> (d2, 4, d0)>
#m13 = affine_map<(d0, d1, d2) -> (d2, 63, 4, 40)>
#m14 = affine_map<(d0, d1, d2) -> (d2, 63, 4)>
#m15 = affine_map<(d0, d1, d2) -> (d2, d0, 4, 2)>
#m16 = affine_map<(d0, d1, d2) -> (d2, d0)>
#m17 = affine_map<(d0, d1, d2) -> (d2, d0 + d1)>
#m18 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 24)>
#m19 = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#m20 = affine_map<(d0, d1, d2) -> (d2, 1, d0)>
#m21 = affine_map<(d0, d1, d2) -> (d2, 16, 1, 24)>
#m22 = affine_map<(d0, d1, d2) -> (d2, 16, 1)>
#m23 = affine_map<(d0, d1, d2) -> (d2, d0, 1, 2)>
#m24 = affine_map<(d0, d1, d2) -> (d0, d0 + d1)>
#m25 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 2, 40)>
#m26 = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 2)>
#m27 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 2, 40)>
#m28 = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 2)>

func.func @grid_scores(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf32, #m0>, %k: tensor<?x?x2x24xf32, #m1>, %v: tensor<?x?x2x40xf32, #m2>, %dy: tensor<?x?x2x40xf32, #m3>, %t: tensor<63x2xf32>, %f: tensor<?xi32, #m8> {test.bound = 32 : i64}, %g: tensor<?xi32, #m9> {test.bound = 32 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %f, %g) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0>, computes_place, index_labels = [array<i64: 1>, array<i64: 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i32):
      %xd = arith.addi %xc0, %xc1 : i32
      tenon.yield %xd : i32
    }) :
    (tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<63x2xf32>, tensor<?xi32, #m8>, tensor<?xi32, #m9>) -> (tensor<?x?x2x40xf32, #m3>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>)
  %dq, %dk, %dv, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %t, %f, %g) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0>, computes_place, index_labels = [array<i64: 1>, array<i64: 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i32):
      %xd = arith.addi %xc0, %xc1 : i32
      tenon.yield %xd : i32
    }) :
    (tensor<?x?x2x40xf32, #m3>, tensor<?x?x2x40xf32, #m3>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>, tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<63x2xf32>, tensor<?xi32, #m8>, tensor<?xi32, #m9>) -> (tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2x40xf32, #m2>, tensor<?x63x2xf32, #m6>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf32, #m3>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m4>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m4>
  tenon.output 3 "dq", %dq : tensor<?x?x2x24xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf32, #m1>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf32, #m2>
  tenon.output 6 "dt", %dt : tensor<?x63x2xf32, #m6>
  return
}

func.func @grid_vectors(%I: index, %M: index, %B: index, %q: tensor<?x?x4x40xf32, #m10>, %k: tensor<?x?x2x40xf32, #m2>, %v: tensor<?x?x2x24xf32, #m1>, %dy: tensor<?x?x4x24xf32, #m11>, %p: tensor<?x?x4x40xf32, #m10>, %r: tensor<63x4x40xf32>, %t: tensor<63x4xf32>, %f: tensor<?x?xi32, #m16> {test.bound = 32 : i64}, %g: tensor<?x?xi64, #m17> {test.bound = 32 : i64}, %h: tensor<?x?xi1, #m17> {test.bound = 2 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t, %f, %g, %h) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 3, 0>, computes_place, mask = [{test = "holds", operand = 2 : i64}], index_labels = [array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i64, %xc2: i1):
      %xe = arith.extsi %xc0 : i32 to i64
      %xx = arith.subi %xc1, %xe : i64
      %xn = arith.constant 31 : i64
      %xd = arith.addi %xx, %xn : i64
      tenon.yield %xd : i64
    }) :
    (tensor<?x?x4x40xf32, #m10>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x4x40xf32, #m10>, tensor<63x4x40xf32>, tensor<63x4xf32>, tensor<?x?xi32, #m16>, tensor<?x?xi64, #m17>, tensor<?x?xi1, #m17>) -> (tensor<?x?x4x24xf32, #m11>, tensor<?x4x?xf32, #m12>, tensor<?x4x?xf32, #m12>)
  %dq, %dk, %dv, %dp, %dr, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t, %f, %g, %h) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 3, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0>, computes_place, mask = [{test = "holds", operand = 2 : i64}], index_labels = [array<i64: 0, 1>, array<i64: 0, 2>, array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.1 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i64, %xc2: i1):
      %xe = arith.extsi %xc0 : i32 to i64
      %xx = arith.subi %xc1, %xe : i64
      %xn = arith.constant 31 : i64
      %xd = arith.addi %xx, %xn : i64
      tenon.yield %xd : i64
    }) :
    (tensor<?x?x4x24xf32, #m11>, tensor<?x?x4x24xf32, #m11>, tensor<?x4x?xf32, #m12>, tensor<?x4x?xf32, #m12>, tensor<?x?x4x40xf32, #m10>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x4x40xf32, #m10>, tensor<63x4x40xf32>, tensor<63x4xf32>, tensor<?x?xi32, #m16>, tensor<?x?xi64, #m17>, tensor<?x?xi1, #m17>) -> (tensor<?x?x4x40xf32, #m10>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x4x40xf32, #m10>, tensor<?x63x4x40xf32, #m13>, tensor<?x63x4xf32, #m14>)
  tenon.output 0 "y", %y : tensor<?x?x4x24xf32, #m11>
  tenon.output 1 "m", %m : tensor<?x4x?xf32, #m12>
  tenon.output 2 "s", %s : tensor<?x4x?xf32, #m12>
  tenon.output 3 "dq", %dq : tensor<?x?x4x40xf32, #m10>
  tenon.output 4 "dk", %dk : tensor<?x?x2x40xf32, #m2>
  tenon.output 5 "dv", %dv : tensor<?x?x2x24xf32, #m1>
  tenon.output 6 "dp", %dp : tensor<?x?x4x40xf32, #m10>
  tenon.output 7 "dr", %dr : tensor<?x63x4x40xf32, #m13>
  tenon.output 8 "dt", %dt : tensor<?x63x4xf32, #m14>
  return
}

func.func @buckets(%I: index, %M: index, %B: index, %q: tensor<?x?x1x24xf32, #m18>, %k: tensor<?x?x1x24xf32, #m19>, %v: tensor<?x?x1x24xf32, #m19>, %dy: tensor<?x?x1x24xf32, #m18>, %p: tensor<?x?x1x24xf32, #m18>, %r: tensor<16x1x24xf32>, %g: tensor<?x?x1x2xf32, #m23>, %f: tensor<?xi32, #m8> {test.bound = 50 : i64}, %g2: tensor<?xi32, #m9> {test.bound = 50 : i64}, %n: tensor<i32> {test.bound = 5 : i64}, %both: tensor<?x?xi32, #m24> {test.bound = 4 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %g, %f, %g2, %n, %both) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 4, 0>, computes_place, select = {test = "eq", rest = affine_map<(d0, d1, d2) -> (0)>, query = -1 : i64, key = 1 : i64}, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1>, array<i64: 2>, array<i64>, array<i64: 1, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xs0: f32):
      %xl = arith.constant 3.0 : f32
      %xs1 = arith.divf %xs0, %xl : f32
      %xt = math.tanh %xs1 : f32
      %xz = arith.mulf %xt, %xl : f32
      %xtt = arith.mulf %xt, %xt : f32
      %xone = arith.constant 1.0 : f32
      %xsl = arith.subf %xone, %xtt : f32
      tenon.yield %xz, %xsl : f32, f32
    }, {
    ^bb0(%xc0: i32, %xc1: i32, %xc2: i32, %xc3: i32):
      %xk3 = arith.constant 3 : i32
      %xx = arith.subi %xc0, %xc1 : i32
      %xq = arith.floordivsi %xx, %xk3 : i32
      %xb = arith.addi %xq, %xc2 : i32
      %xlo = arith.constant 0 : i32
      %xhi = arith.constant 11 : i32
      %xp = arith.cmpi slt, %xb, %xlo : i32
      %xb1 = arith.select %xp, %xlo, %xb : i32
      %xp1 = arith.cmpi slt, %xhi, %xb1 : i32
      %xb2 = arith.select %xp1, %xhi, %xb1 : i32
      %xd = arith.addi %xb2, %xc3 : i32
      tenon.yield %xd : i32
    }) :
    (tensor<?x?x1x24xf32, #m18>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m18>, tensor<16x1x24xf32>, tensor<?x?x1x2xf32, #m23>, tensor<?xi32, #m8>, tensor<?xi32, #m9>, tensor<i32>, tensor<?x?xi32, #m24>) -> (tensor<?x?x1x24xf32, #m18>, tensor<?x1x?xf32, #m20>, tensor<?x1x?xf32, #m20>)
  %dq, %dk, %dv, %dp, %dr, %dg = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %g, %f, %g2, %n, %both) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 4, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0>, computes_place, select = {test = "eq", rest = affine_map<(d0, d1, d2) -> (0)>, query = -1 : i64, key = 1 : i64}, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1>, array<i64: 2>, array<i64>, array<i64: 1, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xs0: f32):
      %xl = arith.constant 3.0 : f32
      %xs1 = arith.divf %xs0, %xl : f32
      %xt = math.tanh %xs1 : f32
      %xz = arith.mulf %xt, %xl : f32
      %xtt = arith.mulf %xt, %xt : f32
      %xone = arith.constant 1.0 : f32
      %xsl = arith.subf %xone, %xtt : f32
      tenon.yield %xz, %xsl : f32, f32
    }, {
    ^bb0(%xc0: i32, %xc1: i32, %xc2: i32, %xc3: i32):
      %xk3 = arith.constant 3 : i32
      %xx = arith.subi %xc0, %xc1 : i32
      %xq = arith.floordivsi %xx, %xk3 : i32
      %xb = arith.addi %xq, %xc2 : i32
      %xlo = arith.constant 0 : i32
      %xhi = arith.constant 11 : i32
      %xp = arith.cmpi slt, %xb, %xlo : i32
      %xb1 = arith.select %xp, %xlo, %xb : i32
      %xp1 = arith.cmpi slt, %xhi, %xb1 : i32
      %xb2 = arith.select %xp1, %xhi, %xb1 : i32
      %xd = arith.addi %xb2, %xc3 : i32
      tenon.yield %xd : i32
    }) :
    (tensor<?x?x1x24xf32, #m18>, tensor<?x?x1x24xf32, #m18>, tensor<?x1x?xf32, #m20>, tensor<?x1x?xf32, #m20>, tensor<?x?x1x24xf32, #m18>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m18>, tensor<16x1x24xf32>, tensor<?x?x1x2xf32, #m23>, tensor<?xi32, #m8>, tensor<?xi32, #m9>, tensor<i32>, tensor<?x?xi32, #m24>) -> (tensor<?x?x1x24xf32, #m18>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m18>, tensor<?x16x1x24xf32, #m21>, tensor<?x?x1x2xf32, #m23>)
  tenon.output 0 "y", %y : tensor<?x?x1x24xf32, #m18>
  tenon.output 1 "m", %m : tensor<?x1x?xf32, #m20>
  tenon.output 2 "s", %s : tensor<?x1x?xf32, #m20>
  tenon.output 3 "dq", %dq : tensor<?x?x1x24xf32, #m18>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m19>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf32, #m19>
  tenon.output 6 "dp", %dp : tensor<?x?x1x24xf32, #m18>
  tenon.output 7 "dr", %dr : tensor<?x16x1x24xf32, #m21>
  tenon.output 8 "dg", %dg : tensor<?x?x1x2xf32, #m23>
  return
}

func.func @sums(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf32, #m0>, %k: tensor<?x?x1x24xf32, #m19>, %v: tensor<?x?x1x24xf32, #m19>, %dy: tensor<?x?x2x24xf32, #m0>, %p: tensor<?x?x2x24xf32, #m0>, %r: tensor<63x2x24xf32>, %t: tensor<63x2xf32>, %f: tensor<?xi32, #m8> {test.bound = 32 : i64}, %g: tensor<?xi32, #m9> {test.bound = 32 : i64}, %i64s: tensor<?xi64, #m9> {test.bound = 63 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t, %f, %g, %i64s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 3, 0>, computes_place, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1>, array<i64: 2>, array<i64: 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i32, %xc2: i64):
      %xd = arith.addi %xc0, %xc1 : i32
      tenon.yield %xd, %xc2 : i32, i64
    }) :
    (tensor<?x?x2x24xf32, #m0>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x2x24xf32, #m0>, tensor<63x2x24xf32>, tensor<63x2xf32>, tensor<?xi32, #m8>, tensor<?xi32, #m9>, tensor<?xi64, #m9>) -> (tensor<?x?x2x24xf32, #m0>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>)
  %dq, %dk, %dv, %dp, %dr, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t, %f, %g, %i64s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 3, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0>, computes_place, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1>, array<i64: 2>, array<i64: 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i32, %xc2: i64):
      %xd = arith.addi %xc0, %xc1 : i32
      tenon.yield %xd, %xc2 : i32, i64
    }) :
    (tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m0>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>, tensor<?x?x2x24xf32, #m0>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x2x24xf32, #m0>, tensor<63x2x24xf32>, tensor<63x2xf32>, tensor<?xi32, #m8>, tensor<?xi32, #m9>, tensor<?xi64, #m9>) -> (tensor<?x?x2x24xf32, #m0>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x1x24xf32, #m19>, tensor<?x?x2x24xf32, #m0>, tensor<?x63x2x24xf32, #m5>, tensor<?x63x2xf32, #m6>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #m0>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m4>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m4>
  tenon.output 3 "dq", %dq : tensor<?x?x2x24xf32, #m0>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, #m19>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf32, #m19>
  tenon.output 6 "dp", %dp : tensor<?x?x2x24xf32, #m0>
  tenon.output 7 "dr", %dr : tensor<?x63x2x24xf32, #m5>
  tenon.output 8 "dt", %dt : tensor<?x63x2xf32, #m6>
  return
}

func.func @rows(%I: index, %M: index, %B: index, %q: tensor<?x?x2x40xf32, #m3>, %k: tensor<?x?x2x40xf32, #m2>, %v: tensor<?x?x2x24xf32, #m1>, %dy: tensor<?x?x2x24xf32, #m0>, %t: tensor<?x2xf32, #m26>, %f: tensor<?xi32, #m8> {test.bound = 2 : i64}, %g: tensor<?xi32, #m9> {test.bound = 1 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %f, %g) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0>, computes_place, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1>, array<i64: 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i32):
      %xd = arith.addi %xc0, %xc1 : i32
      tenon.yield %xd : i32
    }) :
    (tensor<?x?x2x40xf32, #m3>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m1>, tensor<?x2xf32, #m26>, tensor<?xi32, #m8>, tensor<?xi32, #m9>) -> (tensor<?x?x2x24xf32, #m0>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>)
  %dq, %dk, %dv, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %t, %f, %g) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0>, computes_place, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1>, array<i64: 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%xc0: i32, %xc1: i32):
      %xd = arith.addi %xc0, %xc1 : i32
      tenon.yield %xd : i32
    }) :
    (tensor<?x?x2x24xf32, #m0>, tensor<?x?x2x24xf32, #m0>, tensor<?x2x?xf32, #m4>, tensor<?x2x?xf32, #m4>, tensor<?x?x2x40xf32, #m3>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m1>, tensor<?x2xf32, #m26>, tensor<?xi32, #m8>, tensor<?xi32, #m9>) -> (tensor<?x?x2x40xf32, #m3>, tensor<?x?x2x40xf32, #m2>, tensor<?x?x2x24xf32, #m1>, tensor<?x?x2xf32, #m28>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #m0>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m4>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m4>
  tenon.output 3 "dq", %dq : tensor<?x?x2x40xf32, #m3>
  tenon.output 4 "dk", %dk : tensor<?x?x2x40xf32, #m2>
  tenon.output 5 "dv", %dv : tensor<?x?x2x24xf32, #m1>
  tenon.output 6 "dt", %dt : tensor<?x?x2xf32, #m28>
  return
}
