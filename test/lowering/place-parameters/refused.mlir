// RUN: tenon-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tenon-place-parameters)'

// Offsets are 64-bit numbers of bytes: 2^61 elements of 4 bytes do not fit ..
// expected-error@+1 {{not supported yet: parameters of 2^63 bytes or more}}
tenon.parameter @one : tensor<2305843009213693952xf32>

// -----

// .. nor do some that fit alone, with their stacks.
tenon.parameter @first stacked : tensor<4x268435456x1073741824xf32>
// expected-error@+1 {{not supported yet: parameters of 2^63 bytes or more}}
tenon.parameter @second stacked : tensor<4x268435456x1073741824xf32>
