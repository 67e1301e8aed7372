// The tile of a product follows its size (GemmTiles.cpp), unless the op says one.
// REQUIRES: gpu-emu
// RUN: tenon-gpu-kernel-test %s --print=ptx | FileCheck %s

// CHECK: .visible .entry large_gemm_128x128_
func.func @large(%a: tensor<4096x768xbf16>, %b: tensor<768x768xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<4096x768xbf16>, tensor<768x768xbf16> -> tensor<4096x768xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4096x768xf32>
  return
}
// CHECK: .visible .entry middle_gemm_64x64_
func.func @middle(%a: tensor<1024x512xbf16>, %b: tensor<512x1024xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<1024x512xbf16>, tensor<512x1024xbf16> -> tensor<1024x1024xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<1024x1024xf32>
  return
}
// CHECK: .visible .entry few_rows_gemm_16x64_
func.func @few_rows(%a: tensor<4x768xbf16>, %b: tensor<768x50304xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<4x768xbf16>, tensor<768x50304xbf16> -> tensor<4x50304xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4x50304xf32>
  return
}
// CHECK: .visible .entry few_columns_gemm_64x16_
func.func @few_columns(%a: tensor<50304x768xbf16>, %b: tensor<768x8xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<50304x768xbf16>, tensor<768x8xbf16> -> tensor<50304x8xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<50304x8xf32>
  return
}
// CHECK: .visible .entry small_gemm_32x32_
func.func @small(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x64xf32>
  return
}
// CHECK: .visible .entry named_gemm_128x128_
func.func @named(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32> attributes {tenon.chosen = {sm_80 = {form = "mma", rows = 128 : i64, columns = 128 : i64, depth = 32 : i64, warp_rows = 64 : i64, warp_columns = 32 : i64, stages = 3 : i64, registers = 128 : i64, slices = 1 : i64}}} {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x64xf32>
  return
}
// Few tiles and a long depth: in slices, which a second kernel adds.
// CHECK: .visible .entry weights_gemm_128x128_
// CHECK: .visible .entry weights_gemm_sums_
func.func @weights(%a: tensor<16384x768xbf16>, %b: tensor<16384x768xbf16>) {
  %y = tenon.gemm %a[2, 0], %b[2, 1] rank 2 : tensor<16384x768xbf16>, tensor<16384x768xbf16> -> tensor<768x768xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<768x768xf32>
  return
}
