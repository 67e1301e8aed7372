// An entry evaluates sizes and addresses and launches kernels by their number; loops are the host's, and their index an argument.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}),tenon-emit-gpu)' | FileCheck %s

func.func @rows(%B: index, %x: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>) attributes {tenon.kind = "out", tenon.dims = ["B"], tenon.states = []} {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, affine_map<(d0) -> (d0)>> {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<(d0) -> (40)> : f32 {
    ^bb0(%j: index):
      %c = arith.constant 1.0 : f32
      tenon.yield %c : f32
    }
    tenon.put 0 [%i], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, affine_map<(d0) -> (d0)>>
  return
}
// CHECK-LABEL: llvm.func @tn_run_rows(%{{.*}}: !llvm.ptr) -> i32
// CHECK: scf.if
// The table of what it touches: one address, of which it writes 4 B bytes.
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: %[[WRITTEN:.*]] = arith.subi %{{.*}}, %[[BYTES]] : i64
// CHECK: llvm.store %[[WRITTEN]], %{{.*}}
// CHECK: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (!llvm.ptr, i32, i64, i32, i32, !llvm.ptr, i32, !llvm.ptr) -> ()
// CHECK: llvm.func ptx_kernelcc @rows_nest_0(%{{.*}}: !llvm.ptr<1>, %{{.*}}: i64) attributes {passthrough = ["no-builtins", ["nvvm.reqntid", "64"]]}
// CHECK: llvm.nvvm.read.ptx.sreg.tid.x
// CHECK: llvm.nvvm.barrier.cta.sync.aligned.all
