// The hot loops of rows and maps as assembly: vectors in registers, no call and no scalar arithmetic inside.
// RUN: tenon-kernel-test %s --emit=asm --tier=avx2 > %t.s
// RUN: FileCheck %s --input-file=%t.s --check-prefixes=CHECK,YMM
// RUN: tenon-kernel-test %s --emit=asm --tier=avx512 > %t.512.s
// RUN: FileCheck %s --input-file=%t.512.s --check-prefixes=CHECK,ZMM
// RUN: tenon-kernel-test %s --dims=5 --tolerance=4e-6 | FileCheck %s --check-prefix=RUNS
// RUNS: ok:

// CHECK-LABEL: residual.nest:
// CHECK-NOT: Spill
// YMM: vaddps {{.*}}%ymm
// ZMM: vaddps {{.*}}%zmm
// CHECK-NOT: vaddss
// CHECK: .Lfunc_end

// erf and its constants fill the registers: AVX2 spills five vectors, AVX-512 one. Half the lanes with two spills outside the loop were no faster.
// CHECK-LABEL: gelu.nest:
// CHECK-NOT: {{call|mulss}}
// YMM: vfmadd{{[0-9]+}}ps {{.*}}%ymm
// ZMM: vfmadd{{[0-9]+}}ps {{.*}}%zmm
// CHECK-NOT: {{call|mulss}}
// CHECK: .Lfunc_end

// LLVM unrolls the 768 columns and keeps part of the row: what it spills are copies of loads, not sums.
// CHECK-LABEL: layer_norm.nest:
// CHECK-NOT: call
// YMM: vaddps {{.*}}%ymm
// ZMM: vaddps {{.*}}%zmm
// CHECK-NOT: call
// CHECK: .Lfunc_end

#x = affine_map<(d0) -> (d0, 768)>
#x4 = affine_map<(d0) -> (d0, 3072)>

func.func @residual(%T: index, %x: tensor<?x768xf32, #x>, %y: tensor<?x768xf32, #x>) {
  %z = tenon.nest affine_map<(d0) -> (d0)> : tensor<?x768xf32, #x> {
  ^bb0(%i: index):
    tenon.each affine_map<(d0) -> (768)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x768xf32, #x> -> f32
      %b = tenon.at %y[%i, %j] : tensor<?x768xf32, #x> -> f32
      %c = arith.addf %a, %b : f32
      tenon.put 0 [%i, %j], %c : f32
    }
  }
  tenon.output 0 "z", %z : tensor<?x768xf32, #x>
  return
}

func.func @gelu(%T: index, %x: tensor<?x3072xf32, #x4>) {
  %z = tenon.nest affine_map<(d0) -> (d0)> : tensor<?x3072xf32, #x4> {
  ^bb0(%i: index):
    tenon.each affine_map<(d0) -> (3072)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x3072xf32, #x4> -> f32
      %r = arith.constant 0.70710678 : f32
      %h = arith.constant 0.5 : f32
      %one = arith.constant 1.0 : f32
      %b = arith.mulf %a, %r : f32
      %e = math.erf %b : f32
      %f = arith.addf %e, %one : f32
      %g = arith.mulf %f, %a : f32
      %c = arith.mulf %g, %h : f32
      tenon.put 0 [%i, %j], %c : f32
    }
  }
  tenon.output 0 "z", %z : tensor<?x3072xf32, #x4>
  return
}

func.func @layer_norm(%T: index, %x: tensor<?x768xf32, #x>, %g: tensor<768xf32>, %b: tensor<768xf32>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?x768xf32, #x> {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<(d0) -> (768)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x768xf32, #x> -> f32
      tenon.yield %a : f32
    }
    %nf = arith.constant 768.0 : f32
    %mean = arith.divf %sum, %nf : f32
    %squares = tenon.fold sum affine_map<(d0) -> (768)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x768xf32, #x> -> f32
      %d = arith.subf %a, %mean : f32
      %s = arith.mulf %d, %d : f32
      tenon.yield %s : f32
    }
    %variance = arith.divf %squares, %nf : f32
    %eps = arith.constant 1.0e-5 : f32
    %v = arith.addf %variance, %eps : f32
    %r = math.rsqrt %v : f32
    tenon.each affine_map<(d0) -> (768)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x768xf32, #x> -> f32
      %w = tenon.at %g[%j] : tensor<768xf32> -> f32
      %u = tenon.at %b[%j] : tensor<768xf32> -> f32
      %d = arith.subf %a, %mean : f32
      %s = arith.mulf %d, %r : f32
      %o = arith.mulf %s, %w : f32
      %p = arith.addf %o, %u : f32
      tenon.put 0 [%i, %j], %p : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x768xf32, #x>
  return
}
