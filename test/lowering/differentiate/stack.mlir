// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-differentiate,tenon-simplify{after-differentiation=true}))' | FileCheck %s
// A stack becomes a forward and a reverse loop: saved are carries, operands and results of contractions and row statistics; GELU is recomputed.

// CHECK: tenon.parameter @unused frozen
// CHECK-LABEL: func.func @train
// CHECK: %[[FORWARD:.*]]:6 = tenon.stack 2(
// CHECK: tenon.gelu
// CHECK: tenon.yield
// CHECK: %[[HEAD:.*]] = tenon.dot %{{.*}} -> tensor<10x8xf32>
// CHECK: tenon.stack 2 reverse(
// CHECK: tenon.at_depth %[[FORWARD]]#1
// CHECK: tenon.activation_grad "gelu"
// CHECK: tenon.normalize_grad
// CHECK-DAG: tenon.write_gradient @b[%{{.*}}]
// CHECK-DAG: tenon.write_gradient @w[%{{.*}}]
// CHECK: %[[TIED:.*]] = tenon.scatter_add %{{.*}} onto %[[HEAD]] :
// CHECK-NOT: tenon.add
// CHECK: tenon.write_gradient @emb, %[[TIED]]

tenon.parameter @unused : tensor<4xf32>
tenon.parameter @w stacked : tensor<2x8x8xf32>
tenon.parameter @b stacked : tensor<2x8xf32>
tenon.parameter @emb : tensor<10x8xf32>
func.func @train(%ids: tensor<4x5xi32>, %t: tensor<4x5xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %emb = tenon.read_parameter @emb : tensor<10x8xf32>
  %x = tenon.gather %emb[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<10x8xf32>, tensor<4x5xi32> -> tensor<4x5x8xf32>
  %y = tenon.stack 2 (%x) : (tensor<4x5x8xf32>) -> (tensor<4x5x8xf32>) {
  ^bb0(%d: index, %h: tensor<4x5x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %b = tenon.read_parameter @b[%d] : tensor<8xf32>
    %n, %m, %r = tenon.normalize %h eps 1.0e-5 : tensor<4x5x8xf32> -> tensor<4x5x8xf32>, tensor<4x5xf32>, tensor<4x5xf32>
    %z = tenon.dot %n[0, 1, 3], %w[2, 3] : tensor<4x5x8xf32>, tensor<8x8xf32> -> tensor<4x5x8xf32>
    %bb = tenon.broadcast %b [2] : tensor<8xf32> -> tensor<4x5x8xf32>
    %a = tenon.add %z, %bb : tensor<4x5x8xf32>
    %g = tenon.gelu %a : tensor<4x5x8xf32>
    %o = tenon.add %g, %h : tensor<4x5x8xf32>
    tenon.yield %o : tensor<4x5x8xf32>
  }
  %l = tenon.dot %y[0, 1, 3], %emb[2, 3] : tensor<4x5x8xf32>, tensor<10x8xf32> -> tensor<4x5x10xf32>
  %ce, %lse = tenon.cross_entropy %l, %t spread 0.0 skip -1 : tensor<4x5x10xf32>, tensor<4x5xi32> -> tensor<4x5xf32>
  %s = tenon.reduce sum %ce [0, 1] : tensor<4x5xf32> -> tensor<f32>
  %s64 = tenon.convert %s : tensor<f32> -> tensor<f64>
  tenon.output 0 "loss", %s64 : tensor<f64>
  return
}
