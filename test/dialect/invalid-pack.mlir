// What the verifier of pack refuses.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// pack C1: in which panels.
func.func @f(%w: tensor<40x24xf32>) {
  // expected-error @+1 {{'tenon.pack' op expects tenon.panels of its result, got <<NULL ATTRIBUTE>>}}
  %p = tenon.pack %w : tensor<40x24xf32>
  return
}

// -----
// E12: of known sizes, whose leading dimensions are a side of a matrix.
func.func @f(%w: tensor<40x24xf32>) {
  // expected-error @+1 {{expects panels that cut its sizes without rest, got array<i64: 2, 32, 1, 0>}}
  %p = tenon.pack %w {tenon.panels = array<i64: 2, 32, 1, 0>} : tensor<40x24xf32>
  return
}

// -----
// pack C2: from panels that go across those of the result ..
func.func @f(%w: tensor<64x64xf32>) {
  // expected-error @+1 {{'tenon.pack' op expects to read panels that cut the matrix without rest, across those of its result array<i64: 1, 32, 1, 0>, got array<i64: 1, 32, 1, 0>}}
  %p = tenon.pack %w from [1, 32, 1, 0] {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<64x64xf32>
  return
}

// -----
// .. and leave no rest.
func.func @f(%w: tensor<64x40xf32>) {
  // expected-error @+1 {{'tenon.pack' op expects to read panels that cut the matrix without rest, across those of its result array<i64: 1, 32, 1, 1>, got array<i64: 1, 32, 1, 0>}}
  %p = tenon.pack %w from [1, 32, 1, 0] {tenon.panels = array<i64: 1, 32, 1, 1>} : tensor<64x40xf32>
  return
}

// -----
// pack C3: nothing reads it as a row-major tensor ..
func.func @f(%w: tensor<40x24xf32>) {
  // expected-error @+1 {{'tenon.pack' op expects to be read as operand b of gemms alone, with tenon.panels = array<i64: 1, 32, 1, 0>}}
  %p = tenon.pack %w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<40x24xf32>
  tenon.output 0 "p", %p : tensor<40x24xf32>
  return
}

// -----
// .. or in other panels.
func.func @f(%x: tensor<8x40xf32>, %w: tensor<40x24xf32>) {
  // expected-error @+1 {{'tenon.pack' op expects to be read as operand b of gemms alone, with tenon.panels = array<i64: 1, 32, 1, 0>}}
  %p = tenon.pack %w {tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<40x24xf32>
  %y = tenon.gemm %x[0, 2], %p[2, 1] rank 2 : tensor<8x40xf32>, tensor<40x24xf32> -> tensor<8x24xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 1>} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  return
}
