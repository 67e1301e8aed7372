// What the verifiers of attention and its gradient refuse: stored scores of pairs. Words in capitals stand for what many cases share.
// RUN: sed -f %S/Inputs/attention.sed %s > %t.mlir
// RUN: tenon-opt %t.mlir --split-input-file --verify-diagnostics

// attention C12: a number for every key ..
func.func @c12_keys(QKVARGUMENTS, %b: tensor<2x4x5x1xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed in or shorter, got 'tensor<2x4x5x1xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, SETTINGS}> : (QKV, tensor<2x4x5x1xf32>) -> RESULTS
  return
}

// -----
// attention C12: .. of each query, or of all, ..
func.func @c12_queries(QKVARGUMENTS, %b: tensor<2x4x3x7xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed in or shorter, got 'tensor<2x4x3x7xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, SETTINGS}> : (QKV, tensor<2x4x3x7xf32>) -> RESULTS
  return
}

// -----
// attention C12: .. of each head, or of all, ..
func.func @c12_heads(QKVARGUMENTS, %b: tensor<2x2x5x7xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed in or shorter, got 'tensor<2x2x5x7xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, SETTINGS}> : (QKV, tensor<2x2x5x7xf32>) -> RESULTS
  return
}

// -----
// attention C12: .. and of each row of the batch, or of all ..
func.func @c12_batch(QKVARGUMENTS, %b: tensor<3x4x5x7xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed in or shorter, got 'tensor<3x4x5x7xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, SETTINGS}> : (QKV, tensor<3x4x5x7xf32>) -> RESULTS
  return
}

// -----
// attention C12: .. or of its parts, whose sizes make the batch.
func.func @c12_parts(QKVARGUMENTS, %b: tensor<1x4x5x7xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed in or shorter, got 'tensor<1x4x5x7xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, pair_batch = affine_map<() -> (3, 1)>, SETTINGS}> : (QKV, tensor<1x4x5x7xf32>) -> RESULTS
  return
}

// -----
// attention C12: four dimensions.
func.func @c12_rank(QKVARGUMENTS, %b: tensor<5x7xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed in or shorter, got 'tensor<5x7xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, SETTINGS}> : (QKV, tensor<5x7xf32>) -> RESULTS
  return
}

// -----
// attention C12: no wider than what is computed in.
func.func @c12_type(QKVARGUMENTS, %b: tensor<2x4x5x7xf64>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_scores [B or 1, H or 1, I or 1, J], or [P, ..] of pair_batch, real as what is computed in or shorter, got 'tensor<2x4x5x7xf64>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, SETTINGS}> : (QKV, tensor<2x4x5x7xf64>) -> RESULTS
  return
}

// -----
// attention C12: two sizes of the batch.
func.func @c12_sizes(QKVARGUMENTS, %b: tensor<2x4x5x7xf32>) {
  // expected-error @+1 {{'tenon.attention' op expects pair_batch = (outer, inner) beside pair_scores alone}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, pair_batch = affine_map<() -> (1)>, SETTINGS}> : (QKV, tensor<2x4x5x7xf32>) -> RESULTS
  return
}

// -----
// attention C12: no sizes of what is not there.
func.func @c12_without(QKVARGUMENTS) {
  // expected-error @+1 {{'tenon.attention' op expects pair_batch = (outer, inner) beside pair_scores alone}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{CONTENT, pair_batch = affine_map<() -> (1, 1)>, SETTINGS}> : (QKV) -> RESULTS
  return
}

// -----
// attention C12: sizes over the dims of the entry.
func.func @c12_dims(%B: index, QKVARGUMENTS, %b: tensor<2x4x5x7xf32>) attributes {tenon.dims = ["B"]} {
  // expected-error @+1 {{'tenon.attention' op expects forms over the dims of its entry}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{PAIRSCORES, pair_batch = affine_map<(d0, d1) -> (1, 1)>, SETTINGS}> : (QKV, tensor<2x4x5x7xf32>) -> RESULTS
  return
}

// -----
// attention_grad C4: for every pair, whatever the operand has once.
func.func @grad_c4_every(QKVARGUMENTS, %dy: tensor<2x5x4x6xf32>, %m: tensor<2x4x5xf32>, %b: tensor<1x1x5x7xf32>) {
  // expected-error @+1 {{'tenon.attention_grad' op expects dpair_scores [B, H, I, J] exactly with pair_scores, real as what is computed in or shorter}}
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %dy, %m, %m, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, SETTINGS}>
    : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, QKV, tensor<1x1x5x7xf32>) -> (QKV, tensor<1x1x5x7xf32>)
  return
}

// -----
// attention_grad C4: no wider than what is computed in.
func.func @grad_c4_type(QKVARGUMENTS, %dy: tensor<2x5x4x6xf32>, %m: tensor<2x4x5xf32>, %b: tensor<1x1x5x7xf32>) {
  // expected-error @+1 {{'tenon.attention_grad' op expects dpair_scores [B, H, I, J] exactly with pair_scores, real as what is computed in or shorter}}
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %dy, %m, %m, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, SETTINGS}>
    : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, QKV, tensor<1x1x5x7xf32>) -> (QKV, tensor<2x4x5x7xf64>)
  return
}

// -----
// attention_grad C4: together with the operand.
func.func @grad_c4_absent(QKVARGUMENTS, %dy: tensor<2x5x4x6xf32>, %m: tensor<2x4x5xf32>, %b: tensor<1x1x5x7xf32>) {
  // expected-error @+1 {{'tenon.attention_grad' op expects dpair_scores [B, H, I, J] exactly with pair_scores, real as what is computed in or shorter}}
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %dy, %m, %m, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, SETTINGS}>
    : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, QKV, tensor<1x1x5x7xf32>) -> (QKV)
  return
}
