// What types and forms say about sizes.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// A symbolic size needs its map.
func.func @f(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'tenon.exp' op operand #0 must be ranked tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values with numbers as sizes or one size map, but got 'tensor<?x8xf32>'}}
  %y = tenon.exp %x : tensor<?x8xf32>
  return
}

// -----
// The map has a size for each dimension ..
func.func @f(%x: tensor<?x8xf32, affine_map<(d0) -> (d0)>>) {
  // expected-error @+1 {{'tenon.exp' op operand #0 must be ranked tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values with numbers as sizes or one size map, but got 'tensor<?x8xf32, affine_map<(d0) -> (d0)>>'}}
  %y = tenon.exp %x : tensor<?x8xf32, affine_map<(d0) -> (d0)>>
  return
}

// -----
// .. with the numbers of the shape ..
func.func @f(%x: tensor<?x8xf32, affine_map<(d0) -> (d0, 9)>>) {
  // expected-error @+1 {{'tenon.exp' op operand #0 must be ranked tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values with numbers as sizes or one size map, but got 'tensor<?x8xf32, affine_map<(d0) -> (d0, 9)>>'}}
  %y = tenon.exp %x : tensor<?x8xf32, affine_map<(d0) -> (d0, 9)>>
  return
}

// -----
// .. a form where that has none ..
func.func @f(%x: tensor<?x8xf32, affine_map<(d0) -> (4, 8)>>) {
  // expected-error @+1 {{'tenon.exp' op operand #0 must be ranked tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values with numbers as sizes or one size map, but got 'tensor<?x8xf32, affine_map<(d0) -> (4, 8)>>'}}
  %y = tenon.exp %x : tensor<?x8xf32, affine_map<(d0) -> (4, 8)>>
  return
}

// -----
// .. and no symbols.
func.func @f(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) {
  // expected-error @+1 {{'tenon.exp' op operand #0 must be ranked tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values with numbers as sizes or one size map, but got 'tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>'}}
  %y = tenon.exp %x : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  return
}

// -----
// A tensor of numbers has no map.
func.func @f(%x: tensor<4x8xf32, affine_map<(d0) -> (4, 8)>>) {
  // expected-error @+1 {{'tenon.exp' op operand #0 must be ranked tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values with numbers as sizes or one size map, but got 'tensor<4x8xf32, affine_map<(d0) -> (4, 8)>>'}}
  %y = tenon.exp %x : tensor<4x8xf32, affine_map<(d0) -> (4, 8)>>
  return
}

// -----
// The dims are those of the entry.
func.func @f(%b: index) attributes {tenon.dims = ["B"]} {
  // expected-error @+1 {{'tenon.constant' op expects sizes over the dims of its entry, got 'tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>'}}
  %y = tenon.constant 0.0 : tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>
  return
}

// -----
// Forms, too.
func.func @f(%b: index) attributes {tenon.dims = ["B"]} {
  // expected-error @+1 {{'tenon.size' op expects forms over the dims of its entry, got affine_map<(d0, d1) -> (d1)>}}
  %y = tenon.size affine_map<(d0, d1) -> (d1)> : tensor<i32>
  return
}

// -----
// A slice begins at one place ..
func.func @f(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects one form, got 2}}
  %y = tenon.slice %x 1 from affine_map<() -> (2, 3)> : tensor<4x8xf32> -> tensor<4x3xf32>
  return
}

// -----
// A dim that is a product has as many places as its factors, whatever stands beside them ..
func.func @product(%b: index, %t: index, %bt: index, %x: tensor<?x?x8xf32, affine_map<(d0, d1, d2) -> (d0, d1 * 2 + 1, 8)>>) attributes {tenon.dims = ["B", "T", "B*T"]} {
  %y = tenon.reshape %x [-3] : tensor<?x?x8xf32, affine_map<(d0, d1, d2) -> (d0, d1 * 2 + 1, 8)>> -> tensor<?xf32, affine_map<(d0, d1, d2) -> (d2 * 16 + d0 * 8)>>
  // .. and not those of others.
  // expected-error @+1 {{'tenon.reshape' op expects equal sizes within a group, operand dimension 0, result dimension 0}}
  %z = tenon.reshape %x [-3] : tensor<?x?x8xf32, affine_map<(d0, d1, d2) -> (d0, d1 * 2 + 1, 8)>> -> tensor<?xf32, affine_map<(d0, d1, d2) -> (d2 * 16 + d1 * 8)>>
  return
}
