// What is joined for a contraction is rounded part by part: a part that another product reads is rounded once, one that has 16 bits is read as it is.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' | FileCheck %s

module attributes {tenon.compute = bf16} {
  // CHECK-LABEL: func.func @joined(
  // CHECK-DAG: %[[M:.*]] = tenon.convert %arg0 : tensor<5x8xf32> -> tensor<5x8xbf16>
  // CHECK-DAG: %[[X:.*]] = tenon.convert %arg1 : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[J:.*]] = tenon.concat 0 %[[M]], %[[X]] : tensor<5x8xbf16>, tensor<4x8xbf16> -> tensor<9x8xbf16>
  // CHECK: tenon.dot %[[J]][0, 2]
  // CHECK: tenon.dot %[[X]][0, 2]
  func.func @joined(%m: tensor<5x8xf32>, %x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %j = tenon.concat 0 %m, %x : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
    %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
    %z = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    tenon.output 0 "y", %y : tensor<9x6xf32>
    tenon.output 1 "z", %z : tensor<4x6xf32>
    return
  }

  // Already short, and widened by whoever wrote it.
  // CHECK-LABEL: func.func @short(
  // CHECK: %[[X:.*]] = tenon.convert %arg1 : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK-NOT: tenon.convert %arg0
  // CHECK-NEXT: tenon.concat 0 %arg0, %[[X]] : tensor<5x8xbf16>, tensor<4x8xbf16> -> tensor<9x8xbf16>
  func.func @short(%m: tensor<5x8xbf16>, %x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %wide = tenon.convert %m : tensor<5x8xbf16> -> tensor<5x8xf32>
    %j = tenon.concat 0 %wide, %x : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
    %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
    tenon.output 0 "y", %y : tensor<9x6xf32>
    return
  }

  // A pad is no join: it is rounded whole.
  // CHECK-LABEL: func.func @padded(
  // CHECK: %[[P:.*]] = tenon.pad %arg0
  // CHECK: tenon.convert %[[P]] : tensor<9x8xf32> -> tensor<9x8xbf16>
  func.func @padded(%m: tensor<5x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %p = tenon.pad %m 0 from affine_map<() -> (4)> : tensor<5x8xf32> -> tensor<9x8xf32>
    %y = tenon.dot %p[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
    tenon.output 0 "y", %y : tensor<9x6xf32>
    return
  }

  // Some rows of what is short in memory, such as a gradient of attention: they are read as they are. Of a sum they are rounded.
  // CHECK-LABEL: func.func @rows(
  // CHECK: %[[ROWS:.*]] = tenon.slice %arg0 0 from {{.*}} : tensor<9x8xbf16> -> tensor<4x8xbf16>
  // CHECK: %[[SUM:.*]] = tenon.slice %arg1 0 from {{.*}} : tensor<9x8xf32> -> tensor<4x8xf32>
  // CHECK: %[[SHORT:.*]] = tenon.convert %[[SUM]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: tenon.dot %[[ROWS]][0, 2], %[[SHORT]][1, 2]
  func.func @rows(%x: tensor<9x8xbf16>, %s: tensor<9x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    %wide = tenon.convert %x : tensor<9x8xbf16> -> tensor<9x8xf32>
    %rows = tenon.slice %wide 0 from affine_map<() -> (5)> : tensor<9x8xf32> -> tensor<4x8xf32>
    %sum = tenon.slice %s 0 from affine_map<() -> (5)> : tensor<9x8xf32> -> tensor<4x8xf32>
    %y = tenon.dot %rows[0, 2], %sum[1, 2] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32>
    tenon.output 0 "y", %y : tensor<4x4xf32>
    return
  }
}
