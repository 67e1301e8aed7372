// What the verifiers of attend, attention and attention_grad refuse. Words in capitals stand for what many cases share.
// RUN: sed -f %S/Inputs/attention.sed %s > %t.mlir
// RUN: tenon-opt %t.mlir --split-input-file --verify-diagnostics

// attention C1: four dimensions, one element type.
func.func @c1_rank(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf64>) {
  // expected-error @+1 {{'tenon.attention' op expects query, key, value and result of rank 4 and one element type, got 'tensor<2x7x4x6xf64>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf64>) -> RESULTS
  return
}

// -----
// attention C1: heads of one size.
func.func @c1_sizes(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x9xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects query [B, I, H, E], key [B, J, H, E], value [B, J, H, F] and result [B, I, H, F]}}
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

// -----
// attention C6: a mask tests.
func.func @c6_form(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op has a mask that is none: a leaf tests `le`, `eq` or `holds`}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, mask = [{test = "lt"}], SETTINGS}> : (QKV) -> RESULTS
  return
}

// -----
// attention C6: a list of masks says how they are combined.
func.func @c6_word(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op has a mask that is none: a mask is a leaf or a list that starts with and, or, not}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, mask = [["xor"]], SETTINGS}> : (QKV) -> RESULTS
  return
}

// -----
// attention C6: operands of a mask exist.
func.func @c6_operand(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op has a mask that names an operand beyond the 0 it has}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, mask = [{test = "holds", operand = 0 : i64}], SETTINGS}> : (QKV) -> RESULTS
  return
}

// -----
// attention C6: what holds is a truth value.
func.func @c6_truth(QKVARGUMENTS, %i: tensor<2xi32>) {
  // expected-error @+1 {{'tenon.attention' op has a mask whose test `holds` names an operand without truth values}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{INDEXED, mask = [{test = "holds", operand = 0 : i64}], index_labels = [[0]], SETTINGS}> : (QKV, tensor<2xi32>) -> RESULTS
  return
}

// -----
// attention C7: labels for every index operand ..
func.func @c7_count(QKVARGUMENTS, %i: tensor<2xi1>) {
  // expected-error @+1 {{'tenon.attention' op expects labels for each of 1 index operands, got 0}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{INDEXED, SETTINGS}> : (QKV, tensor<2xi1>) -> RESULTS
  return
}

// -----
// attention C7: .. which are lists ..
func.func @c7_list(QKVARGUMENTS, %i: tensor<2xi1>) {
  // expected-error @+1 {{'tenon.attention' op expects labels as lists of numbers}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{INDEXED, index_labels = [0], SETTINGS}> : (QKV, tensor<2xi1>) -> RESULTS
  return
}

// -----
// attention C7: .. of one label per dimension.
func.func @c7_rank(QKVARGUMENTS, %i: tensor<2xi1>) {
  // expected-error @+1 {{'tenon.attention' op expects one label per dimension of 'tensor<2xi1>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{INDEXED, index_labels = [[0, 1]], SETTINGS}> : (QKV, tensor<2xi1>) -> RESULTS
  return
}

// -----
// attention C7: index operands are no reals.
func.func @c7_real(QKVARGUMENTS, %i: tensor<2xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects index operands of integers or truth values, got 'tensor<2xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{INDEXED, index_labels = [[0]], SETTINGS}> : (QKV, tensor<2xf32>) -> RESULTS
  return
}

// -----
// attention C7: they have the sizes of their labels.
func.func @c7_sizes(QKVARGUMENTS, %i: tensor<2xi1>) {
  // expected-error @+1 {{'tenon.attention' op expects index operand 'tensor<2xi1>' to have the sizes of its labels}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %i) <{INDEXED, index_labels = [[1]], SETTINGS}> : (QKV, tensor<2xi1>) -> RESULTS
  return
}

// -----
// attention C8: the rate of the dropout.
func.func @c8(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op expects a rate in 0 .. 1 (1 excluded), got 1.000000e+00}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, rate = 1.0 : f64, scale = 1.0 : f64, site = 0 : i64}> : (QKV) -> RESULTS
  return
}

// -----
// attention C9: the statistics of the rows.
func.func @c9(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op expects row statistics of shape [B, H, I], got 'tensor<2x5x4xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, SETTINGS}> : (QKV) -> (tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x4x5xf32>)
  return
}

// -----
// attention_grad C2: dy is like y.
func.func @grad_c2(QKVARGUMENTS, %y: tensor<2x5x4x6xf32>, %dy: tensor<2x5x4x7xf32>, %s: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'tenon.attention_grad' op expects dy of the type of y}}
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %s, %s, %q, %k, %v) <{GRADIENT, SETTINGS}> : (tensor<2x5x4x7xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, QKV) -> (QKV)
  return
}

// -----
// attention_grad C3: a gradient is like its operand.
func.func @grad_c3(QKVARGUMENTS, %y: tensor<2x5x4x6xf32>, %dy: tensor<2x5x4x6xf32>, %s: tensor<2x4x5xf32>) {
  // expected-error @+1 {{'tenon.attention_grad' op expects gradient 1 exactly with its operand and of its type, those of tables with the batch in front}}
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %s, %s, %q, %k, %v) <{GRADIENT, SETTINGS}> : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, QKV) -> (tensor<2x5x4x8xf32>, tensor<2x7x4x9xf32>, tensor<2x7x4x6xf32>)
  return
}

// -----
// attend labels: one list per operand ..
func.func @attend_labels(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects labels for each of 2 operands, got 1}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 2]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend .. with one label per dimension.
func.func @attend_rank(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects one label per dimension of 'tensor<5x7xf32>'}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C1: every operand has the key.
func.func @attend_c1(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects every score, mask and value to have the key dimension, label 2}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 3], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C2: one size per label.
func.func @attend_c2(%s: tensor<5x7xf32>, %v: tensor<8x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects label 2 to have one size, got 7 and 8}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<8x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C3: every dimension of the result is somewhere.
func.func @attend_c3(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects result dimension 0 in an operand}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[3, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}
