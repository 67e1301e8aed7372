// What a text says is chosen for a kernel, and no block can do.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))'

func.func @power(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects rows for sm_80 from 16 to 128, a power of 2, got 48}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {sm_80 = {form = "fma", rows = 48 : i64, columns = 64 : i64, depth = 16 : i64, own = 4 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @shared(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a block of 32 to 1024 threads with at most 49152 bytes of shared memory, got 1024 threads and 81920 bytes}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {sm_80 = {form = "fma", rows = 128 : i64, columns = 128 : i64, depth = 16 : i64, own = 4 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @warp(%x: tensor<64x32xbf16>, %w: tensor<40x32xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a warp inside of the tile, and stages with room for its sums, got}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xbf16>, tensor<40x32xbf16> -> tensor<64x40xf32> attributes {tenon.chosen = {sm_80 = {form = "mma", rows = 32 : i64, columns = 32 : i64, depth = 32 : i64, warp_rows = 64 : i64, warp_columns = 32 : i64, stages = 4 : i64, registers = 128 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
// Wide heads leave room for fewer rows.
func.func @side(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x256xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects side for sm_80 from 8 to 16, a power of 2, got 32}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "pairs", side = 32 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x256xf32>) -> (tensor<2x100x4x256xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x256xf32>
  return
}

// -----
func.func @group(%q: tensor<2x100x4x64xbf16>, %k: tensor<2x100x4x64xbf16>, %v: tensor<2x100x4x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a warp inside of the tile, got 32 of 16 rows}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "mma", rows = 16 : i64, warp_rows = 32 : i64, keys = 16 : i64, registers = 255 : i64}}} : (tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>) -> (tensor<2x100x4x64xbf16>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xbf16>
  return
}

// -----
func.func @band(%q: tensor<2x100x4x64xbf16>, %k: tensor<2x100x4x64xbf16>, %v: tensor<2x100x4x64xbf16>, %r: tensor<100x4x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen at most as many keys as rows where places have a table, got 32 keys and 16 rows}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %q, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>, place = [{rest = affine_map<() -> (0)>, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = affine_map<() -> (0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "mma", rows = 16 : i64, warp_rows = 16 : i64, keys = 32 : i64, registers = 255 : i64}}} : (tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<100x4x64xbf16>) -> (tensor<2x100x4x64xbf16>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xbf16>
  return
}

// -----
// Of one space of elements there are no rows to share a block.
func.func @nest(%x: tensor<70x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects as form for sm_80 elements or row, got rows}}
  %a = tenon.nest affine_map<() -> (70, 50)> : tensor<70x50xf32> attributes {tenon.chosen = {sm_80 = {form = "rows", rows = 32 : i64, threads = 256 : i64}}} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x50xf32> -> f32
    tenon.put 0 [%i, %j], %e : f32
  }
  tenon.output 0 "a", %a : tensor<70x50xf32>
  return
}

// -----
// A thread has elements beside each other or apart, not both; those with loops of their own it has one by one.
func.func @both(%x: tensor<70x48xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen elements either beside each other or apart, got vector 4 and apart 2}}
  %a = tenon.nest affine_map<() -> (70, 48)> : tensor<70x48xf32> attributes {tenon.chosen = {sm_80 = {form = "elements", threads = 256 : i64, vector = 4 : i64, apart = 2 : i64}}} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x48xf32> -> f32
    tenon.put 0 [%i, %j], %e : f32
  }
  tenon.output 0 "a", %a : tensor<70x48xf32>
  return
}

// -----
func.func @loops(%x: tensor<70x48xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects apart for sm_80 from 1 to 1, got 2}}
  %a = tenon.nest affine_map<() -> (70)> : tensor<70xf32> attributes {tenon.chosen = {sm_80 = {form = "elements", threads = 96 : i64, vector = 1 : i64, apart = 2 : i64}}} {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (48)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<70x48xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  tenon.output 0 "a", %a : tensor<70xf32>
  return
}
