// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func.func @attend
func.func @attend(%s: tensor<2x5x4x7xf32>, %m: tensor<5x7xi1>, %v: tensor<2x7x4x8xf32>, %f: tensor<2x5xf32>, %depth: index) {
  // CHECK: tenon.attend scores(%{{.*}}) masks(%{{.*}}) value(%{{.*}}) factor(%{{.*}}) depth %{{.*}} labels {{\[\[}}0, 1, 2, 4], [1, 4], [0, 4, 2, 3], [0, 1]] scale 1.250000e-01 rate 1.000000e-01 site 3
  %y = tenon.attend scores(%s) masks(%m) value(%v) factor(%f) depth %depth labels [[0, 1, 2, 4], [1, 4], [0, 4, 2, 3], [0, 1]] scale 0.125 rate 0.1 site 3
    : (tensor<2x5x4x7xf32>, tensor<5x7xi1>, tensor<2x7x4x8xf32>, tensor<2x5xf32>, index) -> tensor<2x5x4x8xf32>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%s: tensor<2x3x4x7xf32>, %v: tensor<2x7x4x8xf32>, %at: tensor<2x3xi32>, %depth: index) {
  // CHECK: tenon.attend scores(%{{.*}}) masks() value(%{{.*}}) drawn(%{{.*}}) of #{{.*}} depth %{{.*}} labels {{\[\[}}0, 1, 2, 4], [0, 4, 2, 3], [0, 1]] scale 1.250000e-01 rate 1.000000e-01 site 3
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (5)> depth %depth labels [[0, 1, 2, 4], [0, 4, 2, 3], [0, 1]] scale 0.125 rate 0.1 site 3
    : (tensor<2x3x4x7xf32>, tensor<2x7x4x8xf32>, tensor<2x3xi32>, index) -> tensor<2x3x4x8xf32>
  return
}

// attention and attention_grad have no form of their own: every attribute, among them places and masks, must come back.
// CHECK-LABEL: func.func @attention
// CHECK: "tenon.attention"
// CHECK-SAME: index_labels = {{\[\[}}0]]
// CHECK-SAME: mask = {{\[\[}}"or", {operand = 0 : i64, test = "holds"}, {key = 1 : i64, parts = [{mod = 3 : i64, of = {parts = [{div = 4 : i64, of = {key = 1 : i64}, times = -2 : i64}]}, times = 1 : i64}], query = -1 : i64, test = "le"}]]
// CHECK-SAME: rate = 1.000000e-01 : f64
// CHECK: "tenon.attention_grad"
// CHECK-SAME: mask = {{\[\[}}"or", {operand = 0 : i64, test = "holds"}, {key = 1 : i64, parts = [{mod = 3 : i64, of = {parts = [{div = 4 : i64, of = {key = 1 : i64}, times = -2 : i64}]}, times = 1 : i64}], query = -1 : i64, test = "le"}]]
func.func @attention(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %i: tensor<2xi1>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, index_labels = [[0]],
    mask = [["or", {test = "holds", operand = 0 : i64}, {test = "le", query = -1 : i64, key = 1 : i64, parts = [{mod = 3 : i64, of = {parts = [{div = 4 : i64, of = {key = 1 : i64}, times = -2 : i64}]}, times = 1 : i64}]}]], scale = 0.125 : f64, rate = 0.1 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2xi1>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %dq, %dk, %dv = "tenon.attention_grad"(%y, %y, %m, %s, %q, %k, %v, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, index_labels = [[0]],
    mask = [["or", {test = "holds", operand = 0 : i64}, {test = "le", query = -1 : i64, key = 1 : i64, parts = [{mod = 3 : i64, of = {parts = [{div = 4 : i64, of = {key = 1 : i64}, times = -2 : i64}]}, times = 1 : i64}]}]], scale = 0.125 : f64, rate = 0.1 : f64, site = 0 : i64}>
    : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2xi1>)
    -> (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>)
  return
}

// CHECK-LABEL: func.func @drawn
// CHECK: "tenon.attention"
// CHECK-SAME: drawn_at = 0 : i64, drawn_of = #[[OF:.*]], index_labels = {{\[\[}}0, 1]]
// CHECK: "tenon.attention_grad"
// CHECK-SAME: drawn_at = 0 : i64, drawn_of = #[[OF]], index_labels = {{\[\[}}0, 1]]
func.func @drawn(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %i: tensor<2x5xi32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, index_labels = [[0, 1]], drawn_at = 0 : i64, drawn_of = affine_map<() -> (9)>,
    scale = 0.125 : f64, rate = 0.1 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x5xi32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %dq, %dk, %dv = "tenon.attention_grad"(%y, %y, %m, %s, %q, %k, %v, %i) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, index_labels = [[0, 1]], drawn_at = 0 : i64, drawn_of = affine_map<() -> (9)>, scale = 0.125 : f64, rate = 0.1 : f64, site = 0 : i64}>
    : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x5xi32>)
    -> (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>)
  return
}

// CHECK-LABEL: func.func @pairs
// CHECK: "tenon.attention"
// CHECK-SAME: pair_batch = #[[BATCH:[a-z0-9]*]]
// CHECK: "tenon.attention_grad"
// CHECK-SAME: pair_batch = #[[BATCH]]
// CHECK-SAME: resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>
func.func @pairs(%q: tensor<6x5x4x8xf32>, %k: tensor<6x7x4x8xf32>, %v: tensor<6x7x4x6xf32>, %b: tensor<2x1x5x7xbf16>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, pair_batch = affine_map<() -> (1, 3)>,
    scale = 0.125 : f64, rate = 0.1 : f64, site = 0 : i64}>
    : (tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x6xf32>, tensor<2x1x5x7xbf16>) -> (tensor<6x5x4x6xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%y, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, pair_batch = affine_map<() -> (1, 3)>, scale = 0.125 : f64, rate = 0.1 : f64, site = 0 : i64}>
    : (tensor<6x5x4x6xf32>, tensor<6x5x4x6xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>, tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x6xf32>, tensor<2x1x5x7xbf16>)
    -> (tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x6xf32>, tensor<6x4x5x7xf32>)
  return
}
