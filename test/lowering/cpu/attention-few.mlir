// Keys and values that few queries read where they are (`streams`) beside packed ones (`strips`): each function has both forms, in other tiers, and the tiers are compared bit by bit.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=5,2 --dims=16,1 --dims=40,3 --dims=263,1 --tolerance=2e-5 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=5,2 --dims=263,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// Another number of keys at a time is another order of sums, which the comparison of tiers must see.
// RUN: sed 's/portable = {form = "strips", rows = 1 : i64, keys = 64 /portable = {form = "strips", rows = 1 : i64, keys = 128 /' %s > %t.mlir
// RUN: not tenon-kernel-test %t.mlir --dims=263,1 --tolerance=2e-5 | FileCheck %s --check-prefix=ORDER
// ORDER: chunks dims 263,1 tier x86-64-v3 against another tier: output 0 has other bits
// ORDER: FAILED:
// CHECK: ok:
// CONTROL: FAILED:

// Of a state whose last places are not filled; sizes that end inside a square and a register.
func.func @one(%J: index, %B: index, %q: tensor<?x1x3x41xf32, affine_map<(d0, d1) -> (d1, 1, 3, 41)>>, %k: tensor<?x?x3x41xf32, affine_map<(d0, d1) -> (d1, d0, 3, 41)>>, %v: tensor<?x?x3x24xf32, affine_map<(d0, d1) -> (d1, d0, 3, 24)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "streams", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "strips", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x1x3x41xf32, affine_map<(d0, d1) -> (d1, 1, 3, 41)>>, tensor<?x?x3x41xf32, affine_map<(d0, d1) -> (d1, d0, 3, 41)>>, tensor<?x?x3x24xf32, affine_map<(d0, d1) -> (d1, d0, 3, 24)>>) -> (tensor<?x1x3x24xf32, affine_map<(d0, d1) -> (d1, 1, 3, 24)>>, tensor<?x3x1xf32, affine_map<(d0, d1) -> (d1, 3, 1)>>, tensor<?x3x1xf32, affine_map<(d0, d1) -> (d1, 3, 1)>>)
  tenon.output 0 "y", %y : tensor<?x1x3x24xf32, affine_map<(d0, d1) -> (d1, 1, 3, 24)>>
  tenon.output 1 "m", %m : tensor<?x3x1xf32, affine_map<(d0, d1) -> (d1, 3, 1)>>
  tenon.output 2 "s", %s : tensor<?x3x1xf32, affine_map<(d0, d1) -> (d1, 3, 1)>>
  return
}

// More keys than a chunk, whose values are summed in parts.
func.func @chunks(%J: index, %B: index, %q: tensor<?x1x2x16xf32, affine_map<(d0, d1) -> (d1, 1, 2, 16)>>, %k: tensor<?x?x2x16xf32, affine_map<(d0, d1) -> (d1, d0, 2, 16)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1) -> (d1, d0, 2, 40)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 1 : i64, keys = 64 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "streams", rows = 1 : i64, keys = 64 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "strips", rows = 1 : i64, keys = 64 : i64, tasks = 32 : i64}}} :
    (tensor<?x1x2x16xf32, affine_map<(d0, d1) -> (d1, 1, 2, 16)>>, tensor<?x?x2x16xf32, affine_map<(d0, d1) -> (d1, d0, 2, 16)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1) -> (d1, d0, 2, 40)>>) -> (tensor<?x1x2x40xf32, affine_map<(d0, d1) -> (d1, 1, 2, 40)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>)
  tenon.output 0 "y", %y : tensor<?x1x2x40xf32, affine_map<(d0, d1) -> (d1, 1, 2, 40)>>
  tenon.output 1 "m", %m : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  tenon.output 2 "s", %s : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  return
}

// Three queries that see different keys, with a table of vectors and one of scores, and dropout; a strip at a time.
func.func @three(%J: index, %B: index, %q: tensor<?x3x2x24xf32, affine_map<(d0, d1) -> (d1, 3, 2, 24)>>, %k: tensor<?x?x2x24xf32, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>, %v: tensor<?x?x2x40xf32, affine_map<(d0, d1) -> (d1, d0, 2, 40)>>, %p: tensor<?x3x2x24xf32, affine_map<(d0, d1) -> (d1, 3, 2, 24)>>, %table: tensor<?x2x24xf32, affine_map<(d0, d1) -> (d0 + 3, 2, 24)>>, %bias: tensor<?x2xf32, affine_map<(d0, d1) -> (d0 + 3, 2)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %table, %bias) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}, {test = "le", rest = affine_map<(d0, d1) -> (d0 - 40)>, query = 1 : i64, key = -1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64, place = [{rest = affine_map<(d0, d1) -> (2)>, query = -1 : i64, key = 1 : i64}]}> {tenon.chosen = {portable = {form = "streams", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "strips", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x3x2x24xf32, affine_map<(d0, d1) -> (d1, 3, 2, 24)>>, tensor<?x?x2x24xf32, affine_map<(d0, d1) -> (d1, d0, 2, 24)>>, tensor<?x?x2x40xf32, affine_map<(d0, d1) -> (d1, d0, 2, 40)>>, tensor<?x3x2x24xf32, affine_map<(d0, d1) -> (d1, 3, 2, 24)>>, tensor<?x2x24xf32, affine_map<(d0, d1) -> (d0 + 3, 2, 24)>>, tensor<?x2xf32, affine_map<(d0, d1) -> (d0 + 3, 2)>>) -> (tensor<?x3x2x40xf32, affine_map<(d0, d1) -> (d1, 3, 2, 40)>>, tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>, tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>)
  tenon.output 0 "y", %y : tensor<?x3x2x40xf32, affine_map<(d0, d1) -> (d1, 3, 2, 40)>>
  tenon.output 1 "m", %m : tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>
  tenon.output 2 "s", %s : tensor<?x2x3xf32, affine_map<(d0, d1) -> (d1, 2, 3)>>
  return
}

// More strips than one, heads that share keys.
func.func @strips(%J: index, %B: index, %q: tensor<?x7x4x20xf32, affine_map<(d0, d1) -> (d1, 7, 4, 20)>>, %k: tensor<?x?x2x20xf32, affine_map<(d0, d1) -> (d1, d0, 2, 20)>>, %v: tensor<?x?x2x33xf32, affine_map<(d0, d1) -> (d1, d0, 2, 33)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1) -> (4 - d0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "streams", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "strips", rows = 3 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x7x4x20xf32, affine_map<(d0, d1) -> (d1, 7, 4, 20)>>, tensor<?x?x2x20xf32, affine_map<(d0, d1) -> (d1, d0, 2, 20)>>, tensor<?x?x2x33xf32, affine_map<(d0, d1) -> (d1, d0, 2, 33)>>) -> (tensor<?x7x4x33xf32, affine_map<(d0, d1) -> (d1, 7, 4, 33)>>, tensor<?x4x7xf32, affine_map<(d0, d1) -> (d1, 4, 7)>>, tensor<?x4x7xf32, affine_map<(d0, d1) -> (d1, 4, 7)>>)
  tenon.output 0 "y", %y : tensor<?x7x4x33xf32, affine_map<(d0, d1) -> (d1, 7, 4, 33)>>
  tenon.output 1 "m", %m : tensor<?x4x7xf32, affine_map<(d0, d1) -> (d1, 4, 7)>>
  tenon.output 2 "s", %s : tensor<?x4x7xf32, affine_map<(d0, d1) -> (d1, 4, 7)>>
  return
}

// Tiles of keys that a mask hides: the first 20, and of every 130 those from the 50th on.
func.func @blocks(%J: index, %B: index, %q: tensor<?x1x2x64xf32, affine_map<(d0, d1) -> (d1, 1, 2, 64)>>, %k: tensor<?x?x2x64xf32, affine_map<(d0, d1) -> (d1, d0, 2, 64)>>, %v: tensor<?x?x2x64xf32, affine_map<(d0, d1) -> (d1, d0, 2, 64)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [["or", {test = "le", rest = affine_map<(d0, d1) -> (-20)>, key = 1 : i64}, {test = "le", rest = affine_map<(d0, d1) -> (50)>, parts = [{mod = 130 : i64, of = {key = 1 : i64}, times = -1 : i64}]}]], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "streams", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "strips", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", rows = 1 : i64, keys = 1024 : i64, tasks = 32 : i64}}} :
    (tensor<?x1x2x64xf32, affine_map<(d0, d1) -> (d1, 1, 2, 64)>>, tensor<?x?x2x64xf32, affine_map<(d0, d1) -> (d1, d0, 2, 64)>>, tensor<?x?x2x64xf32, affine_map<(d0, d1) -> (d1, d0, 2, 64)>>) -> (tensor<?x1x2x64xf32, affine_map<(d0, d1) -> (d1, 1, 2, 64)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>, tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>)
  tenon.output 0 "y", %y : tensor<?x1x2x64xf32, affine_map<(d0, d1) -> (d1, 1, 2, 64)>>
  tenon.output 1 "m", %m : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  tenon.output 2 "s", %s : tensor<?x2x1xf32, affine_map<(d0, d1) -> (d1, 2, 1)>>
  return
}

// The same with more keys than a chunk.
func.func @blocks_in_chunks(%J: index, %B: index, %q: tensor<?x2x1x24xf32, affine_map<(d0, d1) -> (d1, 2, 1, 24)>>, %k: tensor<?x?x1x24xf32, affine_map<(d0, d1) -> (d1, d0, 1, 24)>>, %v: tensor<?x?x1x24xf32, affine_map<(d0, d1) -> (d1, d0, 1, 24)>>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [["or", {test = "le", rest = affine_map<(d0, d1) -> (-20)>, key = 1 : i64}, {test = "le", rest = affine_map<(d0, d1) -> (50)>, parts = [{mod = 130 : i64, of = {key = 1 : i64}, times = -1 : i64}]}]], index_labels = [], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 2 : i64, keys = 128 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "streams", rows = 2 : i64, keys = 128 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "strips", rows = 2 : i64, keys = 128 : i64, tasks = 32 : i64}}} :
    (tensor<?x2x1x24xf32, affine_map<(d0, d1) -> (d1, 2, 1, 24)>>, tensor<?x?x1x24xf32, affine_map<(d0, d1) -> (d1, d0, 1, 24)>>, tensor<?x?x1x24xf32, affine_map<(d0, d1) -> (d1, d0, 1, 24)>>) -> (tensor<?x2x1x24xf32, affine_map<(d0, d1) -> (d1, 2, 1, 24)>>, tensor<?x1x2xf32, affine_map<(d0, d1) -> (d1, 1, 2)>>, tensor<?x1x2xf32, affine_map<(d0, d1) -> (d1, 1, 2)>>)
  tenon.output 0 "y", %y : tensor<?x2x1x24xf32, affine_map<(d0, d1) -> (d1, 2, 1, 24)>>
  tenon.output 1 "m", %m : tensor<?x1x2xf32, affine_map<(d0, d1) -> (d1, 1, 2)>>
  tenon.output 2 "s", %s : tensor<?x1x2xf32, affine_map<(d0, d1) -> (d1, 1, 2)>>
  return
}
