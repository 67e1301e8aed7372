// Stacks that stay whole: what is read is more than half, or all of it too; places are mixed behind what would be smaller; nothing large becomes smaller; as many rows as a run brings.
// RUN: tenon-opt %s --split-input-file --tenon-last-layer | FileCheck %s --implicit-check-not='tenon.stack 3' --implicit-check-not='tenon.stack 1'
// RUN: tenon-opt %s --split-input-file --tenon-last-layer --remark-format=emitRemark --remarks-filter-missed=last-layer -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

tenon.parameter @w stacked : tensor<4x8x8xf32>

// CHECK-LABEL: func.func @most
// WHY: :[[#@LINE+3]]:8: remark: [Missed] declined | Category:last-layer | Remark="no contraction or attention of its last layer would become smaller"
// CHECK: tenon.stack 4
func.func @most(%x: tensor<16x8xf32>, %at: tensor<9xi32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %m = tenon.gather %h[%at] dim 0 x_dims [-1, 1] index_dims [0] : tensor<16x8xf32>, tensor<9xi32> -> tensor<9x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<9x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// CHECK-LABEL: func.func @whole
// CHECK: tenon.stack 4
func.func @whole(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    tenon.yield %y : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (0)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %a = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  %b = tenon.reduce sum %h [0, 1] : tensor<16x8xf32> -> tensor<f32>
  %l = tenon.add %a, %b : tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// The sum over places is behind the contraction, which therefore has to be whole.
// CHECK-LABEL: func.func @mixed
// CHECK: tenon.stack 4
func.func @mixed(%x: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<16x8xf32>) -> tensor<16x8xf32> {
  ^bb0(%d: index, %c: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %s = tenon.reduce sum %y [0] : tensor<16x8xf32> -> tensor<8xf32>
    %r = tenon.broadcast %s [1] : tensor<8xf32> -> tensor<16x8xf32>
    tenon.yield %r : tensor<16x8xf32>
  }
  %m = tenon.slice %h 0 from affine_map<() -> (0)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %l = tenon.reduce sum %m [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// Two results read at rows of their own: what both are made of is whole, and nothing else is large.
// CHECK-LABEL: func.func @apart
// CHECK: tenon.stack 4
func.func @apart(%x: tensor<16x8xf32>, %z: tensor<16x8xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %h:2 = tenon.stack 4 (%x, %z) : (tensor<16x8xf32>, tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  ^bb0(%d: index, %c: tensor<16x8xf32>, %e: tensor<16x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
    %s = tenon.add %y, %c : tensor<16x8xf32>
    %t = tenon.add %y, %e : tensor<16x8xf32>
    tenon.yield %s, %t : tensor<16x8xf32>, tensor<16x8xf32>
  }
  %m = tenon.slice %h#0 0 from affine_map<() -> (0)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %n = tenon.slice %h#1 0 from affine_map<() -> (2)> : tensor<16x8xf32> -> tensor<1x8xf32>
  %a = tenon.add %m, %n : tensor<1x8xf32>
  %l = tenon.reduce sum %a [0, 1] : tensor<1x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// How many of how many rows is known in the run alone.
// CHECK-LABEL: func.func @several
// CHECK: tenon.stack 4
func.func @several(%K: index, %T: index, %x: tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>, %at: tensor<?xi32, affine_map<(d0, d1) -> (d0)>>) attributes {tenon.kind = "out", tenon.dims = ["K", "T"], tenon.states = []} {
  %h = tenon.stack 4 (%x) : (tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>) -> tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>> {
  ^bb0(%d: index, %c: tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>, tensor<8x8xf32> -> tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>
    tenon.yield %y : tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>
  }
  %m = tenon.gather %h[%at] dim 0 x_dims [-1, 1] index_dims [0] : tensor<?x8xf32, affine_map<(d0, d1) -> (d1, 8)>>, tensor<?xi32, affine_map<(d0, d1) -> (d0)>> -> tensor<?x8xf32, affine_map<(d0, d1) -> (d0, 8)>>
  tenon.output 0 "y", %m : tensor<?x8xf32, affine_map<(d0, d1) -> (d0, 8)>>
  return
}
