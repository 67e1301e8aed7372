// The places of the largest of each row, for every rest of the vectors: one, some, most and all of a row; equal elements, those of
// integers too; rows of which each element is better than all before it.
// RUN: tenon-kernel-test %s --dims=1,3 --dims=3,2 --dims=19,1 --dims=67,5 --dims=300,2 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=67,2 --corrupt=1 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#x = affine_map<(d0, d1) -> (d1, 5, d0 + 16)>
#y = affine_map<(d0, d1) -> (d1, 5, d0)>
#all = affine_map<(d0, d1) -> (d1, 5, d0 + 16)>
#rows = affine_map<(d0, d1) -> (d1, d0 + 16)>

func.func @reals(%T: index, %B: index, %x: tensor<?x5x?xf32, #x>) {
  %a = tenon.top %x : tensor<?x5x?xf32, #x> -> tensor<?x5x?xi32, #y>
  tenon.output 0 "a", %a : tensor<?x5x?xi32, #y>
  %b = tenon.top %x : tensor<?x5x?xf32, #x> -> tensor<?x5x1xi32, affine_map<(d0, d1) -> (d1, 5, 1)>>
  tenon.output 1 "b", %b : tensor<?x5x1xi32, affine_map<(d0, d1) -> (d1, 5, 1)>>
  %c = tenon.top %x : tensor<?x5x?xf32, #x> -> tensor<?x5x?xi32, #all>
  tenon.output 2 "c", %c : tensor<?x5x?xi32, #all>
  %d = tenon.top %x : tensor<?x5x?xf32, #x> -> tensor<?x5x16xi32, affine_map<(d0, d1) -> (d1, 5, 16)>>
  tenon.output 3 "d", %d : tensor<?x5x16xi32, affine_map<(d0, d1) -> (d1, 5, 16)>>
  return
}

// Few different numbers, in f64, as whole numbers, and rising.
func.func @equal(%T: index, %B: index, %n: tensor<?x?xi32, #rows>) {
  %few, %wide, %rising, %same = tenon.nest affine_map<(d0, d1) -> (d1, d0 + 16)>
      : tensor<?x?xi32, #rows>, tensor<?x?xf64, #rows>, tensor<?x?xi32, #rows>, tensor<?x?xf32, #rows> {
  ^bb0(%b: index, %t: index):
    %number = tenon.at %n[%b, %t] : tensor<?x?xi32, #rows> -> i32
    %three = arith.constant 3 : i32
    %two = arith.constant 2 : i32
    %rest = arith.remsi %number, %three : i32
    tenon.put 0 [%b, %t], %rest : i32
    %real = arith.sitofp %rest : i32 to f64
    tenon.put 1 [%b, %t], %real : f64
    %place = arith.index_cast %t : index to i32
    %left = arith.subi %place, %two : i32
    tenon.put 2 [%b, %t], %left : i32
    %one = arith.constant 1.0 : f32
    tenon.put 3 [%b, %t], %one : f32
  }
  %a = tenon.top %few : tensor<?x?xi32, #rows> -> tensor<?x9xi32, affine_map<(d0, d1) -> (d1, 9)>>
  tenon.output 0 "a", %a : tensor<?x9xi32, affine_map<(d0, d1) -> (d1, 9)>>
  %b = tenon.top %wide : tensor<?x?xf64, #rows> -> tensor<?x11xi32, affine_map<(d0, d1) -> (d1, 11)>>
  tenon.output 1 "b", %b : tensor<?x11xi32, affine_map<(d0, d1) -> (d1, 11)>>
  %c = tenon.top %rising : tensor<?x?xi32, #rows> -> tensor<?x4xi32, affine_map<(d0, d1) -> (d1, 4)>>
  tenon.output 2 "c", %c : tensor<?x4xi32, affine_map<(d0, d1) -> (d1, 4)>>
  %d = tenon.top %same : tensor<?x?xf32, #rows> -> tensor<?x?xi32, #rows>
  tenon.output 3 "d", %d : tensor<?x?xi32, #rows>
  return
}
