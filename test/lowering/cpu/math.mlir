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
