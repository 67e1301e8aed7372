// What attention-few.mlir has in f32, in f64 and 16 bits: the tiers give the same bits, in the form that packs and in the one that does not.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=5,2 --dims=16,1 --dims=40,3 --dims=263,1 --tolerance=1e-2 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=40,2 --tolerance=1e-2 --corrupt=0.1 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

// Keys and values that a state keeps in f32 are rounded to what is computed in.
func.func @rounded(%J: index, %B: index, %q: tensor<?x1x2x41xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 41)>>, %k: tensor<?x?x2x41xf32, affine_map<(d0, d1) -> (d1, d0, 2, 41)>>, %v: tensor<?x?x2x24xf32, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "streams", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "strips", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x1x2x41xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 41)>>, tensor<?x?x2x41xf32, affine_map<(d0, d1) -> (d1, d0, 2, 41)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>) -> (tensor<?x1x2x24xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 24)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>)
  tenon.output 0 "y", %y : tensor<?x1x2x24xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 24)>>
  tenon.output 1 "m", %m : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  tenon.output 2 "s", %s : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  return
}

func.func @rounded_half(%J: index, %B: index, %q: tensor<?x3x2x24xf16, affine_map<(d0, d1) -> (d1, 3, 2, 24)>>, %k: tensor<?x?x2x24xf32, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1) -> (d1, d0, 2, 40)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "streams", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "strips", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x3x2x24xf16, affine_map<(d0, d1) -> (d1, 3, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1) -> (d1, d0, 2, 40)>>) -> (tensor<?x3x2x40xf16, affine_map<(d0, d1) -> (d1, 3, 2, 40)>>, tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>, tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>)
  tenon.output 0 "y", %y : tensor<?x3x2x40xf16, affine_map<(d0, d1) -> (d1, 3, 2, 40)>>
  tenon.output 1 "m", %m : tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>
  tenon.output 2 "s", %s : tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>
  return
}

func.func @brains(%J: index, %B: index, %q: tensor<?x1x2x41xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 41)>>, %k: tensor<?x?x2x41xbf16, affine_map<(d0, d1) -> (d1, d0, 2, 41)>>, %v: tensor<?x?x2x24xbf16, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "strips", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x1x2x41xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 41)>>, tensor<?x?x2x41xbf16, affine_map<(d0, d1) -> (d1, d0, 2, 41)>>, tensor<?x?x2x24xbf16, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>) -> (tensor<?x1x2x24xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 24)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>)
  tenon.output 0 "y", %y : tensor<?x1x2x24xbf16, affine_map<(d0, d1) -> (d1, 1, 2, 24)>>
  tenon.output 1 "m", %m : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  tenon.output 2 "s", %s : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  return
}

func.func @halves(%J: index, %B: index, %q: tensor<?x2x2x24xf16, affine_map<(d0, d1) -> (d1, 2, 2, 24)>>, %k: tensor<?x?x2x24xf16, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>, %v: tensor<?x?x2x41xf16, affine_map<(d0, d1) -> (d1, d0, 2, 41)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "streams", rows = 2 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "strips", rows = 2 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", rows = 2 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x2x2x24xf16, affine_map<(d0, d1) -> (d1, 2, 2, 24)>>, tensor<?x?x2x24xf16, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>, tensor<?x?x2x41xf16, affine_map<(d0, d1) -> (d1, d0, 2, 41)>>) -> (tensor<?x2x2x41xf16, affine_map<(d0, d1) -> (d1, 2, 2, 41)>>, tensor<?x2x2xf32, affine_map<(d0, d1) -> (d1, 2, 2)>>, tensor<?x2x2xf32, affine_map<(d0, d1) -> (d1, 2, 2)>>)
  tenon.output 0 "y", %y : tensor<?x2x2x41xf16, affine_map<(d0, d1) -> (d1, 2, 2, 41)>>
  tenon.output 1 "m", %m : tensor<?x2x2xf32, affine_map<(d0, d1) -> (d1, 2, 2)>>
  tenon.output 2 "s", %s : tensor<?x2x2xf32, affine_map<(d0, d1) -> (d1, 2, 2)>>
  return
}

// Lengths that data give, in f64.
func.func @lengths(%J: index, %B: index, %q: tensor<?x2x2x19xf64, affine_map<(d0, d1) -> (d1, 2, 2, 19)>>, %k: tensor<?x?x2x19xf64, affine_map<(d0, d1) -> (d1, d0, 2, 19)>>, %v: tensor<?x?x2x9xf64, affine_map<(d0, d1) -> (d1, d0, 2, 9)>>, %len: tensor<?xi32, affine_map<(d0, d1) -> (d1)>> {test.bound = 40 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %len) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (1)>, query = 0 : i64, key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: -1>}], index_labels = [array<i64: 0>], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "streams", rows = 2 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "strips", rows = 2 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", rows = 2 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x2x2x19xf64, affine_map<(d0, d1) -> (d1, 2, 2, 19)>>, tensor<?x?x2x19xf64, affine_map<(d0, d1) -> (d1, d0, 2, 19)>>, tensor<?x?x2x9xf64, affine_map<(d0, d1) -> (d1, d0, 2, 9)>>, tensor<?xi32, affine_map<(d0, d1) -> (d1)>>) -> (tensor<?x2x2x9xf64, affine_map<(d0, d1) -> (d1, 2, 2, 9)>>, tensor<?x2x2xf64, affine_map<(d0, d1) -> (d1, 2, 2)>>, tensor<?x2x2xf64, affine_map<(d0, d1) -> (d1, 2, 2)>>)
  tenon.output 0 "y", %y : tensor<?x2x2x9xf64, affine_map<(d0, d1) -> (d1, 2, 2, 9)>>
  tenon.output 1 "m", %m : tensor<?x2x2xf64, affine_map<(d0, d1) -> (d1, 2, 2)>>
  tenon.output 2 "s", %s : tensor<?x2x2xf64, affine_map<(d0, d1) -> (d1, 2, 2)>>
  return
}
