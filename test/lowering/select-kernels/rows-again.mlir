// What is computed with a pass over rows and read twice lies in memory on devices, which read one tensor then, where they would go over the rows again and read all that these passes read; on the host, whose rows are in the cache, it is computed again. Read once it needs no memory on either.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80}))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels))' | FileCheck %s --check-prefix=HOST

// A residual gradient: rounded for products, and added to the next one.
// CHECK-LABEL: func.func @twice(
// CHECK: tenon.nest {{.*}} : tensor<4x8xf32>, tensor<4x8xbf16>
// CHECK: tenon.gemm
// CHECK: tenon.nest {{.*}} : tensor<4x8xf32>
// CHECK-COUNT-2: tenon.fold
// CHECK-NOT: tenon.fold
// CHECK: return
// HOST-LABEL: func.func @twice(
// HOST: tenon.nest {{.*}} : tensor<4x8xbf16>
// HOST: tenon.gemm
// HOST: tenon.nest {{.*}} : tensor<4x8xf32>
// HOST-COUNT-4: tenon.fold
// HOST: return
func.func @twice(%d: tensor<4x8xf32>, %y: tensor<4x8xf32>, %x: tensor<4x8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>, %w: tensor<8x8xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %g = tenon.normalize_grad %y, %x, %m, %r : tensor<4x8xf32>, tensor<4xf32>
  %s = tenon.add %d, %g : tensor<4x8xf32>
  %n = tenon.convert %s : tensor<4x8xf32> -> tensor<4x8xbf16>
  %p = tenon.dot %n[0, 2], %w[1, 2] : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xf32>
  %h = tenon.normalize_grad %p, %x, %m, %r : tensor<4x8xf32>, tensor<4xf32>
  %e = tenon.add %s, %h : tensor<4x8xf32>
  tenon.output 0 "e", %e : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @once(
// CHECK: tenon.nest {{.*}} : tensor<4x8xf32>
// CHECK-NOT: tenon.nest
// CHECK: return
// HOST-LABEL: func.func @once(
// HOST: tenon.nest {{.*}} : tensor<4x8xf32>
// HOST-NOT: tenon.nest
// HOST: return
func.func @once(%d: tensor<4x8xf32>, %y: tensor<4x8xf32>, %x: tensor<4x8xf32>, %m: tensor<4xf32>, %r: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %g = tenon.normalize_grad %y, %x, %m, %r : tensor<4x8xf32>, tensor<4xf32>
  %s = tenon.add %d, %g : tensor<4x8xf32>
  %e = tenon.exp %s : tensor<4x8xf32>
  tenon.output 0 "e", %e : tensor<4x8xf32>
  return
}
