// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// Panels that leave a rest, or are not four numbers, or of an op that has none.
// expected-error@+1 {{expects panels that cut its sizes without rest, got array<i64: 1, 32, 1, 0>}}
tenon.parameter @w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<64x40xf32>

// -----

// expected-error@+1 {{expects leading dimensions, width, steps and 0 or 1 as tenon.panels of a parameter, of a pack, or of a contraction whose operand b is in memory, got array<i64: 1, 32>}}
tenon.parameter @w {tenon.panels = array<i64: 1, 32>} : tensor<64x32xf32>

// -----

// A parameter in panels is not read as a row-major tensor.
tenon.parameter @w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<64x32xf32>
func.func @infer() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error@+1 {{'tenon.read_parameter' op expects to be read as it lies, in tenon.panels = array<i64: 1, 32, 1, 0>}}
  %w = tenon.read_parameter @w : tensor<64x32xf32>
  tenon.output 0 "w", %w : tensor<64x32xf32>
  return
}

// -----

// What panels stand for is either summed over or in the result alone.
func.func @infer(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error@+1 {{expects one side of the matrix in panels to be summed over, in the order of operand a, and the other one in the result alone}}
  %y = tenon.gemm %x[0, 2], %w[2, 3] rank 2 : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x64xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 0>} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<8x64xf32>
  return
}
