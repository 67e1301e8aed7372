// RUN: tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// CHECK: [[$SUM:#map[0-9]*]] = affine_map<(d0, d1) -> (d0 + d1)>

// CHECK-LABEL: func.func @reals
func.func @reals(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %c: tensor<4x8xi1>) {
  // CHECK: %{{.*}} = tenon.neg %{{.*}} : tensor<4x8xf32>
  %r1 = tenon.neg %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.exp %{{.*}} : tensor<4x8xf32>
  %r2 = tenon.exp %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.log %{{.*}} : tensor<4x8xf32>
  %r3 = tenon.log %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.sqrt %{{.*}} : tensor<4x8xf32>
  %r4 = tenon.sqrt %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.abs %{{.*}} : tensor<4x8xf32>
  %r5 = tenon.abs %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.round %{{.*}} : tensor<4x8xf32>
  %ro = tenon.round %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.floor %{{.*}} : tensor<4x8xf32>
  %fl = tenon.floor %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.ceil %{{.*}} : tensor<4x8xf32>
  %ce = tenon.ceil %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.sin %{{.*}} : tensor<4x8xf32>
  %r6 = tenon.sin %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.cos %{{.*}} : tensor<4x8xf32>
  %r7 = tenon.cos %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.atan %{{.*}} : tensor<4x8xf32>
  %t = tenon.atan %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.erf %{{.*}} : tensor<4x8xf32>
  %er = tenon.erf %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.tanh %{{.*}} : tensor<4x8xf32>
  %r8 = tenon.tanh %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.sigmoid %{{.*}} : tensor<4x8xf32>
  %r9 = tenon.sigmoid %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.relu %{{.*}} : tensor<4x8xf32>
  %r10 = tenon.relu %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.gelu %{{.*}} : tensor<4x8xf32>
  %r11 = tenon.gelu %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.gelu_tanh %{{.*}} : tensor<4x8xf32>
  %r12 = tenon.gelu_tanh %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.stop_gradient %{{.*}} : tensor<4x8xf32>
  %r13 = tenon.stop_gradient %x : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.add %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %r14 = tenon.add %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.sub %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %r15 = tenon.sub %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.mul %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %r16 = tenon.mul %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.div %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %r17 = tenon.div %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.pow %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %r18 = tenon.pow %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.max %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %r19 = tenon.max %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.min %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %r20 = tenon.min %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.activation_grad "gelu_tanh" %{{.*}}, %{{.*}} : tensor<4x8xf32>
  %g = tenon.activation_grad "gelu_tanh" %x, %y : tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xi1>, tensor<4x8xf32>
  %s = tenon.select %c, %x, %y : tensor<4x8xi1>, tensor<4x8xf32>
  // CHECK: %{{.*}} = tenon.convert %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
  %v = tenon.convert %x : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %{{.*}} = tenon.compare ne %{{.*}}, %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %e = tenon.compare ne %x, %y : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: %{{.*}} = tenon.map %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4x8xf32> {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[C:.*]]: i1):
  // CHECK-NEXT: %[[Z:.*]] = math.roundeven %[[X]] : f32
  // CHECK-NEXT: %[[Y:.*]] = arith.select %[[C]], %[[Z]], %[[X]] : f32
  // CHECK-NEXT: tenon.yield %[[Y]] : f32
  // CHECK-NEXT: }
  %m = tenon.map %x, %c : tensor<4x8xf32>, tensor<4x8xi1> -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: i1):
    %z = math.roundeven %a : f32
    %w = arith.select %b, %z, %a : f32
    tenon.yield %w : f32
  }
  // CHECK: %{{.*}} = tenon.map -> tensor<4xi64> attributes {note} {
  // CHECK-NEXT: %[[N:.*]] = arith.constant 7 : i64
  // CHECK-NEXT: tenon.yield %[[N]] : i64
  %n = tenon.map -> tensor<4xi64> attributes {note} {
    %seven = arith.constant 7 : i64
    tenon.yield %seven : i64
  }
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%i: tensor<?xi64, affine_map<(d0, d1) -> (d0 + d1)>>, %c: tensor<i1>) {
  // CHECK: %{{.*}} = tenon.floordiv %{{.*}}, %{{.*}} : tensor<?xi64, [[$SUM]]>
  %q0 = tenon.floordiv %i, %i : tensor<?xi64, affine_map<(d0, d1) -> (d0 + d1)>>
  // CHECK: %{{.*}} = tenon.mod %{{.*}}, %{{.*}} : tensor<?xi64, [[$SUM]]>
  %q1 = tenon.mod %i, %i : tensor<?xi64, affine_map<(d0, d1) -> (d0 + d1)>>
  // CHECK: %{{.*}} = tenon.not %{{.*}} : tensor<i1>
  %n = tenon.not %c : tensor<i1>
  // CHECK: %{{.*}} = tenon.and %{{.*}}, %{{.*}} : tensor<i1>
  %p0 = tenon.and %c, %c : tensor<i1>
  // CHECK: %{{.*}} = tenon.or %{{.*}}, %{{.*}} : tensor<i1>
  %p1 = tenon.or %c, %c : tensor<i1>
  return
}
