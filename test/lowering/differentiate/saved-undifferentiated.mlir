// What a stack keeps of ops without a gradient, whose results others read backward: where elements were found (argmax, top) is saved; noise is drawn again by the same counters, and a state is read again. Nothing else is yielded, read back or written.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not=tenon.yield --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient

// CHECK-LABEL: func.func @argmax(
// CHECK: ^bb0(%[[DEPTH:.*]]: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[ARGMAX:.*]] = tenon.argmax %[[Z]] dim 1
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[ARGMAX]] [0]
// CHECK-NEXT: %[[IOTA:.*]] = tenon.iota 1
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare eq %[[IOTA]], %[[BROADCAST]]
// CHECK-NEXT: %[[SELECT:.*]] = tenon.select %[[COMPARE]], %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SELECT]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[ARGMAX]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4xi32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.iota
// CHECK-NEXT: tenon.at_depth %{{.*}} : tensor<2x4xi32> -> tensor<4xi32>
// CHECK-NEXT: tenon.broadcast
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth %{{.*}} : tensor<2x4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @argmax(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %a = tenon.argmax %z dim 1 : tensor<4x8xf32> -> tensor<4xi32>
      %j = tenon.broadcast %a [0] : tensor<4xi32> -> tensor<4x8xi32>
      %i = tenon.iota 1 : tensor<4x8xi32>
      %c = tenon.compare eq %i, %j : tensor<4x8xi32> -> tensor<4x8xi1>
      %y = tenon.select %c, %z, %g : tensor<4x8xi1>, tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @top(
// CHECK: ^bb0(%[[DEPTH:.*]]: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[TOP:.*]] = tenon.top %[[Z]]
// CHECK-NEXT: %[[CONVERT:.*]] = tenon.convert %[[TOP]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %[[CONVERT]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[TOP]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth %{{.*}} : tensor<2x4x8xi32> -> tensor<4x8xi32>
// CHECK-NEXT: tenon.convert
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth %{{.*}} : tensor<2x4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @top(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %t = tenon.top %z : tensor<4x8xf32> -> tensor<4x8xi32>
      %v = tenon.convert %t : tensor<4x8xi32> -> tensor<4x8xf32>
      %y = tenon.mul %z, %v : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @gumbel(
// CHECK: ^bb0(%[[DEPTH:.*]]: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[GUMBEL:.*]] = tenon.gumbel %[[Z]] depth %[[DEPTH]] site 7
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %[[GUMBEL]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0(%[[REVERSED:.*]]: index, %{{.*}}: tensor<4x8xf32>):
// CHECK-NEXT: %[[SAVED:.*]] = tenon.at_depth
// CHECK-NEXT: tenon.gumbel %[[SAVED]] depth %[[REVERSED]] site 7
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @gumbel(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %s = tenon.stop_gradient %z : tensor<4x8xf32>
      %v = tenon.gumbel %s depth %d site 7 : tensor<4x8xf32>
      %y = tenon.mul %z, %v : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @read_state(
// CHECK: ^bb0(%[[DEPTH:.*]]: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[STATE:.*]] = tenon.read_state 0[%[[DEPTH]]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %[[STATE]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0(%[[REVERSED:.*]]: index, %{{.*}}: tensor<4x8xf32>):
// CHECK-NEXT: tenon.read_state 0[%[[REVERSED]]]
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @read_state(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [tensor<2x4x8xf32>]} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.read_state 0[%d] : tensor<4x8xf32>
      %y = tenon.mul %z, %v : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
