// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-place-parameters)' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-place-parameters,tenon-place-parameters)' | FileCheck %s

// One after the other; each begins a cache line, and so does each element of a stack. What stood there before does not count.
// CHECK: tenon.parameter @first {stride = 64 : i64} : tensor<3xf32>
// CHECK-NEXT: tenon.parameter @stacked stacked {offset = 64 : i64, stride = 128 : i64} : tensor<3x17xf32>
// CHECK-NEXT: tenon.parameter @nested stacked {levels = 2 : i64, offset = 448 : i64, stride = 64 : i64} : tensor<2x3x16xf32>
// Two dimensions are no stack: one element of 96 bytes.
// CHECK-NEXT: tenon.parameter @plain {offset = 832 : i64, stride = 128 : i64} : tensor<2x12xf32>
// CHECK-NEXT: tenon.parameter @wide {offset = 960 : i64, stride = 64 : i64} : tensor<8xf64>
// CHECK-NEXT: tenon.parameter @last frozen {decay = array<f64: 0.000000e+00>, offset = 1024 : i64, stride = 64 : i64} : tensor<f32>
tenon.parameter @first {offset = 4096 : i64} : tensor<3xf32>
tenon.parameter @stacked stacked : tensor<3x17xf32>
tenon.parameter @nested stacked {levels = 2 : i64} : tensor<2x3x16xf32>
tenon.parameter @plain : tensor<2x12xf32>
tenon.parameter @wide : tensor<8xf64>
tenon.parameter @last frozen {decay = array<f64: 0.0>} : tensor<f32>
