// What has no memory of its own is no launch: a read is the place that it reads, a write the place of a result or a copy, blocks of rounds lie where the rounds lie, and what is drawn is drawn where it is read.
// DEFINE: %{schedule} = tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse,tenon-schedule))'
// DEFINE: %{check} = FileCheck %s --implicit-check-not='tenon.{{nest|gemm|read_|write_|regroup|join|at_depth|stack|dropout|gumbel|random_}}' --implicit-check-not=tenon.copy
// RUN: %{schedule} | %{check}
// RUN: %{schedule} | tenon-opt --split-input-file | %{check}

// At each depth the state of the call is read, and the one of the next call is written: two arrays, so that a write is never read.
// CHECK-LABEL: func.func @memory(
// CHECK: tenon.copy %arg0 to <workspace 0>
// CHECK: tenon.loop 2 {
// CHECK: %[[CARRY:.*]] = tenon.place <workspace 0> : tensor<4x8xf32>
// CHECK: %[[OLD:.*]] = tenon.place <states 0, [<0, () -> (128), 0>]> : tensor<4x8xf32>
// CHECK: tenon.copy %[[CARRY]] to <next_states 0, [<0, () -> (128), 0>]> : tensor<4x8xf32>
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<workspace 0>]
// CHECK: tenon.at %[[CARRY]]
// CHECK: tenon.at %[[OLD]]
// CHECK: tenon.put 0
// CHECK: tenon.copy %{{.*}} to <output 0>
func.func @memory(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [tensor<2x4x8xf32>]} {
  %y = tenon.stack 2(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %m = tenon.read_state 0[%d] : tensor<4x8xf32>
    %n = tenon.add %h, %m : tensor<4x8xf32>
    tenon.write_state 0[%d], %h : tensor<4x8xf32>
    tenon.yield %n : tensor<4x8xf32>
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// -----

// The memory of a segment and the segment are joined where the contraction packs them, and once more where the last rows become the next memory: the join is never stored.
// CHECK-LABEL: func.func @segment(
// CHECK-SAME: tenon.slots = []
// CHECK: %[[MEMORY:.*]] = tenon.place <states 0> : tensor<3x8xf32>
// CHECK: tenon.gemm element[0, 2], %arg1[1, 2] {{.*}}tenon.places = [#tenon.place<output 0>]
// CHECK: tenon.size_value
// CHECK: tenon.at %[[MEMORY]]
// CHECK: tenon.at %arg0
// CHECK: arith.select
// CHECK: tenon.nest {{.*}} : tensor<3x8xf32> attributes {{.*}}tenon.places = [#tenon.place<next_states 0>]
// CHECK: tenon.at %[[MEMORY]]
// CHECK: tenon.at %arg0
// CHECK: tenon.put 0
func.func @segment(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [tensor<3x8xf32>]} {
  %m = tenon.read_state 0 : tensor<3x8xf32>
  %all = tenon.concat 0 %m, %x : tensor<3x8xf32>, tensor<4x8xf32> -> tensor<7x8xf32>
  %k = tenon.dot %all[0, 2], %w[1, 2] : tensor<7x8xf32>, tensor<6x8xf32> -> tensor<7x6xf32>
  %last = tenon.slice %all 0 from affine_map<() -> (4)> : tensor<7x8xf32> -> tensor<3x8xf32>
  tenon.write_state 0, %last : tensor<3x8xf32>
  tenon.output 0 "k", %k : tensor<7x6xf32>
  return
}

// -----

// A second loop over blocks of four rounds reads what the first one kept, a block per depth, without a copy.
// CHECK-LABEL: func.func @blocks(
// CHECK: tenon.copy %arg0 to <workspace [[#KEPT:]], [<-1, () -> (32), 0>]>
// CHECK: tenon.loop 8 {
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<workspace [[#KEPT]], [<0, () -> (32), 1>]>]
// CHECK: tenon.copy %{{.*}} to <workspace [[#LAST:]]> : tensor<8xf32>
// CHECK: tenon.place <workspace [[#KEPT]]> : tensor<8x8xf32>
// CHECK: tenon.place <workspace [[#KEPT]]> : tensor<2x4x8xf32>
// CHECK: tenon.copy %{{.*}} to <workspace [[#SUM:]]> : tensor<8xf32>
// CHECK: tenon.loop 2 {
// CHECK: %[[BLOCK:.*]] = tenon.place <workspace [[#KEPT]], [<0, () -> (128), 0>]> : tensor<4x8xf32>
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<workspace [[#SUM]]>]
// CHECK: tenon.fold sum
// CHECK: tenon.at %[[BLOCK]]
// CHECK: tenon.copy %{{.*}} to <output 0>
func.func @blocks(%x: tensor<8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %kept = tenon.stack 8(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  ^bb0(%d: index, %h: tensor<8xf32>):
    %e = tenon.exp %h : tensor<8xf32>
    tenon.yield %e, %h : tensor<8xf32>, tensor<8xf32>
  }
  %blocks = tenon.regroup %kept : tensor<8x8xf32> -> tensor<2x4x8xf32>
  %z = tenon.stack 2(%y) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%d: index, %h: tensor<8xf32>):
    %block = tenon.at_depth %blocks[%d] : tensor<2x4x8xf32> -> tensor<4x8xf32>
    %sum = tenon.reduce sum %block [0] : tensor<4x8xf32> -> tensor<8xf32>
    %n = tenon.add %h, %sum : tensor<8xf32>
    tenon.yield %n : tensor<8xf32>
  }
  tenon.output 0 "z", %z : tensor<8xf32>
  return
}

// -----

module attributes {tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w {offset = 192 : i64} : tensor<8xf32>
  // A parameter in two halves is two places, which one launch reads.
  // CHECK-LABEL: func.func @halves(
  // CHECK-SAME: tenon.slots = []
  // CHECK: %[[UPPER:.*]] = tenon.place <parameters 96> : tensor<8xbf16>
  // CHECK: %[[REST:.*]] = tenon.place <remainders 96> : tensor<8xi16>
  // CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<output 0>]
  // CHECK: tenon.at %[[UPPER]]
  // CHECK: tenon.at %[[REST]]
  // CHECK: arith.addi
  // CHECK: tenon.put 0
  func.func @halves(%x: tensor<8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    %upper = tenon.read_parameter @w : tensor<8xbf16>
    %rest = tenon.read_parameter @w remainder : tensor<8xi16>
    %w = tenon.join %upper, %rest : tensor<8xbf16>, tensor<8xi16> -> tensor<8xf32>
    %y = tenon.mul %x, %w : tensor<8xf32>
    tenon.output 0 "y", %y : tensor<8xf32>
    return
  }
}

// -----

// Whether an element stays is a function of its number, the site and the depth of the loop; noise is drawn again by each fold that reads it. Neither is stored.
// CHECK-LABEL: func.func @drawn(
// CHECK-SAME: tenon.slots = [#tenon.slot<() -> (128)>]
// CHECK: tenon.copy %arg0 to <workspace 0>
// CHECK: tenon.loop 2 {
// CHECK-NEXT: ^bb0(%[[DEPTH:.*]]: index):
// CHECK: tenon.nest {{.*}}tenon.places = [#tenon.place<workspace 0>]
// CHECK: tenon.each
// CHECK: %[[KEEP:.*]] = tenon.random_keep %{{.*}} depth %[[DEPTH]] site 7 threshold 16384
// CHECK: arith.select %[[KEEP]]
// CHECK-NEXT: tenon.put 0
// CHECK: tenon.copy %{{.*}} to <output 0>
// CHECK: tenon.nest {{.*}} : tensor<4xi32> attributes {{.*}}tenon.places = [#tenon.place<output 1>]
// CHECK: tenon.fold max
// CHECK: tenon.random_bits %{{.*}} site 8
// CHECK: tenon.fold min
// CHECK: tenon.random_bits %{{.*}} site 8
// CHECK: tenon.put 0
func.func @drawn(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.stack 2(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %n = tenon.dropout %h depth %d rate 0.25 site 7 : tensor<4x8xf32>
    tenon.yield %n : tensor<4x8xf32>
  }
  %noisy = tenon.gumbel %y site 8 : tensor<4x8xf32>
  %best = tenon.argmax %noisy dim 1 : tensor<4x8xf32> -> tensor<4xi32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  tenon.output 1 "best", %best : tensor<4xi32>
  return
}
