// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-LABEL: func.func @layers
func.func @layers(%x: tensor<4x8xf32>, %w: tensor<5x8xf32>, %labels: tensor<4xi32>, %where: tensor<4xi1>, %row: tensor<4xf32>, %depth: index) {
  // CHECK: %{{.*}} = tenon.dot %{{.*}}[0, 2], %{{.*}}[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  %d = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  // CHECK: %{{.*}} = tenon.dot_where %{{.*}}[0, 2], %{{.*}}[1, 2] where %{{.*}}[0] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4xi1> -> tensor<4x5xf32>
  %dw = tenon.dot_where %x[0, 2], %w[1, 2] where %where[0] : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4xi1> -> tensor<4x5xf32>
  // CHECK: %{{.*}} = tenon.reduce max %{{.*}} [0, 1] : tensor<4x8xf32> -> tensor<f32>
  %r = tenon.reduce max %x [0, 1] : tensor<4x8xf32> -> tensor<f32>
  // CHECK: %{{.*}} = tenon.running_sum %{{.*}} dim 0 : tensor<4x8xf32>
  %u = tenon.running_sum %x dim 0 : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.running_sum %{{.*}} dim 0 reverse : tensor<4xi32>
  %t = tenon.running_sum %labels dim 0 reverse : tensor<4xi32>
  // CHECK: %{{.*}} = tenon.argmax %{{.*}} dim 0 : tensor<4x8xf32> -> tensor<8xi32>
  %a = tenon.argmax %x dim 0 : tensor<4x8xf32> -> tensor<8xi32>
  // CHECK: %{{.*}} = tenon.top %{{.*}} : tensor<4x8xf32> -> tensor<4x3xi32>
  %k = tenon.top %x : tensor<4x8xf32> -> tensor<4x3xi32>
  // CHECK: %{{.*}} = tenon.gumbel %{{.*}} site 7 : tensor<4x8xf32>
  %z = tenon.gumbel %x site 7 : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.gumbel %{{.*}} depth %{{.*}} site 8 : tensor<4x8xf32>
  %z2 = tenon.gumbel %x depth %depth site 8 : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.softmax %{{.*}} : tensor<4x8xf32>
  %s = tenon.softmax %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.softmax log %{{.*}} : tensor<4x8xf32>
  %g = tenon.softmax log %x : tensor<4x8xf32>
  // CHECK: = tenon.normalize %{{.*}} eps 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  %y, %m, %v = tenon.normalize %x eps 1.000000e-05 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: %{{.*}} = tenon.normalize_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4xf32>
  %n = tenon.normalize_grad %x, %x, %row, %row : tensor<4x8xf32>, tensor<4xf32>
  // CHECK: = tenon.cross_entropy %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  %l, %e = tenon.cross_entropy %x, %labels : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  // CHECK: = tenon.cross_entropy %{{.*}}, %{{.*}} where %{{.*}} : tensor<4xi1>, spread 1.000000e-01 skip 0 : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  %l1, %e1 = tenon.cross_entropy %x, %labels where %where : tensor<4xi1>, spread 1.000000e-01 skip 0 : tensor<4x8xf32>, tensor<4xi32> -> tensor<4xf32>
  // CHECK: %{{.*}} = tenon.cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} where %{{.*}} : tensor<4xi1>, spread 1.000000e-01 skip 0 : tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>
  %c = tenon.cross_entropy_grad %row, %x, %labels, %row where %where : tensor<4xi1>, spread 1.000000e-01 skip 0 : tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>
  // CHECK: %{{.*}} = tenon.dropout %{{.*}} rate 1.000000e-01 site 7 : tensor<4x8xf32>
  %o = tenon.dropout %x rate 1.000000e-01 site 7 : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.dropout %{{.*}} depth %{{.*}} rate 1.000000e-01 site 7 shared [1] : tensor<4x8xf32>
  %p = tenon.dropout %x depth %depth rate 1.000000e-01 site 7 shared [1] : tensor<4x8xf32>
  return
}
