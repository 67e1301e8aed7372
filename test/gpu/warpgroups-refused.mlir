// What a text says is chosen for a product on sm_90a, and cannot be.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_90a}))'

func.func @odd(%x: tensor<128x68xbf16>, %w: tensor<128x68xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen another form than wgmma: an operand is computed, its lines or depth lie in pieces that are not known to be a multiple of 64, or its innermost size is not known to be one of 8}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<128x68xbf16>, tensor<128x68xbf16> -> tensor<128x128xf32> attributes {tenon.chosen = {sm_90a = {form = "wgmma", rows = 128 : i64, columns = 128 : i64, depth = 64 : i64, stages = 4 : i64, registers = 168 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<128x128xf32>
  return
}

// -----
func.func @shared(%x: tensor<128x64xbf16>, %w: tensor<128x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a block of 32 to 1024 threads with at most 232448 bytes of shared memory, got 288 threads and 393344 bytes}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32> attributes {tenon.chosen = {sm_90a = {form = "wgmma", rows = 128 : i64, columns = 256 : i64, depth = 64 : i64, stages = 8 : i64, registers = 168 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<128x128xf32>
  return
}

// -----
func.func @columns(%x: tensor<128x64xbf16>, %w: tensor<128x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects columns for sm_90a from 64 to 256}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32> attributes {tenon.chosen = {sm_90a = {form = "wgmma", rows = 128 : i64, columns = 32 : i64, depth = 64 : i64, stages = 3 : i64, registers = 168 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<128x128xf32>
  return
}

// -----
func.func @sums(%x: tensor<128x64xbf16>, %w: tensor<128x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen at most 128 sums of a thread, got 256}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32> attributes {tenon.chosen = {sm_90a = {form = "pingpong", rows = 128 : i64, columns = 256 : i64, stages = 3 : i64, blocks = 132 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<128x128xf32>
  return
}

// -----
func.func @ring(%x: tensor<128x64xbf16>, %w: tensor<128x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a block of 32 to 1024 threads with at most 232448 bytes of shared memory, got 384 threads and 233568 bytes}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32> attributes {tenon.chosen = {sm_90a = {form = "pingpong", rows = 128 : i64, columns = 128 : i64, stages = 6 : i64, blocks = 132 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<128x128xf32>
  return
}

// -----
func.func @masks(%q: tensor<1x64x2x64xbf16>, %k: tensor<1x64x2x64xbf16>, %holds: tensor<1x64xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects as form for sm_90a pairs or mma, got wgmma}}
  %y, %m, %s = "tenon.attention"(%q, %k, %k, %holds) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0>, mask = [{test = "holds", operand = 0 : i64}], index_labels = [array<i64: 0, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {sm_90a = {form = "wgmma", rows = 128 : i64, keys = 64 : i64, stages = 2 : i64, registers = 232 : i64, blocks = 132 : i64}}} :
    (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64xi1>) -> (tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x2x64xf32>)
  tenon.output 0 "y", %y : tensor<1x64x2x64xbf16>
  return
}

// -----
func.func @stages(%q: tensor<1x64x2x64xbf16>, %k: tensor<1x64x2x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a block of 32 to 1024 threads with at most 232448 bytes of shared memory, got 384 threads and 295200 bytes}}
  %y, %m, %s = "tenon.attention"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {sm_90a = {form = "wgmma", rows = 128 : i64, keys = 128 : i64, stages = 8 : i64, registers = 232 : i64, blocks = 132 : i64}}} :
    (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> (tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x2x64xf32>)
  tenon.output 0 "y", %y : tensor<1x64x2x64xbf16>
  return
}

// -----
func.func @registers(%x: tensor<128x64xbf16>, %w: tensor<128x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen a block whose threads have the registers of a processor, got 512 threads with 255 registers each}}
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32> attributes {tenon.chosen = {sm_90a = {form = "mma", rows = 128 : i64, columns = 128 : i64, depth = 32 : i64, warp_rows = 32 : i64, warp_columns = 32 : i64, stages = 2 : i64, registers = 255 : i64, slices = 1 : i64}}} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<128x128xf32>
  return
}

// -----
func.func @shares(%q: tensor<1x64x2x64xbf16>, %k: tensor<1x64x2x64xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  // expected-error @+1 {{expects in tenon.chosen registers of which 512 threads find enough, got 240}}
  %y, %m, %s = "tenon.attention"(%q, %k, %k) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> {tenon.chosen = {sm_90a = {form = "wgmma", rows = 192 : i64, keys = 64 : i64, stages = 2 : i64, registers = 240 : i64, blocks = 132 : i64}}} :
    (tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>) -> (tensor<1x64x2x64xbf16>, tensor<1x2x64xf32>, tensor<1x2x64xf32>)
  tenon.output 0 "y", %y : tensor<1x64x2x64xbf16>
  return
}
