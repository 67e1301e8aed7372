// Nests that read one tensor over one domain are one kernel, where kernels wait for memory: on devices. The host has each for itself.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80},cse))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s --check-prefix=HOST
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-select-kernels{target=sm_80}))' --remark-format=emitRemark --remarks-filter-missed=join-nests -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY --implicit-check-not=Remark=
// WHY: Remark="the nest in front of it reads most of another tensor"
// WHY: Remark="the nest in front of it has other rows"
// WHY: Remark="the nest in front of it reads most of another tensor"

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
