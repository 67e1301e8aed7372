// What is chosen for a kernel before memory is planned stands in the schedule, for each variant of the target's code.
// DEFINE: %{schedule} = --pass-pipeline='builtin.module(func.func(tenon-schedule))'
// DEFINE: %{gpu} = --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))'
// DEFINE: %{emit} = --tenon-emit-cpu=tier=x86-64-v3 --canonicalize
// RUN: tenon-opt %s %{schedule} | FileCheck %s --check-prefix=CPU
// RUN: tenon-opt %s %{gpu} | FileCheck %s --check-prefix=GPU
// A text keeps what it says, and is translated by it: with 100 rows a block, 500 rows by 768 columns are 5 x 8 tiles of 6 panels, with 250 they are 2 x 8. What no code can do is refused at its line.
// RUN: tenon-opt %s %{schedule} | tenon-opt --verify-roundtrip | FileCheck %s --check-prefix=CPU
// RUN: tenon-opt %s %{schedule} | tenon-opt %{emit} | FileCheck %s --check-prefix=WHOLE
// RUN: tenon-opt %s %{schedule} | sed 's/rows = 250/rows = 100/g' | tenon-opt %{emit} | FileCheck %s --check-prefix=CUT
// RUN: tenon-opt %s %{schedule} | sed 's/rows = 250/rows = 1000/g' | not tenon-opt %{emit} 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: tenon-opt %s %{gpu} | sed 's/side = 32/side = 12/' | not tenon-opt --tenon-emit-gpu 2>&1 | FileCheck %s --check-prefix=SIDE
// Rows go through scratch by what is chosen, whatever lies between them; with scratch for none, none may.
// DEFINE: %{high} = --tenon-emit-cpu=tier=x86-64-v4
// RUN: tenon-opt %s %{schedule} | tenon-opt %{high} | FileCheck %s --check-prefix=STAGED
// RUN: tenon-opt %s %{schedule} | sed 's/staged = 1/staged = 0/' | tenon-opt %{high} | FileCheck %s --check-prefix=PLACE --implicit-check-not=tn_gemm_widen_avx512_f32_rows
// RUN: tenon-opt %s %{schedule} | sed 's/staged = 0/staged = 1/' | not tenon-opt %{high} 2>&1 | FileCheck %s --check-prefix=ROOM
// STAGED: func.func private @tn_gemm_widen_avx512_f32_rows(
// PLACE: llvm.func @tn_run_deep_avx512
// ROOM: error: 'tenon.gemm' op expects for what is chosen 1771520 bytes of scratch, got 493568 as tenon.scratch
// WHOLE-LABEL: llvm.func @tn_run_deep_avx2
// WHOLE: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %c16_i64) : !llvm.ptr
// CUT-LABEL: llvm.func @tn_run_deep_avx2
// CUT: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %c40_i64) : !llvm.ptr
// REFUSED: <stdin>:{{[0-9]+}}:{{[0-9]+}}: error: 'tenon.gemm' op expects rows for x86-64-v3 from 1 to 384, got 1000
// SIDE: <stdin>:{{[0-9]+}}:{{[0-9]+}}: error: 'tenon.attention' op expects side for sm_80 from 8 to 32, a power of 2, got 12

// A layer: few panels on a wide register tile, all of K at once.
// CPU-LABEL: func.func @layer
// CPU: tenon.gemm {{.*}}tenon.chosen = {portable = {depth = 768 : i64, form = "strips", panels = 2 : i64, rows = 256 : i64, strip = 4 : i64}, "x86-64-v3" = {depth = 768 : i64, form = "strips", panels = 1 : i64, rows = 256 : i64, strip = 6 : i64}, "x86-64-v4" = {depth = 768 : i64, form = "strips", panels = 1 : i64, rows = 256 : i64, staged = 0 : i64, strip = 14 : i64}}, tenon.places
// GPU-LABEL: func.func @layer
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 64 : i64, depth = 16 : i64, form = "fma", own = 4 : i64, rows = 64 : i64}}, tenon.places
func.func @layer(%x: tensor<256x768xf32>, %w: tensor<3072x768xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<256x768xf32>, tensor<3072x768xf32> -> tensor<256x3072xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<256x3072xf32>
  return
}

// A long K is split, and its rows, whole pages apart, go through scratch where strips are high; a result of 16 x 16 takes a small block.
// CPU-LABEL: func.func @deep
// CPU: tenon.gemm {{.*}}"x86-64-v3" = {depth = 512 : i64, form = "strips", panels = 6 : i64, rows = 250 : i64, strip = 6 : i64}, "x86-64-v4" = {depth = 512 : i64, form = "strips", panels = 3 : i64, rows = 250 : i64, staged = 1 : i64, strip = 14 : i64}}
// CPU: tenon.gemm {{.*}}"x86-64-v4" = {depth = 16 : i64, form = "strips", panels = 1 : i64, rows = 16 : i64, staged = 0 : i64, strip = 14 : i64}}
// GPU-LABEL: func.func @deep
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 64 : i64, depth = 16 : i64, form = "fma", own = 4 : i64, rows = 64 : i64}}, tenon.places
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 16 : i64, depth = 16 : i64, form = "fma", own = 2 : i64, rows = 16 : i64}}
func.func @deep(%x: tensor<500x3072xf32>, %w: tensor<3072x768xf32>, %s: tensor<16x9xf64>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<500x3072xf32>, tensor<3072x768xf32> -> tensor<500x768xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %z = tenon.gemm %s[0, 2], %s[1, 2] rank 2 : tensor<16x9xf64>, tensor<16x9xf64> -> tensor<16x16xf64> {
  ^bb0(%i: index, %j: index, %sum: f64):
    tenon.put 0 [%i, %j], %sum : f64
  }
  tenon.output 0 "y", %y : tensor<500x768xf32>
  tenon.output 1 "z", %z : tensor<16x16xf64>
  return
}

// A token that is generated reads weights where they are; heads share a tile; of unknown sizes the bounds of a rule.
// CPU-LABEL: func.func @token
// CPU: tenon.gemm {{.*}}tenon.chosen = {portable = {form = "streams", panels = 96 : i64}, "x86-64-v3" = {form = "streams", panels = 48 : i64}, "x86-64-v4" = {form = "streams", panels = 24 : i64}}
// CPU: tenon.gemm {{.*}}"x86-64-v3" = {depth = 64 : i64, entries = 8 : i64, form = "strips", panels = 4 : i64, rows = 64 : i64, strip = 6 : i64}
// CPU: tenon.gemm {{.*}}tenon.chosen = {portable = {depth = 512 : i64, form = "by_size", panels = 8 : i64, rows = 384 : i64, split = 8 : i64, strip = 4 : i64, whole = 768 : i64, work = 2097152 : i64}, "x86-64-v3"{{.*}}"x86-64-v4" = {{{.*}}staged_panels = 2 : i64
// GPU-LABEL: func.func @token
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 64 : i64, depth = 16 : i64, form = "fma", own = 4 : i64, rows = 64 : i64}}, tenon.places
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 64 : i64, depth = 16 : i64, form = "fma", own = 4 : i64, rows = 64 : i64}}, tenon.places
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 64 : i64, depth = 16 : i64, form = "fma", own = 4 : i64, rows = 64 : i64}}, tenon.places
func.func @token(%T: index, %x: tensor<1x768xf32>, %w: tensor<768x768xf32>, %q: tensor<2x12x64x64xf32>, %k: tensor<2x12x64x64xf32>, %s: tensor<?x768xf32, affine_map<(d0) -> (d0, 768)>>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<1x768xf32>, tensor<768x768xf32> -> tensor<1x768xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %p = tenon.gemm %q[0, 1, 2, 4], %k[0, 1, 3, 4] rank 4 : tensor<2x12x64x64xf32>, tensor<2x12x64x64xf32> -> tensor<2x12x64x64xf32> {
  ^bb0(%b: index, %h: index, %i: index, %j: index, %sum: f32):
    tenon.put 0 [%b, %h, %i, %j], %sum : f32
  }
  %z = tenon.gemm %s[0, 2], %w[1, 2] rank 2 : tensor<?x768xf32, affine_map<(d0) -> (d0, 768)>>, tensor<768x768xf32> -> tensor<?x768xf32, affine_map<(d0) -> (d0, 768)>> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<1x768xf32>
  tenon.output 1 "p", %p : tensor<2x12x64x64xf32>
  tenon.output 2 "z", %z : tensor<?x768xf32, affine_map<(d0) -> (d0, 768)>>
  return
}

// bf16: tiles of AMX from 8 rows on, pairs below; tensor cores.
// CPU-LABEL: func.func @narrow
// CPU: tenon.gemm {{.*}}"x86-64-v4" = {depth = 768 : i64, form = "strips", panels = 2 : i64, rows = 256 : i64, strip = 14 : i64}, "x86-64-v4-amx" = {depth = 384 : i64, form = "tiles", panels = 16 : i64, rows = 256 : i64}, "x86-64-v4-bf16" = {depth = 768 : i64, form = "strips", panels = 1 : i64, rows = 256 : i64, strip = 14 : i64}}
// CPU: tenon.gemm {{.*}}"x86-64-v4-amx" = {depth = 384 : i64, form = "strips", panels = 16 : i64, rows = 5 : i64}
// GPU-LABEL: func.func @narrow
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 64 : i64, depth = 32 : i64, form = "mma", registers = 128 : i64, rows = 64 : i64, slices = 1 : i64, stages = 4 : i64, warp_columns = 32 : i64, warp_rows = 32 : i64}}
// GPU: tenon.gemm {{.*}}tenon.chosen = {sm_80 = {columns = 32 : i64, depth = 32 : i64, form = "mma", registers = 128 : i64, rows = 32 : i64, slices = 1 : i64, stages = 4 : i64, warp_columns = 32 : i64, warp_rows = 16 : i64}}
func.func @narrow(%x: tensor<256x768xbf16>, %w: tensor<3072x768xbf16>, %few: tensor<5x768xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gemm %x[0, 2], %w[1, 2] rank 2 : tensor<256x768xbf16>, tensor<3072x768xbf16> -> tensor<256x3072xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  %z = tenon.gemm %few[0, 2], %w[1, 2] rank 2 : tensor<5x768xbf16>, tensor<3072x768xbf16> -> tensor<5x3072xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<256x3072xf32>
  tenon.output 1 "z", %z : tensor<5x3072xf32>
  return
}

// Attention: strips of one height; on a GPU the widest tile that shared memory has room for.
// CPU-LABEL: func.func @attention
// CPU: "tenon.attention"{{.*}}"x86-64-v3" = {form = "strips", keys = 1024 : i64, rows = 50 : i64, tasks = 32 : i64}
// GPU-LABEL: func.func @attention
// GPU: "tenon.attention"{{.*}}tenon.chosen = {sm_80 = {form = "pairs", side = 32 : i64}}
// GPU: "tenon.attention"{{.*}}tenon.chosen = {sm_80 = {form = "pairs", side = 16 : i64}}
func.func @attention(%q: tensor<2x100x4x64xf32>, %k: tensor<2x100x4x64xf32>, %v: tensor<2x100x4x64xf32>, %w: tensor<2x100x4x256xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>) -> (tensor<2x100x4x64xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  %z, %n, %t = "tenon.attention"(%q, %k, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], index_labels = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> : (tensor<2x100x4x64xf32>, tensor<2x100x4x64xf32>, tensor<2x100x4x256xf32>) -> (tensor<2x100x4x256xf32>, tensor<2x4x100xf32>, tensor<2x4x100xf32>)
  tenon.output 0 "y", %y : tensor<2x100x4x64xf32>
  tenon.output 1 "z", %z : tensor<2x100x4x256xf32>
  return
}

// A tile of a processor has rows, and where there are few a part of each; of sizes that a run brings, the time that a tile is to take.
// CPU-LABEL: func.func @nests
// CPU: tenon.nest {{.*}}tenon.chosen = {portable = {form = "rows", part = 64 : i64, rows = 70 : i64}, "x86-64-v3" = {form = "rows", part = 64 : i64, rows = 70 : i64}, "x86-64-v4" = {form = "rows", part = 64 : i64, rows = 70 : i64}}
// CPU: tenon.nest {{.*}}tenon.chosen = {portable = {form = "rows", rows = 70 : i64}, "x86-64-v3"
// CPU: tenon.nest {{.*}}tenon.chosen = {portable = {form = "rows", rows = 50 : i64}, "x86-64-v3"
// Nests: a thread per element; a block per row that is reduced; a block for rows that are neighbours in memory.
// GPU-LABEL: func.func @nests
// GPU: tenon.nest {{.*}}tenon.chosen = {sm_80 = {apart = 1 : i64, form = "elements", threads = 256 : i64, vector = 1 : i64}}
// GPU: tenon.nest {{.*}}tenon.chosen = {sm_80 = {barrier = array<i64: 0, 1>, broadcast = array<i64: 0>, form = "row", pass = array<i64: 0>, threads = 32 : i64, vector = array<i64: 2>}}
// GPU: tenon.nest {{.*}}tenon.chosen = {sm_80 = {barrier = array<i64: 0, 1>, broadcast = array<i64: 0>, form = "rows", rows = 32 : i64, threads = 256 : i64}}
func.func @nests(%x: tensor<70x50xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.nest affine_map<() -> (70, 50)> : tensor<70x50xf32> {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %x[%i, %j] : tensor<70x50xf32> -> f32
    tenon.put 0 [%i, %j], %e : f32
  }
  %b = tenon.nest affine_map<() -> (70)> : tensor<70xf32> {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (50)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<70x50xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%i], %s : f32
  }
  %c = tenon.nest affine_map<() -> (50)> : tensor<50xf32> {
  ^bb0(%j: index):
    %s = tenon.fold sum affine_map<() -> (70)> : f32 {
    ^bb1(%i: index):
      %e = tenon.at %x[%i, %j] : tensor<70x50xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.put 0 [%j], %s : f32
  }
  tenon.output 0 "a", %a : tensor<70x50xf32>
  tenon.output 1 "b", %b : tensor<70xf32>
  tenon.output 2 "c", %c : tensor<50xf32>
  return
}

// How many elements that lie apart a thread reads before it goes on: one of few, four where there are many, twelve of a long row, whose sum it takes one by one.
// GPU-LABEL: func.func @apart
// GPU: tenon.nest {{.*}}tenon.chosen = {sm_80 = {apart = 1 : i64, form = "elements", threads = 256 : i64, vector = 1 : i64}}
// GPU: tenon.nest {{.*}}tenon.chosen = {sm_80 = {apart = 4 : i64, form = "elements", threads = 256 : i64, vector = 1 : i64}}
// GPU: tenon.nest {{.*}}tenon.chosen = {sm_80 = {apart = array<i64: 4>, barrier = array<i64: 0, 1>, broadcast = array<i64: 1>, form = "row", pass = array<i64: 0>, threads = 256 : i64, vector = array<i64: 1, 1>}}
// GPU: tenon.nest {{.*}}tenon.chosen = {sm_80 = {apart = array<i64: 12>, barrier = array<i64: 0, 1>, broadcast = array<i64: 1>, form = "row", pass = array<i64: 0>, threads = 256 : i64, vector = array<i64: 1, 1>}}
func.func @apart(%ax: tensor<71x51xf32>, %bx: tensor<701x751xf32>, %cx: tensor<7x1025xf32>, %dx: tensor<7x3073xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.nest affine_map<() -> (71, 51)> : tensor<71x51xf32> {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %ax[%i, %j] : tensor<71x51xf32> -> f32
    tenon.put 0 [%i, %j], %e : f32
  }
  %b = tenon.nest affine_map<() -> (701, 751)> : tensor<701x751xf32> {
  ^bb0(%i: index, %j: index):
    %e = tenon.at %bx[%i, %j] : tensor<701x751xf32> -> f32
    tenon.put 0 [%i, %j], %e : f32
  }
  %c = tenon.nest affine_map<() -> (7)> : tensor<7x1025xf32> {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (1025)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %cx[%i, %j] : tensor<7x1025xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.each affine_map<() -> (1025)> {
    ^bb1(%j: index):
      %e = tenon.at %cx[%i, %j] : tensor<7x1025xf32> -> f32
      %d = arith.subf %e, %s : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  %d = tenon.nest affine_map<() -> (7)> : tensor<7x3073xf32> {
  ^bb0(%i: index):
    %s = tenon.fold sum affine_map<() -> (3073)> : f32 {
    ^bb1(%j: index):
      %e = tenon.at %dx[%i, %j] : tensor<7x3073xf32> -> f32
      tenon.yield %e : f32
    }
    tenon.each affine_map<() -> (3073)> {
    ^bb1(%j: index):
      %e = tenon.at %dx[%i, %j] : tensor<7x3073xf32> -> f32
      %d = arith.subf %e, %s : f32
      tenon.put 0 [%i, %j], %d : f32
    }
  }
  tenon.output 0 "a", %a : tensor<71x51xf32>
  tenon.output 1 "b", %b : tensor<701x751xf32>
  tenon.output 2 "c", %c : tensor<7x1025xf32>
  tenon.output 3 "d", %d : tensor<7x3073xf32>
  return
}

// The gradient of a weight whose rows are whole pages long: what a step of K reads goes through scratch where strips are low.
// CPU-LABEL: func.func @gradient
// CPU: tenon.gemm {{.*}}"x86-64-v3" = {depth = 256 : i64, form = "strips", panels = 4 : i64, rows = 384 : i64, staged = 1 : i64, strip = 6 : i64}, "x86-64-v4" = {depth = 256 : i64, form = "strips", panels = 1 : i64, rows = 384 : i64, strip = 14 : i64}}
func.func @gradient(%x: tensor<256x3072xf32>, %y: tensor<256x768xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %w = tenon.gemm %x[2, 0], %y[2, 1] rank 2 : tensor<256x3072xf32>, tensor<256x768xf32> -> tensor<3072x768xf32> {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%i, %j], %sum : f32
  }
  tenon.output 0 "w", %w : tensor<3072x768xf32>
  return
}
