// What the verifier of attention refuses: operands and places. Words in capitals stand for what many cases share.
// RUN: sed -f %S/Inputs/attention.sed %s > %t.mlir
// RUN: tenon-opt %t.mlir --split-input-file --verify-diagnostics

// attention C1: four dimensions, one element type.
func.func @c1_rank(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf64>) {
  // expected-error @+1 {{'tenon.attention' op expects query, key, value and result of rank 4 and one element type, got 'tensor<2x7x4x6xf64>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf64>) -> RESULTS
  return
}

// -----
// attention C1: keys and values may be unrounded beside queries of 16 bits, and of 16 bits beside those of f32, but no wider.
func.func @c1_kept(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xbf16>, %v: tensor<2x7x4x6xf64>) {
  // expected-error @+1 {{'tenon.attention' op expects query, key, value and result of rank 4 and one element type, got 'tensor<2x7x4x6xf64>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xbf16>, tensor<2x7x4x6xf64>) -> RESULTS
  return
}

// -----
// attention C1: heads of one size.
func.func @c1_sizes(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x9xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects query [B, I, H, E], key [B, J, K, E], value [B, J, K, F] and result [B, I, H, F]}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> : (tensor<2x5x4x8xf32>, tensor<2x7x4x9xf32>, tensor<2x7x4x6xf32>) -> RESULTS
  return
}

// -----
// attention C1: the number of heads is a number.
func.func @c1_numbers(%q: tensor<2x5x?x8xf32, affine_map<(d0) -> (2, 5, d0, 8)>>, %k: tensor<2x5x?x8xf32, affine_map<(d0) -> (2, 5, d0, 8)>>, %v: tensor<2x5x?x6xf32, affine_map<(d0) -> (2, 5, d0, 6)>>) {
  // expected-error @+1 {{'tenon.attention' op expects numbers of heads and widths that are known}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> : (tensor<2x5x?x8xf32, affine_map<(d0) -> (2, 5, d0, 8)>>, tensor<2x5x?x8xf32, affine_map<(d0) -> (2, 5, d0, 8)>>, tensor<2x5x?x6xf32, affine_map<(d0) -> (2, 5, d0, 6)>>) -> (tensor<2x5x?x6xf32, affine_map<(d0) -> (2, 5, d0, 6)>>, tensor<2x?x5xf32, affine_map<(d0) -> (2, d0, 5)>>, tensor<2x?x5xf32, affine_map<(d0) -> (2, d0, 5)>>)
  return
}

// -----
// attention C1: every head of the keys has a group of heads.
func.func @c1_groups(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x3x8xf32>, %v: tensor<2x7x3x6xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a number of heads that is a multiple of that of the keys, got 4 and 3}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> : (tensor<2x5x4x8xf32>, tensor<2x7x3x8xf32>, tensor<2x7x3x6xf32>) -> RESULTS
  return
}

// -----
// attention C10: a step gives the score and its derivative.
func.func @c10_yield(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op expects one step that takes a scalar of 'f32' and yields two}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> ({
  ^bb0(%x: f32):
    "tenon.yield"(%x) : (f32) -> ()
  }) : (QKV) -> RESULTS
  return
}

// -----
// attention C10: a step is scalar code.
func.func @c10_code(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op expects scalar code in its step, got tenon.constant}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> ({
  ^bb0(%x: f32):
    %c = tenon.constant 1.0 : tensor<f32>
    "tenon.yield"(%x, %x) : (f32, f32) -> ()
  }) : (QKV) -> RESULTS
  return
}

// -----
// attention C2: the query of positions without a table.
func.func @c2_alone(QKVARGUMENTS, %p: tensor<2x5x4x8xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects position_query [B, I, H, E] together with a table}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p) <{POSITIONQUERY, SETTINGS}> : (QKV, tensor<2x5x4x8xf32>) -> RESULTS
  return
}

// -----
// attention C2: the table has the width of the query.
func.func @c2_table(QKVARGUMENTS, %p: tensor<2x5x4x8xf32>, %t: tensor<11x4x9xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a table [P, H, E], got 'tensor<11x4x9xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %t) <{POSITION, place = [{query = 1 : i64, key = -1 : i64}], SETTINGS}> : (QKV, tensor<2x5x4x8xf32>, tensor<11x4x9xf32>) -> RESULTS
  return
}

// -----
// attention C2: one number per place and head.
func.func @c2_score_table(QKVARGUMENTS, %t: tensor<11x5xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a score_table [P, H], got 'tensor<11x5xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{SCORES, place = [{query = 1 : i64, key = -1 : i64}], SETTINGS}> : (QKV, tensor<11x5xf32>) -> RESULTS
  return
}

// -----
// attention C3: a table needs a place.
func.func @c3_count(QKVARGUMENTS, %t: tensor<11x4xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects 1 places (one with a table, two with `back`), got 0}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{SCORES, SETTINGS}> : (QKV, tensor<11x4xf32>) -> RESULTS
  return
}

// -----
// attention C3: the place is a form.
func.func @c3_form(QKVARGUMENTS, %t: tensor<11x4xf32>) {
  // expected-error @+1 {{'tenon.attention' op has a place that is none: a form is a dictionary}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{SCORES, place = [7], SETTINGS}> : (QKV, tensor<11x4xf32>) -> RESULTS
  return
}

// -----
// attention C3: the place goes with the key, step by step.
func.func @c3_key(QKVARGUMENTS, %t: tensor<11x4xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a place whose key coefficient is 1 or -1, got 2}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{SCORES, place = [{key = 2 : i64}], SETTINGS}> : (QKV, tensor<11x4xf32>) -> RESULTS
  return
}

// -----
// attention C3: the place is linear in the places of the pair.
func.func @c3_linear(QKVARGUMENTS, %t: tensor<11x4xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects a place that is linear in the query and the key, got {key = 1}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{SCORES, place = [{key = 1 : i64, parts = [{div = 2 : i64, of = {key = 1 : i64}, times = 1 : i64}]}], SETTINGS}> : (QKV, tensor<11x4xf32>) -> RESULTS
  return
}

// -----
// attention C3: operands of a place exist ..
func.func @c3_operand(QKVARGUMENTS, %t: tensor<11x4xf32>) {
  // expected-error @+1 {{'tenon.attention' op has a place that names an operand beyond the 0 it has}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{SCORES, place = [{key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}], SETTINGS}> : (QKV, tensor<11x4xf32>) -> RESULTS
  return
}

// -----
// attention C3: .. and do not depend on the key.
func.func @c3_over_key(QKVARGUMENTS, %t: tensor<11x4xf32>, %i: tensor<7xi32>) {
  // expected-error @+1 {{'tenon.attention' op has a place that reads an operand over the key}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %i) <{SCORESINDEXED, place = [{key = 1 : i64, operands = array<i64: 0>, coefficients = array<i64: 1>}], index_labels = [[2]], SETTINGS}> : (QKV, tensor<11x4xf32>, tensor<7xi32>) -> RESULTS
  return
}

// -----
// attention C4: back is a truth value per row of the batch.
func.func @c4(QKVARGUMENTS, %t: tensor<11x4xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects `back` to name an index operand of truth values over the batch, and a table}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %i) <{SCORESINDEXED, place = [{key = 1 : i64}, {key = -1 : i64}], back = 0 : i64, index_labels = [[0]], SETTINGS}> : (QKV, tensor<11x4xf32>, tensor<2xi32>) -> RESULTS
  return
}

// -----
// attention C5: selected scores need what selects.
func.func @c5(QKVARGUMENTS, %g: tensor<2x5x4x2xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects selected_scores [B, I, H, 2] together with `select`}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %g) <{SELECTED, SETTINGS}> : (QKV, tensor<2x5x4x2xf32>) -> RESULTS
  return
}
