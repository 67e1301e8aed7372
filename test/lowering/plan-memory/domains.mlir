// What may run in parallel, of every kernel op, as forms over the dims.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-plan-memory{costs=true}))' | FileCheck %s

#x = affine_map<(d0) -> (3, d0, 70)>
#row = affine_map<(d0) -> (d0)>
#ids = affine_map<(d0) -> (4, d0)>
#to = affine_map<(d0) -> (5, 3, d0)>
#from = affine_map<(d0) -> (4, 3, d0)>
#a = affine_map<(d0) -> (d0, 8)>
#c = affine_map<(d0) -> (d0, 6)>
#q = affine_map<(d0) -> (2, d0, 4, 8)>
#s = affine_map<(d0) -> (2, 4, d0)>

// A nest: its rows. What each of them has inside is one thread's or several lanes'.
// CHECK-LABEL: func.func @simple(
// CHECK: tenon.nest {{.*}}parallel = "d0"}
// A contraction: the elements of its result.
// CHECK: tenon.gemm {{.*}}parallel = "d0, 6"}
// All but the dimension that is summed along.
// CHECK: tenon.running_sum {{.*}}parallel = "3, 70"}
// All but the dimension along which the place of a sum is found.
// CHECK: tenon.scatter_add {{.*}}parallel = "3, d0"}
// The rows that are ordered.
// CHECK: tenon.top {{.*}}parallel = "3, d0"}
func.func @simple(%T: index, %x: tensor<3x?x70xf32, #x>, %v: tensor<?xf32, #row>, %a: tensor<?x8xf32, #a>, %b: tensor<6x8xf32>, %dy: tensor<4x3x?xf32, #from>, %ids: tensor<4x?xi32, #ids>)
    attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %n = tenon.nest #row : tensor<?xf32, #row> {
  ^bb0(%i: index):
    %e = tenon.at %v[%i] : tensor<?xf32, #row> -> f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "n", %n : tensor<?xf32, #row>
  %g = tenon.gemm %a[0, 2], %b[1, 2] rank 2 : tensor<?x8xf32, #a>, tensor<6x8xf32> -> tensor<?x6xf32, #c> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 1 "g", %g : tensor<?x6xf32, #c>
  %r = tenon.running_sum %x dim 1 : tensor<3x?x70xf32, #x>
  tenon.output 2 "r", %r : tensor<3x?x70xf32, #x>
  %d = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1, 2] index_dims [0, 2] : tensor<4x3x?xf32, #from>, tensor<4x?xi32, #ids> -> tensor<5x3x?xf32, #to>
  tenon.output 3 "d", %d : tensor<5x3x?xf32, #to>
  %t = tenon.top %x : tensor<3x?x70xf32, #x> -> tensor<3x?x2xi32, affine_map<(d0) -> (3, d0, 2)>>
  tenon.output 4 "t", %t : tensor<3x?x2xi32, affine_map<(d0) -> (3, d0, 2)>>
  return
}

// Rows of scores; in the gradient the rows of one head of one batch row add to the same gradients of keys.
// CHECK-LABEL: func.func @attention(
// CHECK: "tenon.attention"{{.*}}parallel = "2, d0, 4"}
// CHECK: "tenon.attention_grad"{{.*}}parallel = "2, 4"}
func.func @attention(%T: index, %q: tensor<2x?x4x8xf32, #q>, %k: tensor<2x?x4x8xf32, #q>, %v: tensor<2x?x4x8xf32, #q>, %dy: tensor<2x?x4x8xf32, #q>)
    attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
    (tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>) -> (tensor<2x?x4x8xf32, #q>, tensor<2x4x?xf32, #s>, tensor<2x4x?xf32, #s>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
    (tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x4x?xf32, #s>, tensor<2x4x?xf32, #s>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>) ->
    (tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>, tensor<2x?x4x8xf32, #q>)
  tenon.output 0 "dq", %dq : tensor<2x?x4x8xf32, #q>
  tenon.output 1 "dk", %dk : tensor<2x?x4x8xf32, #q>
  tenon.output 2 "dv", %dv : tensor<2x?x4x8xf32, #q>
  return
}

// The new rows of a state, and the elements of all that is trained.
// CHECK-LABEL: func.func @step(
// CHECK: tenon.append_state {{.*}}parallel = "2, d0, 8"}
// CHECK: tenon.optimize {{.*}}parallel = "24"}
tenon.parameter @w : tensor<4x6xf32>
tenon.parameter @kept frozen : tensor<4xf32>
func.func @step(%T: index, %rows: tensor<2x?x8xf32, affine_map<(d0) -> (2, d0, 8)>>, %position: tensor<i32>)
    attributes {tenon.kind = "train", tenon.dims = ["T"], tenon.states = [tensor<2x16x8xf32>], tenon.in_place = array<i1: true>} {
  %keys = tenon.append_state 0, %rows at %position dim 1 : tensor<2x?x8xf32, affine_map<(d0) -> (2, d0, 8)>>, tensor<i32> -> tensor<2x16x8xf32>
  tenon.output 0 "keys", %keys : tensor<2x16x8xf32>
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 1.0e-3}} : tensor<f64>, tensor<f64>
  tenon.output 1 "norm", %norm : tensor<f64>
  return
}
