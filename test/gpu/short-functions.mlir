// tanh in a kernel that makes 16 bits: where only its error beside 1 counts, as in GELU and its derivative, by one exponential; elsewhere near 0 by a polynomial, relatively exact.
// REQUIRES: gpu-emu
// RUN: tenon-gpu-kernel-test %s --dims=1 --schedules=1 --tolerance=4e-3 | FileCheck %s --check-prefix=RUNS
// RUN: not tenon-gpu-kernel-test %s --dims=1 --schedules=1 --tolerance=4e-3 --corrupt=2e-2 | FileCheck %s --check-prefix=CONTROL
// RUNS: ok:
// CONTROL: FAILED
// RUN: tenon-gpu-kernel-test %s --print=ptx | FileCheck %s

// That is chosen before code is made, and stands in the schedule; a text without it has the functions of the CPU, and of what makes no 16 bits it may not say so.
// DEFINE: %{schedule} = tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))'
// RUN: %{schedule} | FileCheck %s --check-prefix=CHOSEN
// CHOSEN-LABEL: func.func @beside
// CHOSEN: sm_80 = {apart = 1 : i64, approximate = 1 : i64, beside_one = array<i64: 1>, form = "elements"
// CHOSEN-LABEL: func.func @alone
// CHOSEN: beside_one = array<i64: 0>
// CHOSEN-LABEL: func.func @product
// CHOSEN: beside_one = array<i64: 0>
// CHOSEN-LABEL: func.func @small
// CHOSEN: beside_one = array<i64: 0>
// CHOSEN-LABEL: func.func @long
// CHOSEN-NOT: approximate
// RUN: %{schedule} | sed 's/approximate = 1 : i64, beside_one = array<i64: .>, //' | tenon-opt --tenon-emit-gpu | FileCheck %s --check-prefix=EXACT --implicit-check-not=ex2.approx
// EXACT: @beside
// RUN: %{schedule} | sed '/@long/,$ s/form = "elements"/approximate = 1 : i64, &/' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=LONG
// LONG: error: 'tenon.nest' op expects of elements for sm_80 the number threads, vector or apart, got approximate
// Where only the error beside 1 counts a text may have the polynomial all the same, nowhere else may it be without; and it has to say which.
// RUN: %{schedule} | sed 's/beside_one = array<i64: 1>/beside_one = array<i64: 0>/' | tenon-opt --tenon-emit-gpu | FileCheck %s --check-prefix=NEAR
// NEAR-LABEL: @beside_nest
// NEAR: copysign
// NEAR-LABEL: @alone_nest
// RUN: %{schedule} | sed 's/beside_one = array<i64: 0>/beside_one = array<i64: 1>/' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=FAR
// FAR: error: 'tenon.nest' op expects beside_one[0] for sm_80 from 0 to 0, got 1
// RUN: %{schedule} | sed 's/beside_one = array<i64: .>, //' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: 'tenon.nest' op expects of elements for sm_80 its beside_one as an array of i64, one for each tanh, 1 here, got none
// RUN: %{schedule} | sed 's/approximate = 1 : i64, //' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: 'tenon.nest' op expects of elements for sm_80 the number threads, vector, apart or approximate, got beside_one

// CHECK-LABEL: .entry beside_nest
// CHECK-NOT: copysign
// CHECK: ex2.approx.ftz.f32
// CHECK-NEXT: add.rn.f32
// CHECK-NEXT: rcp.approx.ftz.f32
// CHECK-NEXT: fma.rn.f32
// CHECK-NOT: {{selp|copysign}}
// CHECK: ret;
func.func @beside(%x: tensor<65xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (65)> : tensor<65xbf16> {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    %e = tenon.at %x[%i] : tensor<65xf32> -> f32
    %t = math.tanh %e : f32
    %a = arith.addf %one, %t : f32
    %s = arith.mulf %t, %t : f32
    %d = arith.subf %one, %s : f32
    %m = arith.mulf %a, %d : f32
    %r = arith.truncf %m : f32 to bf16
    tenon.put 0[%i], %r : bf16
  }
  tenon.output 0 "y", %y : tensor<65xbf16>
  return
}

// Used as it is, multiplied by another number, added to a small one.
// CHECK-LABEL: .entry alone_nest
// CHECK: copysign
// CHECK: ret;
// CHECK-LABEL: .entry product_nest
// CHECK: copysign
// CHECK: ret;
// CHECK-LABEL: .entry small_nest
// CHECK: copysign
// CHECK: ret;
func.func @alone(%x: tensor<65xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (65)> : tensor<65xbf16> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<65xf32> -> f32
    %t = math.tanh %e : f32
    %r = arith.truncf %t : f32 to bf16
    tenon.put 0[%i], %r : bf16
  }
  tenon.output 0 "y", %y : tensor<65xbf16>
  return
}
func.func @product(%x: tensor<65xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (65)> : tensor<65xbf16> {
  ^bb0(%i: index):
    %one = arith.constant 1.0 : f32
    %e = tenon.at %x[%i] : tensor<65xf32> -> f32
    %t = math.tanh %e : f32
    %a = arith.addf %one, %t : f32
    %m = arith.mulf %a, %t : f32
    %r = arith.truncf %m : f32 to bf16
    tenon.put 0[%i], %r : bf16
  }
  tenon.output 0 "y", %y : tensor<65xbf16>
  return
}
func.func @small(%x: tensor<65xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (65)> : tensor<65xbf16> {
  ^bb0(%i: index):
    %c = arith.constant 1.0e-3 : f32
    %e = tenon.at %x[%i] : tensor<65xf32> -> f32
    %t = math.tanh %e : f32
    %a = arith.addf %c, %t : f32
    %r = arith.truncf %a : f32 to bf16
    tenon.put 0[%i], %r : bf16
  }
  tenon.output 0 "y", %y : tensor<65xbf16>
  return
}
// In f32 the errors would be seen.
// CHECK-LABEL: .entry long_nest
// CHECK-NOT: ex2.approx.ftz
// CHECK: ret;
func.func @long(%x: tensor<65xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (65)> : tensor<65xf32> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<65xf32> -> f32
    %t = math.tanh %e : f32
    tenon.put 0[%i], %t : f32
  }
  tenon.output 0 "y", %y : tensor<65xf32>
  return
}
