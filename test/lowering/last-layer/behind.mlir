// Rows that are read through ops behind the stack, such as a final norm: these and the last layer are computed for the rows alone, once for all that pick them.
// RUN: tenon-opt %s --split-input-file --tenon-last-layer --cse | FileCheck %s

tenon.parameter @w stacked : tensor<4x8x8xf32>
tenon.parameter @scale : tensor<8xf32>

// Two places that are told and the first one, behind a norm with a scale. Rows of what is repeated are made, of what lies by place they are gathered, and of what is drawn.
// CHECK-LABEL: func.func @norm
// CHECK: %[[H:.*]] = tenon.stack 3(%arg0)
// CHECK: %[[AT:.*]] = tenon.concat 1 %arg1, %{{.*}} : tensor<2x2xi32>, tensor<2x1xi32> -> tensor<2x3xi32>
// CHECK: %[[LAST:.*]] = tenon.stack 1 from 3(%{{.*}}) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK: tenon.dot {{.*}} -> tensor<2x3x8xf32>
// CHECK: tenon.yield
// CHECK-NOT: tenon.normalize {{.*}} tensor<2x16x8xf32>
// CHECK-NOT: tenon.mul {{.*}} tensor<2x16x8xf32>
// CHECK: %[[DRAWN:.*]] = tenon.dropout %{{.*}} rate 1.000000e-01 site 7 : tensor<2x16x8xf32>
// CHECK: %[[FACTOR:.*]] = tenon.gather %[[DRAWN]][%[[AT]]] dim 1
// CHECK: %[[N:.*]], %{{.*}}, %{{.*}} = tenon.normalize %[[LAST]] {{.*}} : tensor<2x3x8xf32> -> tensor<2x3x8xf32>, tensor<2x3xf32>, tensor<2x3xf32>
// CHECK: %[[S:.*]] = tenon.broadcast %{{.*}} [2] : tensor<8xf32> -> tensor<2x3x8xf32>
// CHECK: %[[M:.*]] = tenon.mul %[[N]], %[[S]] : tensor<2x3x8xf32>
// CHECK: %[[P:.*]] = tenon.gather %arg2[%[[AT]]] dim 1 x_dims [0, -1, 2] index_dims [0, 1] : tensor<2x16x8xf32>, tensor<2x3xi32> -> tensor<2x3x8xf32>
// CHECK: %[[A:.*]] = tenon.add %[[M]], %[[P]] : tensor<2x3x8xf32>
// CHECK: %[[D:.*]] = tenon.mul %[[A]], %[[FACTOR]] : tensor<2x3x8xf32>
// CHECK-NOT: tenon.normalize
// CHECK: tenon.slice %[[D]] 1 from #{{.*}} : tensor<2x3x8xf32> -> tensor<2x2x8xf32>
// CHECK-NOT: tenon.normalize
// CHECK: tenon.slice %[[D]] 1 from #{{.*}} : tensor<2x3x8xf32> -> tensor<2x1x8xf32>
// CHECK-NOT: tenon.normalize
// CHECK: return
func.func @norm(%x: tensor<2x16x8xf32>, %at: tensor<2x2xi32>, %place: tensor<2x16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %scale = tenon.read_parameter @scale : tensor<8xf32>
  %h = tenon.stack 4 (%x) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  ^bb0(%d: index, %c: tensor<2x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 1, 3], %w[2, 3] : tensor<2x16x8xf32>, tensor<8x8xf32> -> tensor<2x16x8xf32>
    tenon.yield %y : tensor<2x16x8xf32>
  }
  %n, %mean, %rstd = tenon.normalize %h eps 1.0e-5 : tensor<2x16x8xf32> -> tensor<2x16x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>
  %s = tenon.broadcast %scale [2] : tensor<8xf32> -> tensor<2x16x8xf32>
  %p = tenon.mul %n, %s : tensor<2x16x8xf32>
  %q = tenon.add %p, %place : tensor<2x16x8xf32>
  %z = tenon.dropout %q rate 0.1 site 7 : tensor<2x16x8xf32>
  %m = tenon.gather %z[%at] dim 1 x_dims [0, -1, 2] index_dims [0, 1] : tensor<2x16x8xf32>, tensor<2x2xi32> -> tensor<2x2x8xf32>
  %f = tenon.slice %z 1 from affine_map<() -> (0)> : tensor<2x16x8xf32> -> tensor<2x1x8xf32>
  %l = tenon.reduce sum %m [0, 1, 2] : tensor<2x2x8xf32> -> tensor<f32>
  %k = tenon.reduce sum %f [0, 1, 2] : tensor<2x1x8xf32> -> tensor<f32>
  %o = tenon.add %l, %k : tensor<f32>
  tenon.output 0 "loss", %o : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// A norm of its own formula reaches the product on two ways, one of which has lost the width; the order of dimensions is another one at the pick, and a second one picks in front of it.
// CHECK-LABEL: func.func @ways
// CHECK: %[[LAST:.*]] = tenon.stack 1 from 3(%{{.*}}) : (tensor<2x2x8xf32>) -> tensor<2x2x8xf32>
// CHECK: tenon.yield
// CHECK: %[[Q:.*]] = tenon.mul %[[LAST]], %[[LAST]] : tensor<2x2x8xf32>
// CHECK-NEXT: %[[R:.*]] = tenon.reduce sum %[[Q]] [2] : tensor<2x2x8xf32> -> tensor<2x2xf32>
// CHECK-NEXT: %[[B:.*]] = tenon.broadcast %[[R]] [0, 1] : tensor<2x2xf32> -> tensor<2x2x8xf32>
// CHECK-NEXT: %[[M:.*]] = tenon.mul %[[LAST]], %[[B]] : tensor<2x2x8xf32>
// CHECK-NEXT: %[[T:.*]] = tenon.broadcast %[[M]] [1, 0, 2] : tensor<2x2x8xf32> -> tensor<2x2x8xf32>
// CHECK-NEXT: %[[S:.*]] = tenon.slice %[[T]] 0 from #{{.*}} : tensor<2x2x8xf32> -> tensor<1x2x8xf32>
// CHECK-NEXT: tenon.reshape %[[S]] [-2, 1] : tensor<1x2x8xf32> -> tensor<2x8xf32>
// CHECK-NEXT: tenon.slice %[[LAST]] 1 from #{{.*}} : tensor<2x2x8xf32> -> tensor<2x1x8xf32>
func.func @ways(%x: tensor<2x16x8xf32>, %at: tensor<2xi32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  ^bb0(%d: index, %c: tensor<2x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 1, 3], %w[2, 3] : tensor<2x16x8xf32>, tensor<8x8xf32> -> tensor<2x16x8xf32>
    tenon.yield %y : tensor<2x16x8xf32>
  }
  %q = tenon.mul %h, %h : tensor<2x16x8xf32>
  %r = tenon.reduce sum %q [2] : tensor<2x16x8xf32> -> tensor<2x16xf32>
  %b = tenon.broadcast %r [0, 1] : tensor<2x16xf32> -> tensor<2x16x8xf32>
  %p = tenon.mul %h, %b : tensor<2x16x8xf32>
  %t = tenon.broadcast %p [1, 0, 2] : tensor<2x16x8xf32> -> tensor<16x2x8xf32>
  %m = tenon.gather %t[%at] dim 0 x_dims [-1, 0, 1] index_dims [0] : tensor<16x2x8xf32>, tensor<2xi32> -> tensor<2x8xf32>
  %f = tenon.slice %h 1 from affine_map<() -> (3)> : tensor<2x16x8xf32> -> tensor<2x1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<2x8xf32> -> tensor<f32>
  %k = tenon.reduce sum %f [0, 1, 2] : tensor<2x1x8xf32> -> tensor<f32>
  %o = tenon.add %l, %k : tensor<f32>
  tenon.output 0 "loss", %o : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// Everything behind the norm is read as well.
// CHECK-LABEL: func.func @both
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: return
func.func @both(%x: tensor<16x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %n, %mean, %rstd = tenon.normalize %h eps 1.0e-5 : tensor<16x8xf32> -> tensor<16x8xf32>, tensor<16xf32>, tensor<16xf32>
  %m = tenon.slice %n 0 from affine_map<() -> (0)> : tensor<16x8xf32> -> tensor<1x8xf32>
  tenon.output 0 "row", %m : tensor<1x8xf32>
  tenon.output 1 "all", %n : tensor<16x8xf32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// So is one of its statistics.
// CHECK-LABEL: func.func @statistic
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: return
func.func @statistic(%x: tensor<16x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %n, %mean, %rstd = tenon.normalize %h eps 1.0e-5 : tensor<16x8xf32> -> tensor<16x8xf32>, tensor<16xf32>, tensor<16xf32>
  %m = tenon.slice %n 0 from affine_map<() -> (0)> : tensor<16x8xf32> -> tensor<1x8xf32>
  tenon.output 0 "row", %m : tensor<1x8xf32>
  tenon.output 1 "means", %mean : tensor<16xf32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// A softmax over the places: a row of it is of all of them.
// CHECK-LABEL: func.func @mixed
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: return
func.func @mixed(%x: tensor<8x16xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
  ^bb0(%d: index, %c: tensor<8x16xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %w[0, 2], %c[2, 1] : tensor<8x8xf32>, tensor<8x16xf32> -> tensor<8x16xf32>
    tenon.yield %y : tensor<8x16xf32>
  }
  %s = tenon.softmax %h : tensor<8x16xf32>
  %m = tenon.slice %s 1 from affine_map<() -> (5)> : tensor<8x16xf32> -> tensor<8x1xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<8x1xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// Products of all pairs of places: one row of them is of one place and of all.
// CHECK-LABEL: func.func @pairs
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: return
func.func @pairs(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %s = tenon.dot %h[0, 2], %h[1, 2] : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x16xf32>
  %m = tenon.slice %s 0 from affine_map<() -> (5)> : tensor<16x16xf32> -> tensor<1x16xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x16xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// Picks along two dimensions, one of them of widths.
// CHECK-LABEL: func.func @dimensions
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: return
func.func @dimensions(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %n = tenon.tanh %h : tensor<16x8xf32>
  %m = tenon.slice %n 0 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %f = tenon.slice %n 1 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<16x1xf32>
  %k = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  %l = tenon.reduce sum %f [0, 1] : tensor<16x1xf32> -> tensor<f32>
  %o = tenon.add %k, %l : tensor<f32>
  tenon.output 0 "loss", %o : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// The place is told by what stands behind the norm.
// CHECK-LABEL: func.func @told
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: return
func.func @told(%x: tensor<16x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %n = tenon.tanh %h : tensor<16x8xf32>
  %f = tenon.slice %n 0 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %a = tenon.argmax %f dim 1 : tensor<1x8xf32> -> tensor<1xi32>
  %m = tenon.gather %n[%a] dim 0 x_dims [-1, 1] index_dims [0] : tensor<16x8xf32>, tensor<1xi32> -> tensor<1x8xf32>
  tenon.output 0 "row", %m : tensor<1x8xf32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// One pick reads two results together: rows of each would be lists of their own.
// CHECK-LABEL: func.func @joined
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: return
func.func @joined(%x: tensor<16x8xf32>, %z: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h:2 = tenon.stack 4 (%x, %z) : (tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  ^bb0(%d: index, %c: tensor<16x8xf32>, %e: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %t = tenon.tanh %e : tensor<16x8xf32>
    tenon.yield %y, %t : tensor<16x8xf32>, tensor<16x8xf32>
  }
  %s = tenon.add %h#0, %h#1 : tensor<16x8xf32>
  %m = tenon.slice %s 0 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
