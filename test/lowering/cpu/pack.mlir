// Weights that are packed in front of the contractions that read them, along both sides, with rests of columns and of steps, of few rows and of more: the numbers, and the very bits of contractions that pack for themselves.
// RUN: tenon-kernel-test %s --dims=1 --dims=3 --dims=20 --dims=77 --tolerance=2e-5 | FileCheck %s
// CHECK: ok:
// RUN: not tenon-kernel-test %s --tier=portable --dims=3 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CONTROL: FAILED

#x = affine_map<(d0) -> (d0, 50)>
#y = affine_map<(d0) -> (d0, 75)>

// y = x w, w [k, n], and of w [n, k]; the difference to what is not packed is nothing, however often it is taken.
func.func @reals(%B: index, %x: tensor<?x50xf32, #x>, %w: tensor<50x75xf32>, %v: tensor<75x50xf32>) {
  %p = tenon.pack %w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<50x75xf32>
  %q = tenon.pack %v {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<75x50xf32>
  %own = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<?x50xf32, #x>, tensor<50x75xf32> -> tensor<?x75xf32, #y> {
  ^bb0(%b: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %j], %sum : f32
  }
  %y = tenon.gemm %x[0, 2], %p[2, 1] rank 2 : tensor<?x50xf32, #x>, tensor<50x75xf32> -> tensor<?x75xf32, #y> attributes {tenon.panels = array<i64: 1, 32, 1, 0>} {
  ^bb0(%b: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %j], %sum : f32
  }
  %other = tenon.gemm %x[0, 2], %v[1, 2] rank 2 : tensor<?x50xf32, #x>, tensor<75x50xf32> -> tensor<?x75xf32, #y> {
  ^bb0(%b: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %j], %sum : f32
  }
  %z = tenon.gemm %x[0, 2], %q[1, 2] rank 2 : tensor<?x50xf32, #x>, tensor<75x50xf32> -> tensor<?x75xf32, #y> attributes {tenon.panels = array<i64: 1, 32, 1, 1>} {
  ^bb0(%b: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %j], %sum : f32
  }
  %d:2 = tenon.nest affine_map<(d0) -> (d0, 75)> : tensor<?x75xf32, #y>, tensor<?x75xf32, #y> {
  ^bb0(%b: index, %j: index):
    %large = arith.constant 1.0e30 : f32
    %y0 = tenon.at %y[%b, %j] : tensor<?x75xf32, #y> -> f32
    %y1 = tenon.at %own[%b, %j] : tensor<?x75xf32, #y> -> f32
    %z0 = tenon.at %z[%b, %j] : tensor<?x75xf32, #y> -> f32
    %z1 = tenon.at %other[%b, %j] : tensor<?x75xf32, #y> -> f32
    %e = arith.subf %y0, %y1 : f32
    %f = arith.subf %z0, %z1 : f32
    %g = arith.mulf %e, %large : f32
    %h = arith.mulf %f, %large : f32
    tenon.put 0 [%b, %j], %g : f32
    tenon.put 1 [%b, %j], %h : f32
  }
  tenon.output 0 "y", %y : tensor<?x75xf32, #y>
  tenon.output 1 "z", %z : tensor<?x75xf32, #y>
  tenon.output 2 "dy", %d#0 : tensor<?x75xf32, #y>
  tenon.output 3 "dz", %d#1 : tensor<?x75xf32, #y>
  return
}

// f64, and more steps than a block has; all that follows, sums or differences, is nothing.
#long = affine_map<(d0) -> (d0, 801)>
#short = affine_map<(d0) -> (d0, 33)>
func.func @wide(%B: index, %x: tensor<?x801xf64, #long>, %v: tensor<33x801xf64>) {
  %q = tenon.pack %v {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<33x801xf64>
  %y = tenon.gemm %x[0, 2], %v[1, 2] rank 2 : tensor<?x801xf64, #long>, tensor<33x801xf64> -> tensor<?x33xf64, #short> {
  ^bb0(%b: index, %j: index, %sum: f64):
    tenon.put 0 [%b, %j], %sum : f64
  }
  %d = tenon.gemm %x[0, 2], %q[1, 2] rank 2 : tensor<?x801xf64, #long>, tensor<33x801xf64> -> tensor<?x33xf64, #short> attributes {tenon.panels = array<i64: 1, 32, 1, 1>} {
  ^bb0(%b: index, %j: index, %sum: f64):
    %large = arith.constant 1.0e30 : f64
    %e = tenon.at %y[%b, %j] : tensor<?x33xf64, #short> -> f64
    %f = arith.subf %sum, %e : f64
    %g = arith.mulf %f, %large : f64
    tenon.put 0 [%b, %j], %g : f64
  }
  tenon.output 0 "y", %y : tensor<?x33xf64, #short>
  tenon.output 1 "d", %d : tensor<?x33xf64, #short>
  return
}

// Pairs of bf16, an odd number of steps: [k, n] and [n, k].
#odd = affine_map<(d0) -> (d0, 51)>
#columns = affine_map<(d0) -> (d0, 70)>
func.func @pairs(%B: index, %x: tensor<?x51xbf16, #odd>, %w: tensor<51x70xbf16>, %v: tensor<70x51xbf16>) {
  %p = tenon.pack %w {tenon.panels = array<i64: 1, 32, 2, 0>} : tensor<51x70xbf16>
  %q = tenon.pack %v {tenon.panels = array<i64: 1, 32, 2, 1>} : tensor<70x51xbf16>
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<?x51xbf16, #odd>, tensor<51x70xbf16> -> tensor<?x70xf32, #columns> {
  ^bb0(%b: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %j], %sum : f32
  }
  %z = tenon.gemm %x[0, 2], %v[1, 2] rank 2 : tensor<?x51xbf16, #odd>, tensor<70x51xbf16> -> tensor<?x70xf32, #columns> {
  ^bb0(%b: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %j], %sum : f32
  }
  %dy = tenon.gemm %x[0, 2], %p[2, 1] rank 2 : tensor<?x51xbf16, #odd>, tensor<51x70xbf16> -> tensor<?x70xf32, #columns> attributes {tenon.panels = array<i64: 1, 32, 2, 0>} {
  ^bb0(%b: index, %j: index, %sum: f32):
    %large = arith.constant 1.0e30 : f32
    %e = tenon.at %y[%b, %j] : tensor<?x70xf32, #columns> -> f32
    %f = arith.subf %sum, %e : f32
    %g = arith.mulf %f, %large : f32
    tenon.put 0 [%b, %j], %g : f32
  }
  %dz = tenon.gemm %x[0, 2], %q[1, 2] rank 2 : tensor<?x51xbf16, #odd>, tensor<70x51xbf16> -> tensor<?x70xf32, #columns> attributes {tenon.panels = array<i64: 1, 32, 2, 1>} {
  ^bb0(%b: index, %j: index, %sum: f32):
    %large = arith.constant 1.0e30 : f32
    %e = tenon.at %z[%b, %j] : tensor<?x70xf32, #columns> -> f32
    %f = arith.subf %sum, %e : f32
    %g = arith.mulf %f, %large : f32
    tenon.put 0 [%b, %j], %g : f32
  }
  tenon.output 0 "y", %y : tensor<?x70xf32, #columns>
  tenon.output 1 "z", %z : tensor<?x70xf32, #columns>
  tenon.output 2 "dy", %dy : tensor<?x70xf32, #columns>
  tenon.output 3 "dz", %dz : tensor<?x70xf32, #columns>
  return
}
