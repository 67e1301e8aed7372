// What a stack keeps for its reversed twin, op by op: carries and results of contractions (here z and the carry) and of row statistics; the rest is computed again from these. Nothing else is yielded, read back or written.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not=tenon.yield --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient

// CHECK-LABEL: func.func @not_and_or(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[COMPARE:.*]] = tenon.compare lt %[[Z]], %arg1
// CHECK-NEXT: %[[NOT:.*]] = tenon.not %[[COMPARE]]
// CHECK-NEXT: %[[AND:.*]] = tenon.and %[[NOT]], %arg2
// CHECK-NEXT: %[[OR:.*]] = tenon.or %[[AND]], %[[COMPARE]]
// CHECK-NEXT: %[[SELECT:.*]] = tenon.select %[[OR]], %[[Z]], %arg1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SELECT]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.not
// CHECK-NEXT: tenon.and
// CHECK-NEXT: tenon.or
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
  func.func @not_and_or(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %c = tenon.compare lt %z, %g : tensor<4x8xf32> -> tensor<4x8xi1>
      %n = tenon.not %c : tensor<4x8xi1>
      %e = tenon.and %n, %k : tensor<4x8xi1>
      %m = tenon.or %e, %c : tensor<4x8xi1>
      %y = tenon.select %m, %z, %g : tensor<4x8xi1>, tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @convert(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %arg1
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
  func.func @convert(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %e = tenon.convert %z : tensor<4x8xf32> -> tensor<4x8xf64>
      %y = tenon.convert %e : tensor<4x8xf64> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @dropout(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[DROPOUT:.*]] = tenon.dropout %[[Z]] depth %{{.*}} rate 1.000000e-01 site 7
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[DROPOUT]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dropout
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @dropout(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.dropout %z depth %d rate 0.1 site 7 : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @floordiv_mod(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[CONSTANT:.*]] = tenon.constant 2.000000e+00
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[DEPTH_VALUE:.*]] = tenon.depth_value %{{.*}}
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[DEPTH_VALUE]] []
// CHECK-NEXT: %[[FLOORDIV:.*]] = tenon.floordiv %[[BROADCAST]], %[[CONSTANT]]
// CHECK-NEXT: %[[MOD:.*]] = tenon.mod %[[FLOORDIV]], %[[CONSTANT]]
// CHECK-NEXT: %[[CONVERT:.*]] = tenon.convert %[[MOD]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %[[CONVERT]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.depth_value
// CHECK-NEXT: tenon.broadcast
// CHECK-NEXT: tenon.floordiv
// CHECK-NEXT: tenon.mod
// CHECK-NEXT: tenon.convert
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
  func.func @floordiv_mod(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %i = tenon.depth_value %d : tensor<i32>
      %j = tenon.broadcast %i [] : tensor<i32> -> tensor<4x8xi32>
      %two = tenon.constant 2.0 : tensor<4x8xi32>
      %q = tenon.floordiv %j, %two : tensor<4x8xi32>
      %r = tenon.mod %q, %two : tensor<4x8xi32>
      %s = tenon.convert %r : tensor<4x8xi32> -> tensor<4x8xf32>
      %y = tenon.mul %z, %s : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @size_iota(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[IOTA:.*]] = tenon.iota 1
// CHECK-NEXT: %[[SIZE:.*]] = tenon.size affine_map<(d0) -> (d0 + 2)>
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[SIZE]] []
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[IOTA]], %[[BROADCAST]]
// CHECK-NEXT: %[[CONVERT:.*]] = tenon.convert %[[MUL]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[Z]], %[[CONVERT]]
// CHECK-NEXT: %[[MUL3:.*]] = tenon.mul %[[MUL2]], %arg2
// CHECK-NEXT: tenon.yield %[[MUL3]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.iota
// CHECK-NEXT: tenon.size affine_map<(d0) -> (d0 + 2)>
// CHECK-NEXT: tenon.broadcast
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.convert
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
  func.func @size_iota(%T: index, %x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = ["T"], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %i = tenon.iota 1 : tensor<4x8xi32>
      %s = tenon.size affine_map<(d0) -> (d0 + 2)> : tensor<i32>
      %t = tenon.broadcast %s [] : tensor<i32> -> tensor<4x8xi32>
      %u = tenon.mul %i, %t : tensor<4x8xi32>
      %v = tenon.convert %u : tensor<4x8xi32> -> tensor<4x8xf32>
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

// CHECK-LABEL: func.func @sinusoid(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SINUSOID:.*]] = tenon.sinusoid start affine_map<() -> (0)>
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %[[SINUSOID]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.sinusoid
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
  func.func @sinusoid(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.sinusoid start affine_map<() -> (0)> : tensor<4x8xf32>
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

// CHECK-LABEL: func.func @stop_gradient(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %[[Z]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
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
  func.func @stop_gradient(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.stop_gradient %z : tensor<4x8xf32>
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

// CHECK-LABEL: func.func @reshape(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[RESHAPE:.*]] = tenon.reshape %[[Z]] [1, 2]
// CHECK-NEXT: %[[EXP:.*]] = tenon.exp %[[RESHAPE]]
// CHECK-NEXT: %[[RESHAPE2:.*]] = tenon.reshape %[[EXP]] [1, -2]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[RESHAPE2]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @reshape(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.reshape %z [1, 2] : tensor<4x8xf32> -> tensor<4x2x4xf32>
      %e = tenon.exp %v : tensor<4x2x4xf32>
      %y = tenon.reshape %e [1, -2] : tensor<4x2x4xf32> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @slice_pad(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SLICE:.*]] = tenon.slice %[[Z]] 0 from affine_map<() -> (2)>
// CHECK-NEXT: %[[EXP:.*]] = tenon.exp %[[SLICE]]
// CHECK-NEXT: %[[PAD:.*]] = tenon.pad %[[EXP]] 0 from affine_map<() -> (1)>
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[PAD]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.slice
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.slice
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.pad
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @slice_pad(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.slice %z 0 from affine_map<() -> (2)> : tensor<4x8xf32> -> tensor<2x8xf32>
      %e = tenon.exp %v : tensor<2x8xf32>
      %y = tenon.pad %e 0 from affine_map<() -> (1)> : tensor<2x8xf32> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @concat(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SLICE:.*]] = tenon.slice %[[Z]] 0 from affine_map<() -> (2)>
// CHECK-NEXT: %[[EXP:.*]] = tenon.exp %[[SLICE]]
// CHECK-NEXT: %[[CONCAT:.*]] = tenon.concat 0 %[[EXP]], %[[SLICE]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[CONCAT]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.slice
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.slice
// CHECK-NEXT: tenon.slice
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.pad
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @concat(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.slice %z 0 from affine_map<() -> (2)> : tensor<4x8xf32> -> tensor<2x8xf32>
      %e = tenon.exp %v : tensor<2x8xf32>
      %y = tenon.concat 0 %e, %v : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// What is joined for a contraction is joined again: the parts are kept, here the carry alone, for the other part is no value of the loop.
// CHECK-LABEL: func.func @joined(
// CHECK: %[[Z:.*]] = tenon.dot
// CHECK: tenon.yield %{{[^,]*}}, %[[Z]], %{{[^,]*}} : tensor<4x8xf32>, tensor<6x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK: %[[KEPT:.*]] = tenon.at_depth
// CHECK-NEXT: tenon.concat 0 %arg2, %[[KEPT]]
// CHECK: tenon.dot
// CHECK: tenon.write_gradient @w
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @joined(%x: tensor<4x8xf32>, %g: tensor<6x8xf32>, %m: tensor<2x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %j = tenon.concat 0 %m, %h : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<6x8xf32>
      %z = tenon.dot %j[0, 2], %w[1, 2] : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
      %p = tenon.mul %z, %g : tensor<6x8xf32>
      %s = tenon.slice %p 0 from affine_map<() -> (2)> : tensor<6x8xf32> -> tensor<4x8xf32>
      tenon.yield %s : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// An activation that a contraction reads is made again from its sum, which is kept for its derivative anyway: carry, sum.
// CHECK-LABEL: func.func @activated(
// CHECK: %[[Z:.*]] = tenon.dot
// CHECK-NEXT: tenon.mul %[[Z]], %[[Z]]
// CHECK: tenon.yield %{{[^,]*}}, %[[Z]], %{{[^,]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK: %[[KEPT:.*]] = tenon.at_depth
// CHECK: tenon.mul %[[KEPT]], %[[KEPT]]
// CHECK: tenon.at_depth
// CHECK: tenon.write_gradient @v
// CHECK-NEXT: tenon.write_gradient @w
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  tenon.parameter @v stacked : tensor<2x8x8xf32>
  func.func @activated(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %v = tenon.read_parameter @v[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %a = tenon.mul %z, %z : tensor<4x8xf32>
      %y = tenon.dot %a[0, 2], %v[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      tenon.yield %y : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// The carry is none: it may be rounded for the backward pass alone. What is made of it is kept: carry, what the second contraction reads.
// CHECK-LABEL: func.func @carried(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[A:.*]] = tenon.add
// CHECK: tenon.yield %{{[^,]*}}, %[[A]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.at_depth
// CHECK: tenon.at_depth
// CHECK: tenon.write_gradient @v
// CHECK-NEXT: tenon.write_gradient @w
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  tenon.parameter @v stacked : tensor<2x8x8xf32>
  func.func @carried(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %v = tenon.read_parameter @v[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %a = tenon.add %z, %h : tensor<4x8xf32>
      %y = tenon.dot %a[0, 2], %v[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      tenon.yield %y : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @gather(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[GATHER:.*]] = tenon.gather %[[Z]][%arg3] dim 0 x_dims [-1, 1] index_dims [0]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[GATHER]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[GATHER]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.scatter_add
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @gather(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.gather %z[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @scatter_add(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SCATTER_ADD:.*]] = tenon.scatter_add %[[Z]][%arg3] dim 0 x_dims [-1, 1] index_dims [0]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SCATTER_ADD]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[SCATTER_ADD]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.gather
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @scatter_add(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.scatter_add %z[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<4x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @reduce(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[REDUCE:.*]] = tenon.reduce max %[[Z]] [1]
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[REDUCE]] [0]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[BROADCAST]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[REDUCE]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.reduce
// CHECK-NEXT: tenon.broadcast
// CHECK-NEXT: tenon.compare
// CHECK-NEXT: tenon.convert
// CHECK-NEXT: tenon.reduce
// CHECK-NEXT: tenon.div
// CHECK-NEXT: tenon.broadcast
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @reduce(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.reduce max %z [1] : tensor<4x8xf32> -> tensor<4xf32>
      %y = tenon.broadcast %v [0] : tensor<4xf32> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @running_sum(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[RUNNING_SUM:.*]] = tenon.running_sum %[[Z]] dim 1
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[RUNNING_SUM]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[RUNNING_SUM]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.running_sum
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @running_sum(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.running_sum %z dim 1 : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @softmax(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[SOFTMAX:.*]] = tenon.softmax %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[SOFTMAX]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[SOFTMAX]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.reduce
// CHECK-NEXT: tenon.broadcast
// CHECK-NEXT: tenon.sub
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @softmax(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %y = tenon.softmax %z : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @normalize(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = tenon.normalize %[[Z]] eps 1.000000e-05
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Y]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[Y]], %[[Z]], %[[MEAN]], %[[RSTD]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.normalize_grad
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @normalize(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %y, %me, %rs = tenon.normalize %z eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// CHECK-LABEL: func.func @cross_entropy(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[LOSS:.*]], %[[LSE:.*]] = tenon.cross_entropy %[[Z]], %arg3
// CHECK-NEXT: %[[BROADCAST:.*]] = tenon.broadcast %[[LOSS]] [0]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[BROADCAST]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL]], %[[LOSS]], %[[Z]], %[[LSE]], %[[H]] : tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.reduce
// CHECK-NEXT: tenon.cross_entropy_grad
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @cross_entropy(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %ce, %lse = tenon.cross_entropy %z, %ids : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
      %y = tenon.broadcast %ce [0] : tensor<4xf32> -> tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
      %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
