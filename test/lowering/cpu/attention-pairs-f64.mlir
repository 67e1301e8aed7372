// Stored scores of pairs in f64.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=2,3,2 --dims=67,40,2 --dims=197,10,1 --dims=17,1100,1 --tolerance=1e-11 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=1e-11 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

func.func @whole(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, %k: tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, %v: tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, %dy: tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, %b: tensor<?x2x?x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>
  tenon.output 1 "m", %m : tensor<?x2x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>
  tenon.output 2 "s", %s : tensor<?x2x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>
  tenon.output 3 "dq", %dq : tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>
  tenon.output 6 "db", %db : tensor<?x2x?x?xf64, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>
  return
}

func.func @heads(%I: index, %M: index, %B: index, %q: tensor<?x?x4x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 24)>>, %k: tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, %v: tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, %dy: tensor<?x?x4x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 40)>>, %b: tensor<1x4x?x?xf64, affine_map<(d0, d1, d2) -> (1, 4, d0, d0 + d1)>>, %len: tensor<?xi32, affine_map<(d0, d1, d2) -> (d2)>> {test.bound = 40 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (1)>, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}, ["or", {test = "le", rest = affine_map<(d0, d1, d2) -> (-1)>, parts = [{div = 64 : i64, of = {query = 1 : i64}, times = -1 : i64}, {div = 64 : i64, of = {key = 1 : i64}, times = 1 : i64}]}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-63)>, key = 1 : i64}, ["and", {test = "le", rest = affine_map<(d0, d1, d2) -> (120)>, parts = [{mod = 128 : i64, of = {key = 1 : i64}, times = -1 : i64}]}, {test = "eq", parts = [{mod = 3 : i64, of = {query = 5 : i64, key = -1 : i64}, times = 1 : i64}]}]]], index_labels = [array<i64: 0>], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
  ^bb0(%x: f64):
    %c = arith.constant 2.0 : f64
    %one = arith.constant 1.0 : f64
    %scaled = arith.divf %x, %c : f64
    %tanh = math.tanh %scaled : f64
    %capped = arith.mulf %c, %tanh : f64
    %square = arith.mulf %tanh, %tanh : f64
    %slope = arith.subf %one, %square : f64
    "tenon.yield"(%capped, %slope) : (f64, f64) -> ()
  }) :
    (tensor<?x?x4x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 24)>>, tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<1x4x?x?xf64, affine_map<(d0, d1, d2) -> (1, 4, d0, d0 + d1)>>, tensor<?xi32, affine_map<(d0, d1, d2) -> (d2)>>) -> (tensor<?x?x4x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 40)>>, tensor<?x4x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0)>>, tensor<?x4x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (1)>, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}, ["or", {test = "le", rest = affine_map<(d0, d1, d2) -> (-1)>, parts = [{div = 64 : i64, of = {query = 1 : i64}, times = -1 : i64}, {div = 64 : i64, of = {key = 1 : i64}, times = 1 : i64}]}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-63)>, key = 1 : i64}, ["and", {test = "le", rest = affine_map<(d0, d1, d2) -> (120)>, parts = [{mod = 128 : i64, of = {key = 1 : i64}, times = -1 : i64}]}, {test = "eq", parts = [{mod = 3 : i64, of = {query = 5 : i64, key = -1 : i64}, times = 1 : i64}]}]]], index_labels = [array<i64: 0>], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
  ^bb0(%x: f64):
    %c = arith.constant 2.0 : f64
    %one = arith.constant 1.0 : f64
    %scaled = arith.divf %x, %c : f64
    %tanh = math.tanh %scaled : f64
    %capped = arith.mulf %c, %tanh : f64
    %square = arith.mulf %tanh, %tanh : f64
    %slope = arith.subf %one, %square : f64
    "tenon.yield"(%capped, %slope) : (f64, f64) -> ()
  }) :
    (tensor<?x?x4x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 40)>>, tensor<?x?x4x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 40)>>, tensor<?x4x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0)>>, tensor<?x4x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0)>>, tensor<?x?x4x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 24)>>, tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<1x4x?x?xf64, affine_map<(d0, d1, d2) -> (1, 4, d0, d0 + d1)>>, tensor<?xi32, affine_map<(d0, d1, d2) -> (d2)>>) -> (tensor<?x?x4x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 24)>>, tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x4x?x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x4x40xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 40)>>
  tenon.output 1 "m", %m : tensor<?x4x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0)>>
  tenon.output 2 "s", %s : tensor<?x4x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0)>>
  tenon.output 3 "dq", %dq : tensor<?x?x4x24xf64, affine_map<(d0, d1, d2) -> (d2, d0, 4, 24)>>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf64, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>
  tenon.output 6 "db", %db : tensor<?x4x?x?xf64, affine_map<(d0, d1, d2) -> (d2, 4, d0, d0 + d1)>>
  return
}
