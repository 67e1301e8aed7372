// What the attributes of an entry may not say.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// dims are names ..
// expected-error @+1 {{'func.func' op expects names as tenon.dims, got [7]}}
func.func @f(%b: index) attributes {tenon.dims = [7]} {
  return
}

// -----
// .. with their sizes as arguments ..
// expected-error @+1 {{'func.func' op expects the sizes of its 2 dims as first arguments, got ('index')}}
func.func @f(%b: index) attributes {tenon.dims = ["B", "T"]} {
  return
}

// -----
// .. products behind their factors ..
// expected-error @+1 {{'func.func' op expects products of dims in front of them in tenon.dims, got B*T}}
func.func @f(%b: index, %bt: index, %t: index) attributes {tenon.dims = ["B", "B*T", "T"]} {
  return
}

// -----
// .. before tensors ..
// expected-error @+1 {{'func.func' op expects tensors over its dims as further arguments, got 'f32'}}
func.func @f(%b: index, %x: f32) attributes {tenon.dims = ["B"]} {
  return
}

// -----
// .. over them.
// expected-error @+1 {{'func.func' op expects tensors over its dims as further arguments, got 'tensor<?xf32, affine_map<(d0, d1) -> (d1)>>'}}
func.func @f(%b: index, %x: tensor<?xf32, affine_map<(d0, d1) -> (d1)>>) attributes {tenon.dims = ["B"]} {
  return
}

// -----
// States have types ..
// expected-error @+1 {{'func.func' op expects types of tensors over its dims as tenon.states, got 7}}
func.func @f(%b: index) attributes {tenon.dims = ["B"], tenon.states = [7]} {
  return
}

// -----
// .. of tensors with sizes.
// expected-error @+1 {{'func.func' op expects types of tensors over its dims as tenon.states, got tensor<?xf32>}}
func.func @f(%b: index) attributes {tenon.dims = ["B"], tenon.states = [tensor<?xf32>]} {
  return
}

// -----
// One truth value per state.
// expected-error @+1 {{'func.func' op expects a truth value for each of 1 states as tenon.in_place, got array<i1: true, false>}}
func.func @f(%b: index) attributes {tenon.dims = ["B"], tenon.states = [tensor<4xf32>], tenon.in_place = array<i1: true, false>} {
  return
}

// -----
// The position of a walk is a state.
// expected-error @+1 {{'func.func' op expects the number of a state as position, of a dim as count and a form as capacity of tenon.walk, got {capacity = affine_map<() -> (4)>, count = 0 : i64, position = 1 : i64}}}
func.func @f(%b: index) attributes {tenon.dims = ["B"], tenon.states = [tensor<i32>], tenon.walk = {position = 1 : i64, count = 0 : i64, capacity = affine_map<() -> (4)>}} {
  return
}

// -----
// Its capacity is one form.
// expected-error @+1 {{'func.func' op expects one form, got 2}}
func.func @f(%b: index) attributes {tenon.dims = ["B"], tenon.states = [tensor<i32>], tenon.walk = {position = 0 : i64, count = 0 : i64, capacity = affine_map<() -> (4, 5)>}} {
  return
}

// -----
// Three kinds.
// expected-error @+1 {{'func.func' op expects out, eval or train as tenon.kind, got "test"}}
func.func @f(%b: index) attributes {tenon.kind = "test"} {
  return
}

// -----
// E6: a number of slices.
// expected-error @+1 {{'func.func' op expects a number of 1 or more as tenon.slices, got 0 : i64}}
func.func @f() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [], tenon.slices = 0 : i64} {
  return
}
