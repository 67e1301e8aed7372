// Which threads of a row get the value of a fold, and where they wait for each other, stands in the schedule: code is made as that says, also where it says more than must be.
// REQUIRES: gpu-emu
// DEFINE: %{schedule} = tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))'
// RUN: %{schedule} | FileCheck %s --check-prefix=CHOSEN
// RUN: %{schedule} | tenon-opt --tenon-emit-gpu | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --dims=1 --tolerance=2e-6 | FileCheck %s --check-prefix=RUNS
// RUN: not tenon-gpu-kernel-test %s --dims=1 --schedules=1 --tolerance=2e-6 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUNS: ok:
// CONTROL: FAILED

// More: all threads get what one puts, and wait where they need not.
// DEFINE: %{more} = sed 's/broadcast = array<i64: 1, 0>/broadcast = array<i64: 1, 1>/; s/barrier = array<i64: 0, 1, 0>/barrier = array<i64: 1, 1, 1>/'
// RUN: %{schedule} | %{more} | tenon-opt --tenon-emit-gpu | FileCheck %s --check-prefix=MORE
// An earlier barrier stands for none of a later place.
// RUN: %{schedule} | sed 's/barrier = array<i64: 0, 1, 0>/barrier = array<i64: 1, 0, 1>/' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: 'tenon.nest' op expects in tenon.chosen barrier 1 where threads put what others may still read, or go on to a row while others combine, got barrier[1] 0
// RUN: %{schedule} | sed 's/broadcast = array<i64: 1, 0>/broadcast = array<i64: 0, 0>/' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: error: 'tenon.nest' op expects in tenon.chosen broadcast 1 for a fold whose value other threads read than the one that puts it, got 0 for fold 0

// The squares are put, which one thread does: it alone goes through the parts of the warps. The sum is read, by way of its square, in a loop that all threads share.
// CHOSEN-LABEL: func.func @put
// CHOSEN: {apart = array<i64: 1>, barrier = array<i64: 0, 0, 0>, broadcast = array<i64: 1, 0>, form = "row", pass = array<i64: 0, 0>
// CHECK-LABEL: llvm.func ptx_kernelcc @put_nest_0
// CHECK-COUNT-1: scf.if {{.*}} -> (f32)
// CHECK-NOT: scf.if {{.*}} -> (f32)
// MORE-LABEL: llvm.func ptx_kernelcc @put_nest_0
// MORE-NOT: scf.if {{.*}} -> (f32)
func.func @put(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %z = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32>, tensor<33xf32> {
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
    %square = arith.mulf %sum, %sum : f32
    %root = math.sqrt %squares : f32
    tenon.put 1 [%i], %root : f32
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %square : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  tenon.output 1 "z", %z : tensor<33xf32>
  return
}

// The second loop may put where the first one reads.
// CHOSEN-LABEL: func.func @loops
// CHOSEN: {apart = array<i64: 1, 1>, barrier = array<i64: 0, 1, 0>, form = "row", threads
// CHECK-LABEL: llvm.func ptx_kernelcc @loops_nest_1
// CHECK-COUNT-1: barrier.cta.sync
// CHECK-NOT: barrier.cta.sync
// MORE-LABEL: llvm.func ptx_kernelcc @loops_nest_1
// MORE-COUNT-3: barrier.cta.sync
// MORE-NOT: barrier.cta.sync
func.func @loops(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %z = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32>, tensor<33x96xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %n = arith.negf %a : f32
      tenon.put 0 [%i, %j], %n : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.addf %a, %a : f32
      tenon.put 1 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  tenon.output 1 "z", %z : tensor<33x96xf32>
  return
}
