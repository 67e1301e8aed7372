// What the verifier of skipped rounds refuses.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// skip C1.
func.func @f(%stop: tensor<i1>) {
  // expected-error @+1 {{'tenon.skip' op expects parent op to be one of 'tenon.stack, tenon.loop'}}
  tenon.skip %stop : tensor<i1>
  return
}

// -----
// skip C2.
func.func @f(%stop: tensor<4xi1>, %x: tensor<4xf32>) {
  %y = tenon.stack 2 (%x) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%depth: index, %h: tensor<4xf32>):
    // expected-error @+1 {{'tenon.skip' op expects a scalar, got 'tensor<4xi1>'}}
    tenon.skip %stop : tensor<4xi1>
    tenon.yield %h : tensor<4xf32>
  }
  return
}

// -----
// skip C3: one number.
func.func @f(%stop: tensor<i1>, %n: tensor<4xi32>) {
  %y = tenon.stack 2 (%n) : (tensor<4xi32>) -> (tensor<4xi32>) {
  ^bb0(%depth: index, %k: tensor<4xi32>):
    // expected-error @+1 {{'tenon.skip' op expects a scalar that counts rounds, got 'tensor<4xi32>'}}
    tenon.skip %stop counts %k : tensor<i1>, tensor<4xi32>
    tenon.yield %k : tensor<4xi32>
  }
  return
}

// -----
// skip C3: of this stack.
func.func @f(%stop: tensor<i1>, %n: tensor<i32>) {
  %y = tenon.stack 2 (%n) : (tensor<i32>) -> (tensor<i32>) {
  ^bb0(%depth: index, %k: tensor<i32>):
    // expected-error @+1 {{'tenon.skip' op expects a carry of the stack around it to count its rounds}}
    tenon.skip %stop counts %n : tensor<i1>, tensor<i32>
    tenon.yield %k : tensor<i32>
  }
  return
}

// -----
// regroup C1.
func.func @f(%x: tensor<10x4xf32>) {
  // expected-error @+1 {{'tenon.regroup' op expects one dimension more on one side, got 'tensor<10x4xf32>' and 'tensor<3x4x2x2xf32>'}}
  %y = tenon.regroup %x : tensor<10x4xf32> -> tensor<3x4x2x2xf32>
  return
}

// -----
// regroup C2: the number of blocks.
func.func @f(%x: tensor<10x4xf32>) {
  // expected-error @+1 {{'tenon.regroup' op expects the rows of 'tensor<10x4xf32>' in blocks, got 'tensor<2x4x4xf32>'}}
  %y = tenon.regroup %x : tensor<10x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----
// regroup C2: the elements.
func.func @f(%x: tensor<3x4x8xf64>) {
  // expected-error @+1 {{'tenon.regroup' op expects the rows of 'tensor<10x8xf32>' in blocks, got 'tensor<3x4x8xf64>'}}
  %y = tenon.regroup %x : tensor<3x4x8xf64> -> tensor<10x8xf32>
  return
}
