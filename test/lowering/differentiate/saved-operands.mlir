// For targets that would write them to memory again, what contractions read is saved where it is cheap, too (else: `joined` and `activated` of saved-others.mlir).
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate{save-operands=true},tenon-simplify{after-differentiation=true}))' | FileCheck %s --implicit-check-not=tenon.yield --implicit-check-not=tenon.at_depth --implicit-check-not=tenon.write_gradient
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-differentiate,tenon-simplify{after-differentiation=true}))' | not FileCheck %s

// Tensors that are joined: the joined one, and no carry.
// CHECK-LABEL: func.func @joined(
// CHECK: %[[JOINED:.*]] = tenon.concat
// CHECK-NEXT: %[[Z:.*]] = tenon.dot %[[JOINED]][0, 2]
// CHECK: tenon.yield %{{[^,]*}}, %[[Z]], %[[JOINED]] : tensor<4x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-NOT: tenon.concat
// CHECK: tenon.at_depth
// CHECK: tenon.write_gradient @w
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  func.func @joined(%x: tensor<4x8xf32>, %g: tensor<6x8xf32>, %m: tensor<2x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %j = tenon.concat 0 %m, %h : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<6x8xf32>
      %z = tenon.dot %j[0, 2], %w[1, 2] : tensor<6x8xf32>, tensor<8x8xf32> -> tensor<6x8xf32>
      %p = tenon.mul %z, %g : tensor<6x8xf32>
      %s = tenon.slice %p 0 from affine_map<() -> (2)> : tensor<6x8xf32> -> tensor<4x8xf32>
      tenon.yield %s : tensor<4x8xf32>
    }
    %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}

// -----

// An activation whose sum is saved: both.
// CHECK-LABEL: func.func @activated(
// CHECK: ^bb0(%{{.*}}: index, %[[H:.*]]: tensor<4x8xf32>):
// CHECK: %[[Z:.*]] = tenon.dot
// CHECK-NEXT: %[[A:.*]] = tenon.mul %[[Z]], %[[Z]]
// CHECK: tenon.yield %{{[^,]*}}, %[[A]], %[[Z]], %[[H]] : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>{{$}}
// CHECK: tenon.stack 2 reverse
// CHECK-COUNT-3: tenon.at_depth
// CHECK: tenon.write_gradient @v
// CHECK-NEXT: tenon.write_gradient @w
// CHECK-NEXT: tenon.yield %{{[^,]*}} : tensor<4x8xf32>{{$}}
module {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  tenon.parameter @v stacked : tensor<2x8x8xf32>
  func.func @activated(%x: tensor<4x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
    %o = tenon.stack 2 (%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%d: index, %h: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
      %v = tenon.read_parameter @v[%d] : tensor<8x8xf32>
      %z = tenon.dot %h[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %a = tenon.mul %z, %z : tensor<4x8xf32>
      %y = tenon.dot %a[0, 2], %v[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      tenon.yield %y : tensor<4x8xf32>
    }
    %l = tenon.reduce sum %o [0, 1] : tensor<4x8xf32> -> tensor<f32>
    tenon.output 0 "loss", %l : tensor<f32>
    return
  }
}
