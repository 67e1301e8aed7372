// What passes no gradient is made again from what is kept, too: here before the simplifier takes stop_gradient away.
// RUN: tenon-opt %s --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate))' | FileCheck %s --implicit-check-not=tenon.yield --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient

// CHECK-LABEL: func.func @stop_gradient(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot %[[H]][0, 2]
// CHECK-NEXT: %[[STOPPED:.*]] = tenon.stop_gradient %[[Z]]
// CHECK-NEXT: %[[MUL:.*]] = tenon.mul %[[Z]], %[[STOPPED]]
// CHECK-NEXT: %[[MUL2:.*]] = tenon.mul %[[MUL]], %arg1
// CHECK-NEXT: tenon.yield %[[MUL2]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK: %[[KEPT:.*]] = tenon.at_depth
// CHECK-NEXT: %[[FACTOR:.*]] = tenon.stop_gradient %[[KEPT]]
// CHECK: tenon.at_depth
// CHECK-NEXT: %[[DY:.*]] = tenon.mul %{{.*}}, %arg1
// CHECK: %[[DZ:.*]] = tenon.mul %[[DY]], %[[FACTOR]]
// The other factor's share goes nowhere.
// CHECK-NEXT: %[[SHARE:.*]] = tenon.mul %[[DY]], %[[KEPT]]
// CHECK-NOT: %[[SHARE]]{{[^0-9]}}
// CHECK: tenon.dot %[[DZ]][0, 2]
// CHECK-NEXT: tenon.dot %[[DZ]][2, 0]
// CHECK-NEXT: tenon.write_gradient @w
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @stop_gradient(%x: tensor<4x8xf32>, %g: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %v = tenon.stop_gradient %z : tensor<4x8xf32>
      %y = tenon.mul %z, %v : tensor<4x8xf32>
      %p = tenon.mul %y, %g : tensor<4x8xf32>
      tenon.yield %p : tensor<4x8xf32>
    }
    %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
