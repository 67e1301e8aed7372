// Contractions: a linear layer with bias and activation, its gradients, heads, a sum that is no matrix product.
// One sum of 200 terms is rounded 200 times in f32: hence the tolerance.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=67,3 --dims=131,1 --tolerance=2e-5 | FileCheck %s
// CHECK: ok:

#x = affine_map<(d0, d1) -> (d1, d0, 24)>
#y = affine_map<(d0, d1) -> (d1, d0, 40)>

// y[b,t,f] = relu(sum_d x[b,t,d] w[f,d] + bias[f]), and its sign.
func.func @linear(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<40x24xf32>, %bias: tensor<40xf32>) {
  %y, %sign = tenon.gemm %x[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, #x>, tensor<40x24xf32> -> tensor<?x?x40xf32, #y>, tensor<?x?x40xi1, #y> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    %c = tenon.at %bias[%f] : tensor<40xf32> -> f32
    %s = arith.addf %sum, %c : f32
    %zero = arith.constant 0.0 : f32
    %r = arith.maximumf %s, %zero : f32
    %p = arith.cmpf ogt, %s, %zero : f32
    tenon.put 0 [%b, %t, %f], %r : f32
    tenon.put 1 [%b, %t, %f], %p : i1
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #y>
  tenon.output 1 "sign", %sign : tensor<?x?x40xi1, #y>
  return
}

// dw[f,d] = sum_bt dy[b,t,f] x[b,t,d]
func.func @weight_gradient(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %dy: tensor<?x?x40xf32, #y>) {
  %dw = tenon.gemm %dy[2, 3, 0], %x[2, 3, 1] rank 2 : tensor<?x?x40xf32, #y>, tensor<?x?x24xf32, #x> -> tensor<40x24xf32> {
  ^bb0(%f: index, %d: index, %sum: f32):
    tenon.put 0 [%f, %d], %sum : f32
  }
  tenon.output 0 "dw", %dw : tensor<40x24xf32>
  return
}

// s[b,h,t,u] = sum_e q[b,t,h,e] k[b,u,h,e] with q split from [b,t,3*8].
#heads = affine_map<(d0, d1) -> (d1, d0, 3, 8)>
#scores = affine_map<(d0, d1) -> (d1, 3, d0, d0)>
func.func @scores(%T: index, %B: index, %q: tensor<?x?x3x8xf32, #heads>, %k: tensor<?x?x3x8xf32, #heads>) {
  %s = tenon.gemm %q[0, 2, 1, 4], %k[0, 3, 1, 4] rank 4 : tensor<?x?x3x8xf32, #heads>, tensor<?x?x3x8xf32, #heads> -> tensor<?x3x?x?xf32, #scores> {
  ^bb0(%b: index, %h: index, %t: index, %u: index, %sum: f32):
    tenon.put 0 [%b, %h, %t, %u], %sum : f32
  }
  tenon.output 0 "s", %s : tensor<?x3x?x?xf32, #scores>
  return
}

// The result transposed: y[h,e,b,t] = sum_d x[b,t,d] w[h,e,d].
#t = affine_map<(d0, d1) -> (3, 8, d1, d0)>
func.func @transposed(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<3x8x24xf32>) {
  %y = tenon.gemm %x[2, 3, 4], %w[0, 1, 4] rank 4 : tensor<?x?x24xf32, #x>, tensor<3x8x24xf32> -> tensor<3x8x?x?xf32, #t> {
  ^bb0(%h: index, %e: index, %b: index, %t: index, %sum: f32):
    tenon.put 0 [%h, %e, %b, %t], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<3x8x?x?xf32, #t>
  return
}

// Columns split into heads: y[b,h,t,e] = sum_d x[b,t,d] w[h,e,d], 16 lanes of e at a time.
#split = affine_map<(d0, d1) -> (d1, 2, d0, 16)>
func.func @split(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<2x16x24xf32>) {
  %y = tenon.gemm %x[0, 2, 4], %w[1, 3, 4] rank 4 : tensor<?x?x24xf32, #x>, tensor<2x16x24xf32> -> tensor<?x2x?x16xf32, #split> {
  ^bb0(%b: index, %h: index, %t: index, %e: index, %sum: f32):
    tenon.put 0 [%b, %h, %t, %e], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x2x?x16xf32, #split>
  return
}

// Two summed labels in different orders: no matrix product. y[b,t] = sum_he o[b,h,t,e] w[e,h]
func.func @crossed(%T: index, %B: index, %o: tensor<?x2x?x16xf32, #split>, %w: tensor<16x2xf32>) {
  %y = tenon.gemm %o[0, 2, 1, 3], %w[3, 2] rank 2 : tensor<?x2x?x16xf32, #split>, tensor<16x2xf32> -> tensor<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>> {
  ^bb0(%b: index, %t: index, %sum: f32):
    tenon.put 0 [%b, %t], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, affine_map<(d0, d1) -> (d1, d0)>>
  return
}

// A whole tensor to one number, and an outer product.
func.func @corners(%T: index, %B: index, %a: tensor<?xf32, affine_map<(d0, d1) -> (d0)>>, %b: tensor<?xf32, affine_map<(d0, d1) -> (d0)>>) {
  %s = tenon.gemm %a[0], %b[0] rank 0 : tensor<?xf32, affine_map<(d0, d1) -> (d0)>>, tensor<?xf32, affine_map<(d0, d1) -> (d0)>> -> tensor<f32> {
  ^bb0(%sum: f32):
    tenon.put 0 [], %sum : f32
  }
  %o = tenon.gemm %a[0], %b[1] rank 2 : tensor<?xf32, affine_map<(d0, d1) -> (d0)>>, tensor<?xf32, affine_map<(d0, d1) -> (d0)>> -> tensor<?x?xf32, affine_map<(d0, d1) -> (d0, d0)>> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "s", %s : tensor<f32>
  tenon.output 1 "o", %o : tensor<?x?xf32, affine_map<(d0, d1) -> (d0, d0)>>
  return
}
