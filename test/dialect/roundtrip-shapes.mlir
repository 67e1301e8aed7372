// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK-DAG: [[$PLACE:#map[0-9]*]] = affine_map<(d0, d1) -> (d1 + 150)>
// CHECK-DAG: [[$ZERO:#map[0-9]*]] = affine_map<() -> (0)>
// CHECK-DAG: [[$TWO:#map[0-9]*]] = affine_map<() -> (2)>

// CHECK-LABEL: func.func @sources
func.func @sources() {
  // CHECK: tenon.constant -0.000000e+00 : tensor<4x8xf32>
  %c = tenon.constant -0.0 : tensor<4x8xf32>
  // CHECK: tenon.size [[$PLACE]] : tensor<i32>
  %n = tenon.size affine_map<(d0, d1) -> (d1 + 150)> : tensor<i32>
  // CHECK: tenon.iota 1 : tensor<4x8xi32>
  %i = tenon.iota 1 : tensor<4x8xi32>
  // CHECK: tenon.sinusoid start [[$ZERO]] : tensor<8x16xf32>
  %s = tenon.sinusoid start affine_map<() -> (0)> : tensor<8x16xf32>
  // CHECK: tenon.sinusoid start [[$TWO]] clamp 400 interleaved t2t : tensor<8x16xf32>
  %t = tenon.sinusoid start affine_map<() -> (2)> clamp 400 interleaved t2t : tensor<8x16xf32>
  return
}

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<4x8xf32>, %z: tensor<3x8xf32>) {
  // CHECK: %{{.*}} = tenon.broadcast %{{.*}} [2, 0] : tensor<4x8xf32> -> tensor<8x5x4xf32>
  %b = tenon.broadcast %x [2, 0] : tensor<4x8xf32> -> tensor<8x5x4xf32>
  // CHECK: %{{.*}} = tenon.reshape %{{.*}} [1, 2] : tensor<4x8xf32> -> tensor<4x2x4xf32>
  %r = tenon.reshape %x [1, 2] : tensor<4x8xf32> -> tensor<4x2x4xf32>
  // CHECK: %{{.*}} = tenon.slice %{{.*}} 1 from [[$TWO]] : tensor<4x8xf32> -> tensor<4x3xf32>
  %l = tenon.slice %x 1 from affine_map<() -> (2)> : tensor<4x8xf32> -> tensor<4x3xf32>
  // CHECK: %{{.*}} = tenon.pad %{{.*}} 1 from [[$TWO]] : tensor<4x8xf32> -> tensor<4x12xf32>
  %p = tenon.pad %x 1 from affine_map<() -> (2)> : tensor<4x8xf32> -> tensor<4x12xf32>
  // CHECK: %{{.*}} = tenon.window %{{.*}} [0, 1] stride [1, 2] dilation [1, 3] pad [1, 0] divisor [1, 1] fill 5.000000e-01 : tensor<4x8xf32> -> tensor<4x3x2x2xf32>
  %w = tenon.window %x [0, 1] stride [1, 2] dilation [1, 3] pad [1, 0] divisor [1, 1] fill 0.5 : tensor<4x8xf32> -> tensor<4x3x2x2xf32>
  // CHECK: %{{.*}} = tenon.window paired %{{.*}} [0] stride [1] dilation [-1] pad [-1] divisor [2] fill 0.000000e+00 : tensor<4x8xf32> -> tensor<7x8xf32>
  %v = tenon.window paired %x [0] stride [1] dilation [-1] pad [-1] divisor [2] fill 0.0 : tensor<4x8xf32> -> tensor<7x8xf32>
  // CHECK: %{{.*}} = tenon.concat 0 %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<3x8xf32> -> tensor<7x8xf32>
  %c = tenon.concat 0 %x, %z : tensor<4x8xf32>, tensor<3x8xf32> -> tensor<7x8xf32>
  return
}

// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<50x8xf32>, %ids: tensor<2x3xi32>, %dy: tensor<2x3x8xf32>) {
  // CHECK: %{{.*}} = tenon.gather %{{.*}}[%{{.*}}] dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<50x8xf32>, tensor<2x3xi32> -> tensor<2x3x8xf32>
  %g = tenon.gather %x[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<50x8xf32>, tensor<2x3xi32> -> tensor<2x3x8xf32>
  // CHECK: %{{.*}} = tenon.scatter_add %{{.*}}[%{{.*}}] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<2x3x8xf32>, tensor<2x3xi32> -> tensor<50x8xf32>
  %a = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<2x3x8xf32>, tensor<2x3xi32> -> tensor<50x8xf32>
  // CHECK: %{{.*}} = tenon.scatter_add %{{.*}}[%{{.*}}] onto %{{.*}} : tensor<50x8xf32> dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<2x3x8xf32>, tensor<2x3xi32> -> tensor<50x8xf32>
  %o = tenon.scatter_add %dy[%ids] onto %x : tensor<50x8xf32> dim 0 x_dims [-1, 2] index_dims [0, 1] clamp : tensor<2x3x8xf32>, tensor<2x3xi32> -> tensor<50x8xf32>
  return
}
