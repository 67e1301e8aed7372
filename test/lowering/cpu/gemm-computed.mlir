// Contractions of operands that are in no memory: computed where they are packed, along the depth and across it, of all types, in batches, and where the sum is no matrix product.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=67,3 --dims=131,1 --tolerance=2e-5 | FileCheck %s
// CHECK: ok:
// RUN: not tenon-kernel-test %s --tier=portable --dims=2,3 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CORRUPT
// CORRUPT: joined dims 2,3 tier portable: output 0[0] is
// CORRUPT: FAILED

#x = affine_map<(d0, d1) -> (d1, d0, 24)>
#m = affine_map<(d0, d1) -> (d1, 5, 24)>
#j = affine_map<(d0, d1) -> (d1, d0 + 5, 24)>
#y = affine_map<(d0, d1) -> (d1, d0 + 5, 40)>

// Two tensors joined along the places, as A: y[b,u,f] = sum_d [m; x][b,u,d] w[f,d]
func.func @joined(%T: index, %B: index, %m: tensor<?x5x24xf32, #m>, %x: tensor<?x?x24xf32, #x>, %w: tensor<40x24xf32>) {
  %y = tenon.gemm element[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, #j>, tensor<40x24xf32> -> tensor<?x?x40xf32, #y> {
  ^bb0(%b: index, %u: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %u, %f], %sum : f32
  } a {
  ^bb0(%b: index, %u: index, %d: index):
    %five = arith.constant 5 : index
    %four = arith.constant 4 : index
    %zero = arith.constant 0 : index
    %first = arith.cmpi slt, %u, %five : index
    %um = arith.minsi %u, %four : index
    %rest = arith.subi %u, %five : index
    %ux = arith.maxsi %rest, %zero : index
    %em = tenon.at %m[%b, %um, %d] : tensor<?x5x24xf32, #m> -> f32
    %ex = tenon.at %x[%b, %ux, %d] : tensor<?x?x24xf32, #x> -> f32
    %e = arith.select %first, %em, %ex : f32
    tenon.yield %e : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #y>
  return
}

// Both operands, across the depth: dw[f,d] = sum_bt (2 dy)[b,t,f] (x + 1)[b,t,d]
#o = affine_map<(d0, d1) -> (d1, d0, 40)>
func.func @weight_gradient(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %dy: tensor<?x?x40xf32, #o>) {
  %dw = tenon.gemm element[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x40xf32, #o>, tensor<?x?x24xf32, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %f: index):
    %e = tenon.at %dy[%b, %t, %f] : tensor<?x?x40xf32, #o> -> f32
    %s = arith.addf %e, %e : f32
    tenon.yield %s : f32
  } b {
  ^bb0(%b: index, %t: index, %d: index):
    %e = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf32, #x> -> f32
    %one = arith.constant 1.0 : f32
    %s = arith.addf %e, %one : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

// bf16 along the depth as both, heads split in a merged depth: y[b,t,f] = sum_he (x)[b,t,h,e] w[f,h,e]
#h = affine_map<(d0, d1) -> (d1, d0, 3, 8)>
func.func @short(%T: index, %B: index, %x: tensor<?x?x3x8xbf16, #h>, %w: tensor<40x3x8xbf16>) {
  %y = tenon.gemm element[0, 1, 3, 4], element[2, 3, 4] rank 3 : tensor<?x?x3x8xbf16, #h>, tensor<40x3x8xbf16> -> tensor<?x?x40xf32, #o> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %t, %f], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %h: index, %e: index):
    %v = tenon.at %x[%b, %t, %h, %e] : tensor<?x?x3x8xbf16, #h> -> bf16
    tenon.yield %v : bf16
  } b {
  ^bb0(%f: index, %h: index, %e: index):
    %last = arith.constant 39 : index
    %back = arith.subi %last, %f : index
    %v = tenon.at %w[%back, %h, %e] : tensor<40x3x8xbf16> -> bf16
    tenon.yield %v : bf16
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #o>
  return
}

// f16 and bf16 across the depth: dw[f,d] = sum_bt dy[b,t,f] x[b,t,d]
func.func @short_gradient(%T: index, %B: index, %x: tensor<?x?x24xbf16, #x>, %dy: tensor<?x?x40xbf16, #o>) {
  %dw = tenon.gemm element[2, 3, 0], element[2, 3, 1] rank 2 : tensor<?x?x40xbf16, #o>, tensor<?x?x24xbf16, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %f: index):
    %v = tenon.at %dy[%b, %t, %f] : tensor<?x?x40xbf16, #o> -> bf16
    tenon.yield %v : bf16
  } b {
  ^bb0(%b: index, %t: index, %d: index):
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xbf16, #x> -> bf16
    tenon.yield %v : bf16
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}
func.func @half(%T: index, %B: index, %x: tensor<?x?x24xf16, #x>, %w: tensor<40x24xf16>) {
  %y = tenon.gemm element[0, 1, 3], element[2, 3] rank 3 : tensor<?x?x24xf16, #x>, tensor<40x24xf16> -> tensor<?x?x40xf32, #o> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %t, %f], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %d: index):
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf16, #x> -> f16
    tenon.yield %v : f16
  } b {
  ^bb0(%f: index, %d: index):
    %v = tenon.at %w[%f, %d] : tensor<40x24xf16> -> f16
    tenon.yield %v : f16
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #o>
  return
}

// A batch of heads, rows of A gathered: s[b,h,t,u] = sum_e q[b,t,h,e] k[b,u,h,e]
#s = affine_map<(d0, d1) -> (d1, 3, d0, d0)>
func.func @heads(%T: index, %B: index, %q: tensor<?x?x3x8xf32, #h>, %k: tensor<?x?x3x8xf32, #h>) {
  %s = tenon.gemm element[0, 2, 1, 4], element[0, 3, 1, 4] rank 4 : tensor<?x?x3x8xf32, #h>, tensor<?x?x3x8xf32, #h> -> tensor<?x3x?x?xf32, #s> {
  ^bb0(%b: index, %h: index, %t: index, %u: index, %sum: f32):
    tenon.put 0 [%b, %h, %t, %u], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %h: index, %e: index):
    %size = tenon.size_value affine_map<(d0, d1) -> (d0 - 1)>
    %back = arith.subi %size, %t : index
    %v = tenon.at %q[%b, %back, %h, %e] : tensor<?x?x3x8xf32, #h> -> f32
    tenon.yield %v : f32
  } b {
  ^bb0(%b: index, %u: index, %h: index, %e: index):
    %v = tenon.at %k[%b, %u, %h, %e] : tensor<?x?x3x8xf32, #h> -> f32
    %r = arith.negf %v : f32
    tenon.yield %r : f32
  }
  tenon.output 0 "s", %s : tensor<?x3x?x?xf32, #s>
  return
}

// No matrix product: the summed dimensions lie in different orders.
func.func @crossed(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %z: tensor<24x?x?xf32, affine_map<(d0, d1) -> (24, d1, d0)>>) {
  %y = tenon.gemm element[0, 1, 2], %z[2, 0, 1] rank 2 : tensor<?x?x24xf32, #x>, tensor<24x?x?xf32, affine_map<(d0, d1) -> (24, d1, d0)>> -> tensor<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>> {
  ^bb0(%b: index, %t: index, %sum: f32):
    tenon.put 0 [%b, %t], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %d: index):
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf32, #x> -> f32
    %r = arith.mulf %v, %v : f32
    tenon.yield %r : f32
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>
  return
}
func.func @sum_of_all(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %z: tensor<24x?x?xf32, affine_map<(d0, d1) -> (24, d1, d0)>>) {
  %y = tenon.gemm element[0, 1, 2], %z[2, 0, 1] rank 0 : tensor<?x?x24xf32, #x>, tensor<24x?x?xf32, affine_map<(d0, d1) -> (24, d1, d0)>> -> tensor<f32> {
  ^bb0(%sum: f32):
    tenon.put 0 [], %sum : f32
  } a {
  ^bb0(%b: index, %t: index, %d: index):
    %v = tenon.at %x[%b, %t, %d] : tensor<?x?x24xf32, #x> -> f32
    %r = arith.mulf %v, %v : f32
    tenon.yield %r : f32
  }
  tenon.output 0 "y", %y : tensor<f32>
  return
}

// Many steps and columns: several blocks of K, several blocks of columns (f64: long sums are rounded).
#w = affine_map<(d0, d1) -> (d1, d0, 900)>
#v = affine_map<(d0, d1) -> (d1, d0, 300)>
func.func @wide(%T: index, %B: index, %x: tensor<?x?x900xf64, #w>, %w: tensor<300x900xf64>) {
  %y = tenon.gemm element[0, 1, 3], element[2, 3] rank 3 : tensor<?x?x900xf64, #w>, tensor<300x900xf64> -> tensor<?x?x300xf64, #v> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f64):
    tenon.put 0 [%b, %t, %f], %sum : f64
  } a {
  ^bb0(%b: index, %t: index, %d: index):
    %e = tenon.at %x[%b, %t, %d] : tensor<?x?x900xf64, #w> -> f64
    %s = arith.addf %e, %e : f64
    tenon.yield %s : f64
  } b {
  ^bb0(%f: index, %d: index):
    %e = tenon.at %w[%f, %d] : tensor<300x900xf64> -> f64
    %s = arith.negf %e : f64
    tenon.yield %s : f64
  }
  tenon.output 0 "y", %y : tensor<?x?x300xf64, #v>
  return
}
