// Which folds of a row are made in one pass stands in the schedule, and so do the elements that a thread has of each loop: with other passes there is other code, with the same bits but for a maximum and the sum under it.
// REQUIRES: gpu-emu
// DEFINE: %{schedule} = tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))'
// RUN: %{schedule} | FileCheck %s --check-prefix=CHOSEN
// RUN: %{schedule} | tenon-opt --tenon-emit-gpu | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --dims=1 --tolerance=2e-6 | FileCheck %s --check-prefix=RUNS
// RUN: not tenon-gpu-kernel-test %s --dims=1 --schedules=1 --tolerance=2e-6 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUNS: ok:
// CONTROL: FAILED

// Each fold by itself; that the bits are the same: chosen.mlir.
// DEFINE: %{apart} = sed 's/pass = array<i64: 0, 0, 1>/pass = array<i64: 0, 1, 2>/; s/pass = array<i64: 0, 0>/pass = array<i64: 0, 1>/'
// RUN: %{schedule} | %{apart} | tenon-opt --tenon-emit-gpu | FileCheck %s --check-prefix=APART
// RUN: %{schedule} | sed 's/vector = array<i64: 4, 4, 4, 4>/vector = array<i64: 2, 2, 1, 4>/' | tenon-opt --tenon-emit-gpu | FileCheck %s --check-prefix=LANES

// A text without them is not translated: nothing is chosen while code is made.
// RUN: %{schedule} | sed 's/pass = array<i64: [0-9, ]*>, //' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=NOPASS
// NOPASS: error: 'tenon.nest' op expects of row for sm_80 its pass as an array of i64, one for each fold, 3 here, got none
// RUN: %{schedule} | sed 's/vector = array<i64: 4, 4, 4, 4>/vector = array<i64: 4, 4>/' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: 'tenon.nest' op expects of row for sm_80 its vector as an array of i64, one for each fold and loop of puts, 4 here, got 2

// Two folds over one space share a pass; the third needs one of them.
// CHOSEN-LABEL: func.func @sums
// CHOSEN: {apart = array<i64: 1>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1, 1>, form = "row", pass = array<i64: 0, 0, 1>, threads = 32 : i64, vector = array<i64: 4, 4, 4, 4>}
// CHECK-LABEL: llvm.func ptx_kernelcc @sums_nest_0
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK: scf.for {{.*}} -> (f32)
// CHECK-NOT: iter_args
// APART-LABEL: llvm.func ptx_kernelcc @sums_nest_0
// APART-COUNT-3: scf.for {{.*}} -> (f32)
// APART-NOT: iter_args
// APART-LABEL: llvm.func ptx_kernelcc @softmax_nest_1
// LANES-LABEL: llvm.func ptx_kernelcc @sums_nest_0
// LANES: scf.for {{.*}} -> (f32, f32)
// LANES-NOT: vector<4xf32>
// LANES: scf.for {{.*}} -> (f32)
// LANES: scf.for
// LANES: vector<4xf32>
func.func @sums(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %squares = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %p = arith.mulf %a, %a : f32
      tenon.yield %p : f32
    }
    %far = tenon.fold max affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      tenon.yield %d : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      %e = arith.addf %d, %squares : f32
      %f = arith.subf %e, %far : f32
      tenon.put 0 [%i, %j], %f : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// A maximum and the sum of exponentials under it, which have an element at a time then; what is put has vectors all the same.
// CHOSEN-LABEL: func.func @softmax
// CHOSEN: {apart = array<i64: 1>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1>, form = "row", pass = array<i64: 0, 0>, threads = 32 : i64, vector = array<i64: 1, 1, 4>}
// CHECK-LABEL: llvm.func ptx_kernelcc @softmax_nest_1
// CHECK: scf.for {{.*}} -> (f32, f32)
// CHECK: math.absf
// CHECK-NOT: iter_args
// APART-COUNT-2: scf.for {{.*}} -> (f32)
// APART-NOT: math.absf
func.func @softmax(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> {
  ^bb0(%i: index):
    %max = tenon.fold max affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %max : f32
      %e = math.exp %d : f32
      tenon.yield %e : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %max : f32
      %e = math.exp %d : f32
      %p = arith.divf %e, %sum : f32
      tenon.put 0 [%i, %j], %p : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// Columns: the terms of both folds in one loop, two at a time; in a text four of one after four of the other.
// CHOSEN-LABEL: func.func @columns
// CHOSEN: {apart = array<i64: 2, 2>, form = "columns", pass = array<i64: 0, 0>, slices = 2 : i64, terms = 128 : i64, threads = 256 : i64, vector = 4 : i64}
// CHECK-LABEL: llvm.func ptx_kernelcc @columns_nest_parts_2
// CHECK-COUNT-2: scf.for {{.*}}iter_args
// CHECK-NOT: scf.for {{.*}}iter_args
// CHECK-LABEL: llvm.func ptx_kernelcc @columns_nest_3
// APART-LABEL: llvm.func ptx_kernelcc @columns_nest_parts_2
// APART-COUNT-4: scf.for {{.*}}iter_args
func.func @columns(%x: tensor<256x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (96)> : tensor<96xf32> {
  ^bb0(%j: index):
    %sum = tenon.fold sum affine_map<() -> (256)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<256x96xf32> -> f32
      tenon.yield %a : f32
    }
    %squares = tenon.fold sum affine_map<() -> (256)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<256x96xf32> -> f32
      %p = arith.mulf %a, %a : f32
      tenon.yield %p : f32
    }
    %both = arith.addf %sum, %squares : f32
    tenon.put 0 [%j], %both : f32
  }
  tenon.output 0 "y", %y : tensor<96xf32>
  return
}
