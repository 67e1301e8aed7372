// What the verifiers of stacks, depths and outputs refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// stack C1: a carry has its type in the body.
func.func @f(%x: tensor<4xf32>, %z: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects a body with the depth and 1 carries as arguments, got ('index', 'tensor<5xf32>')}}
  %y = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<5xf32>):
    tenon.yield %z : tensor<4xf32>
  }
  return
}

// -----
// stack C2: each carry has a result.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects a result for each of 1 carries, got 0}}
  tenon.stack 2 (%x) : (tensor<4xf32>) -> () {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield
  }
  return
}

// -----
// stack C2: with its type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects carry 0 to keep its type 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %y = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<5xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h : tensor<4xf32>
  }
  return
}

// -----
// stack C3: what is yielded is a tensor.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects a tensor as saved value 1, got 'index'}}
  %y, %s = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi64>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h, %depth : tensor<4xf32>, index
  }
  return
}

// -----
// stack C5.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects a count from 0 on, got -2}}
  %y = tenon.stack -2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h : tensor<4xf32>
  }
  return
}

// -----
// stack C6.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.stack' op expects one form, got 2}}
  %y = tenon.stack affine_map<() -> (2, 3)> (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h : tensor<4xf32>
  }
  return
}

// -----
// stack C6.
func.func @f(%b: index, %x: tensor<4xf32>) attributes {tenon.dims = ["B"]} {
  // expected-error @+1 {{'tenon.stack' op expects forms over the dims of its entry, got affine_map<(d0, d1) -> (d1)>}}
  %y = tenon.stack affine_map<(d0, d1) -> (d1)> (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h : tensor<4xf32>
  }
  return
}

// -----
// stack C4, of a length that is a form.
func.func @f(%t: index, %x: tensor<4xf32>) attributes {tenon.dims = ["T"]} {
  // expected-error @+1 {{'tenon.stack' op expects saved value 1 of 'tensor<4xf32>' to be stacked d0 times, got 'tensor<7x4xf32>'}}
  %y:2 = tenon.stack affine_map<(d0) -> (d0)> (%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<7x4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    tenon.yield %h, %h : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----
// yield C1.
func.func @f() {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    tenon.put 0 [%i], %c : f32
    // expected-error @+1 {{'tenon.yield' op expects parent op to be one of 'tenon.stack, tenon.fold, tenon.gemm, tenon.attention, tenon.attention_grad, tenon.map'}}
    tenon.yield
  }
  return
}

// -----
// at_depth C2.
func.func @f(%x: tensor<3x4xf32>, %d: index) {
  // expected-error @+1 {{'tenon.at_depth' op attribute 'first' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %y = tenon.at_depth %x[%d] from -1 : tensor<3x4xf32> -> tensor<4xf32>
  return
}

// -----
// depth_value C1.
func.func @f(%d: index) {
  // expected-error @+1 {{'tenon.depth_value' op expects a scalar, got 'tensor<4xi32>'}}
  %y = tenon.depth_value %d : tensor<4xi32>
  return
}

// -----
// output C1.
func.func @f(%x: tensor<4xf32>) {
  %y = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    // expected-error @+1 {{'tenon.output' op expects to stand at the top of a function, got tenon.stack around it}}
    tenon.output 0 "h", %h : tensor<4xf32>
    tenon.yield %h : tensor<4xf32>
  }
  return
}

// -----
// output C2: numbers begin with 0 ..
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.output' op expects number 0, got 5}}
  tenon.output 5 "y", %x : tensor<4xf32>
  return
}

// -----
// output C2: .. and none comes twice.
func.func @f(%x: tensor<4xf32>) {
  tenon.output 0 "y", %x : tensor<4xf32>
  // expected-error @+1 {{'tenon.output' op expects number 1, got 0}}
  tenon.output 0 "z", %x : tensor<4xf32>
  return
}

// -----
// output C2: .. or is below.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.output' op attribute 'index' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  tenon.output -1 "y", %x : tensor<4xf32>
  return
}
