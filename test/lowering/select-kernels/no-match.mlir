// What is a kernel, an address or none of the tensor form stays as it is, and so does a general attention: that is fused or decomposed before.
// RUN: tenon-opt %s --mlir-print-local-scope > %t.before
// RUN: tenon-opt %s --mlir-print-local-scope --pass-pipeline='builtin.module(func.func(tenon-select-kernels))' > %t.after
// RUN: diff %t.before %t.after

tenon.parameter @w stacked : tensor<2x8x8xf32>
func.func @train(%x: tensor<4x8xf32>, %s: tensor<4x7xf32>, %v: tensor<7x8xf32>)
    attributes {tenon.kind = "train", tenon.dims = [], tenon.states = [tensor<2x4x8xf32>]} {
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 2], [2, 1]] scale 1.0 rate 0.0 site 0 : (tensor<4x7xf32>, tensor<7x8xf32>) -> tensor<4x8xf32>
  %last = tenon.stack 2(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%d: index, %h: tensor<4x8xf32>):
    %w = tenon.read_parameter @w[%d] : tensor<8x8xf32>
    %m = tenon.read_state 0[%d] : tensor<4x8xf32>
    %z = tenon.gemm %h[0, 2], %w[1, 2] rank 2 : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      %old = tenon.at %m[%i, %j] : tensor<4x8xf32> -> f32
      %new = arith.addf %sum, %old : f32
      tenon.put 0[%i, %j], %new : f32
    }
    tenon.write_state 0[%d], %z : tensor<4x8xf32>
    tenon.yield %z : tensor<4x8xf32>
  }
  %t = tenon.nest affine_map<() -> (4)> : tensor<4x8xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (8)> {
    ^bb0(%j: index):
      %e = tenon.at %last[%i, %j] : tensor<4x8xf32> -> f32
      tenon.put 0[%i, %j], %e : f32
    }
  }
  // Not even the order of its code is changed.
  %u = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %row = arith.constant 3 : i32
    %place = arith.index_cast %row : i32 to index
    %e = tenon.at %last[%i, %place] : tensor<4x8xf32> -> f32
    tenon.put 0[%i], %e : f32
  }
  tenon.output 0 "t", %t : tensor<4x8xf32>
  tenon.output 1 "u", %u : tensor<4xf32>
  return
}
