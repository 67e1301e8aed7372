// What only one contraction reads is computed where that packs it, if it is cheap and could not have been computed where its own operands are made.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s
// A GPU reads what is in memory, and computes only what would be larger there than what it is computed from.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80},cse))' | FileCheck %s --check-prefix=GPU
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_8}))' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: expects the name of a target, got sm_8

// Memory and segment are contracted without being joined.
// GPU-LABEL: func.func @joined
// GPU: %[[JOINED:.*]] = tenon.nest
// GPU: tenon.gemm %[[JOINED]][0, 2], %{{.*}}[1, 2] rank 2
// CHECK-LABEL: func.func @joined
// CHECK-NOT: tenon.nest
// CHECK: tenon.gemm element[0, 2], %{{.*}}[1, 2] rank 2 : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
// CHECK: } a {
// CHECK: tenon.at %arg0[
// CHECK: tenon.at %arg1[
// CHECK: tenon.yield
// CHECK-NOT: tenon.nest
// CHECK: return
func.func @joined(%m: tensor<5x8xf32>, %x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %j = tenon.concat 0 %m, %x : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
  %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
  tenon.output 0 "y", %y : tensor<9x6xf32>
  return
}

// Named rows of a table, scaled; the other operand is the one that is read along the result.
// GPU-LABEL: func.func @gathered
// GPU: %[[ROWS:.*]] = tenon.nest
// GPU: tenon.gemm %[[ROWS]][0, 2], %{{.*}}[1, 2] rank 2
// CHECK-LABEL: func.func @gathered
// CHECK-NOT: tenon.nest
// CHECK: tenon.gemm element[0, 2], %{{.*}}[1, 2] rank 2
// CHECK: } a {
// CHECK: arith.mulf
// CHECK-NOT: tenon.nest
// CHECK: return
func.func @gathered(%t: tensor<10x8xf32>, %ids: tensor<4xi32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %g = tenon.gather %t[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<10x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
  %two = tenon.constant 2.0 : tensor<4x8xf32>
  %s = tenon.mul %g, %two : tensor<4x8xf32>
  %y = tenon.dot %s[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}

// Each contraction reads the parts where they lie, however many there are.
// CHECK-LABEL: func.func @twice
// CHECK-NOT: tenon.nest
// CHECK: tenon.gemm element[0, 2], %{{.*}}[1, 2]
// CHECK: tenon.gemm %{{.*}}[0, 2], element[1, 2]
// CHECK: } b {
// CHECK: return
func.func @twice(%m: tensor<5x8xf32>, %x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %j = tenon.concat 0 %m, %x : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
  %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
  %z = tenon.dot %w[0, 2], %j[1, 2] : tensor<6x8xf32>, tensor<9x8xf32> -> tensor<6x9xf32>
  tenon.output 0 "y", %y : tensor<9x6xf32>
  tenon.output 1 "z", %z : tensor<6x9xf32>
  return
}

// CHECK-LABEL: func.func @three
// CHECK-NOT: tenon.nest
// CHECK-COUNT-3: tenon.gemm {{.*}}element
// CHECK-NOT: tenon.nest
// CHECK: return
func.func @three(%m: tensor<5x8xf32>, %x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %j = tenon.concat 0 %m, %x : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
  %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
  %z = tenon.dot %w[0, 2], %j[1, 2] : tensor<6x8xf32>, tensor<9x8xf32> -> tensor<6x9xf32>
  %s = tenon.dot %j[0, 1], %j[0, 1] : tensor<9x8xf32>, tensor<9x8xf32> -> tensor<f32>
  tenon.output 0 "y", %y : tensor<9x6xf32>
  tenon.output 1 "z", %z : tensor<6x9xf32>
  tenon.output 2 "s", %s : tensor<f32>
  return
}

// Parts of it that are computed get memory, and not the whole; rows that a table has are no part: three contractions read memory.
// CHECK-LABEL: func.func @computed_part
// CHECK: tenon.nest #{{.*}} : tensor<5x8xf32>
// CHECK-NOT: tensor<9x8xf32> {
// CHECK: tenon.gemm element[0, 2]
// CHECK: tenon.gemm {{.*}}element[1, 2]
// CHECK: return
func.func @computed_part(%m: tensor<5x8xf32>, %x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %s = tenon.mul %m, %m : tensor<5x8xf32>
  %j = tenon.concat 0 %s, %x : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
  %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
  %z = tenon.dot %w[0, 2], %j[1, 2] : tensor<6x8xf32>, tensor<9x8xf32> -> tensor<6x9xf32>
  tenon.output 0 "y", %y : tensor<9x6xf32>
  tenon.output 1 "z", %z : tensor<6x9xf32>
  return
}
// CHECK-LABEL: func.func @three_gathered
// CHECK: tenon.nest
// CHECK-NOT: element
// CHECK: return
func.func @three_gathered(%t: tensor<10x8xf32>, %ids: tensor<9xi32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %j = tenon.gather %t[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<10x8xf32>, tensor<9xi32> -> tensor<9x8xf32>
  %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
  %z = tenon.dot %w[0, 2], %j[1, 2] : tensor<6x8xf32>, tensor<9x8xf32> -> tensor<6x9xf32>
  %s = tenon.dot %j[0, 1], %j[0, 1] : tensor<9x8xf32>, tensor<9x8xf32> -> tensor<f32>
  tenon.output 0 "y", %y : tensor<9x6xf32>
  tenon.output 1 "z", %z : tensor<6x9xf32>
  tenon.output 2 "s", %s : tensor<f32>
  return
}

// What is dear, what a kernel besides contractions reads, what could be stored where its operand is made, in an epilogue or a pass over rows: memory.
// CHECK-LABEL: func.func @dear_twice
// CHECK: tenon.nest
// CHECK-NOT: element
// CHECK: return
func.func @dear_twice(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.mul %x, %x : tensor<4x8xf32>
  %b = tenon.add %a, %x : tensor<4x8xf32>
  %m = tenon.mul %b, %x : tensor<4x8xf32>
  %c = tenon.add %m, %x : tensor<4x8xf32>
  %y = tenon.dot %c[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %z = tenon.dot %w[0, 2], %c[1, 2] : tensor<6x8xf32>, tensor<4x8xf32> -> tensor<6x4xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  tenon.output 1 "z", %z : tensor<6x4xf32>
  return
}
// CHECK-LABEL: func.func @kept
// CHECK: tenon.nest
// CHECK-NOT: element
// CHECK: return
func.func @kept(%m: tensor<5x8xf32>, %x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %j = tenon.concat 0 %m, %x : tensor<5x8xf32>, tensor<4x8xf32> -> tensor<9x8xf32>
  %y = tenon.dot %j[0, 2], %w[1, 2] : tensor<9x8xf32>, tensor<6x8xf32> -> tensor<9x6xf32>
  tenon.output 0 "y", %y : tensor<9x6xf32>
  tenon.output 1 "j", %j : tensor<9x8xf32>
  return
}
// CHECK-LABEL: func.func @rows
// CHECK: tenon.nest
// CHECK-NOT: element
// CHECK: return
func.func @rows(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %p = tenon.softmax %x : tensor<4x8xf32>
  %y = tenon.dot %p[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}
// CHECK-LABEL: func.func @dear
// CHECK: tenon.nest
// CHECK-NOT: element
// CHECK: return
func.func @dear(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %e = tenon.gelu %x : tensor<4x8xf32>
  %y = tenon.dot %e[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}
// CHECK-LABEL: func.func @stored
// CHECK: %[[Z:.*]] = tenon.gemm %arg0
// CHECK: arith.addf
// CHECK: tenon.gemm %[[Z]]
// CHECK-NOT: element
// CHECK: return
func.func @stored(%x: tensor<4x8xf32>, %u: tensor<8x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %a = tenon.dot %x[0, 2], %u[1, 2] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %z = tenon.add %a, %x : tensor<4x8xf32>
  %y = tenon.dot %z[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}

// A convolution reads its input through its windows, whatever the number of contractions that do: no window is stored.
// GPU-LABEL: func.func @windows
// GPU-NOT: tenon.nest
// GPU: tenon.gemm %{{.*}}[1, 4, 5, 6], element
// CHECK-LABEL: func.func @windows
// CHECK-NOT: tenon.nest
// CHECK: tenon.gemm %{{.*}}[1, 4, 5, 6], element[0, 4, 2, 5, 3, 6] rank 4 : tensor<6x3x3x3xf32>, tensor<2x3x8x3x8x3xf32> -> tensor<2x6x8x8xf32> {
// CHECK: } b {
// CHECK: tenon.at %arg0[
// CHECK: arith.select
// CHECK: tenon.gemm %{{.*}}, element[
// CHECK: } b {
// CHECK: tenon.gemm %{{.*}}, element[
// CHECK: } b {
// CHECK-NOT: tenon.nest
// CHECK: return
func.func @windows(%x: tensor<2x3x8x8xf32>, %w: tensor<6x3x3x3xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %v = tenon.window %x [2, 3] stride [1, 1] dilation [1, 1] pad [1, 1] divisor [1, 1] fill 0.0 : tensor<2x3x8x8xf32> -> tensor<2x3x8x3x8x3xf32>
  %y = tenon.dot %w[1, 4, 5, 6], %v[0, 4, 2, 5, 3, 6] : tensor<6x3x3x3xf32>, tensor<2x3x8x3x8x3xf32> -> tensor<2x6x8x8xf32>
  %z = tenon.dot %w[1, 4, 5, 6], %v[0, 4, 2, 5, 3, 6] : tensor<6x3x3x3xf32>, tensor<2x3x8x3x8x3xf32> -> tensor<2x6x8x8xf32>
  %u = tenon.dot %w[1, 4, 5, 6], %v[0, 4, 2, 5, 3, 6] : tensor<6x3x3x3xf32>, tensor<2x3x8x3x8x3xf32> -> tensor<2x6x8x8xf32>
  tenon.output 0 "y", %y : tensor<2x6x8x8xf32>
  tenon.output 1 "z", %z : tensor<2x6x8x8xf32>
  tenon.output 2 "u", %u : tensor<2x6x8x8xf32>
  return
}

// What the windows show is computed once, in memory.
// CHECK-LABEL: func.func @shown
// CHECK: tenon.nest
// CHECK: arith.addf
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
// CHECK: tenon.gemm
// CHECK-NOT: tenon.nest
// CHECK: return
func.func @shown(%x: tensor<2x3x8xf32>, %w: tensor<6x3x3xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %s = tenon.add %x, %x : tensor<2x3x8xf32>
  %v = tenon.window %s [2] stride [1] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<2x3x8xf32> -> tensor<2x3x8x3xf32>
  %y = tenon.dot %w[1, 3, 4], %v[0, 3, 2, 4] : tensor<6x3x3xf32>, tensor<2x3x8x3xf32> -> tensor<2x6x8xf32>
  tenon.output 0 "y", %y : tensor<2x6x8xf32>
  return
}
