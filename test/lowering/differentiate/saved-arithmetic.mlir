// What a stack keeps for its reversed twin, op by op: carries and results of contractions (here z and the carry) and of row statistics; the rest is computed again from these. Nothing else is yielded, read back or written.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not=tenon.yield --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient

// CHECK-LABEL: func.func @add(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[ADD:.*]] = tenon.add %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[ADD]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @add(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.add %z, %g : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @sub(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SUB:.*]] = tenon.sub %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SUB]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @sub(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.sub %z, %g : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @mul(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %arg1
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
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
  func.func @mul(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.mul %z, %g : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @div(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[DIV:.*]] = tenon.div %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[DIV]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
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
  func.func @div(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.div %z, %g : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @pow(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[POW:.*]] = tenon.pow %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[POW]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.sub
// CHECK-NEXT: tenon.pow
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @pow(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.pow %z, %g : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @max(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[MAX:.*]] = tenon.max %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[MAX]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @max(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.max %z, %g : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @min(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[MIN:.*]] = tenon.min %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[MIN]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @min(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.min %z, %g : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @compare_select(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare lt %[[Z]], %arg1
// CHECK-NEXT: %[[SELECT:.*]] = tenon.select %[[COMPARE]], %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SELECT]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.select
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @compare_select(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %c = tenon.compare lt %z, %g : tensor<4x8xf32> -> tensor<4x8xi1>
      %y = tenon.select %c, %z, %g : tensor<4x8xi1>, tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
