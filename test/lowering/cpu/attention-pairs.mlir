// Stored scores of pairs: over batch and heads, or the same for all of either, of both, of all queries, of parts of the batch; under masks that cut strips and skip
// tiles, whose gradients are 0, with dropout, shared keys, a table, a step; several chunks of keys.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=2,3,2 --dims=17,40,3 --dims=131,1000,1 --dims=67,0,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=2,3,2 --dims=67,0,1 --dims=17,40,2 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

func.func @whole(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, %k: tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, %dy: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, %b: tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>
  tenon.output 3 "dq", %dq : tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>
  tenon.output 6 "db", %db : tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>
  return
}

// Rows that see nothing of a chunk; groups of heads.
func.func @shared(%I: index, %M: index, %B: index, %q: tensor<?x?x6x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 24)>>, %k: tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, %dy: tensor<?x?x6x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 40)>>, %b: tensor<1x1x?x?xf32, affine_map<(d0, d1, d2) -> (1, 1, d0, d0 + d1)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}, {test = "le", rest = affine_map<(d0, d1, d2) -> (d1 - 9)>, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x6x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<1x1x?x?xf32, affine_map<(d0, d1, d2) -> (1, 1, d0, d0 + d1)>>) -> (tensor<?x?x6x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 40)>>, tensor<?x6x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0)>>, tensor<?x6x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}, {test = "le", rest = affine_map<(d0, d1, d2) -> (d1 - 9)>, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x6x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 40)>>, tensor<?x?x6x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 40)>>, tensor<?x6x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0)>>, tensor<?x6x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0)>>, tensor<?x?x6x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<1x1x?x?xf32, affine_map<(d0, d1, d2) -> (1, 1, d0, d0 + d1)>>) -> (tensor<?x?x6x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x6x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x6x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 40)>>
  tenon.output 1 "m", %m : tensor<?x6x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0)>>
  tenon.output 2 "s", %s : tensor<?x6x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0)>>
  tenon.output 3 "dq", %dq : tensor<?x?x6x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 6, 24)>>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>
  tenon.output 6 "db", %db : tensor<?x6x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 6, d0, d0 + d1)>>
  return
}

// Tiles that are skipped, under lengths.
func.func @sparse(%I: index, %M: index, %B: index, %q: tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>>, %k: tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, %dy: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, %b: tensor<1x2x?x?xf32, affine_map<(d0, d1, d2) -> (1, 2, d0, d0 + d1)>>, %len: tensor<?xi32, affine_map<(d0, d1, d2) -> (d2)>> {test.bound = 40 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (1)>, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}, ["or", {test = "le", rest = affine_map<(d0, d1, d2) -> (-1)>, parts = [{div = 64 : i64, of = {query = 1 : i64}, times = -1 : i64}, {div = 64 : i64, of = {key = 1 : i64}, times = 1 : i64}]}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-63)>, key = 1 : i64}, ["and", {test = "le", rest = affine_map<(d0, d1, d2) -> (120)>, parts = [{mod = 128 : i64, of = {key = 1 : i64}, times = -1 : i64}]}, {test = "eq", parts = [{mod = 3 : i64, of = {query = 5 : i64, key = -1 : i64}, times = 1 : i64}]}]]], index_labels = [array<i64: 0>], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>>, tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<1x2x?x?xf32, affine_map<(d0, d1, d2) -> (1, 2, d0, d0 + d1)>>, tensor<?xi32, affine_map<(d0, d1, d2) -> (d2)>>) -> (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (1)>, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}, ["or", {test = "le", rest = affine_map<(d0, d1, d2) -> (-1)>, parts = [{div = 64 : i64, of = {query = 1 : i64}, times = -1 : i64}, {div = 64 : i64, of = {key = 1 : i64}, times = 1 : i64}]}, {test = "le", rest = affine_map<(d0, d1, d2) -> (-63)>, key = 1 : i64}, ["and", {test = "le", rest = affine_map<(d0, d1, d2) -> (120)>, parts = [{mod = 128 : i64, of = {key = 1 : i64}, times = -1 : i64}]}, {test = "eq", parts = [{mod = 3 : i64, of = {query = 5 : i64, key = -1 : i64}, times = 1 : i64}]}]]], index_labels = [array<i64: 0>], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>>, tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<1x2x?x?xf32, affine_map<(d0, d1, d2) -> (1, 2, d0, d0 + d1)>>, tensor<?xi32, affine_map<(d0, d1, d2) -> (d2)>>) -> (tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>>, tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>
  tenon.output 3 "dq", %dq : tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 64)>>
  tenon.output 4 "dk", %dk : tensor<?x?x2x64xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 64)>>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>
  tenon.output 6 "db", %db : tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>
  return
}

// For each key, as of padding; with a table and a step.
func.func @keys(%I: index, %M: index, %B: index, %q: tensor<?x?x3x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 24)>>, %k: tensor<?x?x1x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>>, %v: tensor<?x?x1x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 40)>>, %dy: tensor<?x?x3x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 40)>>, %t: tensor<?x3xf32, affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 3)>>, %b: tensor<?x1x1x?xf32, affine_map<(d0, d1, d2) -> (d2, 1, 1, d0 + d1)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>, query = 1 : i64, key = -1 : i64}], mask = [], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
  ^bb0(%x: f32):
    %c = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %scaled = arith.divf %x, %c : f32
    %tanh = math.tanh %scaled : f32
    %capped = arith.mulf %c, %tanh : f32
    %square = arith.mulf %tanh, %tanh : f32
    %slope = arith.subf %one, %square : f32
    "tenon.yield"(%capped, %slope) : (f32, f32) -> ()
  }) :
    (tensor<?x?x3x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 24)>>, tensor<?x?x1x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>>, tensor<?x?x1x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 40)>>, tensor<?x3xf32, affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 3)>>, tensor<?x1x1x?xf32, affine_map<(d0, d1, d2) -> (d2, 1, 1, d0 + d1)>>) -> (tensor<?x?x3x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 40)>>, tensor<?x3x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0)>>, tensor<?x3x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0)>>)
  %dq, %dk, %dv, %dt, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %t, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1>, place = [{rest = affine_map<(d0, d1, d2) -> (d0 + d1 - 1)>, query = 1 : i64, key = -1 : i64}], mask = [], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
  ^bb0(%x: f32):
    %c = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %scaled = arith.divf %x, %c : f32
    %tanh = math.tanh %scaled : f32
    %capped = arith.mulf %c, %tanh : f32
    %square = arith.mulf %tanh, %tanh : f32
    %slope = arith.subf %one, %square : f32
    "tenon.yield"(%capped, %slope) : (f32, f32) -> ()
  }) :
    (tensor<?x?x3x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 40)>>, tensor<?x?x3x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 40)>>, tensor<?x3x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0)>>, tensor<?x3x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0)>>, tensor<?x?x3x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 24)>>, tensor<?x?x1x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>>, tensor<?x?x1x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 40)>>, tensor<?x3xf32, affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 3)>>, tensor<?x1x1x?xf32, affine_map<(d0, d1, d2) -> (d2, 1, 1, d0 + d1)>>) -> (tensor<?x?x3x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 24)>>, tensor<?x?x1x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>>, tensor<?x?x1x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 40)>>, tensor<?x?x3xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 3)>>, tensor<?x3x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x3x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 40)>>
  tenon.output 1 "m", %m : tensor<?x3x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0)>>
  tenon.output 2 "s", %s : tensor<?x3x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0)>>
  tenon.output 3 "dq", %dq : tensor<?x?x3x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 3, 24)>>
  tenon.output 4 "dk", %dk : tensor<?x?x1x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>>
  tenon.output 5 "dv", %dv : tensor<?x?x1x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 40)>>
  tenon.output 6 "dt", %dt : tensor<?x?x3xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 3)>>
  tenon.output 7 "db", %db : tensor<?x3x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 3, d0, d0 + d1)>>
  return
}

// The axes of the batch in front and behind have them in common.
func.func @parts(%I: index, %M: index, %B: index, %q: tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, %k: tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, %v: tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, %dy: tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, %b: tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, mask = [], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64, pair_batch = affine_map<(d0, d1, d2) -> (2, 3)>}> :
    (tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64, pair_batch = affine_map<(d0, d1, d2) -> (2, 3)>}> :
    (tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0)>>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0)>>
  tenon.output 3 "dq", %dq : tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0, 2, 8)>>
  tenon.output 4 "dk", %dk : tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>
  tenon.output 5 "dv", %dv : tensor<?x?x2x8xf32, affine_map<(d0, d1, d2) -> (d2 * 6, d0 + d1, 2, 8)>>
  tenon.output 6 "db", %db : tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2 * 6, 2, d0, d0 + d1)>>
  return
}

// Its gradient is not read.
func.func @unread(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, %k: tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, %dy: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, %b: tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>)
  tenon.output 0 "y", %y : tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>
  tenon.output 1 "dq", %dq : tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>
  return
}

// No other is.
func.func @alone(%I: index, %M: index, %B: index, %q: tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, %k: tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, %dy: tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, %b: tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.2 : f64, site = 5 : i64}> :
    (tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.2 : f64, site = 5 : i64}> :
    (tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x2x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>) -> (tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>>, tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>)
  tenon.output 0 "db", %db : tensor<?x2x?x?xf32, affine_map<(d0, d1, d2) -> (d2, 2, d0, d0 + d1)>>
  return
}
