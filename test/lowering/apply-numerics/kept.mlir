// A contraction that says which type it multiplies says so whatever it is rewritten to, and so do its gradient and its parts.
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s --check-prefix=SIMPLE
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-differentiate))' | FileCheck %s --check-prefix=GRAD
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-simplify{after-differentiation=true}))' | FileCheck %s --check-prefix=AFTER
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-fuse-attention))' | FileCheck %s --check-prefix=FUSED
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-decompose))' | FileCheck %s --check-prefix=PARTS

// Views become labels, on both sides; the contraction that says nothing is another one.
// SIMPLE-LABEL: func.func @views
// SIMPLE: tenon.dot %{{.*}}[2, 0], %{{.*}}[1, 2] {tenon.compute = f32}
// SIMPLE: tenon.dot %{{.*}}[2, 0], %{{.*}}[1, 2] : tensor<8x4xf32>
// SIMPLE: tenon.dot %{{.*}}[2, 1], %{{.*}}[0, 2] {tenon.compute = f32} : tensor<8x4xf32>, tensor<5x8xf32> -> tensor<5x4xf32>
func.func @views(%a: tensor<8x4xf32>, %b: tensor<5x8xf32>) {
  %t = tenon.broadcast %a [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %y = tenon.dot %t[0, 2], %b[1, 2] {tenon.compute = f32} : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  %other = tenon.dot %t[0, 2], %b[1, 2] : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  %z = tenon.dot %a[2, 0], %b[1, 2] {tenon.compute = f32} : tensor<8x4xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  %zt = tenon.broadcast %z [1, 0] : tensor<4x5xf32> -> tensor<5x4xf32>
  tenon.output 0 "y", %y : tensor<4x5xf32>
  tenon.output 1 "other", %other : tensor<4x5xf32>
  tenon.output 2 "zt", %zt : tensor<5x4xf32>
  return
}

// -----

// SIMPLE-LABEL: func.func @gathered
// SIMPLE: tenon.dot {{.*}} {tenon.compute = bf16} : tensor<2x3x4x8xf32>, tensor<6x4x8xf32> -> tensor<2x3x4x6xf32>
func.func @gathered(%q: tensor<2x3x4x8xf32>, %r: tensor<6x4x8xf32>, %index: tensor<3x5xi32>) {
  %g = tenon.gather %r[%index] dim 0 x_dims [-1, 2, 3] index_dims [0, 1] clamp : tensor<6x4x8xf32>, tensor<3x5xi32> -> tensor<3x5x4x8xf32>
  %s = tenon.dot %q[0, 1, 3, 4], %g[1, 2, 3, 4] {tenon.compute = bf16} : tensor<2x3x4x8xf32>, tensor<3x5x4x8xf32> -> tensor<2x3x5x4xf32>
  tenon.output 0 "s", %s : tensor<2x3x5x4xf32>
  return
}

// -----

// Of a recurrence, before it and behind it.
#x = affine_map<(d0) -> (d0, 2, 40)>
// SIMPLE-LABEL: func.func @places
// SIMPLE: tenon.dot {{.*}} {tenon.compute = f32} : tensor<?x2x40xf32
// SIMPLE: tenon.stack
// AFTER-LABEL: func.func @places
// AFTER: tenon.stack
// AFTER: }
// AFTER: tenon.dot {{.*}} {tenon.compute = bf16} : {{.*}} -> tensor<40x40xf32>
func.func @places(%t: index, %x: tensor<?x2x40xf32, #x>, %dy: tensor<2x40xf32>, %w: tensor<40x40xf32>) attributes {tenon.dims = ["T"]} {
  %zero = tenon.constant 0.0 : tensor<40x40xf32>
  %y:2 = tenon.stack affine_map<(d0) -> (d0)> (%dy, %zero) : (tensor<2x40xf32>, tensor<40x40xf32>) -> (tensor<2x40xf32>, tensor<40x40xf32>) {
  ^bb0(%at: index, %h: tensor<2x40xf32>, %sum: tensor<40x40xf32>):
    %one = tenon.at_depth %x[%at] : tensor<?x2x40xf32, #x> -> tensor<2x40xf32>
    %p = tenon.dot %one[0, 2], %w[1, 2] {tenon.compute = f32} : tensor<2x40xf32>, tensor<40x40xf32> -> tensor<2x40xf32>
    %next = tenon.add %h, %p : tensor<2x40xf32>
    %act = tenon.tanh %next : tensor<2x40xf32>
    %dw = tenon.dot %act[2, 0], %one[2, 1] {tenon.compute = bf16} : tensor<2x40xf32>, tensor<2x40xf32> -> tensor<40x40xf32>
    %total = tenon.add %sum, %dw : tensor<40x40xf32>
    tenon.yield %act, %total : tensor<2x40xf32>, tensor<40x40xf32>
  }
  tenon.output 0 "y", %y#0 : tensor<2x40xf32>
  tenon.output 1 "dw", %y#1 : tensor<40x40xf32>
  return
}

// -----

// Both contractions of the gradient of one, and none of the other's.
// GRAD-LABEL: func.func @gradient
// GRAD: tenon.dot {{.*}} {tenon.compute = f32} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
// GRAD: tenon.dot %{{[^{]*}} : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
// GRAD: tenon.dot %{{[^{]*}} : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
// GRAD: tenon.dot %{{[^{]*}} -> tensor<6x6xf32>
// GRAD: tenon.dot {{.*}} {tenon.compute = f32} : {{.*}} -> tensor<4x8xf32>
// GRAD: tenon.dot {{.*}} {tenon.compute = f32} : {{.*}} -> tensor<6x8xf32>
tenon.parameter @x : tensor<4x8xf32>
tenon.parameter @w : tensor<6x8xf32>
tenon.parameter @v : tensor<6x6xf32>
func.func @gradient() attributes {tenon.kind = "train"} {
  %x = tenon.read_parameter @x : tensor<4x8xf32>
  %w = tenon.read_parameter @w : tensor<6x8xf32>
  %v = tenon.read_parameter @v : tensor<6x6xf32>
  %y = tenon.dot %x[0, 2], %w[1, 2] {tenon.compute = f32} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %z = tenon.dot %y[0, 2], %v[1, 2] : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
  %l = tenon.reduce sum %z [0, 1] : tensor<4x6xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}

// -----

// An attention that is fused, taken apart before, differentiated; its parts are contractions.
// FUSED-LABEL: func.func @attend
// FUSED: "tenon.attention"
// FUSED: {tenon.compute = f32}
// PARTS-LABEL: func.func @attend
// PARTS: tenon.dot {{.*}} {tenon.compute = f32}
func.func @attend(%q: tensor<2x5x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) {
  %s = tenon.dot %q[0, 1, 2, 4], %k[0, 3, 2, 4] {tenon.compute = f32} : tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32> -> tensor<2x5x4x5xf32>
  %y = tenon.attend scores(%s) masks() value(%v) labels [[0, 1, 2, 4], [0, 4, 2, 3]] scale 0.125 rate 0.0 site 0 {queries = array<i64: 1>, tenon.compute = f32}
    : (tensor<2x5x4x5xf32>, tensor<2x5x4x8xf32>) -> tensor<2x5x4x8xf32>
  tenon.output 0 "y", %y : tensor<2x5x4x8xf32>
  return
}

// -----

// GRAD-LABEL: func.func @attention
// GRAD: "tenon.attention_grad"
// GRAD-SAME: {tenon.compute = f32}
// PARTS-LABEL: func.func @attention
// PARTS: tenon.dot {{.*}} {tenon.compute = f32}
// PARTS: tenon.dot {{.*}} {tenon.compute = f32}
// PARTS-NOT: tenon.dot
tenon.parameter @q : tensor<2x5x4x8xf32>
func.func @attention(%k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) attributes {tenon.kind = "train"} {
  %q = tenon.read_parameter @q : tensor<2x5x4x8xf32>
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> {tenon.compute = f32} :
    (tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>, tensor<2x5x4x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %l = tenon.reduce sum %y [0, 1, 2, 3] : tensor<2x5x4x8xf32> -> tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
