// Attention that drops probabilities, of the rows that are read: with their places, by which the whole draws. It stays whole where places have two dimensions, where rows are no places, and where lists differ by more than the first dimension.
// RUN: tenon-opt %s --split-input-file --tenon-last-layer --cse | FileCheck %s

tenon.parameter @w stacked : tensor<4x8x8xf32>

// CHECK-LABEL: func.func @rows
// CHECK: %[[H:.*]] = tenon.stack 3(%arg0)
// CHECK: %[[AT:.*]] = tenon.broadcast %{{.*}} [0] : tensor<2xi32> -> tensor<2x1xi32>
// CHECK: tenon.stack 1 from 3(
// CHECK-NEXT: ^bb0(%[[D:.*]]: index,
// CHECK-NOT: -> tensor<2x16x16xf32>
// CHECK: tenon.attend scores(%{{.*}}) masks() value(%[[H]]) drawn(%[[AT]]) of #[[WHOLE:.*]] depth %[[D]] labels {{\[\[}}0, 1, 3], [0, 3, 2], array<i64: 0, 1>] scale 1.000000e+00 rate 1.000000e-01 site 3
// CHECK-SAME: tensor<2x1xi32>, index) -> tensor<2x1x8xf32>
// CHECK-NOT: tenon.gather
// CHECK: tenon.dot {{.*}} -> tensor<2x1x8xf32>
func.func @rows(%x: tensor<2x16x8xf32>, %length: tensor<2xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  ^bb0(%d: index, %c: tensor<2x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %s = tenon.dot %c[0, 1, 3], %c[0, 2, 3] : tensor<2x16x8xf32>, tensor<2x16x8xf32> -> tensor<2x16x16xf32>
    %a = tenon.attend scores(%s) masks() value(%c) depth %d labels [[0, 1, 3], [0, 3, 2]] scale 1.0 rate 0.1 site 3 {queries = array<i64: 1>} : (tensor<2x16x16xf32>, tensor<2x16x8xf32>, index) -> tensor<2x16x8xf32>
    %y = tenon.dot %a[0, 1, 3], %w[2, 3] : tensor<2x16x8xf32>, tensor<8x8xf32> -> tensor<2x16x8xf32>
    tenon.yield %y : tensor<2x16x8xf32>
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

// Of a run, which brings the number of all places.
// CHECK: #[[$ALL:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @sizes
// CHECK: tenon.stack 1 from 3(
// CHECK: tenon.attend {{.*}} drawn(%{{.*}}) of #[[$ALL]] {{.*}} : (tensor<1x?xf32, {{.*}}>, {{.*}}) -> tensor<1x8xf32
func.func @sizes(%T: index, %x: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>) attributes {tenon.kind = "train", tenon.dims = ["T"], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>) -> tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> {
  ^bb0(%d: index, %c: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>):
    %s = tenon.dot %c[0, 2], %c[1, 2] : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>, tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<?x?xf32, affine_map<(d0) -> (d0, d0)>>
    %a = tenon.attend scores(%s) masks() value(%c) depth %d labels [[0, 2], [2, 1]] scale 1.0 rate 0.1 site 3 {queries = array<i64: 0>} : (tensor<?x?xf32, affine_map<(d0) -> (d0, d0)>>, tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>, index) -> tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>
    tenon.yield %a : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>
  }
  %m = tenon.slice %h 0 from affine_map<(d0) -> (d0 - 1)> : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// CHECK-LABEL: func.func @square
// CHECK: tenon.stack 1 from 3(
// CHECK: tenon.attend {{.*}} -> tensor<6x16x8xf32>
// CHECK: tenon.gather {{.*}} -> tensor<6x1x8xf32>
func.func @square(%x: tensor<6x16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  ^bb0(%d: index, %c: tensor<6x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %v = tenon.reshape %c [-2, 1] : tensor<6x16x8xf32> -> tensor<96x8xf32>
    %s = tenon.dot %c[0, 1, 3], %v[2, 3] : tensor<6x16x8xf32>, tensor<96x8xf32> -> tensor<6x16x96xf32>
    %a = tenon.attend scores(%s) masks() value(%v) depth %d labels [[0, 1, 3], [3, 2]] scale 1.0 rate 0.1 site 3 {queries = array<i64: 0, 1>} : (tensor<6x16x96xf32>, tensor<96x8xf32>, index) -> tensor<6x16x8xf32>
    %y = tenon.dot %a[0, 1, 3], %w[2, 3] : tensor<6x16x8xf32>, tensor<8x8xf32> -> tensor<6x16x8xf32>
    tenon.yield %y : tensor<6x16x8xf32>
  }
  %m = tenon.slice %h 1 from affine_map<() -> (0)> : tensor<6x16x8xf32> -> tensor<6x1x8xf32>
  %l = tenon.reduce sum %m [0, 1, 2] : tensor<6x1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// CHECK-LABEL: func.func @texts
// CHECK: tenon.stack 1 from 3(
// CHECK: tenon.attend {{.*}} -> tensor<6x16x8xf32>
// CHECK: tenon.gather {{.*}} -> tensor<1x16x8xf32>
func.func @texts(%x: tensor<6x16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<6x16x8xf32>) -> tensor<6x16x8xf32> {
  ^bb0(%d: index, %c: tensor<6x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %s = tenon.dot %c[0, 1, 3], %c[0, 2, 3] : tensor<6x16x8xf32>, tensor<6x16x8xf32> -> tensor<6x16x16xf32>
    %a = tenon.attend scores(%s) masks() value(%c) depth %d labels [[0, 1, 3], [0, 3, 2]] scale 1.0 rate 0.1 site 3 {queries = array<i64: 1>} : (tensor<6x16x16xf32>, tensor<6x16x8xf32>, index) -> tensor<6x16x8xf32>
    %y = tenon.dot %a[0, 1, 3], %w[2, 3] : tensor<6x16x8xf32>, tensor<8x8xf32> -> tensor<6x16x8xf32>
    tenon.yield %y : tensor<6x16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (0)> : tensor<6x16x8xf32> -> tensor<1x16x8xf32>
  %l = tenon.reduce sum %m [0, 1, 2] : tensor<1x16x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// CHECK-LABEL: func.func @lists
// CHECK: tenon.stack 1 from 3(
// CHECK: tenon.attend {{.*}} -> tensor<2x3x16x8xf32>
// CHECK: tenon.gather {{.*}} -> tensor<2x3x1x8xf32>
func.func @lists(%x: tensor<2x3x16x8xf32>, %at: tensor<2x3xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<2x3x16x8xf32>) -> tensor<2x3x16x8xf32> {
  ^bb0(%d: index, %c: tensor<2x3x16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %s = tenon.dot %c[0, 1, 2, 4], %c[0, 1, 3, 4] : tensor<2x3x16x8xf32>, tensor<2x3x16x8xf32> -> tensor<2x3x16x16xf32>
    %a = tenon.attend scores(%s) masks() value(%c) depth %d labels [[0, 1, 2, 4], [0, 1, 4, 3]] scale 1.0 rate 0.1 site 3 {queries = array<i64: 2>} : (tensor<2x3x16x16xf32>, tensor<2x3x16x8xf32>, index) -> tensor<2x3x16x8xf32>
    %y = tenon.dot %a[0, 1, 2, 4], %w[3, 4] : tensor<2x3x16x8xf32>, tensor<8x8xf32> -> tensor<2x3x16x8xf32>
    tenon.yield %y : tensor<2x3x16x8xf32>
  }
  %m = tenon.gather %h[%at] dim 2 x_dims [0, 1, -1, 2] index_dims [0, 1] : tensor<2x3x16x8xf32>, tensor<2x3xi32> -> tensor<2x3x8xf32>
  %l = tenon.reduce sum %m [0, 1, 2] : tensor<2x3x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
