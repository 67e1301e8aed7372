// Sizes that are numbers: keys of one chunk, and of two.
// RUN: tenon-kernel-test %s --dims=0 --tolerance=2e-5 | FileCheck %s
// RUN: tenon-kernel-test %s --dims=0 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=0 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

func.func @near(%q: tensor<2x17x2x24xf32>, %k: tensor<2x40x2x24xf32>, %v: tensor<2x40x2x40xf32>, %dy: tensor<2x17x2x40xf32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<() -> (-23)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<2x17x2x24xf32>, tensor<2x40x2x24xf32>, tensor<2x40x2x40xf32>) -> (tensor<2x17x2x40xf32>, tensor<2x2x17xf32>, tensor<2x2x17xf32>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<() -> (-23)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<2x17x2x40xf32>, tensor<2x17x2x40xf32>, tensor<2x2x17xf32>, tensor<2x2x17xf32>, tensor<2x17x2x24xf32>, tensor<2x40x2x24xf32>, tensor<2x40x2x40xf32>) -> (tensor<2x17x2x24xf32>, tensor<2x40x2x24xf32>, tensor<2x40x2x40xf32>)
  tenon.output 0 "y", %y : tensor<2x17x2x40xf32>
  tenon.output 1 "dq", %dq : tensor<2x17x2x24xf32>
  tenon.output 2 "dk", %dk : tensor<2x40x2x24xf32>
  tenon.output 3 "dv", %dv : tensor<2x40x2x40xf32>
  return
}

func.func @far(%q: tensor<2x17x2x40xf32>, %k: tensor<2x1100x2x40xf32>, %v: tensor<2x1100x2x24xf32>, %dy: tensor<2x17x2x24xf32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<() -> (-1083)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<2x17x2x40xf32>, tensor<2x1100x2x40xf32>, tensor<2x1100x2x24xf32>) -> (tensor<2x17x2x24xf32>, tensor<2x2x17xf32>, tensor<2x2x17xf32>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<() -> (-1083)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64}> :
    (tensor<2x17x2x24xf32>, tensor<2x17x2x24xf32>, tensor<2x2x17xf32>, tensor<2x2x17xf32>, tensor<2x17x2x40xf32>, tensor<2x1100x2x40xf32>, tensor<2x1100x2x24xf32>) -> (tensor<2x17x2x40xf32>, tensor<2x1100x2x40xf32>, tensor<2x1100x2x24xf32>)
  tenon.output 0 "y", %y : tensor<2x17x2x24xf32>
  tenon.output 1 "dq", %dq : tensor<2x17x2x40xf32>
  tenon.output 2 "dk", %dk : tensor<2x1100x2x40xf32>
  tenon.output 3 "dv", %dv : tensor<2x1100x2x24xf32>
  return
}

// Beside it the module is made for x86-64-v4-bf16, too: attention there is that of x86-64-v4.
func.func @contraction(%a: tensor<5x24xbf16>, %b: tensor<40x24xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<5x24xbf16>, tensor<40x24xbf16> -> tensor<5x40xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<5x40xf32>
  return
}
