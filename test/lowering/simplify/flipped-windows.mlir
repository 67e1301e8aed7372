// Windows that are read backwards along what is summed stay a view: the other factor is read backwards.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify))' --remark-format=emitRemark --remarks-filter-missed=simplify -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
#long = affine_map<(d0, d1) -> (d0, d1 * 2 - 1, 6)>
#windows = affine_map<(d0, d1) -> (d0, d1, d1, 6)>
#x = affine_map<(d0, d1) -> (d0, d1, 6)>
#filter = affine_map<(d0, d1) -> (d1, 6)>
#places = affine_map<(d0, d1) -> (d1)>

// A filter for each distance, of as many places as the text has.
// CHECK-LABEL: func.func @long
// CHECK: %[[WINDOWS:.*]] = tenon.window %arg2
// CHECK: %[[BACK:.*]] = tenon.gather %arg3[%{{.*}}] dim 0 x_dims [-1, 1] index_dims [0] : tensor<?x6xf32
// CHECK-NEXT: %[[ALL:.*]] = tenon.broadcast %[[BACK]] [2, 3]
// CHECK-NEXT: %[[TERMS:.*]] = tenon.mul %[[WINDOWS]], %[[ALL]]
// CHECK-NEXT: tenon.reduce sum %[[TERMS]] [2]
func.func @long(%B: index, %T: index, %x: tensor<?x?x6xf32, #long>, %f: tensor<?x6xf32, #filter>) attributes {tenon.dims = ["B", "T"]} {
  %w = tenon.window %x [1] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<?x?x6xf32, #long> -> tensor<?x?x?x6xf32, #windows>
  %n = tenon.size #places : tensor<i32>
  %all = tenon.broadcast %n [] : tensor<i32> -> tensor<?xi32, #places>
  %one = tenon.constant 1.0 : tensor<?xi32, #places>
  %last = tenon.sub %all, %one : tensor<?xi32, #places>
  %i = tenon.iota 0 : tensor<?xi32, #places>
  %back = tenon.sub %last, %i : tensor<?xi32, #places>
  %g = tenon.gather %w[%back] dim 2 x_dims [0, 1, -1, 3] index_dims [2] : tensor<?x?x?x6xf32, #windows>, tensor<?xi32, #places> -> tensor<?x?x?x6xf32, #windows>
  %b = tenon.broadcast %f [2, 3] : tensor<?x6xf32, #filter> -> tensor<?x?x?x6xf32, #windows>
  %p = tenon.mul %g, %b : tensor<?x?x?x6xf32, #windows>
  %y = tenon.reduce sum %p [2] : tensor<?x?x?x6xf32, #windows> -> tensor<?x?x6xf32, #x>
  tenon.output 0 "y", %y : tensor<?x?x6xf32, #x>
  return
}

// Of known size, as the second factor. What is the same along the windows is the same backwards.
// CHECK-LABEL: func.func @known
// CHECK: %[[WINDOWS:.*]] = tenon.window %arg0
// CHECK: %[[BACK:.*]] = tenon.gather %arg1[
// CHECK: tenon.mul %[[WINDOWS]], %{{.*}} : tensor<8x3x6xf32>
// CHECK: %[[SAME:.*]] = tenon.broadcast %arg2 [2]
// CHECK: tenon.mul %[[WINDOWS]], %[[SAME]]
// CHECK-NOT: tenon.gather
func.func @known(%x: tensor<10x6xf32>, %f: tensor<3xf32>, %c: tensor<6xf32>) {
  %w = tenon.window %x [0] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<10x6xf32> -> tensor<8x3x6xf32>
  %last = tenon.constant 2.0 : tensor<3xi32>
  %i = tenon.iota 0 : tensor<3xi32>
  %back = tenon.sub %last, %i : tensor<3xi32>
  %g = tenon.gather %w[%back] dim 1 x_dims [0, -1, 2] index_dims [1] : tensor<8x3x6xf32>, tensor<3xi32> -> tensor<8x3x6xf32>
  %b = tenon.broadcast %f [1] : tensor<3xf32> -> tensor<8x3x6xf32>
  %p = tenon.mul %b, %g : tensor<8x3x6xf32>
  %y = tenon.reduce sum %p [1] : tensor<8x3x6xf32> -> tensor<8x6xf32>
  %s = tenon.broadcast %c [2] : tensor<6xf32> -> tensor<8x3x6xf32>
  %q = tenon.mul %g, %s : tensor<8x3x6xf32>
  %z = tenon.reduce sum %q [1] : tensor<8x3x6xf32> -> tensor<8x6xf32>
  tenon.output 0 "y", %y : tensor<8x6xf32>
  tenon.output 1 "z", %z : tensor<8x6xf32>
  return
}

// Another order, what is no windows, and what is summed along something else stay as they are.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: tenon.gather
// WHY: no factor is windows that are read backwards along what is summed
func.func @others(%x: tensor<10x6xf32>, %v: tensor<8x3x6xf32>, %f: tensor<3xf32>) {
  %w = tenon.window %x [0] stride [1] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<10x6xf32> -> tensor<8x3x6xf32>
  %last = tenon.constant 2.0 : tensor<3xi32>
  %three = tenon.constant 3.0 : tensor<3xi32>
  %i = tenon.iota 0 : tensor<3xi32>
  %back = tenon.sub %last, %i : tensor<3xi32>
  %beyond = tenon.sub %three, %i : tensor<3xi32>
  %b = tenon.broadcast %f [1] : tensor<3xf32> -> tensor<8x3x6xf32>
  %g = tenon.gather %w[%beyond] dim 1 x_dims [0, -1, 2] index_dims [1] clamp : tensor<8x3x6xf32>, tensor<3xi32> -> tensor<8x3x6xf32>
  %p = tenon.mul %g, %b : tensor<8x3x6xf32>
  %y = tenon.reduce sum %p [1] : tensor<8x3x6xf32> -> tensor<8x6xf32>
  %h = tenon.gather %v[%back] dim 1 x_dims [0, -1, 2] index_dims [1] : tensor<8x3x6xf32>, tensor<3xi32> -> tensor<8x3x6xf32>
  %q = tenon.mul %h, %b : tensor<8x3x6xf32>
  %z = tenon.reduce sum %q [1] : tensor<8x3x6xf32> -> tensor<8x6xf32>
  %k = tenon.gather %w[%back] dim 1 x_dims [0, -1, 2] index_dims [1] : tensor<8x3x6xf32>, tensor<3xi32> -> tensor<8x3x6xf32>
  %r = tenon.mul %k, %b : tensor<8x3x6xf32>
  %u = tenon.reduce sum %r [2] : tensor<8x3x6xf32> -> tensor<8x3xf32>
  tenon.output 0 "y", %y : tensor<8x6xf32>
  tenon.output 1 "z", %z : tensor<8x6xf32>
  tenon.output 2 "u", %u : tensor<8x3xf32>
  return
}
