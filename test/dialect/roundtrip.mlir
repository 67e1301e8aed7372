// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

tenon.parameter @"blocks.*.w" stacked : tensor<3x8x8xf32>

// CHECK-LABEL: func.func @layers
// CHECK: tenon.normalize %{{.*}} eps 1.000000e-05
// CHECK: tenon.dot %{{.*}}[0, 1, 3], %{{.*}}[2, 3]
// CHECK: tenon.dropout %{{.*}} rate 1.000000e-01 site 7
// CHECK: tenon.cross_entropy
func.func @layers(%b: index, %ids: tensor<?x5xi32, affine_map<(d0) -> (d0, 5)>>, %x: tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>, %w: tensor<8x8xf32>) {
  %n, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>> -> tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>, tensor<?x5xf32, affine_map<(d0) -> (d0, 5)>>, tensor<?x5xf32, affine_map<(d0) -> (d0, 5)>>
  %y = tenon.dot %n[0, 1, 3], %w[2, 3] : tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>, tensor<8x8xf32> -> tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>
  %d = tenon.dropout %y rate 0.1 site 7 : tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>
  %l, %lse = tenon.cross_entropy %d, %ids : tensor<?x5x8xf32, affine_map<(d0) -> (d0, 5, 8)>>, tensor<?x5xi32, affine_map<(d0) -> (d0, 5)>> -> tensor<?x5xf32, affine_map<(d0) -> (d0, 5)>>
  return
}

// CHECK-LABEL: func.func @stack
// CHECK: tenon.stack 3(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<3x4x8xf32>)
// CHECK: tenon.read_parameter @"blocks.*.w"[%{{.*}}] : tensor<8x8xf32>
// CHECK: tenon.at_depth
func.func @stack(%x: tensor<4x8xf32>) {
  %y, %saved = tenon.stack 3 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<3x4x8xf32>) {
  ^bb0(%depth: index, %h: tensor<4x8xf32>):
    %w = tenon.read_parameter @"blocks.*.w"[%depth] : tensor<8x8xf32>
    %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %t = tenon.tanh %z : tensor<4x8xf32>
    tenon.yield %t, %h : tensor<4x8xf32>, tensor<4x8xf32>
  }
  %c = arith.constant 1 : index
  %s = tenon.at_depth %saved[%c] : tensor<3x4x8xf32> -> tensor<4x8xf32>
  tenon.output 0 "y", %s : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @append_state
// CHECK: tenon.append_state 1[%{{.*}}], %{{.*}} at %{{.*}} dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
func.func @append_state(%rows: tensor<2x3x8xf32>) attributes {tenon.states = [tensor<i32>, tensor<3x2x16x8xf32>]} {
  %position = tenon.read_state 0 : tensor<i32>
  %depth = arith.constant 1 : index
  %whole = tenon.append_state 1[%depth], %rows at %position dim 1 : tensor<2x3x8xf32>, tensor<i32> -> tensor<2x16x8xf32>
  tenon.output 0 "y", %whole : tensor<2x16x8xf32>
  return
}
