// The scalar code of sources, views, moves of elements, dropout and row ops: what its kernel computes for one element, in this order and nothing else.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// CHECK-LABEL: func.func @dropout(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.addi
// CHECK-NEXT: tenon.random_keep
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @dropout(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.dropout %x rate 0.1 site 7 : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// The noise is drawn where the row is read, twice, and is no tensor: rows begin at multiples of 64.
// CHECK-LABEL: func.func @gumbel(
// CHECK: tenon.nest {{.*}} : tensor<4xi32> {
// CHECK: tenon.fold max
// CHECK: tenon.random_bits %{{.*}} site 7
// CHECK-NEXT: arith.shrui
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.log
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tenon.at %arg0
// CHECK-NEXT: math.log
// CHECK-NEXT: arith.subf
// CHECK-NEXT: tenon.yield
// CHECK: tenon.fold min
// CHECK: tenon.random_bits %{{.*}} site 7
// CHECK: arith.cmpf oeq
// CHECK: arith.select
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @gumbel(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %z = tenon.gumbel %x site 7 : tensor<4x8xf32>
  %y = tenon.argmax %z dim 1 : tensor<4x8xf32> -> tensor<4xi32>
  tenon.output 0 "y", %y : tensor<4xi32>
  return
}

// Of whole numbers, along the first dimension.
// CHECK-LABEL: func.func @argmax(
// CHECK: tenon.nest
// CHECK: tenon.fold max
// CHECK: tenon.fold min
// CHECK: arith.cmpi eq
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @argmax(%x: tensor<4x8xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.argmax %x dim 0 : tensor<4x8xi32> -> tensor<8xi32>
  tenon.output 0 "y", %y : tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @constant(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @constant() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.constant 0.5 : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @iota(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: arith.index_cast
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @iota() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.iota 1 : tensor<4x8xi32>
  tenon.output 0 "y", %y : tensor<4x8xi32>
  return
}

// CHECK-LABEL: func.func @sinusoid(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: arith.cmpi slt
// CHECK-NEXT: arith.subi
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.index_cast
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.sin
// CHECK-NEXT: math.cos
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpi slt
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @sinusoid() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.sinusoid start affine_map<() -> (0)> : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @broadcast(%x: tensor<8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.broadcast %x [1] : tensor<8xf32> -> tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @reshape(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: arith.remsi
// CHECK-NEXT: arith.divsi
// CHECK-NEXT: tenon.at
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @reshape(%x: tensor<4x2x4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.reshape %x [1, -2] : tensor<4x2x4xf32> -> tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @concat(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @concat(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.concat 0 %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8x8xf32>
  tenon.output 0 "y", %y : tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @pad(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @pad(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.pad %x 0 from affine_map<() -> (1)> : tensor<4x8xf32> -> tensor<6x8xf32>
  tenon.output 0 "y", %y : tensor<6x8xf32>
  return
}

// CHECK-LABEL: func.func @slice(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @slice(%x: tensor<9x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.slice %x 0 from affine_map<() -> (2)> : tensor<9x8xf32> -> tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @gather(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @gather(%t: tensor<50x8xf32>, %i: tensor<4xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gather %t[%i] dim 0 x_dims [-1, 1] index_dims [0] : tensor<50x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @softmax(
// CHECK: tenon.nest
// CHECK: tenon.fold max
// CHECK: tenon.fold sum
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.subf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.divf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @softmax(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.softmax %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @reduce(
// CHECK: tenon.nest
// CHECK: tenon.fold max
// CHECK: tenon.at
// CHECK: tenon.yield
// CHECK: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @reduce(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.reduce max %x [1] : tensor<4x8xf32> -> tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @cross_entropy_grad(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: arith.cmpi eq
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.subf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @cross_entropy_grad(%d: tensor<4xf32>, %x: tensor<4x8xf32>, %t: tensor<4xi32>, %l: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.cross_entropy_grad %d, %x, %t, %l spread 0.0 skip -1 : tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @normalize_grad(
// CHECK: tenon.nest
// CHECK: tenon.fold sum
// CHECK: tenon.fold sum
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.subf
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @normalize_grad(%d: tensor<4x8xf32>, %x: tensor<4x8xf32>, %m: tensor<4xf32>, %l: tensor<4xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.normalize_grad %d, %x, %m, %l : tensor<4x8xf32>, tensor<4xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// Nothing is asked behind the last place: there, windows stay inside.
// CHECK-LABEL: func.func @window(
// CHECK: tenon.nest
// CHECK: arith.muli
// CHECK-NEXT: arith.addi
// CHECK: arith.addi
// CHECK: arith.cmpi sle
// CHECK-NEXT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @window(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.window %x [0] stride [2] dilation [1] pad [1] divisor [1] fill 0.5 : tensor<4x8xf32> -> tensor<2x3x8xf32>
  tenon.output 0 "y", %y : tensor<2x3x8xf32>
  return
}
