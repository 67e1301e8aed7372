// Of the last layer of a stack, what is read of it: rows that gathers and slices pick, by way of attention and with what dropout draws for them; no chain that nobody reads; and what stays as it is.
// RUN: tenon-opt %s --split-input-file --tenon-last-layer --cse | FileCheck %s --implicit-check-not='tenon.stack 4'

tenon.parameter @w stacked : tensor<4x8x8xf32>

// Two places that are told and the first one: 3 of 16. Keys and values are of all places.
// CHECK-LABEL: func.func @rows
// CHECK: %[[H:.*]] = tenon.stack 3(%arg0) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
// CHECK: %[[FIRST:.*]] = tenon.broadcast %{{.*}} [1] : tensor<1xi32> -> tensor<2x1xi32>
// CHECK: %[[AT:.*]] = tenon.concat 1 %arg1, %[[FIRST]] : tensor<2x2xi32>, tensor<2x1xi32> -> tensor<2x3xi32>
// CHECK: %[[IN:.*]] = tenon.gather %[[H]][%[[AT]]] dim 1 x_dims [0, -1, 2] index_dims [0, 1]
// CHECK: %[[LAST:.*]] = tenon.stack 1 from 3(%[[IN]]) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
// CHECK-NEXT: ^bb0(%[[D:.*]]: index, %[[C:.*]]: tensor<2x3x8xf32>):
// CHECK: %[[W:.*]] = tenon.read_parameter @w[%[[D]]]
// CHECK: %[[K:.*]] = tenon.dot %[[H]][0, 1, 3], %[[W]][2, 3] : {{.*}} -> tensor<2x16x8xf32>
// CHECK: %[[DRAWN:.*]] = tenon.dropout %{{.*}} depth %[[D]] rate 1.000000e-01 site 7 : tensor<2x16x8xf32>
// CHECK: %[[FACTOR:.*]] = tenon.gather %[[DRAWN]][%[[AT]]] dim 1
// CHECK: %[[Q:.*]] = tenon.dot %[[C]][0, 1, 3], %[[W]][3, 2] : {{.*}} -> tensor<2x3x8xf32>
// CHECK: tenon.attend scores(%{{.*}}) masks(%{{.*}}) value(%[[H]]) {{.*}} : (tensor<2x3x16xf32>, tensor<2x3x16xi1>, tensor<2x16x8xf32>, index) -> tensor<2x3x8xf32>
// CHECK: tenon.mul %{{.*}}, %[[FACTOR]] : tensor<2x3x8xf32>
// CHECK: tenon.reduce max %{{.*}} [2] : tensor<2x3x8xf32> -> tensor<2x3xf32>
// CHECK: tenon.add %[[C]],
// CHECK: tenon.yield
// CHECK-DAG: tenon.slice %[[LAST]] 1 from #{{.*}} : tensor<2x3x8xf32> -> tensor<2x2x8xf32>
// CHECK-DAG: tenon.slice %[[LAST]] 1 from #{{.*}} : tensor<2x3x8xf32> -> tensor<2x1x8xf32>
func.func @rows(%x: tensor<2x16x8xf32>, %at: tensor<2x2xi32>, %sees: tensor<2x16x16xi1>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  ^bb0(%d: index, %c: tensor<2x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %k = tenon.dot %c[0, 1, 3], %w[2, 3] : tensor<2x16x8xf32>, tensor<8x8xf32> -> tensor<2x16x8xf32>
    %q = tenon.dot %c[0, 1, 3], %w[3, 2] : tensor<2x16x8xf32>, tensor<8x8xf32> -> tensor<2x16x8xf32>
    %s = tenon.dot %q[0, 1, 3], %k[0, 2, 3] : tensor<2x16x8xf32>, tensor<2x16x8xf32> -> tensor<2x16x16xf32>
    %a = tenon.attend scores(%s) masks(%sees) value(%c) depth %d labels [[0, 1, 3], [0, 1, 3], [0, 3, 2]] scale 1.0 rate 0.0 site 0 : (tensor<2x16x16xf32>, tensor<2x16x16xi1>, tensor<2x16x8xf32>, index) -> tensor<2x16x8xf32>
    %drop = tenon.dropout %a depth %d rate 0.1 site 7 : tensor<2x16x8xf32>
    %m = tenon.reduce max %drop [2] : tensor<2x16x8xf32> -> tensor<2x16xf32>
    %b = tenon.broadcast %m [0, 1] : tensor<2x16xf32> -> tensor<2x16x8xf32>
    %y = tenon.add %c, %b : tensor<2x16x8xf32>
    tenon.yield %y : tensor<2x16x8xf32>
  }
  %m = tenon.gather %h[%at] dim 1 x_dims [0, -1, 2] index_dims [0, 1] : tensor<2x16x8xf32>, tensor<2x2xi32> -> tensor<2x2x8xf32>
  %f = tenon.slice %h 1 from affine_map<() -> (0)> : tensor<2x16x8xf32> -> tensor<2x1x8xf32>
  %l = tenon.reduce sum %m [0, 1, 2] : tensor<2x2x8xf32> -> tensor<f32>
  %n = tenon.reduce sum %f [0, 1, 2] : tensor<2x1x8xf32> -> tensor<f32>
  %o = tenon.add %l, %n : tensor<f32>
  tenon.output 0 "loss", %o : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// One place of each text, whose dimension is gone; its index is made behind the stack. Of attention that drops probabilities
// nothing says what its places are, so the gather stays behind it.
// CHECK-LABEL: func.func @place
// CHECK: %[[H:.*]] = tenon.stack 3(%arg0)
// CHECK: %[[AT:.*]] = tenon.broadcast %{{.*}} [0] : tensor<2xi32> -> tensor<2x1xi32>
// CHECK: tenon.stack 1 from 3(%{{.*}}) : (tensor<2x1x8xf32>) -> tensor<2x1x8xf32>
// CHECK: %[[ALL:.*]] = tenon.attend scores(%{{.*}}) {{.*}} rate 1.000000e-01 {{.*}} -> tensor<2x16x8xf32>
// CHECK: %[[ROW:.*]] = tenon.gather %[[ALL]][%[[AT]]] dim 1
// CHECK: tenon.dot %[[ROW]][0, 1, 3], %{{.*}}[2, 3] : {{.*}} -> tensor<2x1x8xf32>
// CHECK: tenon.normalize %{{.*}} : tensor<2x1x8xf32> -> tensor<2x1x8xf32>, tensor<2x1xf32>, tensor<2x1xf32>
// CHECK: tenon.reshape %{{.*}} [-2, 1] : tensor<2x1x8xf32> -> tensor<2x8xf32>
func.func @place(%x: tensor<2x16x8xf32>, %length: tensor<2xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  ^bb0(%d: index, %c: tensor<2x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %s = tenon.dot %c[0, 1, 3], %c[0, 2, 3] : tensor<2x16x8xf32>, tensor<2x16x8xf32> -> tensor<2x16x16xf32>
    %a = tenon.attend scores(%s) masks() value(%c) depth %d labels [[0, 1, 3], [0, 3, 2]] scale 1.0 rate 0.1 site 3 : (tensor<2x16x16xf32>, tensor<2x16x8xf32>, index) -> tensor<2x16x8xf32>
    %y = tenon.dot %a[0, 1, 3], %w[2, 3] : tensor<2x16x8xf32>, tensor<8x8xf32> -> tensor<2x16x8xf32>
    %z, %mean, %rstd = tenon.normalize %y eps 1.0e-5 : tensor<2x16x8xf32> -> tensor<2x16x8xf32>, tensor<2x16xf32>, tensor<2x16xf32>
    tenon.yield %z : tensor<2x16x8xf32>
  }
  %one = tenon.constant 1.0 : tensor<2xi32>
  %at = tenon.sub %length, %one : tensor<2xi32>
  %m = tenon.gather %h[%at] dim 1 x_dims [0, -1, 1] index_dims [0] : tensor<2x16x8xf32>, tensor<2xi32> -> tensor<2x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<2x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// Of two streams one is read; the other one is an input of the last layer, and nothing else of it is computed there.
// CHECK-LABEL: func.func @stream
// CHECK: %[[H:.*]]:2 = tenon.stack 3(%arg0, %arg1)
// CHECK: tenon.stack 1 from 3(%[[H]]#1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: ^bb0(%{{.*}}: index, %[[G:.*]]: tensor<4x8xf32>):
// CHECK-NEXT: tenon.read_parameter
// CHECK-NEXT: %[[S:.*]] = tenon.dot %[[G]][0, 2], %{{.*}}[1, 2]
// CHECK-NEXT: %[[Y:.*]] = tenon.add %[[S]], %[[H]]#0
// CHECK-NEXT: tenon.yield %[[Y]] : tensor<4x8xf32>
func.func @stream(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h:2 = tenon.stack 4 (%x, %g) : (tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  ^bb0(%d: index, %c: tensor<4x8xf32>, %e: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %a = tenon.dot %c[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %b = tenon.dot %e[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %s = tenon.add %b, %c : tensor<4x8xf32>
    tenon.yield %a, %s : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %l = tenon.reduce sum %h#1 [0, 1] : tensor<4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// The last one of the places that a run brings, in an entry that does not train.
// CHECK-LABEL: func.func @last
// CHECK: %[[H:.*]] = tenon.stack 3(%arg1)
// CHECK: %[[PLACE:.*]] = tenon.size #[[LAST:.*]] : tensor<i32>
// CHECK: %[[AT:.*]] = tenon.broadcast %[[PLACE]] [] : tensor<i32> -> tensor<1xi32>
// CHECK: %[[IN:.*]] = tenon.gather %[[H]][%{{.*}}] dim 0 x_dims [-1, 1] index_dims [0] : {{.*}} -> tensor<1x8xf32
// CHECK: tenon.stack 1 from 3(%[[IN]])
// CHECK: tenon.dot %{{.*}}[0, 2], %{{.*}}[1, 2] : tensor<1x8xf32{{.*}} -> tensor<1x8xf32
func.func @last(%T: index, %x: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>) -> tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> {
  ^bb0(%d: index, %c: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>, tensor<8x8xf32> -> tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>
    tenon.yield %y : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>
  }
  %m = tenon.slice %h 0 from affine_map<(d0) -> (d0 - 1)> : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<1x8xf32>
  tenon.output 0 "y", %m : tensor<1x8xf32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// A score by relative position: attention is whole, so that it can be fused, and what stands behind it is of the row.
// CHECK-LABEL: func.func @position
// CHECK: tenon.stack 1 from 3(%{{.*}}) : (tensor<1x8xf32>) -> tensor<1x8xf32>
// CHECK: tenon.gather %{{.*}} dim 1 x_dims [0, -1] index_dims [0, 1] : tensor<16x31xf32>, tensor<16x16xi32> -> tensor<16x16xf32>
// CHECK: %[[ALL:.*]] = tenon.attend {{.*}} -> tensor<16x8xf32>
// CHECK: %[[ROW:.*]] = tenon.gather %[[ALL]]
// CHECK: tenon.dot %[[ROW]][0, 2], %{{.*}}[1, 2] : tensor<1x8xf32>, tensor<8x8xf32> -> tensor<1x8xf32>
func.func @position(%x: tensor<16x8xf32>, %r: tensor<31x8xf32>, %place: tensor<16x16xi32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %s = tenon.dot %c[0, 2], %c[1, 2] : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x16xf32>
    %t = tenon.dot %c[0, 2], %r[1, 2] : tensor<16x8xf32>, tensor<31x8xf32> -> tensor<16x31xf32>
    %p = tenon.gather %t[%place] dim 1 x_dims [0, -1] index_dims [0, 1] : tensor<16x31xf32>, tensor<16x16xi32> -> tensor<16x16xf32>
    %a = tenon.attend scores(%s, %p) masks() value(%c) depth %d labels [[0, 2], [0, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x8xf32>, index) -> tensor<16x8xf32>
    %y = tenon.dot %a[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (0)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// Values that differ by query: the same.
// CHECK-LABEL: func.func @values
// CHECK: tenon.stack 1 from 3(%{{.*}}) : (tensor<1x8xf32>) -> tensor<1x8xf32>
// CHECK: %[[ALL:.*]] = tenon.attend {{.*}} -> tensor<16x8xf32>
// CHECK: tenon.gather %[[ALL]]
func.func @values(%x: tensor<16x8xf32>, %v: tensor<16x16x8xf32>) attributes {tenon.kind = "eval", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %s = tenon.dot %c[0, 2], %c[1, 2] : tensor<16x8xf32>, tensor<16x8xf32> -> tensor<16x16xf32>
    %a = tenon.attend scores(%s) masks() value(%v) depth %d labels [[0, 2], [0, 2, 1]] scale 1.0 rate 0.0 site 0 {queries = array<i64: 0>} : (tensor<16x16xf32>, tensor<16x16x8xf32>, index) -> tensor<16x8xf32>
    %y = tenon.dot %a[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (0)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
