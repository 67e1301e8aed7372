// What the CPU has no code for is refused where memory is planned, at the op: before there is any.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-schedule))'

// Only the kernel form has code.
func.func @tensor_form(%x: tensor<8xf32>) {
  // expected-error@+1 {{not supported yet: tenon.tanh in the kernel form}}
  %y = tenon.tanh %x : tensor<8xf32>
  tenon.output 0 "y", %y : tensor<8xf32>
  return
}

// -----

// Scalars of other dialects are code in kernels, their tensors are none.
func.func @other_dialect() {
  // expected-error@+1 {{not supported yet: arith.constant in the kernel form}}
  %x = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  tenon.output 0 "x", %x : tensor<2xf32>
  return
}

// -----

func.func @short_fold(%x: tensor<4xf16>) {
  %y = tenon.nest affine_map<() -> ()> : tensor<f16> {
    // expected-error@+1 {{not supported yet: a fold of 'f16'}}
    %s = tenon.fold sum affine_map<() -> (4)> : f16 {
    ^bb0(%i: index):
      %e = tenon.at %x[%i] : tensor<4xf16> -> f16
      tenon.yield %e : f16
    }
    tenon.put 0 [], %s : f16
  }
  tenon.output 0 "y", %y : tensor<f16>
  return
}

// -----

func.func @unknown_function(%x: tensor<4xf32>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xf32> -> f32
    // expected-error@+1 {{not supported yet: math.cbrt in a CPU kernel}}
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
    // expected-error@+1 {{not supported yet: scf.index_switch in a CPU kernel}}
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

func.func @scatter(%dy: tensor<4x8xf32>, %index: tensor<4x8xi32>) {
  %dx = tenon.scatter_add %dy[%index] dim 0 x_dims [-1, 1] index_dims [0, 1] : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<5x8xf32>
  tenon.output 0 "dx", %dx : tensor<5x8xf32>
  return
}

// -----

// In registers there are no numbers of 16 bits: they are widened first.
func.func @short_sum(%x: tensor<4xbf16>) {
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xbf16> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xbf16> -> bf16
    // expected-error@+1 {{not supported yet: arith.addf of elements of 16 bits in a CPU kernel}}
    %s = arith.addf %e, %e : bf16
    tenon.put 0 [%i], %s : bf16
  }
  tenon.output 0 "y", %y : tensor<4xbf16>
  return
}

// -----

// The result goes along the rows of a: its weights are no columns then.
tenon.parameter @turned {stride = 4096 : i64, tenon.panels = array<i64: 1, 32, 1, 0>} : tensor<32x32xf32>
func.func @infer(%x: tensor<4x32xf32>) {
  %w = tenon.read_parameter @turned : tensor<32x32xf32>
  // expected-error@+1 {{not supported yet: a contraction that does not read its weights line by line, with these in panels}}
  %y = tenon.gemm %x[0, 2], %w[2, 1] rank 2 : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<32x4xf32> attributes {tenon.panels = array<i64: 1, 32, 1, 0>} {
  ^bb0(%i: index, %j: index, %sum: f32):
    tenon.put 0 [%j, %i], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<32x4xf32>
  return
}

// -----

#ids = affine_map<(d0) -> (4, d0)>
#to = affine_map<(d0) -> (5, 3, d0)>
#from = affine_map<(d0) -> (4, 3, d0)>
// Sums of 16 bits come to no kernel; nothing makes code of them by mistake.
func.func @train(%T: index, %dy: tensor<4x3x?xbf16, #from>, %ids: tensor<4x?xi32, #ids>) {
  // expected-error@+1 {{not supported yet: the CPU's scatter_add has no kernel for bf16}}
  %dx = tenon.scatter_add %dy[%ids] dim 0 x_dims [-1, 1, 2] index_dims [0, 2] : tensor<4x3x?xbf16, #from>, tensor<4x?xi32, #ids> -> tensor<5x3x?xbf16, #to>
  tenon.output 0 "dx", %dx : tensor<5x3x?xbf16, #to>
  return
}

// -----

// In the step of fused attention, too.
func.func @step(%q: tensor<2x5x4x64xf32>, %k: tensor<2x8x4x64xf32>, %v: tensor<2x8x4x40xf32>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [], scale = 0.125 : f64, rate = 0.0 : f64, site = 0 : i64}> ({
  ^bb0(%x: f32):
    // expected-error@+1 {{not supported yet: math.cbrt in a CPU kernel}}
    %r = math.cbrt %x : f32
    "tenon.yield"(%r, %x) : (f32, f32) -> ()
  }) : (tensor<2x5x4x64xf32>, tensor<2x8x4x64xf32>, tensor<2x8x4x40xf32>) -> (tensor<2x5x4x40xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  tenon.output 0 "y", %y : tensor<2x5x4x40xf32>
  return
}

// -----

// And of scalars in front of a kernel, which repeats them.
func.func @outside(%x: tensor<4xf32>) {
  %c = arith.constant 8.0 : f32
  // expected-error@+1 {{not supported yet: math.cbrt in a CPU kernel}}
  %r = math.cbrt %c : f32
  %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> {
  ^bb0(%i: index):
    %e = tenon.at %x[%i] : tensor<4xf32> -> f32
    %s = arith.mulf %e, %r : f32
    tenon.put 0 [%i], %s : f32
  }
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}
