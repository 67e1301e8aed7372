// What a stack keeps for its reversed twin, op by op: carries and results of contractions (here z and the carry) and of row statistics; the rest is computed again from these.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s

// CHECK-LABEL: func.func @not_and_or(
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dropout
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.constant
// CHECK-NEXT: tenon.iota
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.convert
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @size_iota(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>, %k: tensor<4x8xi1>, %ids: tensor<4xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
      %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %i = tenon.iota 1 : tensor<4x8xi32>
      %s = tenon.size affine_map<() -> (8)> : tensor<i32>
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.concat
// CHECK: tenon.dot
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
// CHECK: %[[A:.*]] = tenon.add
// CHECK: tenon.yield %{{[^,]*}}, {{.*}}%[[A]]{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.scatter_add
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.gather
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NEXT: ^bb0
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: tenon.at_depth
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.running_sum
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.dot
// CHECK-NEXT: tenon.write_gradient
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>{{$}}
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
// CHECK: tenon.yield {{[^:]*}} : tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4x8xf32>{{$}}
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
