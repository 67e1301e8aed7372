// Other tiles than the chosen ones, on the emulator. Of products they give the same bits, which the code behind the second one asks for at each element; of attention and of rows they change the order of sums, within the tolerance.
// REQUIRES: gpu-emu
// RUN: tenon-gpu-kernel-test %s --dims=1 --schedules=2 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-gpu-kernel-test %s --dims=1 --schedules=1 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

func.func @products(%x: tensor<67x90xf32>, %w: tensor<70x90xf32>) {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<67x90xf32>, tensor<70x90xf32> -> tensor<67x70xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %same = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<67x90xf32>, tensor<70x90xf32> -> tensor<67x70xi1> attributes {tenon.chosen = {sm_80 = {form = "fma", rows = 16 : i64, columns = 32 : i64, depth = 4 : i64, own = 2 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    %one = tenon.at %y[%i, %j] : tensor<67x70xf32> -> f32
    %e = arith.cmpf oeq, %one, %sum : f32
    tenon.put 0 [%i, %j], %e : i1
  }
  tenon.output 0 "y", %y : tensor<67x70xf32>
  tenon.output 1 "same", %same : tensor<67x70xi1>
  return
}

func.func @tensor_cores(%x: tensor<67x90xbf16>, %w: tensor<70x90xbf16>) {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<67x90xbf16>, tensor<70x90xbf16> -> tensor<67x70xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %same = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<67x90xbf16>, tensor<70x90xbf16> -> tensor<67x70xi1> attributes {tenon.chosen = {sm_80 = {form = "mma", rows = 32 : i64, columns = 64 : i64, depth = 16 : i64, warp_rows = 16 : i64, warp_columns = 16 : i64, stages = 3 : i64, registers = 96 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    %one = tenon.at %y[%i, %j] : tensor<67x70xf32> -> f32
    %e = arith.cmpf oeq, %one, %sum : f32
    tenon.put 0 [%i, %j], %e : i1
  }
  tenon.output 0 "y", %y : tensor<67x70xf32>
  tenon.output 1 "same", %same : tensor<67x70xi1>
  return
}

// More threads than a warp has rows.
func.func @tall(%x: tensor<40x32xbf16>, %w: tensor<24x32xbf16>) {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<40x32xbf16>, tensor<24x32xbf16> -> tensor<40x24xf32> attributes {tenon.chosen = {sm_80 = {form = "mma", rows = 256 : i64, columns = 16 : i64, depth = 16 : i64, warp_rows = 16 : i64, warp_columns = 16 : i64, stages = 2 : i64, registers = 96 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<40x24xf32>
  return
}

func.func @attention(%q: tensor<1x20x2x8xf32>, %k: tensor<1x20x2x8xf32>, %v: tensor<1x20x2x8xf32>, %dy: tensor<1x20x2x8xf32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "pairs", side = 8 : i64}}} : (tensor<1x20x2x8xf32>, tensor<1x20x2x8xf32>, tensor<1x20x2x8xf32>) -> (tensor<1x20x2x8xf32>, tensor<1x2x20xf32>, tensor<1x2x20xf32>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "pairs", side = 16 : i64}}} : (tensor<1x20x2x8xf32>, tensor<1x20x2x8xf32>, tensor<1x2x20xf32>, tensor<1x2x20xf32>, tensor<1x20x2x8xf32>, tensor<1x20x2x8xf32>, tensor<1x20x2x8xf32>) -> (tensor<1x20x2x8xf32>, tensor<1x20x2x8xf32>, tensor<1x20x2x8xf32>)
  tenon.output 0 "y", %y : tensor<1x20x2x8xf32>
  tenon.output 1 "dq", %dq : tensor<1x20x2x8xf32>
  tenon.output 2 "dk", %dk : tensor<1x20x2x8xf32>
  tenon.output 3 "dv", %dv : tensor<1x20x2x8xf32>
  return
}

// A row by one thread, by few, by many; rows that are neighbours in memory by a block for several, and by slices.
func.func @rows(%x: tensor<33x70xf32>) {
  %a = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "elements", threads = 64 : i64, vector = 1 : i64, apart = 1 : i64}}} {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (70)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<33x70xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  %b = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 1>, pass = array<i64: 0>, barrier = array<i64: 0, 1>, broadcast = array<i64: 0>}}} {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (70)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<33x70xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  %c = tenon.nest affine_map<() -> (70)> : tensor<70xf32> attributes {tenon.chosen = {sm_80 = {form = "rows", rows = 8 : i64, threads = 64 : i64, barrier = array<i64: 0, 1>, broadcast = array<i64: 0>}}} {
  ^bb0(%j: index):
    %s = tenon.fold sum affine_map<() -> (33)> : f32 {
    ^bb1(%i: index):
      %e = tenon.at %x[%i, %j] : tensor<33x70xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%j], %s : f32
  }
  tenon.output 0 "a", %a : tensor<33xf32>
  tenon.output 1 "b", %b : tensor<33xf32>
  %d = tenon.nest affine_map<() -> (70)> : tensor<70xf32> attributes {tenon.chosen = {sm_80 = {form = "columns", slices = 4 : i64, terms = 8 : i64, threads = 96 : i64, vector = 1 : i64, pass = array<i64: 0>, apart = array<i64: 3>}}} {
  ^bb0(%j: index):
    %s = tenon.fold sum affine_map<() -> (33)> : f32 {
    ^bb1(%i: index):
      %e = tenon.at %x[%i, %j] : tensor<33x70xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%j], %s : f32
  }
  %f = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 2>, pass = array<i64: 0>, barrier = array<i64: 0, 1>, broadcast = array<i64: 0>}}} {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (70)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<33x70xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  tenon.output 2 "c", %c : tensor<70xf32>
  tenon.output 3 "d", %d : tensor<70xf32>
  tenon.output 4 "f", %f : tensor<33xf32>
  return
}

// Elements that lie apart, of a space and of rows: other numbers of them than the chosen one, with a rest.
func.func @apart(%x: tensor<33x170xf32>) {
  %a = tenon.nest affine_map<() -> (33, 170)> : tensor<33x170xf32> attributes {tenon.chosen = {sm_80 = {form = "elements", threads = 64 : i64, vector = 1 : i64, apart = 3 : i64}}} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<33x170xf32> -> f32
    %d = arith.negf %e : f32
    tenon.put 0 [%i, %j], %d : f32
  }
  %b = tenon.nest affine_map<() -> (33)> : tensor<33x170xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 1, 1>, apart = array<i64: 5>, pass = array<i64: 0>, barrier = array<i64: 0, 1>, broadcast = array<i64: 1>}}} {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (170)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<33x170xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.each affine_map<() -> (170)> {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<33x170xf32> -> f32
      %d = arith.subf %e, %s : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "a", %a : tensor<33x170xf32>
  tenon.output 1 "b", %b : tensor<33x170xf32>
  return
}

// Folds of a row, and of columns, in one pass each instead of together, with the same bits; a maximum and the sum under it in two passes, with vectors.
func.func @passes(%x: tensor<33x96xf32>) {
  %first = tenon.nest affine_map<() -> (33)> : tensor<33xf32> {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %squares = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %p = arith.mulf %a, %a : f32
      tenon.yield %p : f32
    }
    %both = arith.addf %sum, %squares : f32
    tenon.put 0 [%i], %both : f32
  }
  %second = tenon.nest affine_map<() -> (33)> : tensor<33xi1> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, pass = array<i64: 0, 1>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1>}}} {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %squares = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %p = arith.mulf %a, %a : f32
      tenon.yield %p : f32
    }
    %both = arith.addf %sum, %squares : f32
    %one = tenon.at %first[%i] : tensor<33xf32> -> f32
    %e = arith.cmpf oeq, %one, %both : f32
    tenon.put 0 [%i], %e : i1
  }
  %third = tenon.nest affine_map<() -> (96)> : tensor<96xf32> attributes {tenon.chosen = {sm_80 = {form = "columns", slices = 4 : i64, terms = 8 : i64, threads = 96 : i64, vector = 4 : i64, pass = array<i64: 0, 0>, apart = array<i64: 2, 2>}}} {
  ^bb0(%j: index):
    %sum = tenon.fold sum affine_map<() -> (33)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %squares = tenon.fold sum affine_map<() -> (33)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %p = arith.mulf %a, %a : f32
      tenon.yield %p : f32
    }
    %both = arith.addf %sum, %squares : f32
    tenon.put 0 [%j], %both : f32
  }
  %fourth = tenon.nest affine_map<() -> (96)> : tensor<96xi1> attributes {tenon.chosen = {sm_80 = {form = "columns", slices = 4 : i64, terms = 8 : i64, threads = 96 : i64, vector = 4 : i64, pass = array<i64: 0, 1>, apart = array<i64: 1, 3>}}} {
  ^bb0(%j: index):
    %sum = tenon.fold sum affine_map<() -> (33)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %squares = tenon.fold sum affine_map<() -> (33)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %p = arith.mulf %a, %a : f32
      tenon.yield %p : f32
    }
    %both = arith.addf %sum, %squares : f32
    %one = tenon.at %third[%j] : tensor<96xf32> -> f32
    %e = arith.cmpf oeq, %one, %both : f32
    tenon.put 0 [%j], %e : i1
  }
  %fifth = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 2>, pass = array<i64: 0, 1>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 0>}}} {
  ^bb0(%i: index):
    %max = tenon.fold max affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %max : f32
      %e = math.exp %d : f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %sum : f32
  }
  tenon.output 0 "first", %first : tensor<33xf32>
  tenon.output 1 "second", %second : tensor<33xi1>
  tenon.output 2 "third", %third : tensor<96xf32>
  tenon.output 3 "fourth", %fourth : tensor<96xi1>
  tenon.output 4 "fifth", %fifth : tensor<33xf32>
  return
}
