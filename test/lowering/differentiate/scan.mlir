// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-differentiate))' | FileCheck %s

// A recurrence over a run-time number of places: what it reads of x place by place has its gradient collected place by place, and no gradient of x is carried along;
// the weight, the same at all places, is carried.
#x = affine_map<(d0) -> (d0, 4)>
tenon.parameter @u : tensor<4xf32>
tenon.parameter @w : tensor<4xf32>
// CHECK-LABEL: func.func @train
// CHECK: %[[X:.*]] = tenon.mul
// CHECK: %[[Y:.*]]:3 = tenon.stack #[[T:[a-z0-9]+]](
// CHECK: %[[BACK:.*]]:3 = tenon.stack #[[T]] reverse(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<?x4xf32, #{{.*}}>) {
// CHECK: ^bb0(%[[AT:.*]]: index, %[[DH:.*]]: tensor<4xf32>, %[[DW:.*]]: tensor<4xf32>):
// CHECK: tenon.at_depth %{{.*}}[%[[AT]]]
// CHECK: %[[DX:.*]] = tenon.mul
// CHECK-NOT: scatter
// CHECK: tenon.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK: tenon.mul %[[BACK]]#2
// CHECK-DAG: tenon.write_gradient @w, %[[BACK]]#1
// CHECK-DAG: tenon.write_gradient @u
func.func @train(%t: index, %a: tensor<?x4xf32, #x>) attributes {tenon.kind = "train", tenon.dims = ["T"], tenon.states = []} {
  %u = tenon.read_parameter @u : tensor<4xf32>
  %w = tenon.read_parameter @w : tensor<4xf32>
  %us = tenon.broadcast %u [1] : tensor<4xf32> -> tensor<?x4xf32, #x>
  %x = tenon.mul %a, %us : tensor<?x4xf32, #x>
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %y = tenon.stack affine_map<(d0) -> (d0)> (%zero) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    %one = tenon.at_depth %x[%at] : tensor<?x4xf32, #x> -> tensor<4xf32>
    %p = tenon.mul %h, %w : tensor<4xf32>
    %s = tenon.add %p, %one : tensor<4xf32>
    %n = tenon.tanh %s : tensor<4xf32>
    tenon.yield %n : tensor<4xf32>
  }
  %l = tenon.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// In a loop inside, the place is that of the loop around: it is read once per round of that one, and its gradient is collected there.
#x = affine_map<(d0) -> (d0, 4)>
tenon.parameter @u : tensor<4xf32>
// CHECK-LABEL: func.func @train
// CHECK: tenon.stack #[[T:[a-z0-9]+]](
// CHECK-NEXT: ^bb0(%[[AT:.*]]: index
// CHECK-NEXT: %[[ONE:.*]] = tenon.at_depth %{{.*}}[%[[AT]]]
// CHECK-NEXT: tenon.stack 3(
// CHECK-NOT: tenon.at_depth
// CHECK: tenon.stack #[[T]] reverse(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32, #{{.*}}>)
// CHECK: tenon.stack 3 reverse(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
func.func @train(%t: index, %a: tensor<?x4xf32, #x>) attributes {tenon.kind = "train", tenon.dims = ["T"], tenon.states = []} {
  %u = tenon.read_parameter @u : tensor<4xf32>
  %us = tenon.broadcast %u [1] : tensor<4xf32> -> tensor<?x4xf32, #x>
  %x = tenon.mul %a, %us : tensor<?x4xf32, #x>
  %zero = tenon.constant 0.0 : tensor<4xf32>
  %y = tenon.stack affine_map<(d0) -> (d0)> (%zero) : (tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%at: index, %h: tensor<4xf32>):
    %n = tenon.stack 3 (%h) : (tensor<4xf32>) -> (tensor<4xf32>) {
    ^bb1(%depth: index, %k: tensor<4xf32>):
      %one = tenon.at_depth %x[%at] : tensor<?x4xf32, #x> -> tensor<4xf32>
      %m = tenon.mul %k, %one : tensor<4xf32>
      tenon.yield %m : tensor<4xf32>
    }
    tenon.yield %n : tensor<4xf32>
  }
  %l = tenon.reduce sum %y [0] : tensor<4xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
