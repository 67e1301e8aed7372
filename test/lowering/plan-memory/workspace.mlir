// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory))' | FileCheck %s

// A chain: the first product is dead when the third is made, and the two share memory; the second lives beside both. The last is made where it goes.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: tenon.workspace = [{after = array<i64>, bytes = "128", offset = 0 : i64}, {after = array<i64>, bytes = "128", offset = 0 : i64}, {after = array<i64: 1, 0>, bytes = "128", offset = 128 : i64}]
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["workspace 0"]}
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["workspace 2"]}
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["workspace 1"]}
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["output 0"]}
func.func @chain(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %b = tenon.gemm %a[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %c = tenon.gemm %b[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %d = tenon.gemm %c[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %d : tensor<4x8xf32>
  return
}

// Read once more at the end, the first product shares with nobody.
// CHECK-LABEL: func.func @long_lived
// CHECK-SAME: tenon.workspace = [{after = array<i64>, bytes = "128", offset = 0 : i64}, {after = array<i64: 0>, bytes = "128", offset = 128 : i64}, {after = array<i64: 1>, bytes = "128", offset = 256 : i64}]
func.func @long_lived(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %b = tenon.gemm %a[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %c = tenon.gemm %b[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %d = tenon.gemm %a[0, 2], %c[1, 2] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %d : tensor<4x4xf32>
  return
}

// An elementwise nest writes over what it reads last.
// CHECK-LABEL: func.func @in_place
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["workspace 0"]}
// CHECK: tenon.nest {{.*}} attributes {{.*}}tenon.places = ["workspace 0"]}
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["output 0"]}
func.func @in_place(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %b = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (8)> {
    ^bb0(%j: index):
      %e = tenon.at %a[%i, %j] : tensor<4x8xf32> -> f32
      %r = math.exp %e : f32
      tenon.put 0 [%i, %j], %r : f32
    }
  }
  %y = tenon.gemm %b[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// Not where it is read at other indices than it is written at,
// CHECK-LABEL: func.func @transposed
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["workspace [[A:[01]]]"]}
// CHECK-NOT: "workspace [[A]]"
// CHECK: tenon.nest {{.*}} attributes {{.*}}tenon.places = ["workspace {{[01]}}"]}
// CHECK-NOT: "workspace [[A]]"
// CHECK: return
func.func @transposed(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %b = tenon.nest affine_map<() -> (8)> : tensor<8x8xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (8)> {
    ^bb0(%j: index):
      %e = tenon.at %a[%j, %i] : tensor<8x8xf32> -> f32
      %r = math.exp %e : f32
      tenon.put 0 [%i, %j], %r : f32
    }
  }
  %y = tenon.gemm %b[0, 2], %w[1, 2] rank 2 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<8x8xf32>
  return
}

// and not where somebody reads the old value afterwards.
// CHECK-LABEL: func.func @read_again
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = ["workspace [[A:[01]]]"]}
// CHECK-NOT: "workspace [[A]]"
// CHECK: tenon.nest {{.*}} attributes {{.*}}tenon.places = ["workspace {{[01]}}"]}
// CHECK-NOT: "workspace [[A]]"
// CHECK: return
func.func @read_again(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %b = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (8)> {
    ^bb0(%j: index):
      %e = tenon.at %a[%i, %j] : tensor<4x8xf32> -> f32
      %r = math.exp %e : f32
      tenon.put 0 [%i, %j], %r : f32
    }
  }
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x4xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4x4xf32>
  return
}

// An input belongs to the caller, and what nobody reads has no place.
// CHECK-LABEL: func.func @of_others
// CHECK-SAME: tenon.workspace = []
// CHECK: tenon.nest {{.*}} attributes {{.*}}tenon.places = ["output 0"]}
// CHECK: tenon.gemm {{.*}} {{.*}}tenon.places = [""]}
func.func @of_others(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (8)> {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<4x8xf32> -> f32
      %r = math.exp %e : f32
      tenon.put 0 [%i, %j], %r : f32
    }
  }
  %unread = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}
