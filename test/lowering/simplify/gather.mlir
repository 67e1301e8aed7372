// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' --remark-format=emitRemark --remarks-filter-missed=simplify -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// A relative score contracts each distance once per query, then picks.
// CHECK-LABEL: func.func @relative
// CHECK: %[[BAND:.*]] = tenon.dot %{{.*}}[0, 1, 2, 4], %{{.*}}[3, 2, 4] : tensor<2x3x4x8xf32>, tensor<6x4x8xf32> -> tensor<2x3x4x6xf32>
// CHECK: %[[SCORE:.*]] = tenon.gather %[[BAND]][%{{.*}}] dim 3 x_dims [0, 1, 3, -1] index_dims [1, 2] clamp
// CHECK: tenon.output 0 "s", %[[SCORE]]
func.func @relative(%q: tensor<2x3x4x8xf32>, %r: tensor<6x4x8xf32>, %index: tensor<3x5xi32>) {
  %g = tenon.gather %r[%index] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] clamp : tensor<6x4x8xf32>, tensor<3x5xi32> -> tensor<3x5x4x8xf32>
  %s = tenon.dot %q[0, 1, 3, 4], %g[1, 2, 3, 4] : tensor<2x3x4x8xf32>, tensor<3x5x4x8xf32> -> tensor<2x3x5x4xf32>
  tenon.output 0 "s", %s : tensor<2x3x5x4xf32>
  return
}

// An embedding shares nothing with the weights: it is picked first.
// CHECK-LABEL: func.func @embedding
// CHECK: %[[ROWS:.*]] = tenon.gather
// CHECK: tenon.dot %[[ROWS]]
func.func @embedding(%table: tensor<50x8xf32>, %ids: tensor<2x3xi32>, %w: tensor<4x8xf32>) {
  %x = tenon.gather %table[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<50x8xf32>, tensor<2x3xi32> -> tensor<2x3x8xf32>
  %y = tenon.dot %x[0, 1, 3], %w[2, 3] : tensor<2x3x8xf32>, tensor<4x8xf32> -> tensor<2x3x4xf32>
  tenon.output 0 "y", %y : tensor<2x3x4xf32>
  return
}

// Rows that only tokens name: of a short table all are contracted, of a vocabulary those that are asked for.
// CHECK-LABEL: func.func @few_rows
// CHECK: %[[ALL:.*]] = tenon.dot {{.*}} -> tensor<2x3x64xf32>
// CHECK: tenon.gather %[[ALL]]
func.func @few_rows(%q: tensor<2x3x8xf32>, %table: tensor<64x8xf32>, %ids: tensor<2x5xi32>) {
  %k = tenon.gather %table[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<64x8xf32>, tensor<2x5xi32> -> tensor<2x5x8xf32>
  %s = tenon.dot %q[0, 1, 3], %k[0, 2, 3] : tensor<2x3x8xf32>, tensor<2x5x8xf32> -> tensor<2x3x5xf32>
  tenon.output 0 "s", %s : tensor<2x3x5xf32>
  return
}

// WHY: gather.mlir:[[#@LINE+6]]:8: remark: [Missed] declined | Category:simplify | Remark="a large table of which the data ask for rows"
// CHECK-LABEL: func.func @vocabulary
// CHECK: %[[KEYS:.*]] = tenon.gather
// CHECK: tenon.dot %{{.*}}, %[[KEYS]]
func.func @vocabulary(%q: tensor<2x3x8xf32>, %table: tensor<65x8xf32>, %ids: tensor<2x5xi32>) {
  %k = tenon.gather %table[%ids] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<65x8xf32>, tensor<2x5xi32> -> tensor<2x5x8xf32>
  %s = tenon.dot %q[0, 1, 3], %k[0, 2, 3] : tensor<2x3x8xf32>, tensor<2x5x8xf32> -> tensor<2x3x5xf32>
  tenon.output 0 "s", %s : tensor<2x3x5xf32>
  return
}

// Places are known without data: a table of any length is contracted before.
// CHECK-LABEL: func.func @places
// CHECK: %[[BAND:.*]] = tenon.dot {{.*}} -> tensor<2x3x65xf32>
// CHECK: tenon.gather %[[BAND]]
func.func @places(%q: tensor<2x3x8xf32>, %table: tensor<65x8xf32>) {
  %i = tenon.iota 0 : tensor<3x5xi32>
  %k = tenon.gather %table[%i] dim 0 x_dims [-1, 2] index_dims [0, 1] : tensor<65x8xf32>, tensor<3x5xi32> -> tensor<3x5x8xf32>
  %s = tenon.dot %q[0, 1, 3], %k[1, 2, 3] : tensor<2x3x8xf32>, tensor<3x5x8xf32> -> tensor<2x3x5xf32>
  tenon.output 0 "s", %s : tensor<2x3x5xf32>
  return
}

// CHECK-LABEL: func.func @constant_index
// CHECK-NOT: tenon.gather
// CHECK: tenon.slice %{{.*}} 1 from
// CHECK: return
func.func @constant_index(%x: tensor<4x3x8xf32>) {
  %i = tenon.constant 2.0 : tensor<i32>
  %y = tenon.gather %x[%i] dim 1 x_dims [0, -1, 1] index_dims [] : tensor<4x3x8xf32>, tensor<i32> -> tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// Between sizes of run time there is nothing to merge the picked dimension with: the gather stays.
// CHECK-LABEL: func.func @unknown_neighbours
// CHECK: tenon.gather
// CHECK: return
func.func @unknown_neighbours(%x: tensor<3x?x?x8xf32, affine_map<(d0, d1) -> (3, d0, d1, 8)>>) {
  %last = tenon.constant 2.0 : tensor<i32>
  %y = tenon.gather %x[%last] dim 0 x_dims [-1, 0, 1, 2] index_dims [] : tensor<3x?x?x8xf32, affine_map<(d0, d1) -> (3, d0, d1, 8)>>, tensor<i32> -> tensor<?x?x8xf32, affine_map<(d0, d1) -> (d0, d1, 8)>>
  tenon.output 0 "y", %y : tensor<?x?x8xf32, affine_map<(d0, d1) -> (d0, d1, 8)>>
  return
}
