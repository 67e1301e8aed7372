// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters)' | FileCheck %s --implicit-check-not=tenon.panels
// Each says why.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters)' --remark-format=emitRemark --remarks-filter-missed=panel-parameters -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// WHY: Remark="something else reads it than contractions, or in another type"
// WHY: Remark="panels do not cut its sizes without rest"
// WHY: Remark="the target has no panels for the type"
// WHY: Remark="so many rows read it that packing costs less than panels do"
// WHY: Remark="contractions cut it at different dimensions"
// WHY: Remark="no contraction would read the panels where they are"
// WHY: Remark="nothing reads it"

// What something else reads, too (a table that is gathered, a copy to an output), stays row-major.
// CHECK: tenon.parameter @table : tensor<64x32xf32>
tenon.parameter @table : tensor<64x32xf32>
func.func @infer(%x: tensor<8x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @table : tensor<64x32xf32>
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    %c = arith.constant 0 : index
    %first = tenon.at %w[%c, %j] : tensor<64x32xf32> -> f32
    %s = arith.addf %sum, %first : f32
    tenon.put 0 [%i, %j], %s : f32
  }
  tenon.output 0 "y", %y : tensor<8x32xf32>
  return
}

// -----

// Columns that are no multiple of 32; heads that both operands have; the left operand.
// CHECK: tenon.parameter @narrow : tensor<64x40xf32>
// CHECK: tenon.parameter @each : tensor<2x64x32xf32>
// CHECK: tenon.parameter @left : tensor<32x32xf32>
tenon.parameter @narrow : tensor<64x40xf32>
tenon.parameter @each : tensor<2x64x32xf32>
tenon.parameter @left : tensor<32x32xf32>
func.func @infer(%x: tensor<8x64xf32>, %h: tensor<8x2x64xf32>, %r: tensor<32x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @narrow : tensor<64x40xf32>
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<8x64xf32>, tensor<64x40xf32> -> tensor<8x40xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<8x40xf32>
  %each = tenon.read_parameter @each : tensor<2x64x32xf32>
  %z = tenon.gemm %h[0, 1, 3], %each[1, 3, 2] rank 3 : tensor<8x2x64xf32>, tensor<2x64x32xf32> -> tensor<8x2x32xf32> {
  ^bb0(%i: index, %j: index, %k: index, %sum: f32):
    tenon.put 0 [%i, %j, %k], %sum : f32
  }
  tenon.output 1 "z", %z : tensor<8x2x32xf32>
  %left = tenon.read_parameter @left : tensor<32x32xf32>
  %v = tenon.gemm %left[0, 2], %r[2, 1] rank 2 : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 2 "v", %v : tensor<32x32xf32>
  return
}

// -----

// Of bf16 a panel has a multiple of 32 lines; f16 is widened wherever it is read.
// CHECK: tenon.parameter @short : tensor<48x32xf32>
module attributes {tenon.compute = bf16, tenon.parameters = bf16} {
  tenon.parameter @short : tensor<48x32xf32>
  func.func @infer(%x: tensor<8x48xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    %w = tenon.read_parameter @short : tensor<48x32xbf16>
    %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<8x48xbf16>, tensor<48x32xbf16> -> tensor<8x32xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.output 0 "y", %y : tensor<8x32xf32>
    return
  }
}

// -----

// CHECK: tenon.parameter @half : tensor<64x32xf32>
module attributes {tenon.compute = f16, tenon.parameters = f16} {
  tenon.parameter @half : tensor<64x32xf32>
  func.func @infer(%x: tensor<8x64xf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    %w = tenon.read_parameter @half : tensor<64x32xf16>
    %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<8x64xf16>, tensor<64x32xf16> -> tensor<8x32xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.output 0 "y", %y : tensor<8x32xf32>
    return
  }
}

// -----

// 65 rows, together or alone; 64, and a number that is not known, would do.
// CHECK: tenon.parameter @many : tensor<64x32xf32>
tenon.parameter @many : tensor<64x32xf32>
func.func @infer(%B: index, %x: tensor<?x64xf32, affine_map<(d0) -> (d0, 64)>>, %few: tensor<8x8x64xf32>, %more: tensor<5x13x64xf32>) attributes {tenon.kind = "out", tenon.dims = ["B"], tenon.states = []} {
  %w = tenon.read_parameter @many : tensor<64x32xf32>
  %a = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<?x64xf32, affine_map<(d0) -> (d0, 64)>>, tensor<64x32xf32> -> tensor<?x32xf32, affine_map<(d0) -> (d0, 32)>> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %b = tenon.gemm %few[0, 1, 3], %w[3, 2] rank 3 : tensor<8x8x64xf32>, tensor<64x32xf32> -> tensor<8x8x32xf32> {
  ^bb0(%i: index, %k: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %k, %j], %sum : f32
  }
  %c = tenon.gemm %more[0, 1, 3], %w[3, 2] rank 3 : tensor<5x13x64xf32>, tensor<64x32xf32> -> tensor<5x13x32xf32> {
  ^bb0(%i: index, %k: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %k, %j], %sum : f32
  }
  tenon.output 0 "a", %a : tensor<?x32xf32, affine_map<(d0) -> (d0, 32)>>
  tenon.output 1 "b", %b : tensor<8x8x32xf32>
  tenon.output 2 "c", %c : tensor<5x13x32xf32>
  return
}

// -----

// One contraction has dimension 0 in columns, the other dimensions 0 and 1; a trained one that is read along the other direction alone; one that nothing reads.
// CHECK: tenon.parameter @both : tensor<32x32x64xf32>
// CHECK: tenon.parameter @across : tensor<64x32xf32>
// CHECK: tenon.parameter @unread : tensor<64x32xf32>
tenon.parameter @both : tensor<32x32x64xf32>
tenon.parameter @across : tensor<64x32xf32>
tenon.parameter @unread : tensor<64x32xf32>
func.func @train(%h: tensor<8x64xf32>, %r: tensor<8x32xf32>) attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @both : tensor<32x32x64xf32>
  %y = tenon.gemm %h[0, 3], %w[1, 2, 3] rank 3 : tensor<8x64xf32>, tensor<32x32x64xf32> -> tensor<8x32x32xf32> {
  ^bb0(%i: index, %j: index, %k: index, %sum: f32):
    tenon.put 0 [%i, %j, %k], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<8x32x32xf32>
  %z = tenon.gemm %r[0, 3], %w[3, 1, 2] rank 3 : tensor<8x32xf32>, tensor<32x32x64xf32> -> tensor<8x32x64xf32> {
  ^bb0(%i: index, %j: index, %k: index, %sum: f32):
    tenon.put 0 [%i, %j, %k], %sum : f32
  }
  tenon.output 1 "z", %z : tensor<8x32x64xf32>
  %a = tenon.read_parameter @across : tensor<64x32xf32>
  %v = tenon.gemm %r[0, 2], %a[1, 2] rank 2 : tensor<8x32xf32>, tensor<64x32xf32> -> tensor<8x64xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 2 "v", %v : tensor<8x64xf32>
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
  return
}
