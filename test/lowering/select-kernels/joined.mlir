// Nests that read one tensor over one domain are one kernel, where kernels wait for memory: on devices. The host has each for itself.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80},cse))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s --check-prefix=HOST
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80}))' --remark-format=emitRemark --remarks-filter-missed=join-nests -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY --implicit-check-not=Remark=
// WHY: Remark="the nest in front of it reads most of another tensor"
// WHY: Remark="the nest in front of it has other rows"
// WHY: Remark="the nest in front of it reads most of another tensor"
// WHY: Remark="the nest in front of it reads most of another tensor"
// WHY: Remark="another kernel or a loop stands between it and the nest in front of it: what both read may have left the caches"
// WHY: Remark="another kernel or a loop stands between it and the nest in front of it: what both read may have left the caches"
// WHY: Remark="a skip stands between it and the nest in front of it, and where that ends the round it does not run"

// CHECK-LABEL: func.func @beside(
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32>, tensor<64x8xf32>
// CHECK: tenon.put 0
// CHECK: tenon.put 1
// CHECK-NOT: tenon.nest
// HOST-LABEL: func.func @beside(
// HOST: tenon.nest {{.*}} : tensor<64x8xf32> {
// HOST: tenon.nest {{.*}} : tensor<64x8xf32> {
func.func @beside(%x: tensor<64x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.exp %x : tensor<64x8xf32>
  %z = tenon.tanh %x : tensor<64x8xf32>
  tenon.output 0 "y", %y : tensor<64x8xf32>
  tenon.output 1 "z", %z : tensor<64x8xf32>
  return
}

// -----

// Another tensor.
// CHECK-LABEL: func.func @others(
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
func.func @others(%x: tensor<64x8xf32>, %w: tensor<64x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.exp %x : tensor<64x8xf32>
  %z = tenon.tanh %w : tensor<64x8xf32>
  tenon.output 0 "y", %y : tensor<64x8xf32>
  tenon.output 1 "z", %z : tensor<64x8xf32>
  return
}

// -----

// Another domain.
// CHECK-LABEL: func.func @domains(
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
// CHECK: tenon.nest {{.*}} : tensor<32x8xf32> {
func.func @domains(%x: tensor<64x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.exp %x : tensor<64x8xf32>
  %s = tenon.slice %x 0 from affine_map<() -> (0)> : tensor<64x8xf32> -> tensor<32x8xf32>
  %z = tenon.tanh %s : tensor<32x8xf32>
  tenon.output 0 "y", %y : tensor<64x8xf32>
  tenon.output 1 "z", %z : tensor<32x8xf32>
  return
}

// -----

// The second one needs what a kernel between them makes.
// CHECK-LABEL: func.func @between(
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
// CHECK: tenon.gemm
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
func.func @between(%x: tensor<64x8xf32>, %w: tensor<64x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.exp %x : tensor<64x8xf32>
  %g = tenon.dot %x[0, 2], %w[1, 2] : tensor<64x8xf32>, tensor<64x8xf32> -> tensor<64x64xf32>
  %r = tenon.reduce max %g [1] : tensor<64x64xf32> -> tensor<64xf32>
  %b = tenon.broadcast %r [0] : tensor<64xf32> -> tensor<64x8xf32>
  %z = tenon.mul %x, %b : tensor<64x8xf32>
  tenon.output 0 "y", %y : tensor<64x8xf32>
  tenon.output 1 "g", %g : tensor<64x64xf32>
  tenon.output 2 "z", %z : tensor<64x8xf32>
  return
}

// -----

// Nothing but a kernel between them keeps them apart ..
// CHECK-LABEL: func.func @kernel(
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
// CHECK: tenon.gemm
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
func.func @kernel(%x: tensor<64x8xf32>, %w: tensor<64x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.exp %x : tensor<64x8xf32>
  %g = tenon.dot %y[0, 2], %w[1, 2] : tensor<64x8xf32>, tensor<64x8xf32> -> tensor<64x64xf32>
  %z = tenon.tanh %x : tensor<64x8xf32>
  tenon.output 0 "y", %y : tensor<64x8xf32>
  tenon.output 1 "g", %g : tensor<64x64xf32>
  tenon.output 2 "z", %z : tensor<64x8xf32>
  return
}

// -----

// .. or a loop ..
// CHECK-LABEL: func.func @loop(
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
// CHECK: tenon.stack
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
func.func @loop(%x: tensor<64x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.exp %x : tensor<64x8xf32>
  %s = tenon.stack 2 (%y) : (tensor<64x8xf32>) -> tensor<64x8xf32> {
  ^bb0(%d: index, %h: tensor<64x8xf32>):
    %e = tenon.sin %h : tensor<64x8xf32>
    tenon.yield %e : tensor<64x8xf32>
  }
  %z = tenon.tanh %x : tensor<64x8xf32>
  tenon.output 0 "y", %y : tensor<64x8xf32>
  tenon.output 1 "s", %s : tensor<64x8xf32>
  tenon.output 2 "z", %z : tensor<64x8xf32>
  return
}

// -----

// .. or what may end the round.
// CHECK-LABEL: func.func @skip(
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
// CHECK: tenon.skip
// CHECK: tenon.nest {{.*}} : tensor<64x8xf32> {
func.func @skip(%x: tensor<64x8xf32>, %late: tensor<i1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %s:2 = tenon.stack 2 (%x) : (tensor<64x8xf32>) -> (tensor<64x8xf32>, tensor<2x64x8xf32>) {
  ^bb0(%d: index, %h: tensor<64x8xf32>):
    %y = tenon.exp %h : tensor<64x8xf32>
    tenon.skip %late : tensor<i1>
    %z = tenon.tanh %h : tensor<64x8xf32>
    tenon.yield %z, %y : tensor<64x8xf32>, tensor<64x8xf32>
  }
  tenon.output 0 "s", %s#0 : tensor<64x8xf32>
  tenon.output 1 "y", %s#1 : tensor<2x64x8xf32>
  return
}
