// What memory the kernels of an op need besides its results is an affair of the target: the plan of the same op has other temporaries on each.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-place-parameters,func.func(tenon-plan-memory))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tenon-place-parameters,func.func(tenon-plan-memory{target=sm_80}))' | FileCheck %s --check-prefix=GPU

// CHECK: tenon.workspace = [{after = array<i64>, bytes = "112", offset = 0 : i64, temporary}]
// CHECK: tenon.optimize {{.*}}tenon.temporaries = array<i64: 0>
// GPU: tenon.workspace = [{after = array<i64>, bytes = "224", offset = 0 : i64, temporary}]
// GPU: tenon.optimize {{.*}}tenon.temporaries = array<i64: 0>
tenon.parameter @w : tensor<4x6xf32>
tenon.parameter @v : tensor<300x70xf32>
func.func @step() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %norm, %rate = tenon.optimize "lamb" {settings = {lr = 1.0e-3, clip = 1.0}} : tensor<f64>, tensor<f64>
  tenon.output 0 "norm", %norm : tensor<f64>
  tenon.output 1 "rate", %rate : tensor<f64>
  return
}
