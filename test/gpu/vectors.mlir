// Several elements beside each other per thread, moved as vectors: elements of 4 and of 2 bytes, truth values, sizes that are multiples of 8, 4 and 2 and odd ones, what lies elsewhere; rows; kernels with a fault.
// REQUIRES: gpu-emu
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))' | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --dims=1 --dims=5 --dims=33 --tolerance=2e-6
// RUN: not tenon-gpu-kernel-test %s --dims=5 --schedules=1 --corrupt=1e-3
// RUN: tenon-gpu-kernel-test %s --dims=5 --dims=128 --schedules=1 --only=mixed --faults --kernels=mixed_nest --tolerance=2e-6
// RUN: tenon-gpu-kernel-test %s --print=ptx | FileCheck %s --check-prefix=PTX

#x = affine_map<(d0) -> (d0, 24)>
#h = affine_map<(d0) -> (d0, 40)>
#s = affine_map<(d0) -> (d0, 6)>
#o = affine_map<(d0) -> (d0, 7)>
#r = affine_map<(d0) -> (d0)>
#c = affine_map<(d0) -> (24)>

// What differs in width, what is the same for all elements of a row, and what another place has.
// CHECK-LABEL: func.func @mixed
// CHECK: form = "elements", threads = 256 : i64, vector = 4 : i64
// PTX-LABEL: .entry mixed_nest_0
// PTX-DAG: ld.global.v4.b32
// PTX-DAG: ld.global.v4.b16
// PTX-DAG: ld.global.b32
// PTX: st.global.v4.b32
func.func @mixed(%T: index, %x: tensor<?x24xf32, #x>, %g: tensor<24xbf16>, %m: tensor<?xf32, #r>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y, %z = tenon.nest #r : tensor<?x24xf32, #x>, tensor<?x24xi1, #x> {
  ^bb0(%i: index):
    %mean = tenon.at %m[%i] : tensor<?xf32, #r> -> f32
    tenon.each #c {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x24xf32, #x> -> f32
      %b = tenon.at %g[%j] : tensor<24xbf16> -> bf16
      %w = arith.extf %b : bf16 to f32
      %last = arith.constant 23 : index
      %back = arith.subi %last, %j : index
      %o = tenon.at %x[%i, %back] : tensor<?x24xf32, #x> -> f32
      %d = arith.subf %a, %mean : f32
      %p = arith.mulf %d, %w : f32
      %q = arith.addf %p, %o : f32
      %l = arith.cmpf olt, %a, %o : f32
      tenon.put 0 [%i, %j], %q : f32
      tenon.put 1 [%i, %j], %l : i1
    }
  }
  tenon.output 0 "y", %y : tensor<?x24xf32, #x>
  %u = tenon.nest #r : tensor<?x24xf32, #x> {
  ^bb0(%i: index):
    tenon.each #c {
    ^bb0(%j: index):
      %t = tenon.at %z[%i, %j] : tensor<?x24xi1, #x> -> i1
      %a = tenon.at %x[%i, %j] : tensor<?x24xf32, #x> -> f32
      %n = arith.negf %a : f32
      %e = arith.select %t, %a, %n : f32
      tenon.put 0 [%i, %j], %e : f32
    }
  }
  tenon.output 1 "u", %u : tensor<?x24xf32, #x>
  return
}

// Elements of 2 bytes alone.
// CHECK-LABEL: func.func @halves
// CHECK: form = "elements", threads = 256 : i64, vector = 8 : i64
// PTX-LABEL: .entry halves_nest
// PTX: ld.global.v4.b32
// PTX: st.global.v4.b32
func.func @halves(%T: index, %x: tensor<?x40xbf16, #h>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.nest #h : tensor<?x40xbf16, #h> {
  ^bb0(%i: index, %j: index):
    %a = tenon.at %x[%i, %j] : tensor<?x40xbf16, #h> -> bf16
    %w = arith.extf %a : bf16 to f32
    %p = arith.addf %w, %w : f32
    %b = arith.truncf %p : f32 to bf16
    tenon.put 0 [%i, %j], %b : bf16
  }
  tenon.output 0 "y", %y : tensor<?x40xbf16, #h>
  return
}

// CHECK-LABEL: func.func @sizes
// CHECK: form = "elements", threads = 256 : i64, vector = 2 : i64
// CHECK: form = "elements", threads = 256 : i64, vector = 1 : i64
func.func @sizes(%T: index, %x: tensor<?x6xf32, #s>, %o: tensor<?x7xf32, #o>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.nest #s : tensor<?x6xf32, #s> {
  ^bb0(%i: index, %j: index):
    %a = tenon.at %x[%i, %j] : tensor<?x6xf32, #s> -> f32
    %b = tenon.at %o[%i, %j] : tensor<?x7xf32, #o> -> f32
    %p = arith.addf %a, %b : f32
    tenon.put 0 [%i, %j], %p : f32
  }
  %z = tenon.nest #o : tensor<?x7xf32, #o> {
  ^bb0(%i: index, %j: index):
    %a = tenon.at %o[%i, %j] : tensor<?x7xf32, #o> -> f32
    %p = arith.addf %a, %a : f32
    tenon.put 0 [%i, %j], %p : f32
  }
  tenon.output 0 "y", %y : tensor<?x6xf32, #s>
  tenon.output 1 "z", %z : tensor<?x7xf32, #o>
  return
}

// Rows of a block: four terms at a time, eight of those that have 2 bytes.
// CHECK-LABEL: func.func @rows
// CHECK: {apart = array<i64: 1>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1>, form = "row", pass = array<i64: 0, 1>, threads = 32 : i64, vector = array<i64: 4, 8, 4>}
// PTX-LABEL: .entry rows_nest
// PTX: ld.global.v4.b32
// PTX: st.global.v4.b32
func.func @rows(%T: index, %x: tensor<?x24xf32, #x>, %h: tensor<?x40xbf16, #h>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.nest #r : tensor<?x24xf32, #x> {
  ^bb0(%i: index):
    %sum = tenon.fold sum #c : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x24xf32, #x> -> f32
      tenon.yield %a : f32
    }
    %most = tenon.fold max affine_map<(d0) -> (40)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %h[%i, %j] : tensor<?x40xbf16, #h> -> bf16
      %w = arith.extf %a : bf16 to f32
      tenon.yield %w : f32
    }
    tenon.each #c {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x24xf32, #x> -> f32
      %d = arith.subf %a, %sum : f32
      %e = arith.mulf %d, %most : f32
      tenon.put 0 [%i, %j], %e : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x24xf32, #x>
  return
}
