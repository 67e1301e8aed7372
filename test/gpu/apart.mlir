// Many elements in rows of an odd size: a thread reads four, which lie apart, before it writes one; the last few one at a time.
// REQUIRES: gpu-emu
// RUN: tenon-gpu-kernel-test %s --schedules=1 --tolerance=2e-6
// RUN: not tenon-gpu-kernel-test %s --schedules=1 --corrupt=1e-3
// RUN: tenon-gpu-kernel-test %s --print=ptx | FileCheck %s

// CHECK-LABEL: .entry many_nest_0
// CHECK-COUNT-4: ld.global.b32
// CHECK-COUNT-4: st.global.b16
// CHECK: ld.global.b32
// CHECK: st.global.b16
func.func @many(%x: tensor<701x751xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (701)> : tensor<701x751xbf16> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (751)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<701x751xf32> -> f32
      %d = arith.negf %a : f32
      %b = arith.truncf %d : f32 to bf16
      tenon.put 0 [%i, %j], %b : bf16
    }
  }
  tenon.output 0 "y", %y : tensor<701x751xbf16>
  return
}
