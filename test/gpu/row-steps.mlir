// Rows of odd width that kernels alone see begin at multiples of 16 bytes on a GPU, so that products of 16 bits copy them by 16 bytes, on sm_90a by warpgroups; what stands between rows is nobody's data. On the CPU, and where more than these kernels sees a tensor, rows lie behind each other.
// REQUIRES: gpu-emu
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_90a}))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=cpu}))' | FileCheck %s --check-prefix=CPU --implicit-check-not=row_steps
// RUN: tenon-gpu-kernel-test %s --target=sm_90a --dims=1 --schedules=2 --tolerance=2e-5 | FileCheck %s --check-prefix=RUNS
// RUN: tenon-gpu-kernel-test %s --dims=1 --schedules=2 --tolerance=2e-5 | FileCheck %s --check-prefix=RUNS
// RUN: not tenon-gpu-kernel-test %s --target=sm_90a --only=logits --dims=1 --schedules=1 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUNS: ok:
// CONTROL: FAILED

// As the gradients of logits: the depth along the padded rows, and the lines. What is written over lies the same way, 70 rows of 144 bytes.
// CHECK-LABEL: func.func @logits
// CHECK-SAME: tenon.slots = [{{.*}}(10080)>
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<workspace [[SLOT:[0-9]+]]>], tenon.row_steps = array<i64: 72>
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<workspace [[SLOT]]>], tenon.row_steps = array<i64: 72>
// CHECK-COUNT-2: tenon.gemm {{.*}}form = "wgmma"
// CPU-LABEL: func.func @logits
// CPU-SAME: tenon.slots = [{{.*}}(9380)>
func.func @logits(%x: tensor<70x67xf32>, %w: tensor<67x72xbf16>, %v: tensor<70x72xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %l = tenon.nest affine_map<() -> (70)> : tensor<70x67xbf16> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (67)> {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<70x67xf32> -> f32
      %t = arith.truncf %e : f32 to bf16
      tenon.put 0[%i, %j], %t : bf16
    }
  }
  %g = tenon.nest affine_map<() -> (70)> : tensor<70x67xbf16> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (67)> {
    ^bb0(%j: index):
      %e = tenon.at %l[%i, %j] : tensor<70x67xbf16> -> bf16
      %f = arith.extf %e : bf16 to f32
      %d = arith.addf %f, %f : f32
      %t = arith.truncf %d : f32 to bf16
      tenon.put 0[%i, %j], %t : bf16
    }
  }
  %m = tenon.nest affine_map<() -> (70)> : tensor<70xf32> {
  ^bb0(%i: index):
    %most = tenon.fold max affine_map<() -> (67)> : f32 {
    ^bb0(%j: index):
      %e = tenon.at %g[%i, %j] : tensor<70x67xbf16> -> bf16
      %f = arith.extf %e : bf16 to f32
      tenon.yield %f : f32
    }
    tenon.put 0[%i], %most : f32
  }
  %dx = tenon.gemm %g[0, 2], %w[2, 1] rank 2 : tensor<70x67xbf16>, tensor<67x72xbf16> -> tensor<70x72xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %dw = tenon.gemm %g[2, 0], %v[2, 1] rank 2 : tensor<70x67xbf16>, tensor<70x72xbf16> -> tensor<67x72xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "dx", %dx : tensor<70x72xf32>
  tenon.output 1 "dw", %dw : tensor<67x72xf32>
  tenon.output 2 "m", %m : tensor<70xf32>
  return
}

// In batches.
// CHECK-LABEL: func.func @batches
// CHECK: tenon.nest {{.*}}tenon.row_steps = array<i64: 72>
// CHECK: tenon.gemm {{.*}}form = "wgmma"
func.func @batches(%x: tensor<2x65x67xf32>, %w: tensor<2x67x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %g = tenon.nest affine_map<() -> (2, 65, 67)> : tensor<2x65x67xbf16> {
  ^bb0(%b: index, %i: index, %j: index):
    %e = tenon.at %x[%b, %i, %j] : tensor<2x65x67xf32> -> f32
    %t = arith.truncf %e : f32 to bf16
    tenon.put 0[%b, %i, %j], %t : bf16
  }
  %y = tenon.gemm %g[0, 1, 3], %w[0, 3, 2] rank 3 : tensor<2x65x67xbf16>, tensor<2x67x64xbf16> -> tensor<2x65x64xf32> {
  ^bb0(%b: index, %i: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<2x65x64xf32>
  return
}

// As two dims of the depth, of which the padded one does not continue the other: one by one, on the first rung.
// CHECK-LABEL: func.func @apart
// CHECK: tenon.nest {{.*}}tenon.row_steps = array<i64: 72>
// CHECK: tenon.gemm {{.*}}form = "mma"
func.func @apart(%x: tensor<65x2x67xf32>, %v: tensor<2x67x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %g = tenon.nest affine_map<() -> (65, 2, 67)> : tensor<65x2x67xbf16> {
  ^bb0(%b: index, %i: index, %j: index):
    %e = tenon.at %x[%b, %i, %j] : tensor<65x2x67xf32> -> f32
    %t = arith.truncf %e : f32 to bf16
    tenon.put 0[%b, %i, %j], %t : bf16
  }
  %z = tenon.gemm %g[0, 2, 3], %v[2, 3, 1] rank 2 : tensor<65x2x67xbf16>, tensor<2x67x64xbf16> -> tensor<65x64xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "z", %z : tensor<65x64xf32>
  return
}

// What goes out lies as it is read outside.
// CHECK-LABEL: func.func @output
// CHECK-NOT: row_steps
func.func @output(%x: tensor<70x67xf32>, %w: tensor<67x72xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %g = tenon.nest affine_map<() -> (70, 67)> : tensor<70x67xbf16> {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x67xf32> -> f32
    %t = arith.truncf %e : f32 to bf16
    tenon.put 0[%i, %j], %t : bf16
  }
  %y = tenon.gemm %g[0, 2], %w[2, 1] rank 2 : tensor<70x67xbf16>, tensor<67x72xbf16> -> tensor<70x72xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "g", %g : tensor<70x67xbf16>
  tenon.output 1 "y", %y : tensor<70x72xf32>
  return
}

// Sums in f32 with long rows of odd width, as logits: stored as vectors, and what is left of a row one by one; nests read such rows.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: tenon.slots = [{{.*}}(287840)>
// CHECK: tenon.gemm {{.*}}form = "wgmma"{{.*}}tenon.row_steps = array<i64: 1028>
// CPU-LABEL: func.func @sums
// CPU-SAME: tenon.slots = [{{.*}}(287560)>
func.func @sums(%v: tensor<70x72xbf16>, %w: tensor<1027x72xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %l = tenon.gemm %v[0, 2], %w[1, 2] rank 2 : tensor<70x72xbf16>, tensor<1027x72xbf16> -> tensor<70x1027xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %m:2 = tenon.nest affine_map<() -> (70)> : tensor<70xf32>, tensor<70x1027xf32> {
  ^bb0(%i: index):
    %most = tenon.fold max affine_map<() -> (1027)> : f32 {
    ^bb0(%j: index):
      %e = tenon.at %l[%i, %j] : tensor<70x1027xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0[%i], %most : f32
    tenon.each affine_map<() -> (1027)> {
    ^bb0(%j: index):
      %e = tenon.at %l[%i, %j] : tensor<70x1027xf32> -> f32
      %d = arith.subf %e, %most : f32
      tenon.put 1[%i, %j], %d : f32
    }
  }
  tenon.output 0 "m", %m#0 : tensor<70xf32>
  tenon.output 1 "y", %m#1 : tensor<70x1027xf32>
  return
}
