// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-emit-cpu)'

// Only the kernel form has code.
func.func @tensor_form(%x: tensor<8xf32>) {
  // expected-error@+1 {{not supported yet: tenon.tanh in the kernel form of the CPU}}
  %y = tenon.tanh %x : tensor<8xf32>
  tenon.output 0 "y", %y : tensor<8xf32>
  return
}

// -----

func.func @gradient(%x: tensor<8xf32>) {
  // expected-error@+1 {{no parameter nobody}}
  tenon.write_gradient @nobody, %x : tensor<8xf32>
  return
}

// -----

func.func @state() {
  // expected-error@+1 {{the entry has no state number 0}}
  %x = tenon.read_state 0 : tensor<8xf32>
  tenon.output 0 "x", %x : tensor<8xf32>
  return
}
