// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-apply-numerics))' --remark-format=emitRemark --remarks-filter-missed=apply-numerics -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY --implicit-check-not=Remark=
// WHY: Remark="it is saved in f32: no product rounds it, and no op says that 16 bits are enough"
// WHY: Remark="it is saved in f32: no product rounds it, and no op says that 16 bits are enough"
// WHY: Remark="it is saved in f32: no product rounds it, and no op says that 16 bits are enough"

// What a stack saves. A sum of products (%h) is rounded before anything is made of it, so that the backward pass computes the same from it; the input of a normalizer and its result are
// rounded where they are saved; the carry, statistics and what is compared exactly are not.
module attributes {tenon.compute = bf16} {
  tenon.parameter @w stacked : tensor<2x8x8xf32>
  // CHECK-LABEL: func.func @stack(
  func.func @stack(%x: tensor<4x8xf32>) attributes {tenon.dims = [], tenon.kind = "out", tenon.states = []} {
    // CHECK: %[[S:.*]]:7 = tenon.stack 2(%{{.*}}) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>)
    %s:7 = tenon.stack 2(%x) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4x8xf32>) {
    ^bb0(%depth: index, %carry: tensor<4x8xf32>):
      %w = tenon.read_parameter @w[%depth] : tensor<8x8xf32>
      // CHECK: %[[Y:.*]], %[[MEAN:.*]], %{{.*}} = tenon.normalize
      %y, %mean, %rstd = tenon.normalize %carry eps 1.0e-5 : tensor<4x8xf32> -> tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
      // CHECK: %[[H:.*]] = tenon.dot
      // CHECK-NEXT: %[[H16:.*]] = tenon.convert %[[H]] : tensor<4x8xf32> -> tensor<4x8xbf16>
      // CHECK-NEXT: %[[WIDE:.*]] = tenon.convert %[[H16]] : tensor<4x8xbf16> -> tensor<4x8xf32>
      // CHECK-NEXT: tenon.tanh %[[WIDE]]
      %h = tenon.dot %y[0, 2], %w[2, 1] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
      %t = tenon.tanh %h : tensor<4x8xf32>
      %m = tenon.add %carry, %t : tensor<4x8xf32>
      // CHECK: tenon.yield %{{[^,]*}}, %[[H16]], %{{[^,]*}}, %{{[^,]*}}, %[[MEAN]]
      tenon.yield %m, %h, %carry, %y, %mean, %rstd, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x8xf32>
    }
    %b = tenon.stack 2 reverse(%s#0) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%depth: index, %carry: tensor<4x8xf32>):
      // CHECK: tenon.at_depth %[[S]]#1[%{{.*}}] : tensor<2x4x8xbf16> -> tensor<4x8xbf16>
      %h = tenon.at_depth %s#1[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %x0 = tenon.at_depth %s#2[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %y = tenon.at_depth %s#3[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %mean = tenon.at_depth %s#4[%depth] : tensor<2x4xf32> -> tensor<4xf32>
      %rstd = tenon.at_depth %s#5[%depth] : tensor<2x4xf32> -> tensor<4xf32>
      // CHECK: tenon.at_depth %[[S]]#6[%{{.*}}] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %t = tenon.at_depth %s#6[%depth] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      %d = tenon.mul %h, %y : tensor<4x8xf32>
      %e = tenon.mul %d, %t : tensor<4x8xf32>
      %n = tenon.normalize_grad %e, %x0, %mean, %rstd : tensor<4x8xf32>, tensor<4xf32>
      %c = tenon.add %carry, %n : tensor<4x8xf32>
      tenon.yield %c : tensor<4x8xf32>
    }
    tenon.output 0 "b", %b : tensor<4x8xf32>
    return
  }
}
