// scatter_add where the index runs along the last dimension: every column of dy goes to a row of its own.
// RUN: tenon-kernel-test %s --dims=1 --dims=3 --dims=67 --dims=131 --tolerance=4e-6 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=67 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED

#ids = affine_map<(d0) -> (4, d0)>
#to = affine_map<(d0) -> (5, 3, d0)>
#from = affine_map<(d0) -> (4, 3, d0)>

func.func @train(%T: index, %dy: tensor<4x3x?xf32, #from>, %ids: tensor<4x?xi32, #ids> {test.bound = 5 : i64}, %base: tensor<5x3x?xf32, #to>) {
  %dx = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1, 2] index_dims [0, 2] : tensor<4x3x?xf32, #from>, tensor<4x?xi32, #ids> -> tensor<5x3x?xf32, #to>
  tenon.output 0 "dx", %dx : tensor<5x3x?xf32, #to>
  %onto = tenon.scatter_add %dy[%ids] onto %base : tensor<5x3x?xf32, #to> dim 0 x_dims [-1, 1, 2] index_dims [0, 2] : tensor<4x3x?xf32, #from>, tensor<4x?xi32, #ids> -> tensor<5x3x?xf32, #to>
  tenon.output 1 "onto", %onto : tensor<5x3x?xf32, #to>
  return
}
