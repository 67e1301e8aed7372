// Canonical forms of a plugin's dialect are taken where it has an op in the function, beside those of this one; without the plugin the text is not known.
// RUN: tenon-opt --load-dialect-plugin=%build/lib/tenon-demo.so %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: {{.*}}demo

// tilt(tilt(x)) = tilt(x); what stands between two of them stays.
// CHECK-LABEL: func.func @tilted
// CHECK: %[[T:.*]] = demo.tilt %{{.*}} : tensor<4x8xf32>
// CHECK-NEXT: %[[H:.*]] = demo.halves %[[T]] : tensor<4x8xf32>
// CHECK-NEXT: %[[Y:.*]] = demo.tilt %[[H]] : tensor<4x8xf32>
// CHECK-NEXT: tenon.output 0 "y", %[[Y]]
func.func @tilted(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %s = demo.tilt %x : tensor<4x8xf32>
  %t = demo.tilt %s : tensor<4x8xf32>
  %h = demo.halves %t : tensor<4x8xf32>
  %y = demo.tilt %h : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}
