// The elementary functions against libm in f64, in units in the last place: at most 2.
// RUN: tenon-kernel-test %s --dims=20011 --ulps=2 --scale=0.01 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=20011 --ulps=2 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=20011 --ulps=2 --scale=4 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=20011 --ulps=2 --scale=45 | FileCheck %s
// RUN: not tenon-kernel-test %s --dims=20011 --ulps=0.4 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: expected
// CONTROL: FAILED

#x = affine_map<(d0) -> (d0)>

func.func @exp(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.exp %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @tanh(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.tanh %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @erf(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.erf %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @atan(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.atan %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @sqrt(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.sqrt %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @log(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.log %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @rsqrt(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = math.rsqrt %a : f32
    tenon.put 0 [%i], %b : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

func.func @pow(%T: index, %x: tensor<?xf32, #x>, %e: tensor<?xf32, #x>) {
  %y, %whole = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x>, tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = tenon.at %e[%i] : tensor<?xf32, #x> -> f32
    %c = math.powf %a, %b : f32
    %three = arith.constant 3.0 : f32
    %d = math.powf %a, %three : f32
    tenon.put 0 [%i], %c : f32
    tenon.put 1 [%i], %d : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  tenon.output 1 "whole", %whole : tensor<?xf32, #x>
  return
}

// More of one kind than a straight line has copies of: calls of a shared function.
func.func @many(%T: index, %x: tensor<?xf32, #x>) {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b0 = math.tanh %a : f32
    %t1 = math.tanh %a : f32
    %b1 = arith.maximumf %b0, %t1 : f32
    %t2 = math.tanh %a : f32
    %b2 = arith.maximumf %b1, %t2 : f32
    %t3 = math.tanh %a : f32
    %b3 = arith.maximumf %b2, %t3 : f32
    %t4 = math.tanh %a : f32
    %b4 = arith.maximumf %b3, %t4 : f32
    %t5 = math.tanh %a : f32
    %b5 = arith.maximumf %b4, %t5 : f32
    %t6 = math.tanh %a : f32
    %b6 = arith.maximumf %b5, %t6 : f32
    %t7 = math.tanh %a : f32
    %b7 = arith.maximumf %b6, %t7 : f32
    %t8 = math.tanh %a : f32
    %b8 = arith.maximumf %b7, %t8 : f32
    %t9 = math.tanh %a : f32
    %b9 = arith.maximumf %b8, %t9 : f32
    %t10 = math.tanh %a : f32
    %b10 = arith.maximumf %b9, %t10 : f32
    %t11 = math.tanh %a : f32
    %b11 = arith.maximumf %b10, %t11 : f32
    %t12 = math.tanh %a : f32
    %b12 = arith.maximumf %b11, %t12 : f32
    %t13 = math.tanh %a : f32
    %b13 = arith.maximumf %b12, %t13 : f32
    %t14 = math.tanh %a : f32
    %b14 = arith.maximumf %b13, %t14 : f32
    %t15 = math.tanh %a : f32
    %b15 = arith.maximumf %b14, %t15 : f32
    %t16 = math.tanh %a : f32
    %b16 = arith.maximumf %b15, %t16 : f32
    tenon.put 0 [%i], %b16 : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}
