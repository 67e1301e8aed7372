// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-place-parameters)' | FileCheck %s

// The arena of parameters is half as long as that of gradients: what lies there in f64, or in f32, has twice its room.
module attributes {tenon.parameters = bf16} {
  // CHECK: tenon.parameter @short {stride = 64 : i64} : tensor<16xf32>
  // CHECK-NEXT: tenon.parameter @wide {offset = 64 : i64, stride = 256 : i64} : tensor<16xf64>
  // CHECK-NEXT: tenon.parameter @whole stacked {offset = 320 : i64, stride = 128 : i64, tenon.whole} : tensor<2x16xf32>
  // CHECK-NEXT: tenon.parameter @last {offset = 576 : i64, stride = 64 : i64} : tensor<f32>
  tenon.parameter @short : tensor<16xf32>
  tenon.parameter @wide : tensor<16xf64>
  tenon.parameter @whole stacked {tenon.whole} : tensor<2x16xf32>
  tenon.parameter @last : tensor<f32>
}
