// What has rows of its own, and is made of no rows: numbers and parameters by place, and a softmax over the places. It is made whole, and rows of it are gathered.
// RUN: tenon-opt %s --split-input-file --tenon-last-layer --cse | FileCheck %s

tenon.parameter @w stacked : tensor<4x8x8xf32>
tenon.parameter @p stacked : tensor<4x16x8xf32>

// CHECK-LABEL: func.func @numbers
// CHECK: tenon.stack 1 from 3(
// CHECK-DAG: %[[P:.*]] = tenon.read_parameter @p[%{{.*}}] : tensor<16x8xf32>
// CHECK-DAG: %[[I:.*]] = tenon.iota 0 : tensor<16xi32>
// CHECK-NOT: tenon.iota 0 : tensor<1xi32>
// CHECK-DAG: tenon.gather %[[P]][%{{.*}}] dim 0 {{.*}} -> tensor<1x8xf32>
// CHECK-DAG: tenon.gather %[[I]][%{{.*}}] dim 0 {{.*}} -> tensor<1xi32>
// CHECK-DAG: tenon.dot {{.*}} -> tensor<1x8xf32>
// CHECK: tenon.output
func.func @numbers(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %p = tenon.read_parameter @p[%d] : tensor<16x8xf32>
    %i = tenon.iota 0 : tensor<16xi32>
    %f = tenon.convert %i : tensor<16xi32> -> tensor<16xf32>
    %b = tenon.broadcast %f [0] : tensor<16xf32> -> tensor<16x8xf32>
    %z = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %u = tenon.add %z, %p : tensor<16x8xf32>
    %y = tenon.add %u, %b : tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x16x16xf32>

// CHECK-LABEL: func.func @softmax
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: tenon.output
func.func @softmax(%x: tensor<8x16xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<8x16xf32>) -> tensor<8x16xf32> {
  ^bb0(%d: index, %c: tensor<8x16xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<16x16xf32>
    %z = tenon.dot %c[0, 2], %w[1, 2] : tensor<8x16xf32>, tensor<16x16xf32> -> tensor<8x16xf32>
    %y = tenon.softmax %z : tensor<8x16xf32>
    tenon.yield %y : tensor<8x16xf32>
  }
  %m = tenon.slice %h 1 from affine_map<() -> (5)> : tensor<8x16xf32> -> tensor<8x1xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<8x1xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
