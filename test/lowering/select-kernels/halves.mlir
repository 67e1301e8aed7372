// A parameter in two halves is joined where it is read, however often and wherever: no value of f32 has memory of its own.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// In the body of a stack, though the reads stand outside; a row is summed; eight readers.
module attributes {tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<4x8xf32>
  // CHECK-LABEL: func.func @everywhere
  // CHECK-DAG: %[[UPPER:.*]] = tenon.read_parameter @w : tensor<4x8xbf16>
  // CHECK-DAG: %[[REST:.*]] = tenon.read_parameter @w remainder : tensor<4x8xi16>
  // CHECK-NOT: tenon.nest
  // CHECK: tenon.stack
  // CHECK: tenon.nest
  // CHECK-DAG: tenon.at %[[UPPER]]
  // CHECK-DAG: tenon.at %[[REST]]
  // CHECK: arith.addi
  // CHECK: arith.bitcast {{.*}} : i32 to f32
  // CHECK: tenon.yield
  // CHECK: tenon.nest
  // CHECK: tenon.fold sum
  // CHECK-DAG: tenon.at %[[UPPER]]
  // CHECK-DAG: tenon.at %[[REST]]
  // CHECK-NOT: tenon.join
  // CHECK: return
  func.func @everywhere(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    %upper = tenon.read_parameter @w : tensor<4x8xbf16>
    %rest = tenon.read_parameter @w remainder : tensor<4x8xi16>
    %w = tenon.join %upper, %rest : tensor<4x8xbf16>, tensor<4x8xi16> -> tensor<4x8xf32>
    %y = tenon.stack 3 (%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>) {
    ^bb0(%depth: index, %carry: tensor<4x8xf32>):
      %a = tenon.add %carry, %w : tensor<4x8xf32>
      %b = tenon.mul %a, %w : tensor<4x8xf32>
      %c = tenon.add %b, %w : tensor<4x8xf32>
      %d = tenon.mul %c, %w : tensor<4x8xf32>
      %e = tenon.add %d, %w : tensor<4x8xf32>
      %f = tenon.mul %e, %w : tensor<4x8xf32>
      %g = tenon.add %f, %w : tensor<4x8xf32>
      %h = tenon.mul %g, %w : tensor<4x8xf32>
      tenon.yield %h : tensor<4x8xf32>
    }
    %rows = tenon.reduce sum %w [1] : tensor<4x8xf32> -> tensor<4xf32>
    tenon.output 0 "y", %y : tensor<4x8xf32>
    tenon.output 1 "rows", %rows : tensor<4xf32>
    return
  }
}

// -----

// A contraction of f32 computes its operand where it packs it.
module attributes {tenon.parameters = bf16, tenon.remainders = i16} {
  tenon.parameter @w : tensor<6x8xf32>
  // CHECK-LABEL: func.func @contracted
  // CHECK-NOT: tenon.nest
  // CHECK: tenon.gemm
  // CHECK-NOT: tenon.nest
  // CHECK: return
  func.func @contracted(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
    %upper = tenon.read_parameter @w : tensor<6x8xbf16>
    %rest = tenon.read_parameter @w remainder : tensor<6x8xi16>
    %w = tenon.join %upper, %rest : tensor<6x8xbf16>, tensor<6x8xi16> -> tensor<6x8xf32>
    %y = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    tenon.output 0 "y", %y : tensor<4x6xf32>
    return
  }
}
