// What a GPU has no kernels for, at the op, where memory is planned: before there is any code.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule{target=sm_80}))'

func.func @tensor_form(%x: tensor<8xf32>) {
  // expected-error@+1 {{not supported yet: tenon.running_sum on a GPU}}
  %y = tenon.running_sum %x dim 0 : tensor<8xf32>
  tenon.output 0 "y", %y : tensor<8xf32>
  return
}

// -----

func.func @short(%x: tensor<4xbf16>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xbf16> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xbf16> -> bf16
    // expected-error@+1 {{not supported yet: arith.addf of elements of 16 bits in a GPU kernel}}
    %s = arith.addf %e, %e : bf16
    tenon.put 0 [%i], %s : bf16
  }
  tenon.output 0 "y", %y : tensor<4xbf16>
  return
}

// -----

func.func @unknown_function(%x: tensor<4xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xf32> -> f32
    // expected-error@+1 {{not supported yet: math.cbrt of 'f32' in a GPU kernel}}
    %r = math.cbrt %e : f32
    tenon.put 0 [%i], %r : f32
  }
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}

// -----

func.func @unknown_op(%x: tensor<4xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    // expected-error@+1 {{not supported yet: scf.index_switch in a GPU kernel}}
    %e = scf.index_switch %i -> f32
    default {
      %c = arith.constant 1.0 : f32
      scf.yield %c : f32
    }
    tenon.put 0 [%i], %e : f32
  }
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}

// -----

func.func @short_terms(%dy: tensor<3x4xbf16>, %ids: tensor<3xi32>) {
  // expected-error@+1 {{not supported yet: terms of bf16 added to elements of bf16 on a GPU}}
  %dx = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x4xbf16>, tensor<3xi32> -> tensor<5x4xbf16>
  tenon.output 0 "dx", %dx : tensor<5x4xbf16>
  return
}
