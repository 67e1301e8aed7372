// Of elementwise ops of a plugin, rows of the last layer are computed alone where the op says that it asks nothing but its operands: by a formula, or by the interface. One that says neither may ask where its elements stand, and is left whole; so is one with a kernel of its own.
// RUN: tenon-opt --load-dialect-plugin=%build/lib/tenon-demo.so %s --split-input-file --tenon-last-layer --cse | FileCheck %s

tenon.parameter @w stacked : tensor<4x8x8xf32>

// CHECK-LABEL: func.func @formula
// CHECK: tenon.stack 3(
// CHECK: demo.softsign %{{.*}} : tensor<16x8xf32>
// CHECK: tenon.stack 1 from 3(
// CHECK-NOT: : tensor<16x8xf32>
// CHECK: tenon.dot {{.*}} -> tensor<1x8xf32>
// CHECK-NEXT: demo.softsign %{{.*}} : tensor<1x8xf32>
// CHECK-NEXT: demo.halves %{{.*}} : tensor<1x8xf32>
// CHECK-NOT: -> tensor<16x8xf32>
// CHECK: tenon.output
func.func @formula(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %z = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %s = demo.softsign %z : tensor<16x8xf32>
    %y = demo.halves %s : tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// What stands in front of the op is whole, with it; the contraction behind it is not.
// CHECK-LABEL: func.func @places
// CHECK: tenon.stack 1 from 3(
// CHECK: %[[Z:.*]] = tenon.dot {{.*}} -> tensor<16x8xf32>
// CHECK-NEXT: %[[T:.*]] = demo.tilt %[[Z]] : tensor<16x8xf32>
// CHECK-NOT: demo.tilt
// CHECK: %[[ROW:.*]] = tenon.gather %[[T]][%{{.*}}] dim 0 {{.*}} -> tensor<1x8xf32>
// CHECK-NEXT: tenon.dot %[[ROW]][0, 2], {{.*}} -> tensor<1x8xf32>
// CHECK: tenon.output
func.func @places(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %z = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %t = demo.tilt %z : tensor<16x8xf32>
    %y = tenon.dot %t[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----
tenon.parameter @w stacked : tensor<4x8x8xf32>

// Behind everything that is large: nothing becomes smaller.
// CHECK-LABEL: func.func @last
// CHECK: tenon.stack 4
// CHECK-NOT: tenon.stack
// CHECK: tenon.output
func.func @last(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %z = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %m = demo.mirror %z : tensor<16x8xf32>
    tenon.yield %m : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (5)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
