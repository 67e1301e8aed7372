// What the verifiers of sources, views and moves refuse.
// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1() {
  // expected-error @+1 {{'tenon.constant' op expects a whole number for integer elements, got 5.000000e-01}}
  %y = tenon.constant 0.5 : tensor<4xi32>
  return
}

// -----
func.func @constant_c1_infinite() {
  // expected-error @+1 {{'tenon.constant' op expects a whole number for integer elements, got INF}}
  %y = tenon.constant 0x7FF0000000000000 : tensor<4xi64>
  return
}

// -----
func.func @constant_c2() {
  // expected-error @+1 {{'tenon.constant' op expects a number of 'i32', got 2.147484e+09}}
  %y = tenon.constant 2147483648.0 : tensor<4xi32>
  return
}

// -----
func.func @constant_c2_truth() {
  // expected-error @+1 {{'tenon.constant' op expects a number of 'i1', got 2.000000e+00}}
  %y = tenon.constant 2.0 : tensor<4xi1>
  return
}

// -----
func.func @size_c1() {
  // expected-error @+1 {{'tenon.size' op expects one form, got 2}}
  %y = tenon.size affine_map<(d0) -> (d0, d0)> : tensor<i32>
  return
}

// -----
func.func @size_c2() {
  // expected-error @+1 {{'tenon.size' op expects a scalar result, got 'tensor<4xi32>'}}
  %y = tenon.size affine_map<(d0) -> (d0)> : tensor<4xi32>
  return
}

// -----
func.func @iota_c1() {
  // expected-error @+1 {{'tenon.iota' op expects a dimension of 'tensor<4xi32>', got 1}}
  %y = tenon.iota 1 : tensor<4xi32>
  return
}

// -----
func.func @iota_c1_below() {
  // expected-error @+1 {{'tenon.iota' op attribute 'dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %y = tenon.iota -1 : tensor<4xi32>
  return
}

// -----
func.func @sinusoid_c1() {
  // expected-error @+1 {{'tenon.sinusoid' op expects a table [places, features] with a known number of features, got 'tensor<8xf32>'}}
  %y = tenon.sinusoid start affine_map<() -> (0)> : tensor<8xf32>
  return
}

// -----
// broadcast C1: one entry per dimension ..
func.func @broadcast_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.broadcast' op expects one result dimension per operand dimension, got 1 for rank 2}}
  %y = tenon.broadcast %x [0] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----
// .. all different.
func.func @broadcast_c1_twice(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'tenon.broadcast' op expects different result dimensions, got 0}}
  %y = tenon.broadcast %x [0, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  return
}

// -----
func.func @broadcast_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tenon.broadcast' op expects one element type, got 'f32' and 'f64'}}
  %y = tenon.broadcast %x [0] : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----
// reshape C1: a group too many, and one too few.
func.func @reshape_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.reshape' op expects groups inside both shapes, got 1 for 'tensor<4x8xf32>' and 'tensor<4x2x4xf32>'}}
  %y = tenon.reshape %x [1, 2, 1] : tensor<4x8xf32> -> tensor<4x2x4xf32>
  return
}

// -----
func.func @reshape_c1_few(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.reshape' op expects groups that cover both shapes, got 'tensor<4x8xf32>' and 'tensor<4x8xf32>'}}
  %y = tenon.reshape %x [1] : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----
func.func @reshape_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.reshape' op expects one element type, got 'tensor<4x8xf32>' and 'tensor<4x2x4xf64>'}}
  %y = tenon.reshape %x [1, 2] : tensor<4x8xf32> -> tensor<4x2x4xf64>
  return
}

// -----
func.func @reshape_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.reshape' op expects equal sizes within a group, operand dimension 1, result dimension 1}}
  %y = tenon.reshape %x [1, 2] : tensor<4x8xf32> -> tensor<4x2x5xf32>
  return
}

// -----
func.func @slice_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.slice' op expects dimension 0 to keep its size, got 4 and 5}}
  %y = tenon.slice %x 1 from affine_map<() -> (2)> : tensor<4x8xf32> -> tensor<5x3xf32>
  return
}

// -----
func.func @pad_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.pad' op expects operand and result of one rank and element type, got 'tensor<4x8xf32>' and 'tensor<4x9xf64>'}}
  %y = tenon.pad %x 1 from affine_map<() -> (1)> : tensor<4x8xf32> -> tensor<4x9xf64>
  return
}

// -----
func.func @concat_c1(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.concat' op expects parts that have a dimension 2}}
  %y = tenon.concat 2 %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  return
}

// -----
func.func @concat_c1_others(%x: tensor<4x8xf32>, %z: tensor<4x9xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.concat' op expects parts that agree but along dimension 0, got 'tensor<4x8xf32>' and 'tensor<4x9xf32>'}}
  %y = tenon.concat 0 %x, %z : tensor<4x8xf32>, tensor<4x9xf32> -> tensor<8x8xf32>
  return
}

// -----
func.func @gather_c1(%x: tensor<50x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.gather' op expects one entry of x_dims per dimension of x, -1 at the gathered one}}
  %y = tenon.gather %x[%i] dim 0 x_dims [1, -1] index_dims [0] : tensor<50x8xf32>, tensor<3xi32> -> tensor<3x8xf32>
  return
}

// -----
func.func @gather_c2(%x: tensor<50x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.gather' op expects one entry of index_dims per dimension of the index}}
  %y = tenon.gather %x[%i] dim 0 x_dims [-1, 1] index_dims [0, 1] : tensor<50x8xf32>, tensor<3xi32> -> tensor<3x8xf32>
  return
}

// -----
func.func @gather_c3(%x: tensor<50x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.gather' op inferred type(s) 'tensor<3x8xf32>' are incompatible with return type(s) of operation 'tensor<3x9xf32>'}}
  %y = tenon.gather %x[%i] dim 0 x_dims [-1, 1] index_dims [0] : tensor<50x8xf32>, tensor<3xi32> -> tensor<3x9xf32>
  return
}

// -----
// Both lists name dimension 0, with sizes 8 and 3.
func.func @gather_c3_twice(%x: tensor<50x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.gather' op expects dimensions of the result in x_dims and index_dims, with one size each}}
  %y = tenon.gather %x[%i] dim 0 x_dims [-1, 0] index_dims [0] : tensor<50x8xf32>, tensor<3xi32> -> tensor<8xf32>
  return
}

// -----
func.func @gather_c4(%x: tensor<50x8xf32>, %i: tensor<3xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'tenon.gather' op expects every dimension of the result to be named}}
  %y = tenon.gather %x[%i] dim 0 x_dims [-1, 2] index_dims [0] : tensor<50x8xf32>, tensor<3xi32> -> tensor<3x2x8xf32>
  return
}

// -----
func.func @scatter_add_c3(%dy: tensor<3x9xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'tenon.scatter_add' op expects dy of type 'tensor<3x8xf32>', got 'tensor<3x9xf32>'}}
  %y = tenon.scatter_add %dy[%i] dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x9xf32>, tensor<3xi32> -> tensor<50x8xf32>
  return
}

// -----
func.func @scatter_add_c5(%dy: tensor<3x8xf32>, %i: tensor<3xi32>, %base: tensor<40x8xf32>) {
  // expected-error @+1 {{'tenon.scatter_add' op expects the tensor it adds onto to have the type of its result}}
  %y = tenon.scatter_add %dy[%i] onto %base : tensor<40x8xf32> dim 0 x_dims [-1, 1] index_dims [0] : tensor<3x8xf32>, tensor<3xi32> -> tensor<50x8xf32>
  return
}

// -----

func.func @running_sum_c1(%x: tensor<3x8xf32>) {
  // expected-error @+1 {{'tenon.running_sum' op expects a dimension of 'tensor<3x8xf32>', got 2}}
  %y = tenon.running_sum %x dim 2 : tensor<3x8xf32>
  return
}

// -----
func.func @window_c1(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.window' op expects ascending dimensions inside rank 2}}
  %y = tenon.window %x [1, 0] stride [1, 1] dilation [1, 1] pad [0, 0] divisor [1, 1] fill 0.0 : tensor<4x8xf32> -> tensor<4x1x8x1xf32>
  return
}

// -----
func.func @window_c1_paired(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.window' op expects ascending dimensions inside rank 2}}
  %y = tenon.window paired %x [1] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----
func.func @window_c2(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.window' op expects one stride, dilation, pad and divisor for each dimension, strides and divisors at least 1}}
  %y = tenon.window %x [1] stride [0] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<4x6x3xf32>
  return
}

// -----
func.func @window_c3_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.window' op expects two dimensions for each windowed one and the element type of its operand, got 'tensor<4x8xf32>' and 'tensor<4x6xf32>'}}
  %y = tenon.window %x [1] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<4x6xf32>
  return
}

// -----
func.func @window_c3(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.window' op expects dimension 0 to keep its size, got 4 and 5}}
  %y = tenon.window %x [1] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<5x6x3xf32>
  return
}

// -----
func.func @window_c3_paired(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'tenon.window' op expects dimension 1 to keep its size, got 8 and 7}}
  %y = tenon.window paired %x [0] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<6x7xf32>
  return
}

// -----
func.func @window_c5(%x: tensor<8xi32>) {
  // expected-error @+1 {{'tenon.window' op expects a fill that 'i32' has, got 5.000000e-01}}
  %y = tenon.window %x [0] stride [1] dilation [1] pad [0] divisor [1] fill 0.5 : tensor<8xi32> -> tensor<6x3xi32>
  return
}
