// Parameters of f32 in two halves: contractions read the upper ones, what reads f32 has both joined.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics,cse))' | FileCheck %s
// Nothing is left for a second time.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics,tenon-apply-numerics,cse))' | FileCheck %s

// A table is gathered in f32 and contracted in bf16: the first reads both halves, the second the upper one alone.
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<6x8xf32>
  tenon.parameter @b : tensor<6xf32>
  // CHECK-LABEL: func.func @tied(
  // CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
  func.func @tied(%x: tensor<4x8xf32>, %ids: tensor<4xi32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK-DAG: %[[X16:.*]] = tenon.convert %[[X]] : tensor<4x8xf32> -> tensor<4x8xbf16>
    // CHECK-DAG: %[[UPPER:.*]] = tenon.read_parameter @w : tensor<6x8xbf16>
    // CHECK-DAG: %[[REST:.*]] = tenon.read_parameter @w remainder : tensor<6x8xi16>
    // CHECK-DAG: %[[W:.*]] = tenon.join %[[UPPER]], %[[REST]] : tensor<6x8xbf16>, tensor<6x8xi16> -> tensor<6x8xf32>
    // CHECK-DAG: %[[BUPPER:.*]] = tenon.read_parameter @b : tensor<6xbf16>
    // CHECK-DAG: %[[BREST:.*]] = tenon.read_parameter @b remainder : tensor<6xi16>
    // CHECK-DAG: %[[B:.*]] = tenon.join %[[BUPPER]], %[[BREST]] : tensor<6xbf16>, tensor<6xi16> -> tensor<6xf32>
    // CHECK: %[[Y:.*]] = tenon.dot %[[X16]][0, 2], %[[UPPER]][1, 2] : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
    // CHECK: %[[ALL:.*]] = tenon.broadcast %[[B]] [1]
    // CHECK: tenon.add %[[Y]], %[[ALL]]
    // CHECK: tenon.gather %[[W]]
    // CHECK-NOT: tenon.join
    %w = tenon.read_parameter @w : tensor<6x8xf32>
    %b = tenon.read_parameter @b : tensor<6xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %all = tenon.broadcast %b [1] : tensor<6xf32> -> tensor<4x6xf32>
    %z = tenon.add %y, %all : tensor<4x6xf32>
    %rows = tenon.gather %w[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<6x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
    tenon.output 0 "z", %z : tensor<4x6xf32>
    tenon.output 1 "rows", %rows : tensor<4x8xf32>
    return
  }
}

// -----

// A contraction in another type than the halves' reads what is joined, rounded or as it is.
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<6x8xf32>
  // CHECK-LABEL: func.func @others(
  func.func @others(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK-DAG: %[[UPPER:.*]] = tenon.read_parameter @w : tensor<6x8xbf16>
    // CHECK-DAG: %[[REST:.*]] = tenon.read_parameter @w remainder : tensor<6x8xi16>
    // CHECK-DAG: %[[W:.*]] = tenon.join %[[UPPER]], %[[REST]]
    // CHECK-DAG: %[[W16:.*]] = tenon.convert %[[W]] : tensor<6x8xf32> -> tensor<6x8xf16>
    // CHECK: tenon.dot %{{.*}}[0, 2], %[[W]][1, 2] {tenon.compute = f32} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    // CHECK: tenon.dot %{{.*}}[0, 2], %[[W16]][1, 2] {tenon.compute = f16} : tensor<4x8xf16>, tensor<6x8xf16> -> tensor<4x6xf32>
    %w = tenon.read_parameter @w : tensor<6x8xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] {tenon.compute = f32} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %z = tenon.dot %x[0, 2], %w[1, 2] {tenon.compute = f16} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    %both = tenon.add %y, %z : tensor<4x6xf32>
    tenon.output 0 "y", %both : tensor<4x6xf32>
    return
  }
}

// -----

// A parameter that is rounded to bf16 for whoever reads it is its upper half.
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<8xf32>
  // CHECK-LABEL: func.func @written(
  // CHECK-NOT: tenon.join
  // CHECK: %[[W:.*]] = tenon.read_parameter @w : tensor<8xbf16>
  // CHECK: %[[WIDE:.*]] = tenon.convert %[[W]] : tensor<8xbf16> -> tensor<8xf32>
  // CHECK: tenon.mul %{{.*}}, %[[WIDE]]
  // CHECK-NOT: tenon.join
  func.func @written(%x: tensor<8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %w = tenon.read_parameter @w : tensor<8xf32>
    %r = tenon.convert %w : tensor<8xf32> -> tensor<8xbf16>
    %v = tenon.convert %r : tensor<8xbf16> -> tensor<8xf32>
    %y = tenon.mul %x, %v : tensor<8xf32>
    tenon.output 0 "y", %y : tensor<8xf32>
    return
  }
}

// -----

// A loop reads slices: a contraction of the upper half, what reads f32 of both, and what rounds a slice of the upper half alone.
module attributes {tenon.compute = bf16, tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<3x6x8xf32>
  tenon.parameter @b : tensor<3x6xf32>
  tenon.parameter @r : tensor<3x6xf32>
  // CHECK-LABEL: func.func @walked(
  // CHECK-NOT: remainder
  // CHECK-DAG: %[[W:.*]] = tenon.read_parameter @w : tensor<3x6x8xbf16>
  // CHECK-DAG: %[[B:.*]] = tenon.read_parameter @b : tensor<3x6xbf16>
  // CHECK-DAG: %[[REST:.*]] = tenon.read_parameter @b remainder : tensor<3x6xi16>
  // CHECK-DAG: %[[R:.*]] = tenon.read_parameter @r : tensor<3x6xbf16>
  // CHECK-NOT: remainder
  // CHECK: tenon.stack 3
  // CHECK: ^bb0(%[[DEPTH:.*]]: index)
  // CHECK-DAG: %[[WSLICE:.*]] = tenon.at_depth %[[W]][%[[DEPTH]]] : tensor<3x6x8xbf16> -> tensor<6x8xbf16>
  // CHECK-DAG: %[[UPPER:.*]] = tenon.at_depth %[[B]][%[[DEPTH]]] : tensor<3x6xbf16> -> tensor<6xbf16>
  // CHECK-DAG: %[[LOWER:.*]] = tenon.at_depth %[[REST]][%[[DEPTH]]] : tensor<3x6xi16> -> tensor<6xi16>
  // CHECK-DAG: %[[JOINED:.*]] = tenon.join %[[UPPER]], %[[LOWER]] : tensor<6xbf16>, tensor<6xi16> -> tensor<6xf32>
  // CHECK-DAG: %[[RSLICE:.*]] = tenon.at_depth %[[R]][%[[DEPTH]]] : tensor<3x6xbf16> -> tensor<6xbf16>
  // CHECK-DAG: %[[WIDE:.*]] = tenon.convert %[[RSLICE]] : tensor<6xbf16> -> tensor<6xf32>
  // CHECK-DAG: tenon.dot %{{.*}}[0, 2], %[[WSLICE]][1, 2] : tensor<4x8xbf16>, tensor<6x8xbf16> -> tensor<4x6xf32>
  // CHECK-DAG: tenon.mul %[[JOINED]], %[[WIDE]]
  // CHECK: tenon.yield
  func.func @walked(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %w = tenon.read_parameter @w : tensor<3x6x8xf32>
    %b = tenon.read_parameter @b : tensor<3x6xf32>
    %r = tenon.read_parameter @r : tensor<3x6xf32>
    %all = tenon.stack 3() : () -> tensor<3x4x6xf32> {
    ^bb0(%depth: index):
      %slice = tenon.at_depth %w[%depth] : tensor<3x6x8xf32> -> tensor<6x8xf32>
      %bias = tenon.at_depth %b[%depth] : tensor<3x6xf32> -> tensor<6xf32>
      %factor = tenon.at_depth %r[%depth] : tensor<3x6xf32> -> tensor<6xf32>
      %rounded = tenon.convert %factor : tensor<6xf32> -> tensor<6xbf16>
      %widened = tenon.convert %rounded : tensor<6xbf16> -> tensor<6xf32>
      %y = tenon.dot %x[0, 2], %slice[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
      %both = tenon.mul %bias, %widened : tensor<6xf32>
      %added = tenon.broadcast %both [1] : tensor<6xf32> -> tensor<4x6xf32>
      %z = tenon.add %y, %added : tensor<4x6xf32>
      tenon.yield %z : tensor<4x6xf32>
    }
    tenon.output 0 "z", %all : tensor<3x4x6xf32>
    return
  }
}
