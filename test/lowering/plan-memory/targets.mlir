// What memory the kernels of an op need besides its results is an affair of the target: the plan of the same op has other temporaries on each.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory{target=sm_80}))' | FileCheck %s --check-prefix=GPU

#q = affine_map<(d0) -> (2, d0, 4, 8)>
#s = affine_map<(d0) -> (2, 4, d0)>

// CHECK-LABEL: func.func @attention(
// CHECK: "tenon.attention_grad"
// GPU-LABEL: func.func @attention(
// GPU: "tenon.attention_grad"
func.func @attention(
// CHECK: "tenon.attention"{{.*}}parallel = "2, d0, 4"}
// CHECK: "tenon.attention_grad"{{.*}}parallel = "2, 4"}
func.func @attention(%T: index, %q: tensor<2x?x4x8xf32, #q>, %k: tensor<2x?x4x8xf32, #q>, %v: tensor<2x?x4x8xf32, #q>, %dy: tensor<2x?x4x8xf32, #q>)
    attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
    (tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>) -> (tensor<2x?x4x8xf32, #q>, tensor<2x4x?xf32, #s>, tensor<2x4x?xf32, #s>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
    (tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x4x?xf32, #s>, tensor<2x4x?xf32, #s>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>) ->
    (tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>)
  tenon.output 0 "dq", %dq : tensor<2x?x4x8xf32, #q>
  tenon.output 1 "dk", %dk : tensor<2x?x4x8xf32, #q>
  tenon.output 2 "dv", %dv : tensor<2x?x4x8xf32, #q>
  return
}
