// What the verifier of gemm refuses.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// gemm C1: one label per dimension ..
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects one label per dimension, all different, got 1 for rank 2}}
  %y = tenon.gemm %a[0], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C1: .. different ..
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects one label per dimension, all different, got 2 for rank 2}}
  %y = tenon.gemm %a[0, 0], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C1: .. from 0 on.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects labels from 0 on, got -1}}
  %y = tenon.gemm %a[0, -1], %b[1, -1] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C2: one label, one size ..
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x9xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects label 2 to have one size, got 8 and 9}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x9xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C2: .. a summed label is in both ..
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects the summed label 3 in both operands}}
  %y = tenon.gemm %a[0, 3], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C2: .. a label of the result in one.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects result dimension 2 in an operand}}
  %y = tenon.gemm %a[0, 3], %b[1, 3] rank 3 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C3: one element type.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf64>) {
  // expected-error @+1 {{'tenon.gemm' op expects one element type, got 'f32' and 'f64'}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf64> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C4: the sizes of a result ..
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects result 0 to have the 2 dimensions of the contraction, got 'tensor<5x7xf32>'}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<5x7xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C4: .. and their number.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects result 0 to have the 2 dimensions of the contraction, got 'tensor<4xf32>'}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i], %sum : f32
  }
  return
}

// -----
// gemm C5: an index per dimension of the result, then the sum.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects block arguments ('index', 'index', 'f32'), got ('index')}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index):
    %sum = arith.constant 1.0 : f32
  }
  return
}

// -----
// gemm C5: the sum has the element type of the operands.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects block arguments ('index', 'index', 'f32'), got ('index', 'index', 'f64')}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f64):
    
  }
  return
}

// -----
// gemm C6: nothing is yielded.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects a body that yields nothing, got 1 values}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
    tenon.yield %sum : f32
  }
  return
}

// -----
// gemm C7: each result has a put.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects a put for each of its 1 results, got none for 0}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    
  }
  return
}

// -----
// gemm: rank is not negative.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op attribute 'rank' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank -1 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// -----
// gemm C8: an operand is in memory, or a region computes it: the index of each dimension ..
func.func @f(%b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects block arguments ('index', 'index'), got ('index')}}
  %y = tenon.gemm element[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  } a {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    tenon.yield %one : f32
  }
  return
}

// -----
// gemm C8: .. gives one element of its type ..
func.func @f(%a: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects the region of an operand to yield 'f32', got ('f64')}}
  %y = tenon.gemm %a[0, 2], element[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  } b {
  ^bb0(%j: index, %k: index):
    %one = arith.constant 1.0 : f64
    tenon.yield %one : f64
  }
  return
}

// -----
// gemm C8: .. and not both.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects operand a either in memory or as a type with a region}}
  %y = "tenon.gemm"(%a, %b) <{a_labels = array<i64: 0, 2>, a_type = tensor<4x8xf32>, b_labels = array<i64: 1, 2>, operandSegmentSizes = array<i32: 1, 1>, rank = 2 : i64}> ({
  ^bb0(%i: index, %j: index, %sum: f32):
    "tenon.put"(%i, %j, %sum) <{result = 0 : i64}> : (index, index, f32) -> ()
    "tenon.yield"() : () -> ()
  }, {}, {}) : (tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
  return
}

// -----
// gemm C9: rest_unread has a truth value for each result.
func.func @f(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // expected-error @+1 {{'tenon.gemm' op expects in rest_unread a truth value for each of its 1 results, got 2}}
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> attributes {rest_unread = array<i1: true, false>} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}
