// What the verifiers of elementwise ops refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// activation_grad C1: a known activation.
func.func @activation_grad_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.activation_grad' op expects the activation gelu or gelu_tanh, got relu}}
  %y = tenon.activation_grad "relu" %x, %x : tensor<4xf32>
  return
}

// -----
// compare C1: truth values of the same shape.
func.func @compare_c1(%x: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.compare' op inferred type(s) 'tensor<4xi1>' are incompatible with return type(s) of operation 'tensor<5xi1>'}}
  %y = tenon.compare lt %x, %x : tensor<4xf32> -> tensor<5xi1>
  return
}

// -----
// select C1: one truth value per element.
func.func @select_c1(%c: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.select' op expects a condition of the shape of the result, got 'tensor<i1>'}}
  %y = tenon.select %c, %x, %x : tensor<i1>, tensor<4xf32>
  return
}

// -----
// convert C1: one shape.
func.func @convert_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.convert' op expects operand and result of one shape, got 'tensor<4xf32>' and 'tensor<5xf64>'}}
  %y = tenon.convert %x : tensor<4xf32> -> tensor<5xf64>
  return
}

// -----
// convert C2: nothing is lost unseen.
func.func @convert_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.convert' op does not turn reals into integers}}
  %y = tenon.convert %x : tensor<4xf32> -> tensor<4xi32>
  return
}

// -----
// map C1: one shape.
func.func @map_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.map' op expects inputs of the shape of the result, got 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<5xf32> {
  ^bb0(%a: f32):
    tenon.yield %a : f32
  }
  return
}

// -----
// map C2: an element of each input, of its type ..
func.func @map_c2(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'tenon.map' op expects block arguments ('f32', 'i32'), got ('f32', 'f32')}}
  %y = tenon.map %x, %i : tensor<4xf32>, tensor<4xi32> -> tensor<4xf32> {
  ^bb0(%a: f32, %b: f32):
    tenon.yield %a : f32
  }
  return
}

// -----
// map C2: .. and nothing else.
func.func @map_c2_index(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.map' op expects block arguments ('f32'), got ('f32', 'index')}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32, %place: index):
    tenon.yield %a : f32
  }
  return
}

// -----
// map C3: no tensors ..
func.func @map_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.map' op expects scalar code, got tenon.constant}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32):
    %c = tenon.constant 1.0 : tensor<f32>
    tenon.yield %a : f32
  }
  return
}

// -----
// map C3: .. no regions ..
func.func @map_c3_region(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.map' op expects scalar code, got scf.if}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32):
    %c = arith.cmpf olt, %a, %a : f32
    %b = scf.if %c -> f32 {
      scf.yield %a : f32
    } else {
      scf.yield %a : f32
    }
    tenon.yield %b : f32
  }
  return
}

// -----
// map C3: .. no effects.
func.func private @draw() -> f32
func.func @map_c3_effect(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.map' op expects scalar code, got func.call}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32):
    %c = func.call @draw() : () -> f32
    tenon.yield %c : f32
  }
  return
}

// -----
// map C4: an element of the result ..
func.func @map_c4(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.map' op expects code that yields 'i1', got ('f32')}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<4xi1> {
  ^bb0(%a: f32):
    tenon.yield %a : f32
  }
  return
}

// -----
// map C4: .. and one.
func.func @map_c4_two(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.map' op expects code that yields 'f32', got ('f32', 'f32')}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32):
    tenon.yield %a, %a : f32, f32
  }
  return
}

// -----
// map: its code uses nothing from outside.
func.func @map_outside(%x: tensor<4xf32>, %d: index) {
  // expected-note @+1 {{required by region isolation constraints}}
  %y = tenon.map %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: f32):
    // expected-error @+1 {{'arith.index_cast' op using value defined outside the region}}
    %n = arith.index_cast %d : index to i32
    %b = arith.sitofp %n : i32 to f32
    tenon.yield %b : f32
  }
  return
}
