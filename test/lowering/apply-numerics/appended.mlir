// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' | FileCheck %s

// Keys and values that a state keeps are rounded by attention as it reads them: no conversion of all places. Other readers of the
// state, and keys that no state keeps, are rounded before.
module attributes {tenon.compute = bf16} {
  // CHECK-LABEL: func.func @kept(
  // CHECK: %[[KEYS:.*]] = tenon.append_state 1
  // CHECK-NOT: tenon.convert %[[KEYS]]
  // CHECK: "tenon.attention"(%{{.*}}, %[[KEYS]], %[[KEYS]])
  // CHECK-SAME: (tensor<2x1x4x8xbf16>, tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>) -> (tensor<2x1x4x8xbf16>
  func.func @kept(%q: tensor<2x1x4x8xf32>, %rows: tensor<2x1x4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = [tensor<i32>, tensor<2x16x4x8xf32>], tenon.in_place = array<i1: false, true>} {
    %position = tenon.read_state 0 : tensor<i32>
    %k = tenon.append_state 1, %rows at %position dim 1 : tensor<2x1x4x8xf32>, tensor<i32> -> tensor<2x16x4x8xf32>
    %y, %m, %s = "tenon.attention"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<2x1x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>) -> (tensor<2x1x4x8xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>)
    tenon.output 0 "y", %y : tensor<2x1x4x8xf32>
    tenon.write_state 0, %position : tensor<i32>
    return
  }

  // CHECK-LABEL: func.func @queried(
  // CHECK: %[[KEYS:.*]] = tenon.append_state 1
  // CHECK: %[[SHORT:.*]] = tenon.convert %[[KEYS]] : tensor<2x16x4x8xf32> -> tensor<2x16x4x8xbf16>
  // CHECK: "tenon.attention"(%[[SHORT]], %[[KEYS]], %[[KEYS]])
  func.func @queried(%rows: tensor<2x1x4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = [tensor<i32>, tensor<2x16x4x8xf32>], tenon.in_place = array<i1: false, true>} {
    %position = tenon.read_state 0 : tensor<i32>
    %k = tenon.append_state 1, %rows at %position dim 1 : tensor<2x1x4x8xf32>, tensor<i32> -> tensor<2x16x4x8xf32>
    %y, %m, %s = "tenon.attention"(%k, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>) -> (tensor<2x16x4x8xf32>, tensor<2x4x16xf32>, tensor<2x4x16xf32>)
    tenon.output 0 "y", %y : tensor<2x16x4x8xf32>
    tenon.write_state 0, %position : tensor<i32>
    return
  }

  // CHECK-LABEL: func.func @fresh(
  // CHECK-COUNT-2: tenon.convert %{{.*}} : tensor<2x16x4x8xf32> -> tensor<2x16x4x8xbf16>
  // CHECK: (tensor<2x1x4x8xbf16>, tensor<2x16x4x8xbf16>, tensor<2x16x4x8xbf16>)
  func.func @fresh(%q: tensor<2x1x4x8xf32>, %k: tensor<2x16x4x8xf32>, %v: tensor<2x16x4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
      (tensor<2x1x4x8xf32>, tensor<2x16x4x8xf32>, tensor<2x16x4x8xf32>) -> (tensor<2x1x4x8xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>)
    tenon.output 0 "y", %y : tensor<2x1x4x8xf32>
    return
  }
}
