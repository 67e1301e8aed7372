// Folds over terms that lie a row apart, as gradients of biases and gains are: parts of them by slices of the terms, with ragged sizes and several folds; kernels with a fault.
// REQUIRES: gpu-emu
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))' | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --dims=1,1 --dims=5,3 --dims=61,33 --dims=150,70 --tolerance=2e-5
// RUN: not tenon-gpu-kernel-test %s --dims=61,33 --schedules=1 --corrupt=1e-3
// RUN: not tenon-gpu-kernel-test %s --dims=1,33 --dims=9,33 --dims=20,33 --dims=512,33 --schedules=1 --only=gains --faults --kernels=gains_nest --tolerance=2e-5 > %t.log 2>&1
// RUN: FileCheck %s --check-prefix=FAULTS --input-file=%t.log

// Loops over the columns of further blocks are tested twice; the maximum has too few terms for several at once; behind the parts of a sum the memory of this test has numbers near 0.
// FAULTS: sizes off by one: 9 of 15 found
// FAULTS: deleted calls: 4 of 4 found

#x = affine_map<(d0, d1) -> (3, d0, d1)>
#t = affine_map<(d0, d1) -> (3, d0)>
#c = affine_map<(d0, d1) -> (d1)>
#s = affine_map<(d0, d1) -> (3)>

// A sum and a maximum, of rows in two dimensions, and what needs both.
// CHECK-LABEL: func.func @gains
// CHECK: tenon.chosen = {sm_80 = {apart = array<i64: 4, 4>, form = "columns", pass = array<i64: 0, 1>, slices = 8 : i64, terms = 64 : i64, threads = 256 : i64, vector = 1 : i64}}, tenon.launches = ["nest_parts", "nest"]
// CHECK-SAME: tenon.temporaries = [#tenon.place<{{[^>]*}}>, #tenon.place<{{[^>]*}}>]
func.func @gains(%T: index, %C: index, %x: tensor<3x?x?xf32, #x>, %g: tensor<3x?x?xf32, #x>, %m: tensor<3x?xf32, #t>) attributes {tenon.kind = "out", tenon.dims = ["T", "C"], tenon.states = []} {
  %y, %z = tenon.nest affine_map<(d0, d1) -> ()> : tensor<?xf32, #c>, tensor<?xf32, #c> {
    tenon.each #c {
    ^bb0(%j: index):
      %sum = tenon.fold sum #t : f32 {
      ^bb0(%b: index, %i: index):
        %a = tenon.at %x[%b, %i, %j] : tensor<3x?x?xf32, #x> -> f32
        %d = tenon.at %g[%b, %i, %j] : tensor<3x?x?xf32, #x> -> f32
        %e = tenon.at %m[%b, %i] : tensor<3x?xf32, #t> -> f32
        %f = arith.subf %a, %e : f32
        %p = arith.mulf %f, %d : f32
        tenon.yield %p : f32
      }
      %most = tenon.fold max #s : f32 {
      ^bb0(%b: index):
        %zero = arith.constant 0 : index
        %a = tenon.at %x[%b, %zero, %j] : tensor<3x?x?xf32, #x> -> f32
        tenon.yield %a : f32
      }
      %both = arith.addf %sum, %most : f32
      tenon.put 0 [%j], %sum : f32
      tenon.put 1 [%j], %both : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?xf32, #c>
  tenon.output 1 "z", %z : tensor<?xf32, #c>
  return
}

// A fold that needs another one's value is made where that is known.
// CHECK-LABEL: func.func @variance
// CHECK: tenon.chosen = {sm_80 = {apart = 1 : i64, form = "elements"
func.func @variance(%T: index, %C: index, %x: tensor<3x?x?xf32, #x>) attributes {tenon.kind = "out", tenon.dims = ["T", "C"], tenon.states = []} {
  %y = tenon.nest affine_map<(d0, d1) -> ()> : tensor<?xf32, #c> {
    tenon.each #c {
    ^bb0(%j: index):
      %most = tenon.fold max #t : f32 {
      ^bb0(%b: index, %i: index):
        %a = tenon.at %x[%b, %i, %j] : tensor<3x?x?xf32, #x> -> f32
        tenon.yield %a : f32
      }
      %sum = tenon.fold sum #t : f32 {
      ^bb0(%b: index, %i: index):
        %a = tenon.at %x[%b, %i, %j] : tensor<3x?x?xf32, #x> -> f32
        %d = arith.subf %a, %most : f32
        %p = arith.mulf %d, %d : f32
        tenon.yield %p : f32
      }
      tenon.put 0 [%j], %sum : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?xf32, #c>
  return
}

// Few terms are the work of a thread.
// CHECK-LABEL: func.func @few
// CHECK: tenon.chosen = {sm_80 = {apart = 1 : i64, form = "elements"
func.func @few(%T: index, %C: index, %x: tensor<3x?x?xf32, #x>) attributes {tenon.kind = "out", tenon.dims = ["T", "C"], tenon.states = []} {
  %y = tenon.nest affine_map<(d0, d1) -> (d0)> : tensor<?x?xf32, affine_map<(d0, d1) -> (d0, d1)>> {
  ^bb0(%i: index):
    tenon.each #c {
    ^bb0(%j: index):
      %sum = tenon.fold sum #s : f32 {
      ^bb0(%b: index):
        %a = tenon.at %x[%b, %i, %j] : tensor<3x?x?xf32, #x> -> f32
        tenon.yield %a : f32
      }
      tenon.put 0 [%i, %j], %sum : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, affine_map<(d0, d1) -> (d0, d1)>>
  return
}
