// What the verifiers of parameters refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// parameter C1: reals ..
// expected-error @+1 {{'tenon.parameter' op attribute 'type' failed to satisfy constraint: type attribute of ranked tensor of 64-bit float or 32-bit float or bfloat16 type or 16-bit float values with numbers as sizes or one size map}}
tenon.parameter @p : tensor<4xi32>

// -----
// parameter C1: .. with numbers as sizes.
// expected-error @+1 {{'tenon.parameter' op expects numbers as sizes, got 'tensor<?xf32, affine_map<(d0) -> (d0)>>'}}
tenon.parameter @p : tensor<?xf32, affine_map<(d0) -> (d0)>>

// -----
// parameter C2.
// expected-error @+1 {{'tenon.parameter' op expects the sizes of 2 stacks, got 'tensor<3xf32>'}}
tenon.parameter @p stacked {levels = 2 : i64} : tensor<3xf32>

// -----
// parameter C2: one level at least.
// expected-error @+1 {{'tenon.parameter' op attribute 'levels' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
tenon.parameter @p stacked {levels = 0 : i64} : tensor<3xf32>

// -----
// parameter C3: one or three values.
// expected-error @+1 {{'tenon.parameter' op expects one f64 or one for each of 3 stack elements as lr, got array<f64: 1.000000e+00, 2.000000e+00>}}
tenon.parameter @p stacked {lr = array<f64: 1.0, 2.0>} : tensor<3x8xf32>

// -----
// parameter C4.
// expected-error @+1 {{'tenon.parameter' op attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
tenon.parameter @p {offset = -64 : i64} : tensor<3xf32>

// -----
// parameter C4: its last stack element.
// expected-error @+1 {{'tenon.parameter' op expects offset and stride of an arena that ends below byte 4611686018427387904, got 64 and 4611686018427387904}}
tenon.parameter @p stacked {offset = 64 : i64, stride = 4611686018427387904 : i64} : tensor<3x8xf32>

// -----
// parameter C5.
// expected-error @+1 {{'tenon.parameter' op expects no value of tenon.whole, got true}}
tenon.parameter @p {tenon.whole = true} : tensor<3xf32>

// -----
// read_parameter C3: what lies in memory whole is read so.
module attributes {tenon.parameters = bf16} {
  tenon.parameter @p {tenon.whole} : tensor<3xf32>
  func.func @f() {
    // expected-error @+1 {{'tenon.read_parameter' op expects a value of 'tensor<3xf32>' for @p, got 'tensor<3xbf16>'}}
    %w = tenon.read_parameter @p : tensor<3xbf16>
    return
  }
}

// -----
// read_parameter C1: there is none ..
tenon.parameter @p : tensor<4x8xf32>
func.func @f() {
  // expected-error @+1 {{'tenon.read_parameter' op expects the name of a parameter, got @nope}}
  %w = tenon.read_parameter @nope : tensor<4x8xf32>
  return
}

// -----
// read_parameter C1: .. and a function is none.
tenon.parameter @p : tensor<4x8xf32>
func.func @f() {
  // expected-error @+1 {{'tenon.read_parameter' op expects the name of a parameter, got @f}}
  %w = tenon.read_parameter @f : tensor<4x8xf32>
  return
}

// -----
// read_parameter C2.
tenon.parameter @p stacked : tensor<3x8x8xf32>
func.func @f() {
  // expected-error @+1 {{'tenon.read_parameter' op expects 1 depths for @p, got 0}}
  %w = tenon.read_parameter @p : tensor<3x8x8xf32>
  return
}

// -----
// read_parameter C3.
tenon.parameter @p : tensor<4x8xf32>
func.func @f() {
  // expected-error @+1 {{'tenon.read_parameter' op expects a value of 'tensor<4x8xf32>' for @p, got 'tensor<400x900xf32>'}}
  %w = tenon.read_parameter @p : tensor<400x900xf32>
  return
}

// -----
// read_parameter C3, of a stack.
tenon.parameter @p stacked : tensor<3x8x8xf32>
func.func @f() {
  %d = arith.constant 0 : index
  // expected-error @+1 {{'tenon.read_parameter' op expects a value of 'tensor<8x8xf32>' for @p, got 'tensor<3x8x8xf32>'}}
  %w = tenon.read_parameter @p[%d] : tensor<3x8x8xf32>
  return
}

// -----
// write_gradient C1.
tenon.parameter @p : tensor<4x8xf32>
func.func @f(%g: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.write_gradient' op expects the name of a parameter, got @nope}}
  tenon.write_gradient @nope, %g : tensor<4x8xf32>
  return
}

// -----
// write_gradient C2.
tenon.parameter @p : tensor<4x8xf32>
func.func @f(%g: tensor<4x8xf32>, %d: index) {
  // expected-error @+1 {{'tenon.write_gradient' op expects 0 depths for @p, got 1}}
  tenon.write_gradient @p[%d], %g : tensor<4x8xf32>
  return
}

// -----
// write_gradient C3.
tenon.parameter @p : tensor<4x8xf32>
func.func @f(%g: tensor<4x8xf64>) {
  // expected-error @+1 {{'tenon.write_gradient' op expects a value of 'tensor<4x8xf32>' for @p, got 'tensor<4x8xf64>'}}
  tenon.write_gradient @p, %g : tensor<4x8xf64>
  return
}

// -----
// write_gradient C4.
tenon.parameter @p frozen : tensor<4x8xf32>
func.func @f(%g: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.write_gradient' op expects a parameter that is trained, got @p, which is frozen}}
  tenon.write_gradient @p, %g : tensor<4x8xf32>
  return
}

// -----

tenon.parameter @p stacked : tensor<3x4xf32>
func.func @depth_of_nothing(%i: index) {
  // expected-error @+1 {{'tenon.read_parameter' op expects depths of the stacks around it whose height is a number, and sums of them}}
  %x = tenon.read_parameter @p[%i] : tensor<4xf32>
  return
}

// -----
// read_parameter C4: a parameter has no value per place of a recurrence.
tenon.parameter @p stacked : tensor<3x4xf32>
func.func @place_of_a_recurrence(%t: index, %x: tensor<4xf32>) attributes {tenon.dims = ["T"]} {
  %y = tenon.stack affine_map<(d0) -> (d0)> (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    // expected-error @+1 {{'tenon.read_parameter' op expects depths of the stacks around it whose height is a number, and sums of them}}
    %w = tenon.read_parameter @p[%at] : tensor<4xf32>
    %n = tenon.add %h, %w : tensor<4xf32>
    tenon.yield %n : tensor<4xf32>
  }
  return
}
