// Contractions that are read under one condition alone: through elementwise ops and repetitions, as logits of rows that count, one behind the other; what such functions read besides; conditions that stand behind them.
// RUN: tenon-opt %s --tenon-contract-where | FileCheck %s
// RUN: tenon-opt %s --tenon-contract-where --remark-format=emitRemark --remarks-filter-missed=contract-where -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY --implicit-check-not=Remark=
// Readers are asked first, so that reasons come from the last op to the first.
// WHY: Remark="its result is not read under one condition alone"
// WHY: Remark="the condition is not one of rows of one operand, with columns enough of the other one"
// WHY: Remark="the condition is not one of rows of one operand, with columns enough of the other one"
// WHY: Remark="its result is not read under one condition alone"
// WHY: Remark="its result is not read under one condition alone"
// WHY: Remark="its result is not read under one condition alone"

#bt = affine_map<(d0, d1) -> (d0, d1)>
#x = affine_map<(d0, d1) -> (d0, d1, 8)>
#f = affine_map<(d0, d1) -> (d0, d1, 16)>

// An expert: the condition is made behind the first contraction, and moved.
// CHECK-LABEL: func.func @expert
// CHECK: %[[C:.*]] = tenon.compare
// CHECK: %[[H:.*]] = tenon.dot_where %{{.*}}[0, 1, 3], %{{.*}}[2, 3] where %[[C]][0, 1] : tensor<?x?x8xf32, #{{.*}}>, tensor<16x8xf32>, tensor<?x?xi1, #{{.*}}> -> tensor<?x?x16xf32, #{{.*}}>
// CHECK: %[[S:.*]] = tenon.sigmoid %[[H]]
// CHECK: %[[M:.*]] = tenon.mul %[[H]], %[[S]]
// CHECK: %[[Y:.*]] = tenon.dot_where %[[M]][0, 1, 3], %{{.*}}[2, 3] where %[[C]][0, 1]
// The gradient of the share is 0 where nothing is chosen, whatever the sum would be.
// CHECK: %[[SHARE:.*]] = tenon.select %[[C]], %{{.*}}, %{{.*}} : tensor<?x?xi1, #{{.*}}>, tensor<?x?xf32, #{{.*}}>
// CHECK: %[[W:.*]] = tenon.broadcast %[[SHARE]] [0, 1]
// CHECK: tenon.mul %[[W]], %[[Y]]
// CHECK-NOT: tenon.dot{{ }}
func.func @expert(%B: index, %T: index, %x: tensor<?x?x8xf32, #x>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>, %share: tensor<?x?xf32, #bt>, %k: tensor<?x?xi32, #bt>, %l: tensor<?x?xi32, #bt>) attributes {tenon.kind = "out", tenon.dims = ["B", "T"], tenon.states = []} {
  %h = tenon.dot %x[0, 1, 3], %up[2, 3] : tensor<?x?x8xf32, #x>, tensor<16x8xf32> -> tensor<?x?x16xf32, #f>
  %s = tenon.sigmoid %h : tensor<?x?x16xf32, #f>
  %m = tenon.mul %h, %s : tensor<?x?x16xf32, #f>
  %y = tenon.dot %m[0, 1, 3], %down[2, 3] : tensor<?x?x16xf32, #f>, tensor<8x16xf32> -> tensor<?x?x8xf32, #x>
  %c = tenon.compare eq %k, %l : tensor<?x?xi32, #bt> -> tensor<?x?xi1, #bt>
  %w = tenon.broadcast %share [0, 1] : tensor<?x?xf32, #bt> -> tensor<?x?x8xf32, #x>
  %z = tenon.mul %w, %y : tensor<?x?x8xf32, #x>
  %zero = tenon.constant 0.0 : tensor<?x?x8xf32, #x>
  %cs = tenon.broadcast %c [0, 1] : tensor<?x?xi1, #bt> -> tensor<?x?x8xi1, #x>
  %r = tenon.select %cs, %z, %zero : tensor<?x?x8xi1, #x>, tensor<?x?x8xf32, #x>
  tenon.output 0 "r", %r : tensor<?x?x8xf32, #x>
  return
}

// Logits of rows that count; the transposed result, under a condition over its dimensions in another order.
// CHECK-LABEL: func.func @logits
// CHECK: tenon.dot_where %{{.*}}[0, 2], %{{.*}}[1, 2] where %{{.*}}[0] : tensor<4x8xf32>, tensor<16x8xf32>, tensor<4xi1>
// CHECK: tenon.dot_where %{{.*}}[0, 3], %{{.*}}[2, 1, 3] where %{{.*}}[2, 1] : tensor<16x8xf32>, tensor<5x4x8xf32>, tensor<5x4xi1>
func.func @logits(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %label: tensor<4xi32>, %keep: tensor<4xi1>, %z: tensor<5x4x8xf32>, %some: tensor<5x4xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %l = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %loss, %lse = tenon.cross_entropy %l, %label where %keep : tensor<4xi1>, : tensor<4x16xf32>, tensor<4xi32> -> tensor<4xf32>
  tenon.output 0 "loss", %loss : tensor<4xf32>
  %t = tenon.dot %w[0, 3], %z[2, 1, 3] : tensor<16x8xf32>, tensor<5x4x8xf32> -> tensor<16x4x5xf32>
  %v = tenon.broadcast %t [2, 1, 0] : tensor<16x4x5xf32> -> tensor<5x4x16xf32>
  %zero = tenon.constant 0.0 : tensor<5x4x16xf32>
  %cs = tenon.broadcast %some [0, 1] : tensor<5x4xi1> -> tensor<5x4x16xi1>
  %r = tenon.select %cs, %v, %zero : tensor<5x4x16xi1>, tensor<5x4x16xf32>
  tenon.output 1 "r", %r : tensor<5x4x16xf32>
  return
}

// Read by something else, too; under two conditions; with few columns; where what is chosen else is no zero; under one of what both operands have; under one that is made of the result.
// CHECK-LABEL: func.func @others
// CHECK-NOT: dot_where
// CHECK: return
func.func @others(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %c: tensor<4x16xi1>, %d: tensor<4x16xi1>, %one: tensor<4x16xf32>, %k: tensor<4x6x8xf32>, %keep: tensor<4xi1>, %z: tensor<3x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %zero = tenon.constant 0.0 : tensor<4x16xf32>
  %a = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %ra = tenon.select %c, %a, %zero : tensor<4x16xi1>, tensor<4x16xf32>
  tenon.output 0 "a", %a : tensor<4x16xf32>
  tenon.output 1 "ra", %ra : tensor<4x16xf32>
  %na = tenon.neg %x : tensor<4x8xf32>
  %b = tenon.dot %na[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %rb = tenon.select %c, %b, %zero : tensor<4x16xi1>, tensor<4x16xf32>
  %sb = tenon.select %d, %b, %zero : tensor<4x16xi1>, tensor<4x16xf32>
  tenon.output 2 "rb", %rb : tensor<4x16xf32>
  tenon.output 3 "sb", %sb : tensor<4x16xf32>
  %e = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %re = tenon.select %c, %e, %one : tensor<4x16xi1>, tensor<4x16xf32>
  tenon.output 4 "re", %re : tensor<4x16xf32>
  %h = tenon.dot %x[0, 2], %k[0, 1, 2] : tensor<4x8xf32>, tensor<4x6x8xf32> -> tensor<4x6xf32>
  %zeros = tenon.constant 0.0 : tensor<4x6xf32>
  %cs = tenon.broadcast %keep [0] : tensor<4xi1> -> tensor<4x6xi1>
  %rh = tenon.select %cs, %h, %zeros : tensor<4x6xi1>, tensor<4x6xf32>
  tenon.output 5 "rh", %rh : tensor<4x6xf32>
  %few = tenon.dot %x[0, 2], %z[1, 2] : tensor<4x8xf32>, tensor<3x8xf32> -> tensor<4x3xf32>
  %none = tenon.constant 0.0 : tensor<4x3xf32>
  %cf = tenon.broadcast %keep [0] : tensor<4xi1> -> tensor<4x3xi1>
  %rf = tenon.select %cf, %few, %none : tensor<4x3xi1>, tensor<4x3xf32>
  tenon.output 6 "rf", %rf : tensor<4x3xf32>
  %g = tenon.dot %x[0, 2], %w[1, 2] : tensor<4x8xf32>, tensor<16x8xf32> -> tensor<4x16xf32>
  %above = tenon.compare lt %zero, %g : tensor<4x16xf32> -> tensor<4x16xi1>
  %rg = tenon.select %above, %g, %zero : tensor<4x16xi1>, tensor<4x16xf32>
  tenon.output 7 "rg", %rg : tensor<4x16xf32>
  return
}
