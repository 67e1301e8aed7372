// A loop that ends when a sum has grown enough, and its reversed twin over the rounds that ran.
// RUN: tenon-kernel-test %s --dims=1 --dims=3 --dims=17 --dims=67 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#x = affine_map<(d0) -> (d0, 8)>
#h = affine_map<(d0) -> (6, d0, 8)>

func.func @loop(%T: index, %x: tensor<?x8xf32, #x>) {
  %none = tenon.nest affine_map<() -> ()> : tensor<i32> {
    %zero = arith.constant 0 : i32
    tenon.put 0 [], %zero : i32
  }
  %y:3 = tenon.stack 6 (%x, %none) : (tensor<?x8xf32, #x>, tensor<i32>) -> (tensor<?x8xf32, #x>, tensor<i32>, tensor<6x?x8xf32, #h>) {
  ^bb0(%depth: index, %c: tensor<?x8xf32, #x>, %n: tensor<i32>):
    %late = tenon.nest affine_map<() -> ()> : tensor<i1> {
      %k = tenon.at %n[] : tensor<i32> -> i32
      %d = arith.index_cast %depth : index to i32
      %l = arith.cmpi slt, %k, %d : i32
      tenon.put 0 [], %l : i1
    }
    tenon.skip %late counts %n : tensor<i1>, tensor<i32>
    %stop = tenon.nest affine_map<() -> ()> : tensor<i1> {
      %k = tenon.at %n[] : tensor<i32> -> i32
      %three = arith.constant 3 : i32
      %l = arith.cmpi sge, %k, %three : i32
      tenon.put 0 [], %l : i1
    }
    tenon.skip %stop : tensor<i1>
    %z = tenon.nest affine_map<(d0) -> (d0)> : tensor<?x8xf32, #x> {
    ^bb0(%i: index):
      tenon.each affine_map<(d0) -> (8)> {
      ^bb0(%j: index):
        %a = tenon.at %c[%i, %j] : tensor<?x8xf32, #x> -> f32
        %f = arith.constant 1.25 : f32
        %m = arith.mulf %a, %f : f32
        tenon.put 0 [%i, %j], %m : f32
      }
    }
    %more = tenon.nest affine_map<() -> ()> : tensor<i32> {
      %k = tenon.at %n[] : tensor<i32> -> i32
      %one = arith.constant 1 : i32
      %l = arith.addi %k, %one : i32
      tenon.put 0 [], %l : i32
    }
    tenon.yield %z, %more, %c : tensor<?x8xf32, #x>, tensor<i32>, tensor<?x8xf32, #x>
  }
  %back = tenon.stack 6 reverse (%y#0) : (tensor<?x8xf32, #x>) -> (tensor<?x8xf32, #x>) {
  ^bb0(%depth: index, %c: tensor<?x8xf32, #x>):
    %done = tenon.nest affine_map<() -> ()> : tensor<i1> {
      %k = tenon.at %y#1[] : tensor<i32> -> i32
      %d = arith.index_cast %depth : index to i32
      %l = arith.cmpi sle, %k, %d : i32
      tenon.put 0 [], %l : i1
    }
    tenon.skip %done : tensor<i1>
    %kept = tenon.at_depth %y#2[%depth] : tensor<6x?x8xf32, #h> -> tensor<?x8xf32, #x>
    %z = tenon.nest affine_map<(d0) -> (d0)> : tensor<?x8xf32, #x> {
    ^bb0(%i: index):
      tenon.each affine_map<(d0) -> (8)> {
      ^bb0(%j: index):
        %a = tenon.at %c[%i, %j] : tensor<?x8xf32, #x> -> f32
        %b = tenon.at %kept[%i, %j] : tensor<?x8xf32, #x> -> f32
        %m = arith.addf %a, %b : f32
        tenon.put 0 [%i, %j], %m : f32
      }
    }
    tenon.yield %z : tensor<?x8xf32, #x>
  }
  tenon.output 0 "y", %y#0 : tensor<?x8xf32, #x>
  tenon.output 1 "rounds", %y#1 : tensor<i32>
  tenon.output 2 "back", %back : tensor<?x8xf32, #x>
  return
}
