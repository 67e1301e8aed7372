// Few queries of one head read keys and values where they are, which is chosen by the shape; more of them and heads that share keys read panels. Where a run brings their number, the code has both and asks for it.
// DEFINE: %{schedule} = --pass-pipeline='builtin.module(func.func(tenon-schedule))'
// DEFINE: %{emit} = --tenon-emit-cpu=tier=x86-64-v4
// RUN: split-file %s %t
// RUN: tenon-opt %t/few.mlir %{schedule} | FileCheck %s --check-prefix=FEW --implicit-check-not='form = "strips"'
// RUN: tenon-opt %t/many.mlir %{schedule} | FileCheck %s --check-prefix=MANY --implicit-check-not='form = "streams"'
// What is emitted is what was chosen: nothing is packed; or it is, and no such function is there.
// RUN: tenon-opt %t/few.mlir %{schedule} | tenon-opt %{emit} | FileCheck %s --check-prefix=STREAMS --implicit-check-not=tn_gemm_pack --implicit-check-not=tn_attention_block
// RUN: tenon-opt %t/many.mlir %{schedule} | tenon-opt %{emit} | FileCheck %s --check-prefix=PACKS --implicit-check-not=tn_gemm_stream
// STREAMS-DAG: func.func private @tn_gemm_stream_avx512_f32_columns(
// STREAMS-DAG: func.func private @tn_gemm_stream_avx512_f32_add(
// PACKS-DAG: func.func private @tn_gemm_pack_avx512_f32_transpose_32(
// PACKS-DAG: func.func private @tn_gemm_pack_avx512_f32_copy_32(
// RUN: tenon-opt %t/unknown.mlir %{schedule} | FileCheck %s --check-prefix=UNKNOWN
// RUN: tenon-opt %t/unknown.mlir %{schedule} | tenon-opt %{emit} | FileCheck %s --check-prefixes=STREAMS,PACKS,ASKS
// ASKS: arith.cmpi sle, %{{.*}}, %c4_i64
// A text may say panels only where there is scratch for them; and streams of a few rows alone.
// RUN: tenon-opt %t/few.mlir %{schedule} | sed 's/"streams"/"strips"/g' | not tenon-opt %{emit} 2>&1 | FileCheck %s --check-prefix=ROOM
// RUN: tenon-opt %t/many.mlir %{schedule} | sed 's/"strips"/"streams"/g' | not tenon-opt %{emit} 2>&1 | FileCheck %s --check-prefix=ROWS
// ROOM: error: 'tenon.attention' op expects for what is chosen {{[0-9]+}} bytes of scratch, got {{[0-9]+}} as tenon.scratch
// ROWS: error: 'tenon.attention' op expects rows for x86-64-v4 from 1 to 4, got 5

// FEW-LABEL: func.func @one
// FEW: "tenon.attention"{{.*}}tenon.chosen = {portable = {form = "streams", keys = 1024 : i64, rows = 1 : i64, tasks = 32 : i64}, "x86-64-v3" = {form = "streams", keys = 1024 : i64, rows = 1 : i64, tasks = 32 : i64}, "x86-64-v4" = {form = "streams", keys = 1024 : i64, rows = 1 : i64, tasks = 32 : i64}}
// FEW-LABEL: func.func @four
// FEW: "tenon.attention"{{.*}}"x86-64-v4" = {form = "streams", keys = 1024 : i64, rows = 4 : i64, tasks = 32 : i64}
//--- few.mlir
func.func @one(%q: tensor<2x1x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> : (tensor<2x1x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x1x4x64xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>)
  tenon.output 0 "y", %y : tensor<2x1x4x64xf32>
  return
}
func.func @four(%q: tensor<2x4x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> : (tensor<2x4x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x4x4x64xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>)
  tenon.output 0 "y", %y : tensor<2x4x4x64xf32>
  return
}

// MANY-LABEL: func.func @five
// MANY: "tenon.attention"{{.*}}"x86-64-v4" = {form = "strips", keys = 1024 : i64, rows = 5 : i64, tasks = 32 : i64}
// MANY-LABEL: func.func @shared
// MANY: "tenon.attention"{{.*}}"x86-64-v4" = {form = "strips", keys = 1024 : i64, rows = 1 : i64, tasks = 32 : i64}
//--- many.mlir
func.func @five(%q: tensor<2x5x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> : (tensor<2x5x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x5x4x64xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  tenon.output 0 "y", %y : tensor<2x5x4x64xf32>
  return
}
func.func @shared(%q: tensor<2x1x4x64xf32>, %k: tensor<2x100x2x64xf32>, %v: tensor<2x100x2x64xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> : (tensor<2x1x4x64xf32>, tensor<2x100x2x64xf32>, tensor<2x100x2x64xf32>) -> (tensor<2x1x4x64xf32>, tensor<2x4x1xf32>, tensor<2x4x1xf32>)
  tenon.output 0 "y", %y : tensor<2x1x4x64xf32>
  return
}

// UNKNOWN-LABEL: func.func @unknown
// UNKNOWN: "tenon.attention"{{.*}}"x86-64-v4" = {form = "by_size", keys = 1024 : i64, rows = 64 : i64, tasks = 32 : i64}
//--- unknown.mlir
#q = affine_map<(d0) -> (2, d0, 4, 64)>
#m = affine_map<(d0) -> (2, 4, d0)>
func.func @unknown(%T: index, %q: tensor<2x?x4x64xf32, #q>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> : (tensor<2x?x4x64xf32, #q>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x?x4x64xf32, #q>, tensor<2x4x?xf32, #m>, tensor<2x4x?xf32, #m>)
  tenon.output 0 "y", %y : tensor<2x?x4x64xf32, #q>
  return
}
