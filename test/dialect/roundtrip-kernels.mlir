// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK: [[$FOUR:#map[0-9]*]] = affine_map<() -> (4)>
// CHECK: [[$EIGHT:#map[0-9]*]] = affine_map<() -> (8)>

// CHECK-LABEL: func.func @nest
func.func @nest(%x: tensor<4x8xf32>, %depth: index) {
  // CHECK: tenon.nest [[$FOUR]] : tensor<4x8xf32>, tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index):
  %y:2 = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32>, tensor<4xf32> {
  ^bb0(%i: index):
    // CHECK-NEXT: %[[SUM:.*]] = tenon.fold sum [[$EIGHT]] : f32 {
    // CHECK-NEXT: ^bb0(%[[J:.*]]: index):
    %sum = tenon.fold sum affine_map<() -> (8)> : f32 {
    ^bb0(%j: index):
      // CHECK-NEXT: %[[E:.*]] = tenon.at %{{.*}}[%[[I]], %[[J]]] : tensor<4x8xf32> -> f32
      %e = tenon.at %x[%i, %j] : tensor<4x8xf32> -> f32
      // CHECK-NEXT: tenon.yield %[[E]] : f32
      tenon.yield %e : f32
    }
    // CHECK: tenon.put 1[%[[I]]], %[[SUM]] : f32
    tenon.put 1 [%i], %sum : f32
    // CHECK: tenon.row_if %{{.*}}
    %least = arith.constant 0.5 : f32
    %holds = arith.cmpf olt, %least, %sum : f32
    tenon.row_if %holds
    // CHECK: tenon.each [[$EIGHT]] {
    tenon.each affine_map<() -> (8)> {
    ^bb0(%j: index):
      // CHECK: tenon.random_keep %{{.*}} depth %{{.*}} site 3 threshold 6554
      %keep = tenon.random_keep %j depth %depth site 3 threshold 6554
      // CHECK: tenon.random_bits %{{.*}} depth %{{.*}} site 4
      %bits = tenon.random_bits %j depth %depth site 4
      // CHECK: tenon.random_bits %{{.*}} site 5
      %more = tenon.random_bits %j site 5
      // CHECK: tenon.size_value [[$EIGHT]]
      %n = tenon.size_value affine_map<() -> (8)>
      %zero = arith.constant 0.0 : f32
      %v = arith.select %keep, %sum, %zero : f32
      tenon.put 0 [%i, %j], %v : f32
    }
  }
  return
}

// CHECK-LABEL: func.func @gemm
func.func @gemm(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // CHECK: tenon.gemm %{{.*}}[0, 2], %{{.*}}[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index, %[[SUM:.*]]: f32):
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    // CHECK-NEXT: tenon.put 0[%[[I]], %[[J]]], %[[SUM]] : f32
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}

// CHECK-LABEL: func.func @pack
func.func @pack(%x: tensor<4x8xf32>, %w: tensor<8x40xf32>, %v: tensor<64x96xf32>) {
  // CHECK: %[[P:.*]] = tenon.pack %{{.*}} {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<8x40xf32>
  %p = tenon.pack %w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<8x40xf32>
  // CHECK: tenon.gemm %{{.*}}[0, 2], %[[P]][2, 1] rank 2 {{.*}} attributes {tenon.panels = array<i64: 1, 32, 1, 0>}
  %y = tenon.gemm %x[0, 2], %p[2, 1] rank 2 : tensor<4x8xf32>, tensor<8x40xf32> -> tensor<4x40xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 0>} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  // CHECK: tenon.pack %{{.*}} from [1, 32, 1, 0] {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<64x96xf32>
  %q = tenon.pack %v from [1, 32, 1, 0] {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<64x96xf32>
  return
}

// CHECK-LABEL: func.func @gemm_of_elements
func.func @gemm_of_elements(%a: tensor<4x8xf32>, %b: tensor<6x8xf32>) {
  // CHECK: tenon.gemm element[0, 2], element[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  // CHECK: tenon.put 0
  // CHECK: } a {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[K:.*]]: index):
  // CHECK-NEXT: %[[E:.*]] = tenon.at %{{.*}}[%[[I]], %[[K]]]
  // CHECK-NEXT: tenon.yield %[[E]] : f32
  // CHECK-NEXT: } b {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index):
  // CHECK: tenon.yield
  %y = tenon.gemm element[0, 2], element[1, 2] rank 2 : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  } a {
  ^bb0(%i: index, %k: index):
    %e = tenon.at %a[%i, %k] : tensor<4x8xf32> -> f32
    tenon.yield %e : f32
  } b {
  ^bb0(%j: index, %k: index):
    %e = tenon.at %b[%j, %k] : tensor<6x8xf32> -> f32
    %s = arith.mulf %e, %e : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}
