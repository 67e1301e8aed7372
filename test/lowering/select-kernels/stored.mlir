// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// Two contractions read the product: it is stored, and computed once.
// CHECK-LABEL: func.func @two_readers
// CHECK: %[[E:.*]] = tenon.nest
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: tenon.gemm %[[E]]
// CHECK-NOT: math.exp
// CHECK: tenon.gemm %[[E]]
// CHECK-NOT: math.exp
// CHECK: return
func.func @two_readers(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %u: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %e = tenon.exp %x : tensor<4x8xf32>
  %a = tenon.dot %e[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %b = tenon.dot %e[0, 2], %u[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "a", %a : tensor<4x8xf32>
  tenon.output 1 "b", %b : tensor<4x6xf32>
  return
}

// Views and elementwise ops never exist by themselves: one nest.
// CHECK-LABEL: func.func @one_nest
// CHECK-COUNT-1: tenon.nest
// CHECK-NOT: tenon.nest
// CHECK-NOT: tenon.{{broadcast|add|tanh}}
// CHECK: return
func.func @one_nest(%x: tensor<4x8xf32>, %b: tensor<8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %bs = tenon.broadcast %b [1] : tensor<8xf32> -> tensor<4x8xf32>
  %a = tenon.add %x, %bs : tensor<4x8xf32>
  %y = tenon.tanh %a : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// A reduction over rows that other rows read is no epilogue: the contraction is stored before it is summed.
// CHECK-LABEL: func.func @columns
// CHECK: %[[D:.*]] = tenon.gemm
// CHECK: tenon.nest
// CHECK: tenon.fold sum
// CHECK: tenon.at %[[D]]
// CHECK: return
func.func @columns(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %d = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %y = tenon.reduce sum %d [0] : tensor<4x8xf32> -> tensor<8xf32>
  tenon.output 0 "y", %y : tensor<8xf32>
  return
}

// What is carried out is stored as well as what is made of it: one contraction.
// CHECK-LABEL: func.func @also_an_output
// CHECK-COUNT-1: tenon.gemm
// CHECK-NOT: tenon.gemm
// CHECK: tenon.output 0 "a"
// CHECK: return
func.func @also_an_output(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %y = tenon.gelu %a : tensor<4x8xf32>
  tenon.output 0 "a", %a : tensor<4x8xf32>
  tenon.output 1 "y", %y : tensor<4x8xf32>
  return
}

// A map is an elementwise op like others: it runs behind a contraction, with what reads it, and its inputs in it.
// CHECK-LABEL: func.func @map_behind
// CHECK-NOT: tenon.nest
// CHECK: tenon.gemm %arg0[0, 2], %arg1[1, 2] rank 2 : {{.*}} -> tensor<4x6xf32> {
// CHECK: ^bb0(%{{.*}}: index, %{{.*}}: index, %[[SUM:.*]]: f32):
// CHECK: %[[TWICE:.*]] = arith.mulf %[[SUM]]
// CHECK: %[[ERF:.*]] = math.erf %[[TWICE]]
// CHECK: %[[NEG:.*]] = arith.negf %[[ERF]]
// CHECK: tenon.put 0[%{{.*}}, %{{.*}}], %[[NEG]]
// CHECK-NOT: tenon.nest
// CHECK: return
func.func @map_behind(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %d = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %two = tenon.constant 2.0 : tensor<4x6xf32>
  %t = tenon.mul %d, %two : tensor<4x6xf32>
  %m = tenon.map %t : tensor<4x6xf32> -> tensor<4x6xf32> {
  ^bb0(%a: f32):
    %e = math.erf %a : f32
    tenon.yield %e : f32
  }
  %y = tenon.neg %m : tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}

// What it costs is what its code costs: a function of libm is stored for its two contractions, a sign is computed in both.
// CHECK-LABEL: func.func @map_costs
// CHECK: %[[E:.*]] = tenon.nest
// CHECK: math.erf
// CHECK-NOT: math.erf
// CHECK: tenon.gemm %[[E]]
// CHECK: tenon.gemm %[[E]]
// CHECK: tenon.gemm element
// CHECK: math.absf
// CHECK: tenon.gemm element
// CHECK: math.absf
// CHECK-NOT: math.erf
// CHECK: return
func.func @map_costs(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %u: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %e = tenon.map %x : tensor<4x8xf32> -> tensor<4x8xf32> {
  ^bb0(%a: f32):
    %r = math.erf %a : f32
    tenon.yield %r : f32
  }
  %s = tenon.map %x : tensor<4x8xf32> -> tensor<4x8xf32> {
  ^bb0(%a: f32):
    %r = math.absf %a : f32
    tenon.yield %r : f32
  }
  %a = tenon.dot %e[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %b = tenon.dot %e[0, 2], %u[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %c = tenon.dot %s[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %d = tenon.dot %s[0, 2], %u[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "a", %a : tensor<4x8xf32>
  tenon.output 1 "b", %b : tensor<4x6xf32>
  tenon.output 2 "c", %c : tensor<4x8xf32>
  tenon.output 3 "d", %d : tensor<4x6xf32>
  return
}
