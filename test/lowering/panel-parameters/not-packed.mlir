// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters)' | FileCheck %s --implicit-check-not=tenon.pack --implicit-check-not=tenon.panels
// A target without panels packs none of any.
// RUN: tenon-opt %S/packed.mlir --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters{target=sm_80})' | FileCheck %s --check-prefix=ROWS --implicit-check-not='tenon.pack '
// ROWS: tenon.gemm %{{.*}}[0, 3], %{{.*}}[1, 2, 3] rank 3
// Nor does one that is not to, as where everything is taken apart.
// RUN: tenon-opt %S/packed.mlir --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters{pack=false})' | FileCheck %s --check-prefix=ROWS --implicit-check-not='tenon.pack '
// Each says why.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters)' --remark-format=emitRemark --remarks-filter-missed=pack-operands -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// WHY: Remark="it reads no parameter by columns and steps, in a loop"
// WHY: Remark="no loop of several rounds around it reads the same in each"
// WHY: Remark="no loop of several rounds around it reads the same in each"
// WHY: Remark="it has so many rows that a panel is packed once for many strips of them"
// WHY: Remark="its result is contiguous along a, which is the side in columns"
// RUN: not tenon-opt %s --split-input-file --pass-pipeline='builtin.module(tenon-panel-parameters{target=none})' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: expects the name of a target, got none

// A weight of each round, and one that is read in no loop.
// CHECK-LABEL: func.func @layers
// CHECK: tenon.gemm
// CHECK: tenon.gemm
tenon.parameter @w stacked : tensor<3x40x40xf32>
tenon.parameter @v : tensor<40x40xf32>
func.func @layers(%x: tensor<8x40xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %v = tenon.read_parameter @v : tensor<40x40xf32>
  %y = tenon.gemm %x[0, 2], %v[2, 1] rank 2 : tensor<8x40xf32>, tensor<40x40xf32> -> tensor<8x40xf32> {
  ^bb0(%b: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %j], %sum : f32
  }
  %z = tenon.stack 3 (%y) : (tensor<8x40xf32>) -> (tensor<8x40xf32>) {
  ^bb0(%layer: index, %h: tensor<8x40xf32>):
    %w = tenon.read_parameter @w[%layer] : tensor<40x40xf32>
    %n = tenon.gemm %h[0, 2], %w[2, 1] rank 2 : tensor<8x40xf32>, tensor<40x40xf32> -> tensor<8x40xf32> {
    ^bb0(%b: index, %j: index, %sum: f32):
      tenon.put 0 [%b, %j], %sum : f32
    }
    tenon.yield %n : tensor<8x40xf32>
  }
  tenon.output 0 "z", %z : tensor<8x40xf32>
  return
}

// -----

// Places of an entry that walks, one at a time.
// CHECK-LABEL: func.func @walk
// CHECK: tenon.gemm
tenon.parameter @w : tensor<40x40xf32>
func.func @walk(%T: index, %x: tensor<8x40xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = [tensor<i32>], tenon.in_place = array<i1: false>, tenon.walk = {position = 0 : i64, count = 0 : i64, capacity = affine_map<(d0) -> (16)>}} {
  %w = tenon.read_parameter @w : tensor<40x40xf32>
  %z = tenon.stack affine_map<(d0) -> (d0)> (%x) : (tensor<8x40xf32>) -> (tensor<8x40xf32>) {
  ^bb0(%t: index, %h: tensor<8x40xf32>):
    %n = tenon.gemm %h[0, 2], %w[2, 1] rank 2 : tensor<8x40xf32>, tensor<40x40xf32> -> tensor<8x40xf32> {
    ^bb0(%b: index, %j: index, %sum: f32):
      tenon.put 0 [%b, %j], %sum : f32
    }
    tenon.yield %n : tensor<8x40xf32>
  }
  tenon.output 0 "z", %z : tensor<8x40xf32>
  return
}

// -----

// 65 rows; one round; what is no parameter; the left operand; f16, which is widened wherever it is read.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: tenon.gemm
tenon.parameter @w : tensor<40x40xf32>
func.func @others(%x: tensor<65x40xf32>, %few: tensor<8x40xf32>, %v: tensor<40x40xf32>, %s: tensor<8x40xf16>, %u: tensor<40x40xf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<40x40xf32>
  %a, %b, %c = tenon.stack 5 (%x, %few, %few) : (tensor<65x40xf32>, tensor<8x40xf32>, tensor<8x40xf32>) -> (tensor<65x40xf32>, tensor<8x40xf32>, tensor<8x40xf32>) {
  ^bb0(%t: index, %h: tensor<65x40xf32>, %g: tensor<8x40xf32>, %f: tensor<8x40xf32>):
    %many = tenon.gemm %h[0, 2], %w[2, 1] rank 2 : tensor<65x40xf32>, tensor<40x40xf32> -> tensor<65x40xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    %input = tenon.gemm %g[0, 2], %v[2, 1] rank 2 : tensor<8x40xf32>, tensor<40x40xf32> -> tensor<8x40xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    %short = tenon.gemm %s[0, 2], %u[2, 1] rank 2 : tensor<8x40xf16>, tensor<40x40xf16> -> tensor<8x40xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.yield %many, %input, %short : tensor<65x40xf32>, tensor<8x40xf32>, tensor<8x40xf32>
  }
  %once = tenon.stack 1 (%few) : (tensor<8x40xf32>) -> (tensor<8x40xf32>) {
  ^bb0(%t: index, %h: tensor<8x40xf32>):
    %n = tenon.gemm %h[0, 2], %w[2, 1] rank 2 : tensor<8x40xf32>, tensor<40x40xf32> -> tensor<8x40xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.yield %n : tensor<8x40xf32>
  }
  %left = tenon.stack 5 (%v) : (tensor<40x40xf32>) -> (tensor<40x40xf32>) {
  ^bb0(%t: index, %h: tensor<40x40xf32>):
    %n = tenon.gemm %w[0, 2], %h[2, 1] rank 2 : tensor<40x40xf32>, tensor<40x40xf32> -> tensor<40x40xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    }
    tenon.yield %n : tensor<40x40xf32>
  }
  tenon.output 0 "a", %a : tensor<65x40xf32>
  tenon.output 1 "b", %b : tensor<8x40xf32>
  tenon.output 2 "c", %c : tensor<8x40xf32>
  tenon.output 3 "once", %once : tensor<8x40xf32>
  tenon.output 4 "left", %left : tensor<40x40xf32>
  return
}

// -----

// Terms that a condition leaves out, whose steps are listed; a result that is contiguous along what the other operand has.
// CHECK-LABEL: func.func @listed
// CHECK: tenon.gemm element
// CHECK: tenon.gemm
tenon.parameter @w : tensor<64x64xf32>
tenon.parameter @v : tensor<64x40xf32>
func.func @listed(%x: tensor<8x64xf32>, %c: tensor<64xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %w = tenon.read_parameter @w : tensor<64x64xf32>
  %v = tenon.read_parameter @v : tensor<64x40xf32>
  %z, %all = tenon.stack 5 (%x) : (tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<5x40x8xf32>) {
  ^bb0(%t: index, %h: tensor<8x64xf32>):
    %n = tenon.gemm element[0, 2], %w[2, 1] rank 2 : tensor<8x64xf32>, tensor<64x64xf32> -> tensor<8x64xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%i, %j], %sum : f32
    } a {
    ^bb0(%i: index, %k: index):
      %q = tenon.at %c[%k] : tensor<64xi1> -> i1
      %e = tenon.at %h[%i, %k] : tensor<8x64xf32> -> f32
      %o = arith.constant 0.0 : f32
      %s = arith.select %q, %e, %o : f32
      tenon.yield %s : f32
    }
    %m = tenon.gemm %n[0, 2], %v[2, 1] rank 2 : tensor<8x64xf32>, tensor<64x40xf32> -> tensor<40x8xf32> {
    ^bb0(%i: index, %j: index, %sum: f32):
      tenon.put 0 [%j, %i], %sum : f32
    }
    tenon.yield %n, %m : tensor<8x64xf32>, tensor<40x8xf32>
  }
  tenon.output 0 "z", %z : tensor<8x64xf32>
  tenon.output 1 "all", %all : tensor<5x40x8xf32>
  return
}
