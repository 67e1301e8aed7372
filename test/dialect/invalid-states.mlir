// What the verifiers of states refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// read_state C1: an entry without states.
func.func @f() {
  // expected-error @+1 {{'tenon.read_state' op expects a state of the entry, which has 0, got number 7}}
  %m = tenon.read_state 7 : tensor<4x8xf32>
  return
}

// -----
// read_state C1: numbers count from 0.
func.func @f() attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.read_state' op expects a state of the entry, which has 1, got number 1}}
  %m = tenon.read_state 1 : tensor<3x4x8xf32>
  return
}

// -----
// read_state C1: .. none below.
func.func @f() attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.read_state' op attribute 'index' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %m = tenon.read_state -1 : tensor<3x4x8xf32>
  return
}

// -----
// read_state C2: the whole state.
func.func @f() attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.read_state' op expects the type of state 0, tensor<3x4x8xf32>, without a size for each of 0 depths, got 'tensor<4x8xf32>'}}
  %m = tenon.read_state 0 : tensor<4x8xf32>
  return
}

// -----
// read_state C2: a depth for each size it lacks.
func.func @f(%d: index) attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.read_state' op expects the type of state 0, tensor<3x4x8xf32>, without a size for each of 4 depths, got 'tensor<f32>'}}
  %m = tenon.read_state 0[%d, %d, %d, %d] : tensor<f32>
  return
}

// -----
// write_state C1.
func.func @f(%m: tensor<4x8xf32>) attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.write_state' op expects a state of the entry, which has 1, got number 3}}
  tenon.write_state 3, %m : tensor<4x8xf32>
  return
}

// -----
// write_state C2.
func.func @f(%m: tensor<3x4x8xf32>, %d: index) attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.write_state' op expects the type of state 0, tensor<3x4x8xf32>, without a size for each of 1 depths, got 'tensor<3x4x8xf32>'}}
  tenon.write_state 0[%d], %m : tensor<3x4x8xf32>
  return
}

// -----
// append_state C5.
func.func @f(%r: tensor<2x3x8xf32>, %p: tensor<i32>) attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.append_state' op expects a state of the entry, which has 1, got number 1}}
  %w = tenon.append_state 1, %r at %p dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
  return
}

// -----
// append_state C6.
func.func @f(%r: tensor<2x3x8xf32>, %p: tensor<i32>) attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.append_state' op expects the type of state 0, tensor<3x4x8xf32>, without a size for each of 0 depths, got 'tensor<2x16x8xf32>'}}
  %w = tenon.append_state 0, %r at %p dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
  return
}

// -----
// append_state C1: no dimension is below 0.
func.func @f(%r: tensor<2x3x8xf32>, %p: tensor<i32>) attributes {tenon.states = [tensor<3x4x8xf32>]} {
  // expected-error @+1 {{'tenon.append_state' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %w = tenon.append_state 0, %r at %p dim -1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
  return
}
