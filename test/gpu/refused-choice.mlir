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
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "pairs", side = 32 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x256xf32>) -> (tensor<2x100x4x256xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x256xf32>
  return
}

// -----
func.func @group(%q: tensor<2x100x4x64xbf16>, %k: tensor<2x100x4x64xbf16>, %v: tensor<2x100x4x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a warp inside of the tile, got 32 of 16 rows}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "mma", rows = 16 : i64, warp_rows = 32 : i64, keys = 16 : i64, registers = 255 : i64}}} : (tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>) -> (tensor<2x100x4x64xbf16>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xbf16>
  return
}

// -----
func.func @band(%q: tensor<2x100x4x64xbf16>, %k: tensor<2x100x4x64xbf16>, %v: tensor<2x100x4x64xbf16>, %r: tensor<100x4x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen at most as many keys as rows where places have a table, got 32 keys and 16 rows}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %q, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, place = [{rest = affine_map<() -> (0)>, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = affine_map<() -> (0)>, query = -1 : i64, key = 1 : i64}], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {sm_80 = {form = "mma", rows = 16 : i64, warp_rows = 16 : i64, keys = 32 : i64, registers = 255 : i64}}} : (tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<100x4x64xbf16>) -> (tensor<2x100x4x64xbf16>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
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

// -----
// One pass for folds of which one needs the other's value.
func.func @needed(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen in one pass folds beside each other over one space, with vectors alike of several places, of which none needs another, or a maximum and the sum under it, which have one place each, got fold 1 in pass 0}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, pass = array<i64: 0, 0>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1>}}} {
  ^bb0(%i: index):
    %first = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %first : f32
      tenon.yield %d : f32
    }
    tenon.put 0 [%i], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<33xf32>
  return
}

// -----
// A maximum and the sum under it have no vectors in one pass.
func.func @online(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen in one pass folds beside each other over one space, with vectors alike of several places, of which none needs another, or a maximum and the sum under it, which have one place each, got fold 1 in pass 0}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, pass = array<i64: 0, 0>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1>}}} {
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
  tenon.output 0 "y", %y : tensor<33xf32>
  return
}

// -----
// Passes follow one another.
func.func @order(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen passes that count on by 1, got 0 behind 1}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4, 4>, pass = array<i64: 0, 1, 0>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1, 1>}}} {
  ^bb0(%i: index):
    %first = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %first : f32
      tenon.yield %d : f32
    }
    %third = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    tenon.put 0 [%i], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<33xf32>
  return
}

// -----
func.func @wide(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects vector[1] for sm_80 from 1 to 4, a power of 2, got 8}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 8>, pass = array<i64: 0, 1>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1, 1>}}} {
  ^bb0(%i: index):
    %first = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %first : f32
      tenon.yield %d : f32
    }
    tenon.put 0 [%i], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<33xf32>
  return
}

// -----
func.func @places(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen at most so many places apart as each of 32 threads is known to have of the loop, got 4}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 1>, apart = array<i64: 4>, barrier = array<i64: 0, 0>}}} {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.put 0 [%i, %j], %a : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// -----
func.func @vectors(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen elements either beside each other or apart, got vector 4 and apart 2}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4>, apart = array<i64: 2>, barrier = array<i64: 0, 0>}}} {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.put 0 [%i, %j], %a : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// -----
// Of columns folds over one space share a pass, with as many terms apart; the passes follow one another.
func.func @terms(%x: tensor<256x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen passes that count on by 1, of folds over one space, with terms apart alike, got fold 1 in pass 0}}
  %y = tenon.nest affine_map<() -> (96)> : tensor<96xf32> attributes {tenon.chosen = {sm_80 = {form = "columns", slices = 2 : i64, terms = 64 : i64, threads = 256 : i64, vector = 4 : i64, pass = array<i64: 0, 0>, apart = array<i64: 2, 4>}}} {
  ^bb0(%j: index):
    %first = tenon.fold sum affine_map<() -> (256)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<256x96xf32> -> f32
      tenon.yield %a : f32
    }
    %second = tenon.fold max affine_map<() -> (256)> : f32 {
    ^bb1(%i: index):
      %a = tenon.at %x[%i, %j] : tensor<256x96xf32> -> f32
      tenon.yield %a : f32
    }
    %both = arith.addf %first, %second : f32
    tenon.put 0 [%j], %both : f32
  }
  tenon.output 0 "y", %y : tensor<96xf32>
  return
}

// -----
// All threads of a row read the sum.
func.func @read_by_others(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen broadcast 1 for a fold whose value other threads read than the one that puts it, got 0 for fold 0}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, apart = array<i64: 1>, pass = array<i64: 0>, barrier = array<i64: 0, 1>, broadcast = array<i64: 0>}}} {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// -----
// A list says something of each fold.
func.func @few_broadcasts(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of row for sm_80 its broadcast as an array of i64, one for each fold, 1 here, got 2}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, apart = array<i64: 1>, pass = array<i64: 0>, barrier = array<i64: 0, 1>, broadcast = array<i64: 1, 1>}}} {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// -----
// Yes or no.
func.func @large_broadcast(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects broadcast[0] for sm_80 from 0 to 1, got 2}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, apart = array<i64: 1>, pass = array<i64: 0>, barrier = array<i64: 0, 1>, broadcast = array<i64: 2>}}} {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// -----
// The next row of the block would combine where others still read.
func.func @no_barrier(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen barrier 1 where threads put what others may still read, or go on to a row while others combine, got barrier[1] 0}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, apart = array<i64: 1>, pass = array<i64: 0>, barrier = array<i64: 0, 0>, broadcast = array<i64: 1>}}} {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// -----
// Of each place where threads may wait.
func.func @few_barriers(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of row for sm_80 its barrier as an array of i64, one for each put, loop of puts and the row's end, 2 here, got 1}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, apart = array<i64: 1>, pass = array<i64: 0>, barrier = array<i64: 0>, broadcast = array<i64: 1>}}} {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}

// -----
// What is not said is not made up.
func.func @no_barriers(%x: tensor<33x96xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of row for sm_80 its barrier as an array of i64, one for each put, loop of puts and the row's end, 2 here, got none}}
  %y = tenon.nest affine_map<() -> (33)> : tensor<33x96xf32> attributes {tenon.chosen = {sm_80 = {form = "row", threads = 32 : i64, vector = array<i64: 4, 4>, apart = array<i64: 1>, pass = array<i64: 0>, broadcast = array<i64: 1>}}} {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<() -> (96)> : f32 {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      tenon.yield %a : f32
    }
    tenon.each affine_map<() -> (96)> {
    ^bb1(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<33x96xf32> -> f32
      %d = arith.subf %a, %sum : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "y", %y : tensor<33x96xf32>
  return
}
