// Without parameters nothing changes, nor does what lies behind the last one when it is placed again.
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope > %t.before
// RUN: tenon-opt %s --split-input-file --mlir-print-local-scope --pass-pipeline='builtin.module(tenon-place-parameters)' > %t.after
// RUN: diff %t.before %t.after

func.func @infer(%x: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  tenon.output 0 "y", %x : tensor<4xf32>
  return
}

// -----

tenon.parameter @first {stride = 64 : i64} : tensor<3xf32>
tenon.parameter @second stacked {offset = 64 : i64, stride = 128 : i64} : tensor<3x17xf32>
func.func @train() attributes {tenon.kind = "train", tenon.dims = [], tenon.states = []} {
  %first = tenon.read_parameter @first : tensor<3xf32>
  tenon.write_gradient @first, %first : tensor<3xf32>
  return
}
