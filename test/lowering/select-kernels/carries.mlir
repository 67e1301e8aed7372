// A state that gets a carry as it is gets it before the carry's place gets the next one, which is made there: on the host by a copy in front, on devices by the kernel that reads the carry first.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80},cse,tenon-plan-memory{target=sm_80}))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse,tenon-plan-memory))' | FileCheck %s --check-prefix=HOST

// CHECK-LABEL: func.func @remembered(
// CHECK: tenon.stack 2
// CHECK-SAME: tenon.carries = ["[[PLACE:workspace [0-9]+]]"]
// CHECK: %[[READ:.*]]:2 = tenon.nest {{.*}} : tensor<4x8xf32>, tensor<4x8xf32> {{.*}}tenon.places = ["next_states 0 + depth * 128"
// CHECK: tenon.put 1
// CHECK: tenon.gemm
// CHECK: tenon.places = ["[[PLACE]]"]
// CHECK: tenon.write_state 0[%{{.*}}], %[[READ]]#
// HOST-LABEL: func.func @remembered(
// HOST: tenon.stack 2
// HOST-SAME: tenon.carries = ["[[PLACE:workspace [0-9]+]]"]
// HOST: ^bb0(%[[D:.*]]: index, %[[H:.*]]: tensor<4x8xf32>):
// HOST: tenon.write_state 0[%[[D]]], %[[H]]
// HOST: tenon.gemm
// HOST: tenon.places = ["[[PLACE]]"]
tenon.parameter @w stacked {offset = 0 : i64, stride = 256 : i64} : tensor<2x8x8xf32>
func.func @remembered(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [tensor<2x4x8xf32>]} {
  %y = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %m = tenon.read_state 0[%d] : tensor<4x8xf32>
    %e = tenon.exp %h : tensor<4x8xf32>
    %z = tenon.dot %e[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %s = tenon.add %z, %m : tensor<4x8xf32>
    tenon.write_state 0[%d], %h : tensor<4x8xf32>
    tenon.yield %s : tensor<4x8xf32>
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// -----

// A round that is left out leaves the state as it is: not before that is known.
// CHECK-LABEL: func.func @ends(
// CHECK: tenon.skip
// CHECK: tenon.nest
// CHECK: tenon.write_state
// HOST-LABEL: func.func @ends(
// HOST: tenon.skip
// HOST: tenon.write_state
// HOST: tenon.nest
func.func @ends(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [tensor<2x4x8xf32>]} {
  %y = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %i = tenon.depth_value %d : tensor<i32>
    %one = tenon.constant 1. : tensor<i32>
    %is = tenon.compare le %one, %i : tensor<i32> -> tensor<i1>
    tenon.skip %is : tensor<i1>
    %e = tenon.exp %h : tensor<4x8xf32>
    tenon.write_state 0[%d], %h : tensor<4x8xf32>
    tenon.yield %e : tensor<4x8xf32>
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}
