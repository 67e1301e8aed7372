// What a text says is chosen for a kernel, and its target has no code for.
// DEFINE: %{schedule} = --pass-pipeline='builtin.module(func.func(tenon-schedule))'
// RUN: tenon-opt %s --split-input-file --verify-diagnostics %{schedule}

func.func @nothing(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects the form that is chosen for portable in tenon.chosen, which tenon-schedule writes}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @form(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects as form for portable strips or by_size, got streams}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "streams", panels = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @other(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of strips for portable the number rows, depth, panels or strip, got columns}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", columns = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @lacks(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of strips for portable its depth as i64, got none}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 8 : i64, panels = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @rows(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects rows for portable from 1 to 384, got 1000}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 1000 : i64, depth = 32 : i64, panels = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @depth(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects depth for portable from 16 to 768 in steps of 16, got 20}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 8 : i64, depth = 20 : i64, panels = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
// In each tier: here the last one, whose tiles of AMX have strips of 32 rows.
func.func @tiles(%x: tensor<64x32xbf16>, %w: tensor<40x32xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects rows for x86-64-v4-amx from 32 to 384 in steps of 32, got 48}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xbf16>, tensor<40x32xbf16> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64, strip = 4 : i64}, "x86-64-v3" = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64, strip = 6 : i64}, "x86-64-v4" = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64, strip = 14 : i64}, "x86-64-v4-bf16" = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64, strip = 14 : i64}, "x86-64-v4-amx" = {form = "tiles", rows = 48 : i64, depth = 32 : i64, panels = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
#t = affine_map<(d0) -> (d0, 32)>
#y = affine_map<(d0) -> (d0, 40)>
func.func @unknown(%T: index, %x: tensor<?x32xf32, #t>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  // expected-error @+1 {{expects as form for portable by_size, got strips}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<?x32xf32, #t>, tensor<40x32xf32> -> tensor<?x40xf32, #y> attributes {tenon.chosen = {portable = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x40xf32, #y>
  return
}

// -----
#t = affine_map<(d0) -> (2, d0, 32)>
#y = affine_map<(d0) -> (2, d0, 40)>
func.func @entries_unsaid(%T: index, %x: tensor<2x?x32xf32, #t>, %w: tensor<2x40x32xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  // expected-error @+1 {{expects of by_size for portable its many_entries as i64, got none}}
  %y = tenon.gemm %x[0, 1, 3], %w[0, 2, 3] rank 3 : tensor<2x?x32xf32, #t>, tensor<2x40x32xf32> -> tensor<2x?x40xf32, #y> attributes {tenon.chosen = {portable = {form = "by_size", rows = 8 : i64, whole = 32 : i64, depth = 32 : i64, panels = 1 : i64, split = 1 : i64, work = 1 : i64, strip = 1 : i64}}} {
  ^bb0(%b: index, %i: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<2x?x40xf32, #y>
  return
}

// -----
#t = affine_map<(d0) -> (2, d0, 32)>
#y = affine_map<(d0) -> (2, d0, 40)>
func.func @no_entries(%T: index, %x: tensor<2x?x32xf32, #t>, %w: tensor<2x40x32xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  // expected-error @+1 {{expects many_entries for portable from 1 to 1099511627776, got 0}}
  %y = tenon.gemm %x[0, 1, 3], %w[0, 2, 3] rank 3 : tensor<2x?x32xf32, #t>, tensor<2x40x32xf32> -> tensor<2x?x40xf32, #y> attributes {tenon.chosen = {portable = {form = "by_size", rows = 8 : i64, whole = 32 : i64, depth = 32 : i64, panels = 1 : i64, split = 1 : i64, work = 1 : i64, many_entries = 0 : i64, strip = 1 : i64}}} {
  ^bb0(%b: index, %i: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<2x?x40xf32, #y>
  return
}

// -----
func.func @attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects rows for portable from 1 to 64, got 100}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 100 : i64, keys = 1024 : i64, tasks = 1 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x100x4x64xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xf32>
  return
}

// -----
func.func @attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects keys for portable from 64 to 4096 in steps of 64, got 100}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 50 : i64, keys = 100 : i64, tasks = 1 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x100x4x64xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xf32>
  return
}

// -----
func.func @attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of strips for portable its keys as i64, got none}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 50 : i64, tasks = 1 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x100x4x64xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xf32>
  return
}

// -----
// More rows than there are registers for.
func.func @strip(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects strip for portable from 1 to 4, got 5}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64, strip = 5 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @nest(%x: tensor<70x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects part for portable from 64 to 64 in steps of 64, got 50}}
  %y = tenon.nest affine_map<() -> (70, 50)> : tensor<70x50xf32> attributes {tenon.chosen = {portable = {form = "rows", rows = 7 : i64, part = 50 : i64}}} {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x50xf32> -> f32
    tenon.put 0 [%i, %j], %e : f32
  }
  tenon.output 0 "y", %y : tensor<70x50xf32>
  return
}

// -----
func.func @nest_by_size(%T: index, %x: tensor<?xf32, affine_map<(d0) -> (d0)>>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  // expected-error @+1 {{expects as form for portable by_size, got rows}}
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, affine_map<(d0) -> (d0)>> attributes {tenon.chosen = {portable = {form = "rows", rows = 7 : i64}}} {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<?xf32, affine_map<(d0) -> (d0)>> -> f32
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, affine_map<(d0) -> (d0)>>
  return
}

// -----
func.func @columns(%x: tensor<70x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects columns for portable from 16 to 1099511627776 in steps of 16, got 40}}
  %y = tenon.running_sum %x dim 0 {tenon.chosen = {portable = {form = "columns", columns = 40 : i64}}} : tensor<70x50xf32>
  tenon.output 0 "y", %y : tensor<70x50xf32>
  return
}

// -----
func.func @top(%x: tensor<70x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects rows for portable from 1 to 1099511627776, got 0}}
  %y = tenon.top %x {tenon.chosen = {portable = {form = "rows", rows = 0 : i64}}} : tensor<70x50xf32> -> tensor<70x3xi32>
  tenon.output 0 "y", %y : tensor<70x3xi32>
  return
}

// -----
// Its tables are one for all tiers.
tenon.parameter @w {offset = 64 : i64, stride = 64 : i64} : tensor<100xf32>
func.func @optimize() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen temporaries of one size in all variants, got others for x86-64-v3}}
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}, tenon.chosen = {portable = {form = "tiles", elements = 64 : i64}, "x86-64-v3" = {form = "tiles", elements = 128 : i64}, "x86-64-v4" = {form = "tiles", elements = 64 : i64}}} : tensor<f64>, tensor<f64>
  tenon.output 0 "norm", %norm : tensor<f64>
  return
}

// -----
// Whether rows go through scratch is a choice where strips are high.
func.func @staged(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects staged for x86-64-v4 from 0 to 1, got 2}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 64 : i64, depth = 32 : i64, panels = 1 : i64, strip = 4 : i64}, "x86-64-v3" = {form = "strips", rows = 64 : i64, depth = 32 : i64, panels = 1 : i64, strip = 6 : i64}, "x86-64-v4" = {form = "strips", rows = 64 : i64, depth = 32 : i64, panels = 1 : i64, strip = 14 : i64, staged = 2 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}
