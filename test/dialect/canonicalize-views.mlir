// Views, moves and sources.
// RUN: tenon-opt %s --canonicalize | FileCheck %s

// CHECK: [[$THREE:#map[0-9]*]] = affine_map<() -> (3)>

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @identities(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %b = tenon.broadcast %x [0, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %r = tenon.reshape %x [1, 1] : tensor<4x8xf32> -> tensor<4x8xf32>
  %s = tenon.slice %x 1 from affine_map<() -> (0)> : tensor<4x8xf32> -> tensor<4x8xf32>
  %p = tenon.pad %x 0 from affine_map<() -> (0)> : tensor<4x8xf32> -> tensor<4x8xf32>
  %c = tenon.concat 0 %x : tensor<4x8xf32> -> tensor<4x8xf32>
  %d = tenon.dropout %x rate 0.0 site 7 : tensor<4x8xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %b, %r, %s, %p, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// There and back: transposition, split and merge, pad and slice, the parts of a concatenation.
// CHECK-LABEL: func.func @inverse
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xf32>, %[[Y:.*]]: tensor<2x4xf32>)
func.func @inverse(%x: tensor<4x4xf32>, %y: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>) {
  %t = tenon.broadcast %x [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %tt = tenon.broadcast %t [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %r = tenon.reshape %x [1, 2] : tensor<4x4xf32> -> tensor<4x2x2xf32>
  %rr = tenon.reshape %r [1, -2] : tensor<4x2x2xf32> -> tensor<4x4xf32>
  %p = tenon.pad %x 0 from affine_map<() -> (2)> : tensor<4x4xf32> -> tensor<9x4xf32>
  %ps = tenon.slice %p 0 from affine_map<() -> (2)> : tensor<9x4xf32> -> tensor<4x4xf32>
  %c = tenon.concat 0 %x, %y : tensor<4x4xf32>, tensor<2x4xf32> -> tensor<6x4xf32>
  %cs = tenon.slice %c 0 from affine_map<() -> (4)> : tensor<6x4xf32> -> tensor<2x4xf32>
  %left = tenon.slice %x 1 from affine_map<() -> (0)> : tensor<4x4xf32> -> tensor<4x1xf32>
  %right = tenon.slice %x 1 from affine_map<() -> (1)> : tensor<4x4xf32> -> tensor<4x3xf32>
  %whole = tenon.concat 1 %left, %right : tensor<4x1xf32>, tensor<4x3xf32> -> tensor<4x4xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[Y]], %[[X]]
  return %tt, %rr, %ps, %cs, %whole : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>
}

// One transposition of a square, a merge that is not the split's, a slice across two parts, halves in the wrong order are something else.
// CHECK-LABEL: func.func @not_inverse
func.func @not_inverse(%x: tensor<4x4xf32>, %y: tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<8x2xf32>, tensor<2x4xf32>, tensor<4x4xf32>) {
  // CHECK: tenon.broadcast %{{.*}} [1, 0]
  %t = tenon.broadcast %x [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  // CHECK: tenon.reshape %{{.*}} [1, 2]
  %r = tenon.reshape %x [1, 2] : tensor<4x4xf32> -> tensor<4x2x2xf32>
  // CHECK: tenon.reshape %{{.*}} [-2, 1]
  %rr = tenon.reshape %r [-2, 1] : tensor<4x2x2xf32> -> tensor<8x2xf32>
  // CHECK: tenon.concat
  %c = tenon.concat 0 %x, %y : tensor<4x4xf32>, tensor<2x4xf32> -> tensor<6x4xf32>
  // CHECK: tenon.slice
  %cs = tenon.slice %c 0 from affine_map<() -> (3)> : tensor<6x4xf32> -> tensor<2x4xf32>
  // CHECK: tenon.slice
  %left = tenon.slice %x 1 from affine_map<() -> (0)> : tensor<4x4xf32> -> tensor<4x2xf32>
  // CHECK: tenon.slice
  %right = tenon.slice %x 1 from affine_map<() -> (2)> : tensor<4x4xf32> -> tensor<4x2xf32>
  // CHECK: tenon.concat
  %swapped = tenon.concat 1 %right, %left : tensor<4x2xf32>, tensor<4x2xf32> -> tensor<4x4xf32>
  // CHECK: return
  return %t, %rr, %cs, %swapped : tensor<4x4xf32>, tensor<8x2xf32>, tensor<2x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @composed
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32{{.*}}>, %[[Y:.*]]: tensor<8xf32>)
func.func @composed(%x: tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>>, %y: tensor<8xf32>) -> (tensor<?x2xf32, affine_map<(d0) -> (d0, 2)>>, tensor<?x12xf32, affine_map<(d0) -> (d0, 12)>>, tensor<2x8xf32>, tensor<3x8x8xf32>) {
  // CHECK: %[[S:.*]] = tenon.slice %[[X]] 1 from [[$THREE]]
  %s1 = tenon.slice %x 1 from affine_map<() -> (1)> : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<?x6xf32, affine_map<(d0) -> (d0, 6)>>
  %s2 = tenon.slice %s1 1 from affine_map<() -> (2)> : tensor<?x6xf32, affine_map<(d0) -> (d0, 6)>> -> tensor<?x2xf32, affine_map<(d0) -> (d0, 2)>>
  // CHECK: %[[P:.*]] = tenon.pad %[[X]] 1 from [[$THREE]]
  %p1 = tenon.pad %x 1 from affine_map<() -> (1)> : tensor<?x8xf32, affine_map<(d0) -> (d0, 8)>> -> tensor<?x9xf32, affine_map<(d0) -> (d0, 9)>>
  %p2 = tenon.pad %p1 1 from affine_map<() -> (2)> : tensor<?x9xf32, affine_map<(d0) -> (d0, 9)>> -> tensor<?x12xf32, affine_map<(d0) -> (d0, 12)>>
  // CHECK: %[[B:.*]] = tenon.broadcast %[[Y]] [1] : tensor<8xf32> -> tensor<2x8xf32>
  %b1 = tenon.broadcast %y [1] : tensor<8xf32> -> tensor<8x8xf32>
  %b2 = tenon.slice %b1 0 from affine_map<() -> (5)> : tensor<8x8xf32> -> tensor<2x8xf32>
  // CHECK: %[[T:.*]] = tenon.broadcast %[[Y]] [1] : tensor<8xf32> -> tensor<3x8x8xf32>
  %t = tenon.broadcast %b1 [2, 1] : tensor<8x8xf32> -> tensor<3x8x8xf32>
  // CHECK: return %[[S]], %[[P]], %[[B]], %[[T]]
  return %s2, %p2, %b2, %t : tensor<?x2xf32, affine_map<(d0) -> (d0, 2)>>, tensor<?x12xf32, affine_map<(d0) -> (d0, 12)>>, tensor<2x8xf32>, tensor<3x8x8xf32>
}

// Windows of one element are a dimension of size 1, windows of a constant that also stands outside that constant; others stay.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[P:.*]]: tensor<4x1xf32>)
func.func @windows(%x: tensor<4x8xf32>, %p: tensor<4x1xf32>) -> (tensor<4x8x1xf32>, tensor<4x1xf32>, tensor<4x8x3xf32>, tensor<4x4x1xf32>, tensor<4x8x3xf32>) {
  // CHECK: %[[ZERO:.*]] = tenon.constant 0.000000e+00 : tensor<4x8x3xf32>
  // CHECK: %[[ONE:.*]] = tenon.reshape %[[X]] [1, 2] : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %one = tenon.window %x [1] stride [1] dilation [1] pad [0] divisor [1] fill 1.0 : tensor<4x8xf32> -> tensor<4x8x1xf32>
  %same = tenon.window paired %p [0] stride [1] dilation [5] pad [0] divisor [1] fill 0.0 : tensor<4x1xf32> -> tensor<4x1xf32>
  %zero = tenon.constant 0.0 : tensor<4x8xf32>
  %zeros = tenon.window %zero [1] stride [1] dilation [1] pad [1] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<4x8x3xf32>
  // CHECK: %[[APART:.*]] = tenon.window %[[X]] [1] stride [2]
  %apart = tenon.window %x [1] stride [2] dilation [1] pad [0] divisor [1] fill 0.0 : tensor<4x8xf32> -> tensor<4x4x1xf32>
  // CHECK: %[[OTHER:.*]] = tenon.window %{{.*}} fill 1.000000e+00
  %other = tenon.window %zero [1] stride [1] dilation [1] pad [1] divisor [1] fill 1.0 : tensor<4x8xf32> -> tensor<4x8x3xf32>
  // CHECK: return %[[ONE]], %[[P]], %[[ZERO]], %[[APART]], %[[OTHER]]
  return %one, %same, %zeros, %apart, %other : tensor<4x8x1xf32>, tensor<4x1xf32>, tensor<4x8x3xf32>, tensor<4x4x1xf32>, tensor<4x8x3xf32>
}
