// Contractions of bf16 and f16: products and sums of f32, whatever way an operand lies in memory. The reference rounds the inputs and sums in f64.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=67,3 --dims=131,1 --tolerance=2e-5 | FileCheck %s
// CHECK: ok:
// The tiers of bf16 by the definition of their instructions, also where the machine has these.
// RUN: tenon-kernel-test %s --dims=17,2 --tolerance=2e-5 --without-bf16 | FileCheck %s
// The types are no decoration: against inputs that are off in one element of the result, it fails.
// RUN: not tenon-kernel-test %s --tier=portable --dims=2,3 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CORRUPT
// CORRUPT: linear dims 2,3 tier portable: output 0[0] is
// CORRUPT: FAILED

#x = affine_map<(d0, d1) -> (d1, d0, 24)>
#y = affine_map<(d0, d1) -> (d1, d0, 40)>

// Both operands along the depth: y[b,t,f] = sum_d x[b,t,d] w[f,d] + bias[f]
func.func @linear(%T: index, %B: index, %x: tensor<?x?x24xbf16, #x>, %w: tensor<40x24xbf16>, %bias: tensor<40xf32>) {
  %y = tenon.gemm %x[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xbf16, #x>, tensor<40x24xbf16> -> tensor<?x?x40xf32, #y> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    %c = tenon.at %bias[%f] : tensor<40xf32> -> f32
    %s = arith.addf %sum, %c : f32
    tenon.put 0 [%b, %t, %f], %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #y>
  return
}

// The depth is the tokens: dw[f,d] = sum_bt dy[b,t,f] x[b,t,d]
func.func @weight_gradient(%T: index, %B: index, %x: tensor<?x?x24xf16, #x>, %dy: tensor<?x?x40xf16, #y>) {
  %dw = tenon.gemm %dy[2, 3, 0], %x[2, 3, 1] rank 2 : tensor<?x?x40xf16, #y>, tensor<?x?x24xf16, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}
func.func @weight_gradient_bf16(%T: index, %B: index, %x: tensor<?x?x24xbf16, #x>, %dy: tensor<?x?x40xbf16, #y>) {
  %dw = tenon.gemm %dy[2, 3, 0], %x[2, 3, 1] rank 2 : tensor<?x?x40xbf16, #y>, tensor<?x?x24xbf16, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

// Batches and strides: s[b,h,t,u] = sum_e q[b,t,h,e] k[b,u,h,e], and its product with v[b,u,h,e].
#heads = affine_map<(d0, d1) -> (d1, d0, 3, 7)>
#scores = affine_map<(d0, d1) -> (d1, 3, d0, d0)>
func.func @scores(%T: index, %B: index, %q: tensor<?x?x3x7xbf16, #heads>, %k: tensor<?x?x3x7xbf16, #heads>) {
  %s = tenon.gemm %q[0, 2, 1, 4], %k[0, 3, 1, 4] rank 4 : tensor<?x?x3x7xbf16, #heads>, tensor<?x?x3x7xbf16, #heads> -> tensor<?x3x?x?xf32, #scores> {
  ^bb0(%b: index, %h: index, %t: index, %u: index, %sum: f32):
    tenon.put 0 [%b, %h, %t, %u], %sum : f32
  }
  tenon.output 0 "s", %s : tensor<?x3x?x?xf32, #scores>
  return
}
func.func @values(%T: index, %B: index, %p: tensor<?x3x?x?xf16, #scores>, %v: tensor<?x?x3x7xf16, #heads>) {
  %y = tenon.gemm %p[0, 2, 1, 4], %v[0, 4, 2, 3] rank 4 : tensor<?x3x?x?xf16, #scores>, tensor<?x?x3x7xf16, #heads> -> tensor<?x?x3x7xf32, #heads> {
  ^bb0(%b: index, %t: index, %h: index, %e: index, %sum: f32):
    tenon.put 0 [%b, %t, %h, %e], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x3x7xf32, #heads>
  return
}

// Neither direction of an operand is of neighbours: y[t,b] = sum_d a[t,d,1st of 2] w[d,b,1st of 2], the 2 a batch.
#pairs = affine_map<(d0, d1) -> (d0, 24, 2)>
#small = affine_map<(d0, d1) -> (24, d1, 2)>
#wide = affine_map<(d0, d1) -> (d0, d1, 2)>
func.func @strided(%T: index, %B: index, %a: tensor<?x24x2xbf16, #pairs>, %w: tensor<24x?x2xbf16, #small>) {
  %y = tenon.gemm %a[0, 3, 2], %w[3, 1, 2] rank 3 : tensor<?x24x2xbf16, #pairs>, tensor<24x?x2xbf16, #small> -> tensor<?x?x2xf32, #wide> {
  ^bb0(%t: index, %b: index, %two: index, %sum: f32):
    tenon.put 0 [%t, %b, %two], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x2xf32, #wide>
  return
}

// A depth of several blocks, the last of odd size, and one of none.
func.func @deep(%T: index, %x: tensor<?x1701xbf16, affine_map<(d0) -> (d0, 1701)>>, %w: tensor<9x1701xbf16>) {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<?x1701xbf16, affine_map<(d0) -> (d0, 1701)>>, tensor<9x1701xbf16> -> tensor<?x9xf32, affine_map<(d0) -> (d0, 9)>> {
  ^bb0(%t: index, %f: index, %sum: f32):
    %scale = arith.constant 0.03125 : f32
    %s = arith.mulf %sum, %scale : f32
    tenon.put 0 [%t, %f], %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x9xf32, affine_map<(d0) -> (d0, 9)>>
  return
}
func.func @empty(%T: index, %x: tensor<?x0xf16, affine_map<(d0) -> (d0, 0)>>, %w: tensor<0x9xf16>) {
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<?x0xf16, affine_map<(d0) -> (d0, 0)>>, tensor<0x9xf16> -> tensor<?x9xf32, affine_map<(d0) -> (d0, 9)>> {
  ^bb0(%t: index, %f: index, %sum: f32):
    tenon.put 0 [%t, %f], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x9xf32, affine_map<(d0) -> (d0, 9)>>
  return
}

// No matrix product: y[b,t] = sum_he o[b,h,t,e] w[e,h]; and a whole tensor to one number.
#split = affine_map<(d0, d1) -> (d1, 2, d0, 16)>
#rows = affine_map<(d0, d1) -> (d1, d0)>
func.func @crossed(%T: index, %B: index, %o: tensor<?x2x?x16xbf16, #split>, %w: tensor<16x2xbf16>) {
  %y = tenon.gemm %o[0, 2, 1, 3], %w[3, 2] rank 2 : tensor<?x2x?x16xbf16, #split>, tensor<16x2xbf16> -> tensor<?x?xf32, #rows> {
  ^bb0(%b: index, %t: index, %sum: f32):
    tenon.put 0 [%b, %t], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #rows>
  return
}
func.func @crossed_f16(%T: index, %B: index, %o: tensor<?x2x?x16xf16, #split>, %w: tensor<16x2xf16>) {
  %y = tenon.gemm %o[0, 2, 1, 3], %w[3, 2] rank 2 : tensor<?x2x?x16xf16, #split>, tensor<16x2xf16> -> tensor<?x?xf32, #rows> {
  ^bb0(%b: index, %t: index, %sum: f32):
    tenon.put 0 [%b, %t], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #rows>
  return
}
func.func @number(%T: index, %a: tensor<?xf16, affine_map<(d0) -> (d0)>>, %b: tensor<?xf16, affine_map<(d0) -> (d0)>>) {
  %s = tenon.gemm %a[0], %b[0] rank 0 : tensor<?xf16, affine_map<(d0) -> (d0)>>, tensor<?xf16, affine_map<(d0) -> (d0)>> -> tensor<f32> {
  ^bb0(%sum: f32):
    tenon.put 0 [], %sum : f32
  }
  tenon.output 0 "s", %s : tensor<f32>
  return
}
