// Other tiles than the chosen ones give the same bits: a sum is one chain over all blocks. Each tier has a cut of its own here, and the tiers are compared bit by bit.
// RUN: tenon-kernel-test %s --dims=1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --dims=1 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

// Blocks of all three directions, none of which divides its size.
func.func @cut(%x: tensor<67x90xf32>, %w: tensor<70x90xf32>) {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<67x90xf32>, tensor<70x90xf32> -> tensor<67x70xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 67 : i64, depth = 96 : i64, panels = 8 : i64, strip = 3 : i64}, "x86-64-v3" = {form = "strips", rows = 9 : i64, depth = 32 : i64, panels = 1 : i64, strip = 5 : i64}, "x86-64-v4" = {form = "strips", rows = 20 : i64, depth = 16 : i64, panels = 2 : i64, staged = 0 : i64, strip = 9 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<67x70xf32>
  return
}

// Few rows by strips, and where B is; by the rule, with bounds of its own.
func.func @few(%x: tensor<3x90xf32>, %w: tensor<70x90xf32>) {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<3x90xf32>, tensor<70x90xf32> -> tensor<3x70xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 2 : i64, depth = 48 : i64, panels = 3 : i64, strip = 4 : i64}, "x86-64-v3" = {form = "streams", panels = 2 : i64}, "x86-64-v4" = {form = "by_size", staged_panels = 2 : i64, rows = 2 : i64, whole = 16 : i64, depth = 16 : i64, panels = 1 : i64, split = 1 : i64, work = 1 : i64, staged = 1 : i64, strip = 14 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<3x70xf32>
  return
}

// Rows whole pages apart where they are, and others through scratch.
func.func @staged(%x: tensor<30x512xf64>, %w: tensor<70x512xf64>, %z: tensor<30x100xf32>, %v: tensor<100x70xf32>) {
  %a = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<30x512xf64>, tensor<70x512xf64> -> tensor<30x70xf64> attributes {tenon.chosen = {portable = {form = "strips", rows = 30 : i64, depth = 256 : i64, panels = 8 : i64, strip = 4 : i64}, "x86-64-v3" = {form = "strips", rows = 30 : i64, depth = 384 : i64, panels = 2 : i64, strip = 6 : i64}, "x86-64-v4" = {form = "strips", rows = 30 : i64, depth = 256 : i64, panels = 1 : i64, staged = 0 : i64, strip = 14 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f64):
    tenon.put 0 [%i, %j], %sum : f64
  }
  %b = tenon.gemm %z[0, 2], %v[2, 1] rank 2 : tensor<30x100xf32>, tensor<100x70xf32> -> tensor<30x70xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 30 : i64, depth = 112 : i64, panels = 8 : i64, strip = 4 : i64}, "x86-64-v3" = {form = "strips", rows = 30 : i64, depth = 112 : i64, panels = 2 : i64, strip = 6 : i64}, "x86-64-v4" = {form = "strips", rows = 16 : i64, depth = 48 : i64, panels = 3 : i64, staged = 1 : i64, strip = 14 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "a", %a : tensor<30x70xf64>
  tenon.output 1 "b", %b : tensor<30x70xf32>
  return
}

// Entries of a batch in tiles of their own, or several in one.
func.func @batch(%x: tensor<7x20x24xf32>, %w: tensor<7x24x40xf32>) {
  %y = tenon.gemm %x[0, 1, 3], %w[0, 3, 2] rank 3 : tensor<7x20x24xf32>, tensor<7x24x40xf32> -> tensor<7x20x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 20 : i64, depth = 32 : i64, panels = 8 : i64, entries = 7 : i64, strip = 1 : i64}, "x86-64-v3" = {form = "strips", rows = 11 : i64, depth = 16 : i64, panels = 2 : i64, entries = 3 : i64, strip = 6 : i64}, "x86-64-v4" = {form = "strips", rows = 20 : i64, depth = 32 : i64, panels = 1 : i64, entries = 1 : i64, staged = 1 : i64, strip = 13 : i64}}} {
  ^bb0(%b: index, %i: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<7x20x40xf32>
  return
}

// By the rule, for which two entries are many enough, or no number of them is.
func.func @many(%x: tensor<7x20x24xf32>, %w: tensor<7x24x40xf32>) {
  %y = tenon.gemm %x[0, 1, 3], %w[0, 3, 2] rank 3 : tensor<7x20x24xf32>, tensor<7x24x40xf32> -> tensor<7x20x40xf32> attributes {tenon.chosen = {portable = {form = "by_size", rows = 20 : i64, whole = 32 : i64, depth = 32 : i64, panels = 2 : i64, split = 1 : i64, work = 1 : i64, many_entries = 2 : i64, strip = 1 : i64}, "x86-64-v3" = {form = "by_size", rows = 20 : i64, whole = 32 : i64, depth = 32 : i64, panels = 2 : i64, split = 1 : i64, work = 1 : i64, many_entries = 1000 : i64, strip = 6 : i64}, "x86-64-v4" = {form = "by_size", rows = 20 : i64, whole = 32 : i64, depth = 32 : i64, panels = 2 : i64, split = 1 : i64, work = 1 : i64, staged = 1 : i64, staged_panels = 1 : i64, many_entries = 2 : i64, strip = 13 : i64}}} {
  ^bb0(%b: index, %i: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<7x20x40xf32>
  return
}

// Nests: rows of a tile and parts of a row, of a body of one each and of none; the rule, with another time for a tile.
func.func @nests(%x: tensor<37x300xf32>) {
  %a = tenon.nest affine_map<() -> (37, 300)> : tensor<37x300xf32> attributes {tenon.chosen = {portable = {form = "rows", rows = 37 : i64, part = 320 : i64}, "x86-64-v3" = {form = "rows", rows = 5 : i64, part = 64 : i64}, "x86-64-v4" = {form = "by_size", work = 100000 : i64}}} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<37x300xf32> -> f32
    %f = math.exp %e : f32
    tenon.put 0 [%i, %j], %f : f32
  }
  %b = tenon.nest affine_map<() -> (37)> : tensor<37xf32> attributes {tenon.chosen = {portable = {form = "rows", rows = 1 : i64}, "x86-64-v3" = {form = "rows", rows = 7 : i64}, "x86-64-v4" = {form = "by_size", work = 1 : i64}}} {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (300)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<37x300xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  %c = tenon.nest affine_map<() -> (37)> : tensor<37x300xf32> attributes {tenon.chosen = {portable = {form = "rows", rows = 37 : i64, part = 320 : i64}, "x86-64-v3" = {form = "rows", rows = 2 : i64, part = 128 : i64}, "x86-64-v4" = {form = "by_size", work = 100000 : i64}}} {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (300)> {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<37x300xf32> -> f32
      %f = math.absf %e : f32
      tenon.put 0 [%i, %j], %f : f32
    }
  }
  tenon.output 0 "a", %a : tensor<37x300xf32>
  tenon.output 1 "b", %b : tensor<37xf32>
  tenon.output 2 "c", %c : tensor<37x300xf32>
  return
}

// Rows and columns of sums, of what is ordered, of what is added.
func.func @lines(%x: tensor<37x150xf32>, %ids: tensor<37xi32> {test.bound = 5 : i64}) {
  %a = tenon.running_sum %x dim 1 {tenon.chosen = {portable = {form = "rows", rows = 100 : i64}, "x86-64-v3" = {form = "rows", rows = 6 : i64}, "x86-64-v4" = {form = "by_size", elements = 300 : i64}}} : tensor<37x150xf32>
  %b = tenon.running_sum %x dim 0 {tenon.chosen = {portable = {form = "columns", columns = 160 : i64}, "x86-64-v3" = {form = "columns", columns = 16 : i64}, "x86-64-v4" = {form = "columns", columns = 48 : i64}}} : tensor<37x150xf32>
  %c = tenon.top %x {tenon.chosen = {portable = {form = "rows", rows = 37 : i64}, "x86-64-v3" = {form = "rows", rows = 2 : i64}, "x86-64-v4" = {form = "by_size", elements = 1 : i64}}} : tensor<37x150xf32> -> tensor<37x4xi32>
  %d = tenon.scatter_add %x[%ids] dim 0 x_dims [-1, 1] index_dims [0] {tenon.chosen = {portable = {form = "columns", columns = 160 : i64}, "x86-64-v3" = {form = "columns", columns = 32 : i64}, "x86-64-v4" = {form = "columns", columns = 112 : i64}}} : tensor<37x150xf32>, tensor<37xi32> -> tensor<5x150xf32>
  tenon.output 0 "a", %a : tensor<37x150xf32>
  tenon.output 1 "b", %b : tensor<37x150xf32>
  tenon.output 2 "c", %c : tensor<37x4xi32>
  tenon.output 3 "d", %d : tensor<5x150xf32>
  return
}

// The optimizer: many tiles of few elements. The order of the norm's sums is theirs, so they are those of all tiers.
tenon.parameter @w : tensor<37x50xf32>
func.func @update(%T: index) {
  %norm, %rate = tenon.optimize "adamw" {settings = {lr = 0.01, beta2 = 0.98, decay = 0.1, clip = 1.0}, tenon.chosen = {portable = {form = "tiles", elements = 64 : i64}, "x86-64-v3" = {form = "tiles", elements = 64 : i64}, "x86-64-v4" = {form = "tiles", elements = 64 : i64}}} : tensor<f64>, tensor<f64>
  tenon.output 0 "grad_norm", %norm : tensor<f64>
  return
}

// Strips of attention's queries, forward and backward, chunks of keys, and what tasks share. Chunks change the order of sums: they are those of all tiers.
func.func @attention(%q: tensor<2x50x2x8xf32>, %k: tensor<2x150x2x8xf32>, %v: tensor<2x150x2x8xf32>, %dy: tensor<2x50x2x8xf32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 50 : i64, keys = 64 : i64, tasks = 1 : i64}, "x86-64-v3" = {form = "strips", rows = 7 : i64, keys = 64 : i64, tasks = 100 : i64}, "x86-64-v4" = {form = "strips", rows = 33 : i64, keys = 64 : i64, tasks = 32 : i64}}} : (tensor<2x50x2x8xf32>, tensor<2x150x2x8xf32>, tensor<2x150x2x8xf32>) -> (tensor<2x50x2x8xf32>, tensor<2x2x50xf32>, tensor<2x2x50xf32>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 50 : i64, keys = 64 : i64}, "x86-64-v3" = {form = "strips", rows = 7 : i64, keys = 64 : i64}, "x86-64-v4" = {form = "strips", rows = 33 : i64, keys = 64 : i64}}} : (tensor<2x50x2x8xf32>, tensor<2x50x2x8xf32>, tensor<2x2x50xf32>, tensor<2x2x50xf32>, tensor<2x50x2x8xf32>, tensor<2x150x2x8xf32>, tensor<2x150x2x8xf32>) -> (tensor<2x50x2x8xf32>, tensor<2x150x2x8xf32>, tensor<2x150x2x8xf32>)
  tenon.output 0 "y", %y : tensor<2x50x2x8xf32>
  tenon.output 1 "dq", %dq : tensor<2x50x2x8xf32>
  tenon.output 2 "dk", %dk : tensor<2x150x2x8xf32>
  tenon.output 3 "dv", %dv : tensor<2x150x2x8xf32>
  return
}
