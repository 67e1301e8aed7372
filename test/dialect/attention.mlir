// What the verifier of tenon.attention refuses, constraint by constraint.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @widths(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x6xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error@+1 {{expects query [B, I, H, E], key [B, J, K, E]}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{mask = [], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @unknown_operand(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error@+1 {{has a mask that names an operand beyond the 0 it has}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{mask = [{test = "holds", operand = 0 : i64}], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @statistics(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>) {
  // expected-error@+1 {{expects row statistics of shape [B, H, I]}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{mask = [], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x5x4xf32>, tensor<2x4x5xf32>)
  return
}

// -----

// C2: a value table has the width of the values.
func.func @value_table(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %w: tensor<11x4x8xf32>) {
  // expected-error@+1 {{expects a value_table [P, H, F], got 'tensor<11x4x8xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %w) <{mask = [], place = [{key = 1 : i64, query = -1 : i64, rest = affine_map<() -> (4)>}], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<11x4x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

// C3: it is read at a place.
func.func @value_table_without_place(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %w: tensor<11x4x6xf32>) {
  // expected-error@+1 {{expects 1 places}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %w) <{mask = [], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<11x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

// C2: what keys ask, and what answers them.
func.func @position_key(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %a: tensor<2x7x4x8xf32>) {
  // expected-error@+1 {{expects position_key [B, J, K, E] together with a key_table}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %a) <{mask = [], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x7x4x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @key_table(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %w: tensor<11x4x6xf32>) {
  // expected-error@+1 {{expects a key_table [P, H, E], got 'tensor<11x4x6xf32>'}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %k, %w) <{mask = [], place = [{key = 1 : i64, query = -1 : i64, rest = affine_map<() -> (4)>}], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x7x4x8xf32>, tensor<11x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

// C3: a computed place has code.
func.func @no_code(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<11x4xf32>) {
  // expected-error@+1 {{expects a region of the place with `computes_place`}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t) <{mask = [], computes_place, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}>
    : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<11x4xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

// C3: it serves tables of scores and of keys for queries.
func.func @values_at_computed_places(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %w: tensor<11x4x6xf32>, %i: tensor<5x7xi32>) {
  // expected-error@+1 {{expects `computes_place` beside a table or score_table alone, without other places}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %w, %i) <{mask = [], computes_place, index_labels = [[1, 2]], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}> ({
    ^bb0(%d: i32):
      tenon.yield %d : i32
    }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<11x4x6xf32>, tensor<5x7xi32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

// C3: of one element of each index operand.
func.func @code_of_another_type(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<11x4xf32>, %i: tensor<5x7xi64>) {
  // expected-error@+1 {{expects the code of its place to take an element of each index operand and to yield integers}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %i) <{mask = [], computes_place, index_labels = [[1, 2]], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}> ({
    ^bb0(%d: i32):
      tenon.yield %d : i32
    }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<11x4xf32>, tensor<5x7xi64>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}

// -----

func.func @no_scalar_code(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<11x4xf32>, %i: tensor<5x7xi32>) {
  // expected-error@+1 {{expects scalar code of its place, got}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %i) <{mask = [], computes_place, index_labels = [[1, 2]], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0>, rate = 0.0 : f64, scale = 1.0 : f64, site = 0 : i64}> ({
    ^bb0(%d: i32):
      %none = tenon.constant 0.0 : tensor<2xf32>
      tenon.yield %d : i32
    }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<11x4xf32>, tensor<5x7xi32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  return
}
