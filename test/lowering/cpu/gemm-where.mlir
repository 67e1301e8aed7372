// Contractions that leave out what a condition leaves out, where an operand is 0: rows, steps, with epilogues that want all rows, of all types, in batches, and none at all.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=67,3 --dims=131,5 --tolerance=2e-5 | FileCheck %s
// CHECK: ok:
// RUN: not tenon-kernel-test %s --tier=portable --dims=2,3 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CORRUPT
// CORRUPT: rows dims 2,3 tier portable: output 0[0] is
// CORRUPT: FAILED

#c = affine_map<(d0, d1) -> (d1, d0)>
#x = affine_map<(d0, d1) -> (d1, d0, 24)>
#y = affine_map<(d0, d1) -> (d1, d0, 40)>
#h = affine_map<(d0, d1) -> (d1, 3, d0, 24)>

// y[b,t,f] = z[b,t,f] + (c[b,t] ? sum_d x[b,t,d] w[f,d] : 0), and the sum by itself
func.func @rows(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<40x24xf32>, %c: tensor<?x?xi1, #c>, %z: tensor<?x?x40xf32, #y>) {
  %y:2 = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, #x>, tensor<40x24xf32> -> tensor<?x?x40xf32, #y>, tensor<?x?x40xf32, #y> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %t, %f], %sum : f32
    %e = tenon.at %z[%b, %t, %f] : tensor<?x?x40xf32, #y> -> f32
    %s = arith.addf %e, %sum : f32
    tenon.put 1 [%b, %t, %f], %s : f32
  } a {
  ^bb0(%b: index, %t: index, %d: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf32, #x> -> f32
    %zero = arith.constant 0.0 : f32
    %e = arith.select %keep, %v, %zero : f32
    tenon.yield %e : f32
  }
  tenon.output 0 "sum", %y#0 : tensor<?x?x40xf32, #y>
  tenon.output 1 "y", %y#1 : tensor<?x?x40xf32, #y>
  return
}

// The weight's gradient: dw[f,d] = sum_bt (c[b,t] ? dy[b,t,f] x[b,t,d] : 0), one operand with the condition or both
func.func @steps(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %dy: tensor<?x?x40xf32, #y>, %c: tensor<?x?xi1, #c>) {
  %dw = tenon.gemm element[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x40xf32, #y>, tensor<?x?x24xf32, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %f: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %dy[%b, %t, %f] : tensor<?x?x40xf32, #y> -> f32
    %zero = arith.constant 0.0 : f32
    %e = arith.select %keep, %v, %zero : f32
    tenon.yield %e : f32
  } b {
  ^bb0(%b: index, %t: index, %d: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf32, #x> -> f32
    %zero = arith.constant 0.0 : f32
    %e = arith.select %keep, %v, %zero : f32
    tenon.yield %e : f32
  }
  %dv = tenon.gemm %dy[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x40xf32, #y>, tensor<?x?x24xf32, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } b {
  ^bb0(%b: index, %t: index, %d: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf32, #x> -> f32
    %zero = arith.constant 0.0 : f32
    %e = arith.select %keep, %v, %zero : f32
    tenon.yield %e : f32
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  tenon.output 1 "dv", %dv : tensor<40x24xf32>
  return
}

// bf16, rows and steps
func.func @short(%T: index, %B: index, %x: tensor<?x?x24xbf16, #x>, %w: tensor<40x24xbf16>, %dy: tensor<?x?x40xbf16, #y>, %c: tensor<?x?xi1, #c>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xbf16, #x>, tensor<40x24xbf16> -> tensor<?x?x40xf32, #y> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %t, %f], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %d: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xbf16, #x> -> bf16
    %zero = arith.constant 0.0 : bf16
    %e = arith.select %keep, %v, %zero : bf16
    tenon.yield %e : bf16
  }
  %dw = tenon.gemm element[2, 3, 0], %x[2, 3, 1] rank 2 : tensor<?x?x40xbf16, #y>, tensor<?x?x24xbf16, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %f: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %dy[%b, %t, %f] : tensor<?x?x40xbf16, #y> -> bf16
    %zero = arith.constant 0.0 : bf16
    %e = arith.select %keep, %v, %zero : bf16
    tenon.yield %e : bf16
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #y>
  tenon.output 1 "dw", %dw : tensor<40x24xf32>
  return
}

// f64; rows are heads, too, of which the condition says nothing; its operand is the second one: y[f,b,h,t] = sum_d w[f,d] x[b,h,t,d]
func.func @turned(%T: index, %B: index, %x: tensor<?x3x?x24xf64, #h>, %w: tensor<40x24xf64>, %c: tensor<?x?xi1, #c>) {
  %y = tenon.gemm %w[0, 4], element[1, 2, 3, 4] rank 4 : tensor<40x24xf64>, tensor<?x3x?x24xf64, #h> -> tensor<40x?x3x?xf64, affine_map<(d0, d1) -> (40, d1, 3, d0)>> {
  ^bb0(%f: index, %b: index, %h: index, %t: index, %sum: f64):
    tenon.put 0 [%f, %b, %h, %t], %sum : f64
  } b {
  ^bb0(%b: index, %h: index, %t: index, %d: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %x[%b, %h, %t, %d] : tensor<?x3x?x24xf64, #h> -> f64
    %zero = arith.constant 0.0 : f64
    %e = arith.select %keep, %v, %zero : f64
    tenon.yield %e : f64
  }
  tenon.output 0 "y", %y : tensor<40x?x3x?xf64, affine_map<(d0, d1) -> (40, d1, 3, d0)>>
  return
}

// A weight for each of three heads, which the condition does not know: y[b,h,t,f] = sum_d x[b,h,t,d] w[h,f,d]; and one that is of the batch alone, where nothing is left out
func.func @batch(%T: index, %B: index, %x: tensor<?x3x?x24xf32, #h>, %w: tensor<3x40x24xf32>, %c: tensor<?x?xi1, #c>, %k: tensor<3xi1>) {
  %y = tenon.gemm element[0, 1, 2, 4], %w[1, 3, 4] rank 4 : tensor<?x3x?x24xf32, #h>, tensor<3x40x24xf32> -> tensor<?x3x?x40xf32, affine_map<(d0, d1) -> (d1, 3, d0, 40)>> {
  ^bb0(%b: index, %h: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %h, %t, %f], %sum : f32
  } a {
  ^bb0(%b: index, %h: index, %t: index, %d: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %x[%b, %h, %t, %d] : tensor<?x3x?x24xf32, #h> -> f32
    %zero = arith.constant 0.0 : f32
    %e = arith.select %keep, %v, %zero : f32
    tenon.yield %e : f32
  }
  %u = tenon.gemm element[0, 1, 2, 4], %w[1, 3, 4] rank 4 : tensor<?x3x?x24xf32, #h>, tensor<3x40x24xf32> -> tensor<?x3x?x40xf32, affine_map<(d0, d1) -> (d1, 3, d0, 40)>> {
  ^bb0(%b: index, %h: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %h, %t, %f], %sum : f32
  } a {
  ^bb0(%b: index, %h: index, %t: index, %d: index):
    %keep = tenon.at %k[%h] : tensor<3xi1> -> i1
    %v = tenon.at %x[%b, %h, %t, %d] : tensor<?x3x?x24xf32, #h> -> f32
    %zero = arith.constant 0.0 : f32
    %e = arith.select %keep, %v, %zero : f32
    tenon.yield %e : f32
  }
  tenon.output 0 "y", %y : tensor<?x3x?x40xf32, affine_map<(d0, d1) -> (d1, 3, d0, 40)>>
  tenon.output 1 "u", %u : tensor<?x3x?x40xf32, affine_map<(d0, d1) -> (d1, 3, d0, 40)>>
  return
}

// Known sizes, more steps than a block has, draws behind the sums; whole strips, of which no row may be there
func.func @known(%T: index, %B: index, %x: tensor<60x800xf64>, %w: tensor<48x800xf64>, %c: tensor<60xi1>) {
  %y = tenon.gemm element[0, 2], %w[1, 2] rank 2 : tensor<60x800xf64>, tensor<48x800xf64> -> tensor<60x48xf64> {
  ^bb0(%i: index, %j: index, %sum: f64):
    %size = arith.constant 48 : index
    %row = arith.muli %i, %size : index
    %e = arith.addi %row, %j : index
    %keep = tenon.random_keep %e site 3 threshold 30000
    %zero = arith.constant 0.0 : f64
    %s = arith.select %keep, %sum, %zero : f64
    tenon.put 0 [%i, %j], %s : f64
  } a {
  ^bb0(%i: index, %k: index):
    %keep = tenon.at %c[%i] : tensor<60xi1> -> i1
    %v = tenon.at %x[%i, %k] : tensor<60x800xf64> -> f64
    %zero = arith.constant 0.0 : f64
    %e = arith.select %keep, %v, %zero : f64
    tenon.yield %e : f64
  }
  %never = tenon.nest affine_map<(d0, d1) -> ()> : tensor<60xi1> {
    tenon.each affine_map<(d0, d1) -> (60)> {
    ^bb0(%i: index):
      %false = arith.constant false
      tenon.put 0 [%i], %false : i1
    }
  }
  %none = tenon.gemm element[0, 2], %w[1, 2] rank 2 : tensor<60x800xf64>, tensor<48x800xf64> -> tensor<60x48xf64> {
  ^bb0(%i: index, %j: index, %sum: f64):
    tenon.put 0 [%i, %j], %sum : f64
  } a {
  ^bb0(%i: index, %k: index):
    %keep = tenon.at %never[%i] : tensor<60xi1> -> i1
    %v = tenon.at %x[%i, %k] : tensor<60x800xf64> -> f64
    %zero = arith.constant 0.0 : f64
    %e = arith.select %keep, %v, %zero : f64
    tenon.yield %e : f64
  }
  tenon.output 0 "y", %y : tensor<60x48xf64>
  tenon.output 1 "none", %none : tensor<60x48xf64>
  return
}

// Nothing reads what the rows give that the condition leaves out.
func.func @unread(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<40x24xf32>, %c: tensor<?x?xi1, #c>, %z: tensor<?x?x40xf32, #y>) {
  %h:2 = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, #x>, tensor<40x24xf32> -> tensor<?x?x40xf32, #y>, tensor<?x?x40xf32, #y> attributes {rest_unread = array<i1: true, false>} {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    %e = math.exp %sum : f32
    tenon.put 0 [%b, %t, %f], %e : f32
    %r = tenon.at %z[%b, %t, %f] : tensor<?x?x40xf32, #y> -> f32
    %s = arith.addf %r, %sum : f32
    tenon.put 1 [%b, %t, %f], %s : f32
  } a {
  ^bb0(%b: index, %t: index, %d: index):
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf32, #x> -> f32
    %zero = arith.constant 0.0 : f32
    %e = arith.select %keep, %v, %zero : f32
    tenon.yield %e : f32
  }
  %y = tenon.nest affine_map<(d0, d1) -> (d1, d0)> : tensor<?x?x40xf32, #y> {
  ^bb0(%b: index, %t: index):
    %zero = arith.constant 0.0 : f32
    %keep = tenon.at %c[%b, %t] : tensor<?x?xi1, #c> -> i1
    tenon.each affine_map<(d0, d1) -> (40)> {
    ^bb0(%f: index):
      %e = tenon.at %h#0[%b, %t, %f] : tensor<?x?x40xf32, #y> -> f32
      %s = arith.select %keep, %e, %zero : f32
      tenon.put 0 [%b, %t, %f], %s : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #y>
  tenon.output 1 "z", %h#1 : tensor<?x?x40xf32, #y>
  return
}
