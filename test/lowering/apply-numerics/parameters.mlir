// Parameters that lie in memory in 16 bits: read in these, widened for what reads f32, never copied.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' | FileCheck %s

// A contraction in the same type reads them as they are, also through views; an addition reads them widened.
module attributes {tenon.compute = bf16, tenon.parameters = bf16} {
  tenon.parameter @w : tensor<6x8xf32>
  tenon.parameter @b : tensor<6xf32>
  // CHECK-LABEL: func.func @same(
  // CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
  func.func @same(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK-DAG: %[[X16:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK-DAG: %[[B16:.*]] = tenon.read_parameter @b : tensor<6xbf16>
    // CHECK-DAG: %[[B:.*]] = tenon.convert %[[B16]] : tensor<6xbf16> -> tensor<6xf32>
    // CHECK: %[[W16:.*]] = tenon.read_parameter @w : tensor<6x8xbf16>
    // CHECK: %[[T16:.*]] = tenon.broadcast %[[W16]] [1, 0] : tensor<6x8xbf16> -> tensor<8x6xbf16>
    // CHECK: %[[Y:.*]] = tenon.dot %[[X16]][0, 2], %[[T16]][2, 1] : tensor<4x8xbf16>, tensor<8x6xbf16> -> tensor<4x6xf32>
    // CHECK: %[[ALL:.*]] = tenon.broadcast %[[B]] [1]
    // CHECK: tenon.add %[[Y]], %[[ALL]]
    %w = tenon.read_parameter @w : tensor<6x8xf32>
    %b = tenon.read_parameter @b : tensor<6xf32>
    %t = tenon.broadcast %w [1, 0] : tensor<6x8xf32> -> tensor<8x6xf32>
    %y = tenon.dot %x[0, 2], %t[2, 1] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
    %all = tenon.broadcast %b [1] : tensor<6xf32> -> tensor<4x6xf32>
    %z = tenon.add %y, %all : tensor<4x6xf32>
    tenon.output 0 "z", %z : tensor<4x6xf32>
    return
  }
}

// -----

// A contraction in f32 reads them widened: one of a module without tenon.compute, and one that says so.
module attributes {tenon.parameters = f16} {
  tenon.parameter @w : tensor<6x8xf32>
  // CHECK-LABEL: func.func @wide(
  func.func @wide(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[W16:.*]] = tenon.read_parameter @w : tensor<6x8xf16>
    // CHECK-NEXT: %[[W:.*]] = tenon.convert %[[W16]] : tensor<6x8xf16> -> tensor<6x8xf32>
    // CHECK-NEXT: tenon.dot %{{.*}}[0, 2], %[[W]][1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %w = tenon.read_parameter @w : tensor<6x8xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    tenon.output 0 "y", %y : tensor<4x6xf32>
    return
  }
}

// -----

// A contraction in the other type of 16 bits rounds what was widened.
module attributes {tenon.compute = f16, tenon.parameters = bf16} {
  tenon.parameter @w : tensor<6x8xf32>
  // CHECK-LABEL: func.func @crossed(
  func.func @crossed(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[B16:.*]] = tenon.read_parameter @w : tensor<6x8xbf16>
    // CHECK-NEXT: %[[W:.*]] = tenon.convert %[[B16]] : tensor<6x8xbf16> -> tensor<6x8xf32>
    // CHECK-NEXT: %[[W16:.*]] = tenon.convert %[[W]] : tensor<6x8xf32> -> tensor<6x8xf16>
    // CHECK: tenon.dot %{{.*}}[0, 2], %[[W16]][1, 2]
    %w = tenon.read_parameter @w : tensor<6x8xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    tenon.output 0 "y", %y : tensor<4x6xf32>
    return
  }
}

// -----

// What is of f64, and what lies in memory whole, is read as it is; a contraction in 16 bits rounds it.
module attributes {tenon.compute = bf16, tenon.parameters = bf16} {
  tenon.parameter @w : tensor<6x8xf64>
  tenon.parameter @v {tenon.whole} : tensor<6x8xf32>
  tenon.parameter @u : tensor<6x8xf32>
  // CHECK-LABEL: func.func @others(
  func.func @others(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK-DAG: %[[W:.*]] = tenon.read_parameter @w : tensor<6x8xf64>
    // CHECK-DAG: %[[W32:.*]] = tenon.convert %[[W]] : tensor<6x8xf64> -> tensor<6x8xf32>
    // CHECK-DAG: %[[W16:.*]] = tenon.convert %[[W32]] : tensor<6x8xf32> -> tensor<6x8xbf16>
    // CHECK-DAG: %[[V:.*]] = tenon.read_parameter @v : tensor<6x8xf32>
    // CHECK-DAG: %[[V16:.*]] = tenon.convert %[[V]] : tensor<6x8xf32> -> tensor<6x8xbf16>
    // CHECK: tenon.read_parameter @u : tensor<6x8xbf16>
    // CHECK-NOT: tenon.convert
    // CHECK: tenon.dot %{{.*}}[0, 2], %[[W16]][1, 2]
    // CHECK: tenon.dot %{{.*}}[0, 2], %[[V16]][1, 2]
    %w = tenon.read_parameter @w : tensor<6x8xf64>
    %w32 = tenon.convert %w : tensor<6x8xf64> -> tensor<6x8xf32>
    %v = tenon.read_parameter @v : tensor<6x8xf32>
    %u = tenon.read_parameter @u : tensor<6x8xf32>
    %a = tenon.dot %x[0, 2], %w32[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %b = tenon.dot %x[0, 2], %v[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %c = tenon.dot %x[0, 2], %u[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    tenon.output 0 "a", %a : tensor<4x6xf32>
    tenon.output 1 "b", %b : tensor<4x6xf32>
    tenon.output 2 "c", %c : tensor<4x6xf32>
    return
  }
}
