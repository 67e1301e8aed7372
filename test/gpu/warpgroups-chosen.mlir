// On sm_90a a product of 16 bits is by warpgroups, in the tile that follows from its size, unless it is small, or an operand is computed or does not lie as the engine of copies needs it.
// REQUIRES: gpu-emu
// RUN: tenon-gpu-kernel-test %s --target=sm_90a --print=ptx | FileCheck %s
// RUN: tenon-gpu-kernel-test %s --print=ptx | FileCheck %s --check-prefix=FIRST --implicit-check-not=warpgroups
// FIRST: .target sm_80
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_90a}))' | FileCheck %s --check-prefix=PLAN

// CHECK: .visible .entry deep_gemm_warpgroups_128x256_
func.func @deep(%a: tensor<16384x16384xbf16>, %b: tensor<16384x3072xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<16384x16384xbf16>, tensor<16384x3072xbf16> -> tensor<16384x3072xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<16384x3072xf32>
  return
}
// Little to do behind the sums: warpgroups take turns. Not where they are f32, or there is scalar code of many instructions.
// CHECK: .visible .entry large_gemm_pingpong_128x128_
func.func @large(%a: tensor<16384x768xbf16>, %b: tensor<768x3072xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<16384x768xbf16>, tensor<768x3072xbf16> -> tensor<16384x3072xbf16> {
  ^bb0(%m: index, %n: index, %sum: f32):
    %r = arith.truncf %sum : f32 to bf16
    tenon.put 0 [%m, %n], %r : bf16
  }
  tenon.output 0 "y", %y : tensor<16384x3072xbf16>
  return
}
// CHECK: .visible .entry sums_gemm_warpgroups_128x256_
func.func @sums(%a: tensor<16384x768xbf16>, %b: tensor<768x3072xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<16384x768xbf16>, tensor<768x3072xbf16> -> tensor<16384x3072xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<16384x3072xf32>
  return
}
// CHECK: .visible .entry residual_gemm_warpgroups_128x256_
func.func @residual(%a: tensor<16384x768xbf16>, %b: tensor<768x3072xbf16>, %x: tensor<16384x3072xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<16384x768xbf16>, tensor<768x3072xbf16> -> tensor<16384x3072xbf16> {
  ^bb0(%m: index, %n: index, %sum: f32):
    %e = tenon.at %x[%m, %n] : tensor<16384x3072xbf16> -> bf16
    %wide = arith.extf %e : bf16 to f32
    %s = arith.addf %sum, %wide : f32
    %r = arith.truncf %s : f32 to bf16
    tenon.put 0 [%m, %n], %r : bf16
  }
  tenon.output 0 "y", %y : tensor<16384x3072xbf16>
  return
}
// CHECK: .visible .entry activated_gemm_warpgroups_128x128_
func.func @activated(%a: tensor<16384x768xbf16>, %b: tensor<768x3072xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<16384x768xbf16>, tensor<768x3072xbf16> -> tensor<16384x3072xbf16> {
  ^bb0(%m: index, %n: index, %sum: f32):
    %t = math.tanh %sum : f32
    %r = arith.truncf %t : f32 to bf16
    tenon.put 0 [%m, %n], %r : bf16
  }
  tenon.output 0 "y", %y : tensor<16384x3072xbf16>
  return
}
// CHECK: .visible .entry middle_gemm_warpgroups_128x64_
func.func @middle(%a: tensor<512x512xf16>, %b: tensor<512x1024xf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<512x512xf16>, tensor<512x1024xf16> -> tensor<512x1024xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<512x1024xf32>
  return
}
// Heads between batch and depth: two dims of the batch in one map, one in the other.
// CHECK: .visible .entry heads_gemm_warpgroups_
func.func @heads(%a: tensor<4x128x6x64xbf16>, %b: tensor<4x6x128x64xbf16>) {
  %y = tenon.gemm %a[0, 2, 1, 4], %b[0, 1, 3, 4] rank 4 : tensor<4x128x6x64xbf16>, tensor<4x6x128x64xbf16> -> tensor<4x6x128x128xf32> {
  ^bb0(%z: index, %h: index, %m: index, %n: index, %sum: f32):
    tenon.put 0 [%z, %h, %m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4x6x128x128xf32>
  return
}
// The last 192 of each 384 rows.
// CHECK: .visible .entry part_gemm_warpgroups_
func.func @part(%a: tensor<32x384x512xbf16>, %b: tensor<512x512xbf16>) {
  %y = tenon.gemm element[0, 1, 3], %b[3, 2] rank 3 : tensor<32x192x512xbf16>, tensor<512x512xbf16> -> tensor<32x192x512xf32> {
  ^bb0(%z: index, %m: index, %n: index, %sum: f32):
    tenon.put 0 [%z, %m, %n], %sum : f32
  } a {
  ^bb0(%z: index, %m: index, %k: index):
    %first = arith.constant 192 : index
    %place = arith.addi %first, %m : index
    %e = tenon.at %a[%z, %place, %k] : tensor<32x384x512xbf16> -> bf16
    tenon.yield %e : bf16
  }
  tenon.output 0 "y", %y : tensor<32x192x512xf32>
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
// CHECK: .visible .entry odd_gemm_{{[0-9]+x[0-9]+}}_
func.func @odd(%a: tensor<4096x764xbf16>, %b: tensor<764x768xbf16>) {
  %y = tenon.gemm %a[0, 2], %b[2, 1] rank 2 : tensor<4096x764xbf16>, tensor<764x768xbf16> -> tensor<4096x768xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<4096x768xf32>
  return
}
// CHECK: .visible .entry computed_gemm_{{[0-9]+x[0-9]+}}_
func.func @computed(%a: tensor<4096x768xbf16>, %b: tensor<768x768xbf16>) {
  %y = tenon.gemm element[0, 2], %b[2, 1] rank 2 : tensor<4096x768xbf16>, tensor<768x768xbf16> -> tensor<4096x768xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  } a {
  ^bb0(%m: index, %k: index):
    %e = tenon.at %a[%m, %k] : tensor<4096x768xbf16> -> bf16
    %wide = arith.extf %e : bf16 to f32
    %twice = arith.addf %wide, %wide : f32
    %r = arith.truncf %twice : f32 to bf16
    tenon.yield %r : bf16
  }
  tenon.output 0 "y", %y : tensor<4096x768xf32>
  return
}
// Windows overlap: the driver takes no map of them.
// CHECK: .visible .entry windows_gemm_{{[0-9]+x[0-9]+}}_
func.func @windows(%a: tensor<2x130x64xbf16>, %b: tensor<3x64x64xbf16>) {
  %y = tenon.gemm element[0, 1, 3, 4], %b[3, 4, 2] rank 3 : tensor<2x128x3x64xbf16>, tensor<3x64x64xbf16> -> tensor<2x128x64xf32> {
  ^bb0(%z: index, %m: index, %n: index, %sum: f32):
    tenon.put 0 [%z, %m, %n], %sum : f32
  } a {
  ^bb0(%z: index, %m: index, %w: index, %k: index):
    %place = arith.addi %w, %m : index
    %e = tenon.at %a[%z, %place, %k] : tensor<2x130x64xbf16> -> bf16
    tenon.yield %e : bf16
  }
  tenon.output 0 "y", %y : tensor<2x128x64xf32>
  return
}
// Few tiles and a long depth: in slices, which a second kernel adds.
// CHECK: .visible .entry weights_gemm_warpgroups_128x256_
// CHECK: .visible .entry weights_gemm_sums_
// PLAN-LABEL: func.func @weights
// PLAN-SAME: tenon.slots = [#tenon.slot<() -> (16515072) temporary true>]
// PLAN: slices = 7 : i64, {{.*}}tenon.launches = ["gemm_warpgroups_128x256", "gemm_sums"]{{.*}}tenon.temporaries = [#tenon.place<workspace 0>]
func.func @weights(%a: tensor<16384x768xbf16>, %b: tensor<16384x768xbf16>) {
  %y = tenon.gemm %a[2, 0], %b[2, 1] rank 2 : tensor<16384x768xbf16>, tensor<16384x768xbf16> -> tensor<768x768xf32> {
  ^bb0(%m: index, %n: index, %sum: f32):
    tenon.put 0 [%m, %n], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<768x768xf32>
  return
}
