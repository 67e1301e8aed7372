// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(tenon-plan-memory))'
// RUN: not tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-plan-memory{nominal=0}))' 2>&1 | FileCheck %s
// CHECK: error: 'func.func' op cannot be planned for dims of size 0

func.func @gradient(%x: tensor<8xf32>) {
  // expected-error@+1 {{no parameter nobody}}
  tenon.write_gradient @nobody, %x : tensor<8xf32>
  return
}

// -----

func.func @state(%x: tensor<8xf32>) attributes {tenon.states = [tensor<8xf32>]} {
  // expected-error@+1 {{the entry has no state number 1}}
  tenon.write_state 1, %x : tensor<8xf32>
  return
}

// -----

// expected-error@+1 {{has no body}}
func.func private @elsewhere(tensor<8xf32>)
