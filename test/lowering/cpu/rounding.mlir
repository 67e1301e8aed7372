// Rounding to whole numbers is exact, and the same on processors without an instruction for it: numbers of both signs, halves
// between even and odd ones, sizes around 2^23, beyond which f32 has whole numbers alone, and the sign of what becomes 0.
// RUN: tenon-kernel-test %s --dims=2011 --tolerance=0 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=2011 --tolerance=0 --scale=0.3 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=2011 --tolerance=0 --scale=6e6 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=2011 --tolerance=0 --scale=1e15 | FileCheck %s
// RUN: not tenon-kernel-test %s --dims=2011 --tolerance=0 --corrupt=1e-6 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: expected
// CONTROL: FAILED

// Code of each tier: an instruction, or sums.
// RUN: tenon-kernel-test %s --emit=asm --tier=avx2 | FileCheck %s --check-prefix=AVX2
// RUN: tenon-kernel-test %s --emit=asm --tier=portable | FileCheck %s --check-prefix=PORTABLE
// AVX2: vroundps
// PORTABLE-NOT: {{(call|jmp)[a-z]*[[:space:]]+(roundeven|floor|ceil)f?(@PLT)?$}}

#x = affine_map<(d0) -> (d0)>

func.func @round_f32(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.roundeven %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @round_of_halves_f32(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %half = arith.constant 0.5 : f32
    %four = arith.constant 4.0 : f32
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = arith.mulf %a, %four : f32
    %c = math.floor %b : f32
    %d = arith.mulf %c, %half : f32
    %e = math.roundeven %d : f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @floor_f32(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.floor %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @floor_of_halves_f32(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %half = arith.constant 0.5 : f32
    %four = arith.constant 4.0 : f32
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = arith.mulf %a, %four : f32
    %c = math.floor %b : f32
    %d = arith.mulf %c, %half : f32
    %e = math.floor %d : f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @ceil_f32(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.ceil %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @ceil_of_halves_f32(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %half = arith.constant 0.5 : f32
    %four = arith.constant 4.0 : f32
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = arith.mulf %a, %four : f32
    %c = math.floor %b : f32
    %d = arith.mulf %c, %half : f32
    %e = math.ceil %d : f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @round_f64(%T: index, %x: tensor<?xf64, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf64, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf64, #x> -> f64
    %b = math.roundeven %a : f64
    tenon.put 0 [%i], %b : f64
  }
  tenon.output 0 "y", %y : tensor<?xf64, #x>
  return
}

func.func @round_of_halves_f64(%T: index, %x: tensor<?xf64, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf64, #x> {
  ^bb0(%i: index):
    %half = arith.constant 0.5 : f64
    %four = arith.constant 4.0 : f64
    %a = tenon.at %x[%i] : tensor<?xf64, #x> -> f64
    %b = arith.mulf %a, %four : f64
    %c = math.floor %b : f64
    %d = arith.mulf %c, %half : f64
    %e = math.roundeven %d : f64
    tenon.put 0 [%i], %e : f64
  }
  tenon.output 0 "y", %y : tensor<?xf64, #x>
  return
}

func.func @floor_f64(%T: index, %x: tensor<?xf64, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf64, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf64, #x> -> f64
    %b = math.floor %a : f64
    tenon.put 0 [%i], %b : f64
  }
  tenon.output 0 "y", %y : tensor<?xf64, #x>
  return
}

func.func @floor_of_halves_f64(%T: index, %x: tensor<?xf64, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf64, #x> {
  ^bb0(%i: index):
    %half = arith.constant 0.5 : f64
    %four = arith.constant 4.0 : f64
    %a = tenon.at %x[%i] : tensor<?xf64, #x> -> f64
    %b = arith.mulf %a, %four : f64
    %c = math.floor %b : f64
    %d = arith.mulf %c, %half : f64
    %e = math.floor %d : f64
    tenon.put 0 [%i], %e : f64
  }
  tenon.output 0 "y", %y : tensor<?xf64, #x>
  return
}

func.func @ceil_f64(%T: index, %x: tensor<?xf64, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf64, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf64, #x> -> f64
    %b = math.ceil %a : f64
    tenon.put 0 [%i], %b : f64
  }
  tenon.output 0 "y", %y : tensor<?xf64, #x>
  return
}

func.func @ceil_of_halves_f64(%T: index, %x: tensor<?xf64, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf64, #x> {
  ^bb0(%i: index):
    %half = arith.constant 0.5 : f64
    %four = arith.constant 4.0 : f64
    %a = tenon.at %x[%i] : tensor<?xf64, #x> -> f64
    %b = arith.mulf %a, %four : f64
    %c = math.floor %b : f64
    %d = arith.mulf %c, %half : f64
    %e = math.ceil %d : f64
    tenon.put 0 [%i], %e : f64
  }
  tenon.output 0 "y", %y : tensor<?xf64, #x>
  return
}

func.func @sign_of_round(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    %less = arith.constant -1.0 : f32
    %zero = arith.constant 0.0 : f32
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.roundeven %a : f32
    %c = arith.divf %one, %b : f32
    %d = arith.cmpf olt, %c, %zero : f32
    %e = arith.select %d, %less, %one : f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @sign_of_floor(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    %less = arith.constant -1.0 : f32
    %zero = arith.constant 0.0 : f32
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.floor %a : f32
    %c = arith.divf %one, %b : f32
    %d = arith.cmpf olt, %c, %zero : f32
    %e = arith.select %d, %less, %one : f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @sign_of_ceil(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    %less = arith.constant -1.0 : f32
    %zero = arith.constant 0.0 : f32
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.ceil %a : f32
    %c = arith.divf %one, %b : f32
    %d = arith.cmpf olt, %c, %zero : f32
    %e = arith.select %d, %less, %one : f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}
