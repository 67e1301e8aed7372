// What is chosen for the CPU's kernels but contractions, attention and nests (chosen.mlir).
// DEFINE: %{schedule} = --pass-pipeline='builtin.module(func.func(tenon-schedule))'
// DEFINE: %{emit} = --tenon-emit-cpu=tier=x86-64-v3 --canonicalize
// RUN: tenon-opt %s %{schedule} | FileCheck %s
// RUN: tenon-opt %s %{schedule} | tenon-opt --verify-roundtrip | FileCheck %s
// A text is translated by what it says: 100 rows of 30 are 4 tiles, 70 columns of 16 are 5, 2 rows of 100000 no longer 3 parts each.
// RUN: tenon-opt %s %{schedule} | sed 's/rows = 117/rows = 30/g; s/columns = 64/columns = 16/g; s/part = 33344 : i64, rows = 1/part = 100032 : i64, rows = 2/g' | tenon-opt %{emit} | FileCheck %s --check-prefix=CUT
// CUT-LABEL: llvm.func @tn_run_others_avx2
// CUT: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %c4_i64) : !llvm.ptr
// CUT: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %c5_i64) : !llvm.ptr
// CUT: llvm.call @others.running_sum_2(
// CUT: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %c4_i64) : !llvm.ptr
// CUT: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %c5_i64) : !llvm.ptr
// CUT: llvm.call @others.nest_1(
// What was planned with fewer tiles has no memory for the sums of more.
// RUN: tenon-opt %s %{schedule} | sed 's/elements = 16384/elements = 64/g' | not tenon-opt %{emit} 2>&1 | FileCheck %s --check-prefix=ROOM
// ROOM: <stdin>:{{[0-9]+}}:{{[0-9]+}}: error: 'tenon.optimize' op expects for what is chosen a temporary of {{[0-9]+}} bytes, got one of {{[0-9]+}}

// Of the CPU: rows that are summed or ordered whole, strips of columns, parts of a long row, the optimizer's elements. What a state takes is a row of it, which is no choice.
// CHECK-LABEL: func.func @others
// CHECK: tenon.running_sum {{.*}} dim 1 {tenon.chosen = {portable = {form = "rows", rows = 117 : i64}, "x86-64-v3" = {form = "rows", rows = 117 : i64}, "x86-64-v4" = {form = "rows", rows = 117 : i64}}
// CHECK: tenon.running_sum {{.*}} dim 0 {tenon.chosen = {portable = {columns = 64 : i64, form = "columns"}
// CHECK: tenon.running_sum {{.*}} dim 0 {tenon.chosen = {portable = {elements = 8192 : i64, form = "by_size"}
// CHECK: tenon.top {{.*}}tenon.chosen = {portable = {form = "rows", rows = 117 : i64}
// CHECK: tenon.scatter_add {{.*}} dim 0 {{.*}}tenon.chosen = {portable = {columns = 64 : i64, form = "columns"}
// CHECK: tenon.scatter_add {{.*}} dim 1 {{.*}} {tenon.places
// CHECK: tenon.nest {{.*}}tenon.chosen = {portable = {form = "by_size", work = 20000000 : i64}
// CHECK: tenon.nest {{.*}}tenon.chosen = {portable = {form = "rows", part = 33344 : i64, rows = 1 : i64}
// CHECK: tenon.optimize {{.*}}tenon.chosen = {portable = {elements = 16384 : i64, form = "tiles"}, "x86-64-v3" = {elements = 16384 : i64, form = "tiles"}, "x86-64-v4" = {elements = 16384 : i64, form = "tiles"}}
tenon.parameter @w {offset = 64 : i64, stride = 64 : i64} : tensor<100xf32>
func.func @others(%T: index, %x: tensor<100x70xf32>, %t: tensor<?xf32, affine_map<(d0) -> (d0)>>, %ids: tensor<100xi32>, %long: tensor<2x100000xf32>) attributes {tenon.kind = "train", tenon.dims = ["T"], tenon.states = []} {
  %a = tenon.running_sum %x dim 1 : tensor<100x70xf32>
  %b = tenon.running_sum %x dim 0 : tensor<100x70xf32>
  %c = tenon.running_sum %t dim 0 : tensor<?xf32, affine_map<(d0) -> (d0)>>
  %d = tenon.top %x : tensor<100x70xf32> -> tensor<100x3xi32>
  %e = tenon.scatter_add %x[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<100x70xf32>, tensor<100xi32> -> tensor<9x70xf32>
  %f = tenon.scatter_add %x[%ids] dim 1 x_dims [1, -1] index_dims [0] : tensor<100x70xf32>, tensor<100xi32> -> tensor<70x9xf32>
  %g = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, affine_map<(d0) -> (d0)>> {
  ^bb0(%i: index):
    %e0 = tenon.at %t[%i] : tensor<?xf32, affine_map<(d0) -> (d0)>> -> f32
    tenon.put 0 [%i], %e0 : f32
  }
  %h = tenon.nest affine_map<(d0) -> (2, 100000)> : tensor<2x100000xf32> {
  ^bb0(%i: index, %j: index):
    %e0 = tenon.at %long[%i, %j] : tensor<2x100000xf32> -> f32
    %e1 = math.exp %e0 : f32
    tenon.put 0 [%i, %j], %e1 : f32
  }
  tenon.output 0 "a", %a : tensor<100x70xf32>
  tenon.output 1 "b", %b : tensor<100x70xf32>
  tenon.output 2 "c", %c : tensor<?xf32, affine_map<(d0) -> (d0)>>
  tenon.output 3 "d", %d : tensor<100x3xi32>
  tenon.output 4 "e", %e : tensor<9x70xf32>
  tenon.output 5 "f", %f : tensor<70x9xf32>
  tenon.output 6 "g", %g : tensor<?xf32, affine_map<(d0) -> (d0)>>
  tenon.output 7 "h", %h : tensor<2x100000xf32>
  %norm, %rate = tenon.optimize "sgd" {settings = {lr = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 8 "norm", %norm : tensor<f64>
  return
}
