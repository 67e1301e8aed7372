// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s --check-prefix=BEFORE
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify{after-differentiation=true}))' | FileCheck %s --check-prefix=AFTER

// What a recurrence contracts at each place, but for what it carries, is contracted for all places before it.
#x = affine_map<(d0) -> (d0, 2, 4)>
// BEFORE-LABEL: func.func @forward
// BEFORE: %[[ALL:.*]] = tenon.dot %{{.*}}[0, 1, 3], %{{.*}}[2, 3] : tensor<?x2x4xf32, #{{.*}}>, tensor<4x4xf32> -> tensor<?x2x4xf32, #{{.*}}>
// BEFORE: tenon.stack
// BEFORE: tenon.at_depth %[[ALL]]
// BEFORE: tenon.dot %{{.*}}[0, 2], %{{.*}}[1, 2] : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
// BEFORE-NOT: tenon.dot
// AFTER-LABEL: func.func @forward
// AFTER: tenon.stack
// AFTER: tenon.dot
// AFTER: tenon.dot
func.func @forward(%t: index, %x: tensor<?x2x4xf32, #x>, %w: tensor<4x4xf32>, %h0: tensor<2x4xf32>) attributes {tenon.dims = ["T"]} {
  %y = tenon.stack affine_map<(d0) -> (d0)> (%h0) : (tensor<2x4xf32>) -> (tensor<2x4xf32>) {
  ^bb0(%at: index, %h: tensor<2x4xf32>):
    %one = tenon.at_depth %x[%at] : tensor<?x2x4xf32, #x> -> tensor<2x4xf32>
    %p = tenon.dot %one[0, 2], %w[1, 2] : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %q = tenon.dot %h[0, 2], %w[1, 2] : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %s = tenon.add %p, %q : tensor<2x4xf32>
    tenon.yield %s : tensor<2x4xf32>
  }
  tenon.output 0 "y", %y : tensor<2x4xf32>
  return
}

// -----

// The gradient of a weight, summed over the places, is one contraction over what they collect; what is collected already is taken from there.
#x = affine_map<(d0) -> (d0, 2, 40)>
// AFTER-LABEL: func.func @backward
// AFTER-SAME: %[[X:[a-z0-9]*]]: tensor<?x2x40xf32
// AFTER: %[[BACK:.*]]:2 = tenon.stack #{{.*}} reverse(%{{.*}}) : (tensor<2x40xf32>) -> (tensor<2x40xf32>, tensor<?x2x40xf32, #{{.*}}>)
// AFTER-NOT: tenon.add
// AFTER: }
// AFTER: %[[DW:.*]] = tenon.dot %[[BACK]]#1[3, 2, 0], %[[X]][3, 2, 1] : tensor<?x2x40xf32, #{{.*}}>, tensor<?x2x40xf32, #{{.*}}> -> tensor<40x40xf32>
// AFTER: tenon.output 1 "dw", %[[DW]]
// BEFORE-LABEL: func.func @backward
// BEFORE: tenon.stack #{{.*}} reverse(%{{.*}}, %{{.*}})
func.func @backward(%t: index, %x: tensor<?x2x40xf32, #x>, %dy: tensor<2x40xf32>) attributes {tenon.dims = ["T"]} {
  %zero = tenon.constant 0.0 : tensor<40x40xf32>
  %y:2 = tenon.stack affine_map<(d0) -> (d0)> reverse (%dy, %zero) : (tensor<2x40xf32>, tensor<40x40xf32>) -> (tensor<2x40xf32>, tensor<40x40xf32>) {
  ^bb0(%at: index, %h: tensor<2x40xf32>, %sum: tensor<40x40xf32>):
    %one = tenon.at_depth %x[%at] : tensor<?x2x40xf32, #x> -> tensor<2x40xf32>
    %d = tenon.tanh %h : tensor<2x40xf32>
    %p = tenon.dot %d[2, 0], %one[2, 1] : tensor<2x40xf32>, tensor<2x40xf32> -> tensor<40x40xf32>
    %s = tenon.add %sum, %p : tensor<40x40xf32>
    tenon.yield %d, %s : tensor<2x40xf32>, tensor<40x40xf32>
  }
  tenon.output 0 "dy", %y#0 : tensor<2x40xf32>
  tenon.output 1 "dw", %y#1 : tensor<40x40xf32>
  return
}

// -----

// Of many rows: what they would collect is more than the sum.
// AFTER-LABEL: func.func @rows
// AFTER: tenon.stack 3 reverse(%{{.*}}, %{{.*}})
func.func @rows(%x: tensor<3x64x8xf32>, %dy: tensor<64x8xf32>) attributes {tenon.dims = []} {
  %zero = tenon.constant 0.0 : tensor<8x8xf32>
  %y:2 = tenon.stack 3 reverse (%dy, %zero) : (tensor<64x8xf32>, tensor<8x8xf32>) -> (tensor<64x8xf32>, tensor<8x8xf32>) {
  ^bb0(%at: index, %h: tensor<64x8xf32>, %sum: tensor<8x8xf32>):
    %one = tenon.at_depth %x[%at] : tensor<3x64x8xf32> -> tensor<64x8xf32>
    %d = tenon.tanh %h : tensor<64x8xf32>
    %p = tenon.dot %d[2, 0], %one[2, 1] : tensor<64x8xf32>, tensor<64x8xf32> -> tensor<8x8xf32>
    %s = tenon.add %sum, %p : tensor<8x8xf32>
    tenon.yield %d, %s : tensor<64x8xf32>, tensor<8x8xf32>
  }
  tenon.output 0 "dy", %y#0 : tensor<64x8xf32>
  tenon.output 1 "dw", %y#1 : tensor<8x8xf32>
  return
}

// -----

// What each place reads transposed is made in that order before the loop; not where somebody else reads it, and not random numbers, which go by places.
// BEFORE-LABEL: func.func @transposed
// BEFORE: %[[TURNED:.*]] = tenon.broadcast %{{.*}} [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
// BEFORE: %[[E:.*]] = tenon.exp %[[TURNED]] : tensor<3x4xf32>
// BEFORE: %[[READ:.*]] = tenon.tanh %{{.*}} : tensor<4x3xf32>
// BEFORE: %[[DROPPED:.*]] = tenon.dropout
// BEFORE: tenon.stack
// BEFORE-DAG: tenon.broadcast %[[E]] [0, 2] : tensor<3x4xf32> -> tensor<3x2x4xf32>
// BEFORE-DAG: tenon.broadcast %[[READ]] [2, 0] : tensor<4x3xf32> -> tensor<3x2x4xf32>
// BEFORE-DAG: tenon.broadcast %[[DROPPED]] [2, 0] : tensor<4x3xf32> -> tensor<3x2x4xf32>
// AFTER-LABEL: func.func @transposed
// AFTER: tenon.exp %{{.*}} : tensor<4x3xf32>
func.func @transposed(%t: index, %a: tensor<4x3xf32>, %h0: tensor<3x2x4xf32>) attributes {tenon.dims = ["T"]} {
  %e = tenon.exp %a : tensor<4x3xf32>
  %r = tenon.tanh %a : tensor<4x3xf32>
  %d = tenon.dropout %a rate 0.5 site 3 : tensor<4x3xf32>
  %y = tenon.stack affine_map<(d0) -> (d0)> (%h0) : (tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>) {
  ^bb0(%at: index, %h: tensor<3x2x4xf32>):
    %p = tenon.broadcast %e [2, 0] : tensor<4x3xf32> -> tensor<3x2x4xf32>
    %q = tenon.broadcast %r [2, 0] : tensor<4x3xf32> -> tensor<3x2x4xf32>
    %s = tenon.broadcast %d [2, 0] : tensor<4x3xf32> -> tensor<3x2x4xf32>
    %pq = tenon.mul %p, %q : tensor<3x2x4xf32>
    %pqs = tenon.mul %pq, %s : tensor<3x2x4xf32>
    %n = tenon.mul %h, %pqs : tensor<3x2x4xf32>
    tenon.yield %n : tensor<3x2x4xf32>
  }
  tenon.output 0 "y", %y : tensor<3x2x4xf32>
  tenon.output 1 "r", %r : tensor<4x3xf32>
  return
}
