// The 32 bits of an element, as the description of tenon.random_bits has them: rows that begin at a multiple of 64, whose vectors
// draw neighbours, rows that begin anywhere, elements that are no neighbours, one by one, with a depth.
// RUN: tenon-kernel-test %s --dims=1,2 --dims=3,1 --dims=50,3 --dims=131,2 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=50,1 --corrupt=1 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#y = affine_map<(d0, d1) -> (d1, d0)>

func.func @bits(%T: index, %B: index) {
  %a, %b, %c = tenon.nest affine_map<(d0, d1) -> (d1, d0)> : tensor<?x?xi32, #y>, tensor<?x?xi32, #y>, tensor<?x?xi32, #y> {
  ^bb0(%r: index, %t: index):
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : index
    %stride = arith.constant 192 : index
    %start = arith.muli %r, %stride : index
    %e = arith.addi %start, %t : index
    %near = tenon.random_bits %e site 7
    %x = arith.shrui %near, %two : i32
    tenon.put 0 [%r, %t], %x : i32
    %row = arith.muli %r, %T : index
    %f = arith.addi %row, %t : index
    %anywhere = tenon.random_bits %f depth %B site 8
    %y = arith.shrui %anywhere, %two : i32
    tenon.put 1 [%r, %t], %y : i32
    %apart = arith.muli %f, %three : index
    %far = tenon.random_bits %apart site 4294967295
    %z = arith.shrui %far, %two : i32
    tenon.put 2 [%r, %t], %z : i32
  }
  tenon.output 0 "a", %a : tensor<?x?xi32, #y>
  tenon.output 1 "b", %b : tensor<?x?xi32, #y>
  tenon.output 2 "c", %c : tensor<?x?xi32, #y>
  return
}

// One element of each row, and the largest of a row in a fold.
func.func @rows(%T: index, %B: index) {
  %a, %b = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?xi32, affine_map<(d0, d1) -> (d1)>>, tensor<?xi32, affine_map<(d0, d1) -> (d1)>> {
  ^bb0(%r: index):
    %two = arith.constant 2 : i32
    %one = tenon.random_bits %r site 7
    %x = arith.shrui %one, %two : i32
    tenon.put 0 [%r], %x : i32
    %most = tenon.fold max affine_map<(d0, d1) -> (d0)> : i32 {
    ^bb0(%t: index):
      %stride = arith.constant 192 : index
      %start = arith.muli %r, %stride : index
      %e = arith.addi %start, %t : index
      %bits = tenon.random_bits %e site 7
      %half = arith.shrui %bits, %two : i32
      tenon.yield %half : i32
    }
    tenon.put 1 [%r], %most : i32
  }
  tenon.output 0 "a", %a : tensor<?xi32, affine_map<(d0, d1) -> (d1)>>
  tenon.output 1 "b", %b : tensor<?xi32, affine_map<(d0, d1) -> (d1)>>
  return
}
