// What the verifier of attention refuses: masks, labels, rate and statistics. Words in capitals stand for what many cases share.
// RUN: sed -f %S/Inputs/attention.sed %s > %t.mlir
// RUN: tenon-opt %t.mlir --split-input-file --verify-diagnostics

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
// attention C6: parts of a form divide by a number, at least 1 ..
func.func @c6_part(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op has a mask that is none: a part of a form is a `div` or `mod`, at least 1, `of` a form, and `times`}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, mask = [{test = "le", parts = [{div = 0 : i64, of = {key = 1 : i64}, times = 1 : i64}]}], SETTINGS}> : (QKV) -> RESULTS
  return
}

// -----
// .. and name operands that exist.
func.func @c6_part_operand(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op has a mask that names an operand beyond the 0 it has}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, mask = [{test = "le", parts = [{mod = 3 : i64, of = {operands = array<i64: 0>, coefficients = array<i64: 1>}, times = 1 : i64}]}], SETTINGS}> : (QKV) -> RESULTS
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
  // expected-error @+1 {{'tenon.attention' op expects labels as lists of numbers, got 0 : i64}}
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
// attention C6: a mask is over the dims of the entry ..
func.func @c6_dims(QKVARGUMENTS) attributes {tenon.dims = []} {
  // expected-error @+1 {{'tenon.attention' op expects a mask over the dims of its entry, got {rest = affine_map<(d0) -> (d0)>, test = "le"}}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, mask = [{test = "le", rest = affine_map<(d0) -> (d0)>}], SETTINGS}> : (QKV) -> RESULTS
  return
}

// -----
// attention C6: .. and so is a place.
func.func @c6_place(QKVARGUMENTS, %t: tensor<11x4xf32>) attributes {tenon.dims = []} {
  // expected-error @+1 {{'tenon.attention' op expects a place over the dims of its entry, got {key = 1 : i64, rest = affine_map<(d0) -> (d0)>}}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{SCORES, place = [{key = 1 : i64, rest = affine_map<(d0) -> (d0)>}], SETTINGS}> : (QKV, tensor<11x4xf32>) -> RESULTS
  return
}

// -----
// attention C11: places of a whole, and how many queries it has.
func.func @c11_alone(QKVARGUMENTS, %at: tensor<5xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects `drawn_at` together with `drawn_of`, the number of queries of the whole}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %at) <{INDEXED, SETTINGS, index_labels = [[1]], drawn_at = 0 : i64}> : (QKV, tensor<5xi32>) -> RESULTS
  return
}

// -----
// attention C11: an operand that there is.
func.func @c11_number(QKVARGUMENTS, %at: tensor<5xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects `drawn_at` to name an index operand of integers, got number 1 of 1}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %at) <{INDEXED, SETTINGS, index_labels = [[1]], drawn_at = 1 : i64, drawn_of = affine_map<() -> (9)>}> : (QKV, tensor<5xi32>) -> RESULTS
  return
}

// -----
// attention C11: places are integers.
func.func @c11_truth(QKVARGUMENTS, %at: tensor<5xi1>) {
  // expected-error @+1 {{'tenon.attention' op expects `drawn_at` to name an index operand of integers, got number 0 of 1}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %at) <{INDEXED, SETTINGS, index_labels = [[1]], drawn_at = 0 : i64, drawn_of = affine_map<() -> (9)>}> : (QKV, tensor<5xi1>) -> RESULTS
  return
}

// -----
// attention C11: places of queries.
func.func @c11_labels(QKVARGUMENTS, %at: tensor<2xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects `drawn_at` to name an index operand over the query, or the batch and the query}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %at) <{INDEXED, SETTINGS, index_labels = [[0]], drawn_at = 0 : i64, drawn_of = affine_map<() -> (9)>}> : (QKV, tensor<2xi32>) -> RESULTS
  return
}

// -----
// attention C11: the same for all keys.
func.func @c11_key(QKVARGUMENTS, %at: tensor<5x7xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects `drawn_at` to name an index operand over the query, or the batch and the query}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %at) <{INDEXED, SETTINGS, index_labels = [[1, 2]], drawn_at = 0 : i64, drawn_of = affine_map<() -> (9)>}> : (QKV, tensor<5x7xi32>) -> RESULTS
  return
}

// -----
// attention C11: one number of queries.
func.func @c11_forms(QKVARGUMENTS, %at: tensor<5xi32>) {
  // expected-error @+1 {{'tenon.attention' op expects one form, got 2}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %at) <{INDEXED, SETTINGS, index_labels = [[1]], drawn_at = 0 : i64, drawn_of = affine_map<() -> (9, 9)>}> : (QKV, tensor<5xi32>) -> RESULTS
  return
}
