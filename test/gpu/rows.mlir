// Rows of a nest that a block reduces: the maximum and the sum under it in one pass; columns, whose neighbours in memory are other rows, and slices of whose terms are summed by blocks of their own.
// REQUIRES: gpu-emu
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}),tenon-emit-gpu)' | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --dims=1,5 --dims=3,70 --dims=33,300 --tolerance=2e-6
// RUN: not tenon-gpu-kernel-test %s --dims=33,300 --schedules=1 --corrupt=1e-3

#x = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
#c = affine_map<(d0, d1) -> (d1)>

// One loop has both; what is left is the loop of the puts.
// CHECK-LABEL: llvm.func ptx_kernelcc @softmax_nest_0
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) -> (f32, f32)
// CHECK: math.absf
// CHECK-NOT: iter_args
func.func @softmax(%R: index, %C: index, %x: tensor<?x?xf32, #x>) attributes {tenon.kind = "out", tenon.dims = ["R", "C"], tenon.states = []} {
  %y = tenon.nest affine_map<(d0, d1) -> (d0)> : tensor<?x?xf32, #x> {
  ^bb0(%i: index):
    %max = tenon.fold max affine_map<(d0, d1) -> (d1)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #x> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<(d0, d1) -> (d1)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #x> -> f32
      %d = arith.subf %a, %max : f32
      %e = math.exp %d : f32
      tenon.yield %e : f32
    }
    tenon.each affine_map<(d0, d1) -> (d1)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #x> -> f32
      %d = arith.subf %a, %max : f32
      %e = math.exp %d : f32
      %p = arith.divf %e, %sum : f32
      tenon.put 0 [%i, %j], %p : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #x>
  return
}

// Another number than that of the maximum: two passes.
// CHECK-LABEL: llvm.func ptx_kernelcc @another_nest_1
// CHECK-NOT: -> (f32, f32)
func.func @another(%R: index, %C: index, %x: tensor<?x?xf32, #x>) attributes {tenon.kind = "out", tenon.dims = ["R", "C"], tenon.states = []} {
  %y = tenon.nest affine_map<(d0, d1) -> (d0)> : tensor<?xf32, #r> {
  ^bb0(%i: index):
    %max = tenon.fold max affine_map<(d0, d1) -> (d1)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #x> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<(d0, d1) -> (d1)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #x> -> f32
      %h = arith.constant 0.5 : f32
      %b = arith.mulf %a, %h : f32
      %d = arith.subf %b, %max : f32
      %e = math.exp %d : f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #r>
  return
}

// Threads beside each other read neighbours: the thread's number modulo 32 is the column. A block has a slice of the rows; the parts are combined by another kernel.
// CHECK-LABEL: llvm.func ptx_kernelcc @columns_nest_parts_2
// CHECK-SAME: ["nvvm.reqntid", "256"]
// CHECK: arith.constant 32 : i64
// CHECK: arith.remui
// CHECK-LABEL: llvm.func ptx_kernelcc @columns_nest_3
func.func @columns(%R: index, %C: index, %x: tensor<?x?xf32, #x>) attributes {tenon.kind = "out", tenon.dims = ["R", "C"], tenon.states = []} {
  %y = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?xf32, #c> {
  ^bb0(%j: index):
    %sum = tenon.fold sum affine_map<(d0, d1) -> (d0)> : f32 {
    ^bb0(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #x> -> f32
      tenon.yield %a : f32
    }
    tenon.put 0 [%j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #c>
  return
}
