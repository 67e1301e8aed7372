// What a stack keeps for its reversed twin, op by op: carries and results of contractions (here z and the carry) and of row statistics; the rest is computed again from these. Nothing else is yielded, read back or written.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not=tenon.yield --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient

// CHECK-LABEL: func.func @neg(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[NEG:.*]] = tenon.neg %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[NEG]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @neg(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.neg %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @exp(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[EXP:.*]] = tenon.exp %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[EXP]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.exp
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
  func.func @exp(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.exp %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @log(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[LOG:.*]] = tenon.log %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[LOG]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.div
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @log(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.log %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sqrt(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SQRT:.*]] = tenon.sqrt %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SQRT]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.sqrt
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.div
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @sqrt(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.sqrt %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @abs(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[ABS:.*]] = tenon.abs %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[ABS]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @abs(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.abs %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sin(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SIN:.*]] = tenon.sin %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SIN]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.cos
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @sin(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.sin %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @cos(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[COS:.*]] = tenon.cos %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[COS]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.sin
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @cos(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.cos %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @atan(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[ATAN:.*]] = tenon.atan %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[ATAN]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.div
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @atan(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.atan %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @erf(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[ERF:.*]] = tenon.erf %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[ERF]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant 1.12837
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @erf(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.erf %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @tanh(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[TANH:.*]] = tenon.tanh %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[TANH]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.tanh
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.sub
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @tanh(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.tanh %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sigmoid(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SIGMOID:.*]] = tenon.sigmoid %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SIGMOID]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.sigmoid
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.sub
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @sigmoid(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.sigmoid %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @relu(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[RELU:.*]] = tenon.relu %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[RELU]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @relu(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.relu %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @gelu(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[GELU:.*]] = tenon.gelu %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[GELU]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.activation_grad
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @gelu(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.gelu %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[GELU_TANH:.*]] = tenon.gelu_tanh %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[GELU_TANH]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.activation_grad
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @gelu_tanh(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.gelu_tanh %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
