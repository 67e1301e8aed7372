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
  // expected-error @+1 {{expects of strips for portable the number rows, depth or panels, got columns}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xf32>, tensor<40x32xf32> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", columns = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<64x40xf32>
  return
}

// -----
func.func @lacks(%x: tensor<64x32xf32>, %w: tensor<40x32xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of strips for portable its depth, got none}}
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
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<64x32xbf16>, tensor<40x32xbf16> -> tensor<64x40xf32> attributes {tenon.chosen = {portable = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64}, "x86-64-v3" = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64}, "x86-64-v4" = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64}, "x86-64-v4-bf16" = {form = "strips", rows = 8 : i64, depth = 32 : i64, panels = 1 : i64}, "x86-64-v4-amx" = {form = "tiles", rows = 48 : i64, depth = 32 : i64, panels = 1 : i64}}} {
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
func.func @attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects rows for portable from 1 to 64, got 100}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 100 : i64, keys = 1024 : i64, tasks = 1 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x100x4x64xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xf32>
  return
}

// -----
func.func @attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects keys for portable from 64 to 4096 in steps of 64, got 100}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 50 : i64, keys = 100 : i64, tasks = 1 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x100x4x64xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xf32>
  return
}

// -----
func.func @attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects of strips for portable its keys, got none}}
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.chosen = {portable = {form = "strips", rows = 50 : i64, tasks = 1 : i64}}} : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x100x4x64xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xf32>
  return
}
