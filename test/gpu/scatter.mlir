// scatter_add with an index that is the same for all places: the gathered dimension is dealt out to groups of blocks. The CPU's tests in kernels.test have the other form.
// REQUIRES: gpu-emu
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}),tenon-emit-gpu)' | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --dims=1,1 --dims=45,0 --dims=45,3 --dims=67,300 --tolerance=4e-6
// RUN: not tenon-gpu-kernel-test %s --dims=45,3 --schedules=1 --corrupt=1e-3
// RUN: not tenon-gpu-kernel-test %s --dims=45,3 --dims=64,3 --dims=128,3 --dims=192,3 --dims=300,3 --schedules=1 --faults --kernels=scatter_add_1 --tolerance=2e-5 > %t.log 2>&1
// RUN: FileCheck %s --check-prefix=FAULTS --input-file=%t.log

// Sizes of the loops over places and over terms are tested twice: nothing exists behind them.
// FAULTS-COUNT-3: survives:
// FAULTS: sizes off by one: 5 of 8 found
// FAULTS: deleted calls: 2 of 2 found

// Each thread has its own columns of all rows that its block adds to; a ballot says which terms those are.
// CHECK-LABEL: llvm.func ptx_kernelcc @embedding_scatter_add_1
// CHECK: llvm.nvvm.vote.ballot.sync
// CHECK: math.cttz

#ids = affine_map<(d0, d1) -> (4, d0)>
#from = affine_map<(d0, d1) -> (4, d0, d1)>
#to = affine_map<(d0, d1) -> (11, d1)>

func.func @embedding(%T: index, %D: index, %dy: tensor<4x?x?xf32, #from>, %ids: tensor<4x?xi32, #ids> {test.bound = 11 : i64}, %base: tensor<11x?xf32, #to>) attributes {tenon.kind = "out", tenon.dims = ["T", "D"], tenon.states = []} {
  %dx = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<4x?x?xf32, #from>, tensor<4x?xi32, #ids> -> tensor<11x?xf32, #to>
  tenon.output 0 "dx", %dx : tensor<11x?xf32, #to>
  %onto = tenon.scatter_add %dy[%ids] onto %base : tensor<11x?xf32, #to> dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<4x?x?xf32, #from>, tensor<4x?xi32, #ids> -> tensor<11x?xf32, #to>
  tenon.output 1 "onto", %onto : tensor<11x?xf32, #to>
  return
}
