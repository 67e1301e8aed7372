// What the verifiers of attention_grad and attend refuse. Words in capitals stand for what many cases share.
// RUN: sed -f %S/Inputs/attention.sed %s > %t.mlir
// RUN: tenon-opt %t.mlir --split-input-file --verify-diagnostics

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
  // expected-error @+1 {{'tenon.attend' op expects one label per dimension of 'tensor<5x7xf32>', got 1}}
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
func.func @attend_c3(%s: tensor<7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects result dimension 0 in an operand}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C4: labels are numbers ..
func.func @attend_c4_words(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects labels as lists of numbers, got ["query", "key"]}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [["query", "key"], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C4: .. below the key or the key ..
func.func @attend_c4_beyond(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects different labels from 0 to 2, got 3 for 'tensor<5x7xf32>'}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[3, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C4: .. from 0 on ..
func.func @attend_c4_below(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects different labels from 0 to 2, got -1 for 'tensor<5x7xf32>'}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[-1, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C4: .. and different.
func.func @attend_c4_twice(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects different labels from 0 to 2, got 2 for 'tensor<5x7xf32>'}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[2, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C5.
func.func @attend_c5(%s: tensor<5x7xf32>, %v: tensor<7x6xf64>) {
  // expected-error @+1 {{'tenon.attend' op expects reals of 'f32', got 'tensor<7x6xf64>'}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf64>) -> tensor<5x6xf32>
  return
}

// -----
// attend C6.
func.func @attend_c6(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>) {
  // expected-error @+1 {{'tenon.attend' op expects a rate in 0 .. 1 (1 excluded), got 1.000000e+00}}
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 2], [2, 1]] scale 1.0 rate 1.0 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C7: places of queries, not of keys.
func.func @attend_c7_key(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>, %at: tensor<7xi32>) {
  // expected-error @+1 {{'tenon.attend' op expects drawn_at over dimensions of a score or mask, without the key}}
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (9)> labels [[0, 2], [2, 1], [2]] scale 1.0 rate 0.1 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>, tensor<7xi32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C7: places along what probabilities have.
func.func @attend_c7_value(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>, %at: tensor<6xi32>) {
  // expected-error @+1 {{'tenon.attend' op expects drawn_at over dimensions of a score or mask, without the key}}
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (9)> labels [[0, 2], [2, 1], [1]] scale 1.0 rate 0.1 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>, tensor<6xi32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C7: places along a dimension.
func.func @attend_c7_none(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>, %at: tensor<i32>) {
  // expected-error @+1 {{'tenon.attend' op expects drawn_at over dimensions of a score or mask, without the key}}
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (9)> labels [[0, 2], [2, 1], []] scale 1.0 rate 0.1 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>, tensor<i32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C7: one number of all places.
func.func @attend_c7_forms(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>, %at: tensor<5xi32>) {
  // expected-error @+1 {{'tenon.attend' op expects one form, got 2}}
  %y = tenon.attend scores(%s) masks() value(%v) drawn(%at) of affine_map<() -> (9, 9)> labels [[0, 2], [2, 1], [0]] scale 1.0 rate 0.1 site 0 : (tensor<5x7xf32>, tensor<7x6xf32>, tensor<5xi32>) -> tensor<5x6xf32>
  return
}

// -----
// attend C7: places of a whole whose size is known.
func.func @attend_c7_alone(%s: tensor<5x7xf32>, %v: tensor<7x6xf32>, %at: tensor<5xi32>) {
  // expected-error @+1 {{'tenon.attend' op expects drawn_at together with drawn_of, the size of the whole}}
  %y = "tenon.attend"(%s, %v, %at) <{operandSegmentSizes = array<i32: 1, 0, 1, 0, 1, 0>, labels = [[0, 2], [2, 1], [0]], SETTINGS}> : (tensor<5x7xf32>, tensor<7x6xf32>, tensor<5xi32>) -> tensor<5x6xf32>
  return
}
