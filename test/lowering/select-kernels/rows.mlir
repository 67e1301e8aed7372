// A row's mean and variance are computed once per row: where a consumer would ask for them once per element, the rows are stored.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// Fewer rows, still whole: one kernel. A contraction would compute them for every element that it packs, and reads memory.
// CHECK-LABEL: func.func @contracted
// CHECK: %[[ROWS:.*]] = tenon.nest #{{.*}} : tensor<4x8xf32>
// CHECK: tenon.fold sum
// CHECK: tenon.fold sum
// CHECK: tenon.each
// CHECK-NOT: tenon.fold
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
// CHECK: tenon.gemm %[[ROWS]][0, 2], %{{.*}}[1, 2]
// CHECK-NOT: tenon.fold
// CHECK: return
func.func @contracted(%x: tensor<5x8xf32>, %w: tensor<6x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<5x8xf32> -> tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>
  %s = tenon.slice %h 0 from affine_map<() -> (1)> : tensor<5x8xf32> -> tensor<4x8xf32>
  %y = tenon.dot %s[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  tenon.output 0 "y", %y : tensor<4x6xf32>
  return
}

// -----

// CHECK-LABEL: func.func @transposed
// CHECK: %[[ROWS:.*]] = tenon.nest #{{.*}} : tensor<5x8xf32>
// CHECK: tenon.fold sum
// CHECK: tenon.nest #{{.*}} : tensor<8x5xf32>
// CHECK-NOT: tenon.fold
// CHECK: tenon.at %[[ROWS]][
// CHECK: return
func.func @transposed(%x: tensor<5x8xf32>, %w: tensor<8x5xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<5x8xf32> -> tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>
  %t = tenon.broadcast %h [1, 0] : tensor<5x8xf32> -> tensor<8x5xf32>
  %s = tenon.add %t, %w : tensor<8x5xf32>
  tenon.output 0 "y", %s : tensor<8x5xf32>
  return
}

// -----

// Each part of a row is a row of the result.
// CHECK-LABEL: func.func @split
// CHECK: %[[ROWS:.*]] = tenon.nest #{{.*}} : tensor<5x8xf32>
// CHECK: tenon.nest #{{.*}} : tensor<5x2x4xf32>
// CHECK-NOT: tenon.fold
// CHECK: tenon.at %[[ROWS]][
// CHECK: return
func.func @split(%x: tensor<5x8xf32>, %w: tensor<5x2x4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<5x8xf32> -> tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>
  %t = tenon.reshape %h [1, 2] : tensor<5x8xf32> -> tensor<5x2x4xf32>
  %s = tenon.add %t, %w : tensor<5x2x4xf32>
  tenon.output 0 "y", %s : tensor<5x2x4xf32>
  return
}

// -----

// A part of each row, summed down the columns.
// CHECK-LABEL: func.func @columns
// CHECK: %[[ROWS:.*]] = tenon.nest #{{.*}} : tensor<5x8xf32>
// CHECK: tenon.nest #{{.*}} : tensor<4xf32>
// CHECK: tenon.fold sum
// CHECK-NOT: tenon.fold
// CHECK: tenon.at %[[ROWS]][
// CHECK: return
func.func @columns(%x: tensor<5x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<5x8xf32> -> tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>
  %t = tenon.slice %h 1 from affine_map<() -> (2)> : tensor<5x8xf32> -> tensor<5x4xf32>
  %u = tenon.broadcast %t [1, 0] : tensor<5x4xf32> -> tensor<4x5xf32>
  %y = tenon.reduce sum %u [1] : tensor<4x5xf32> -> tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}

// -----

// Elementwise code joins the pass over the rows.
// CHECK-LABEL: func.func @added
// CHECK: tenon.nest #{{.*}} : tensor<5x8xf32>
// CHECK-NOT: tenon.nest
// CHECK: return
func.func @added(%x: tensor<5x8xf32>, %w: tensor<5x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %h, %m, %r = tenon.normalize %x eps 1.0e-5 : tensor<5x8xf32> -> tensor<5x8xf32>, tensor<5xf32>, tensor<5xf32>
  %s = tenon.mul %h, %w : tensor<5x8xf32>
  tenon.output 0 "y", %s : tensor<5x8xf32>
  return
}

// The places of windows are no row: many windows are reduced at once, place after place.
// CHECK-LABEL: func.func @places(
// CHECK: tenon.nest
// CHECK-NEXT: ^bb0(%{{.*}}: index):
// CHECK: tenon.each
// CHECK: tenon.fold max
// CHECK: tenon.put 0
// CHECK: tenon.nest
// CHECK-NEXT: ^bb0(%{{.*}}: index):
// CHECK: tenon.each
// CHECK: tenon.fold sum
// CHECK: tenon.put 0
func.func @places(%x: tensor<4x16xf32>, %w: tensor<3xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %u = tenon.window %x [1] stride [2] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<4x16xf32> -> tensor<4x8x3xf32>
  %b = tenon.broadcast %w [2] : tensor<3xf32> -> tensor<4x8x3xf32>
  %v = tenon.mul %u, %b : tensor<4x8x3xf32>
  %m = tenon.reduce max %u [2] : tensor<4x8x3xf32> -> tensor<4x8xf32>
  %y = tenon.reduce sum %v [2] : tensor<4x8x3xf32> -> tensor<4x8xf32>
  tenon.output 0 "m", %m : tensor<4x8xf32>
  tenon.output 1 "y", %y : tensor<4x8xf32>
  return
}
// Windows of whole rows end in a row.
// CHECK-LABEL: func.func @windows_of_rows(
// CHECK: tenon.nest
// CHECK-NOT: tenon.each
// CHECK: tenon.fold sum
func.func @windows_of_rows(%x: tensor<8x16xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %u = tenon.window %x [0] stride [1] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<8x16xf32> -> tensor<8x3x16xf32>
  %y = tenon.reduce sum %u [1, 2] : tensor<8x3x16xf32> -> tensor<8xf32>
  tenon.output 0 "y", %y : tensor<8xf32>
  return
}
