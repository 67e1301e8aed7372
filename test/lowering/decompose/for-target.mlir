// What a target has no kernel for is taken apart behind differentiation.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose-for-target{without=all}))' | FileCheck %s --check-prefix=ALL --implicit-check-not=tenon.attention --implicit-check-not=tenon.running_sum
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose-for-target{without=attention_grad}))' | FileCheck %s --check-prefix=ONE --implicit-check-not=tenon.attention_grad
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose-for-target))' 2>%t.warnings | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARN --implicit-check-not=warning < %t.warnings
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose-for-target{target=abacus}))' 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: 'func.func' op expects the name of a target, got abacus
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose-for-target{without=attention,gemm}))' 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: error: 'func.func' op expects in `without` the names of kernels that can be taken apart, or all, got gemm
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-decompose-for-target{without=cross_entropy}))' 2>&1 | FileCheck %s --check-prefix=NEST
// NEST: error: 'func.func' op expects in `without` the names of kernels that can be taken apart, or all, got cross_entropy

// A relative table and a causal mask, forwards and backwards: scores are a contraction and one that is gathered by distance; the mask is a comparison of places.
// ALL-LABEL: func.func @relative(
// ALL: tenon.dot
// ALL: tenon.gather {{.*}} clamp
// ALL: tenon.reduce max
// ALL: tenon.exp
// ALL: tenon.reduce sum
// ALL: tenon.scatter_add
// ALL: tenon.output 3
// ONE-LABEL: func.func @relative(
// ONE: tenon.attention
// ONE: tenon.scatter_add
// CHECK-LABEL: func.func @relative(
// CHECK: tenon.attention
// CHECK: tenon.attention_grad
func.func @relative(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<11x4x8xf32>, %dy: tensor<2x5x4x6xf32>)
    attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %q, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>,
    place = [{rest = affine_map<() -> (4)>, query = -1 : i64, key = 1 : i64}],
    mask = [{test = "le", rest = affine_map<() -> (-2)>, query = -1 : i64, key = 1 : i64}], scale = 0.5 : f64, rate = 0.1 : f64, site = 3 : i64}> :
    (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x5x4x8xf32>, tensor<11x4x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %dq, %dk, %dv, %dp, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %q, %t) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0>,
    place = [{rest = affine_map<() -> (4)>, query = -1 : i64, key = 1 : i64}],
    mask = [{test = "le", rest = affine_map<() -> (-2)>, query = -1 : i64, key = 1 : i64}], scale = 0.5 : f64, rate = 0.1 : f64, site = 3 : i64}> :
    (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x5x4x8xf32>,
     tensor<11x4x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<2x5x4x8xf32>, tensor<2x11x4x8xf32>)
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  tenon.output 1 "dk", %dk : tensor<2x7x4x8xf32>
  tenon.output 2 "dv", %dv : tensor<2x7x4x6xf32>
  tenon.output 3 "dt", %dt : tensor<2x11x4x8xf32>
  return
}

// The CPU widens operands of 16 bits itself. In simpler ops they are converted first, and what is computed of them is in f32.
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT: tenon.convert
// CHECK: tenon.attention
// ONE-LABEL: func.func @narrow(
// ALL-LABEL: func.func @narrow(
// ALL-COUNT-3: tenon.convert {{.*}} -> tensor<{{.*}}xf32>
// ALL: tenon.exp {{.*}}xf32>
// ALL: tenon.convert {{.*}} -> tensor<2x5x4x6xbf16>
// ALL-NEXT: tenon.output
func.func @narrow(%q: tensor<2x5x4x8xbf16>, %k: tensor<2x7x2x8xbf16>, %v: tensor<2x7x2x6xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> :
    (tensor<2x5x4x8xbf16>, tensor<2x7x2x8xbf16>, tensor<2x7x2x6xbf16>) -> (tensor<2x5x4x6xbf16>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  tenon.output 0 "y", %y : tensor<2x5x4x6xbf16>
  return
}

// A type that the CPU has no kernels for: said with the bytes that it brings into memory. Here none: the triangle of 5 x 5 that the contraction reads is made where it
// packs its operand, of numbers of places which are compared there.
// WARN: warning: the CPU's running_sum has no kernel for bf16; in simpler ops it stores no tensor more
// CHECK-LABEL: func.func @sums(
// CHECK-NOT: tenon.running_sum
// CHECK: tenon.output
// ALL-LABEL: func.func @sums(
// ONE-LABEL: func.func @sums(
func.func @sums(%x: tensor<2x5xbf16>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.running_sum %x dim 1 : tensor<2x5xbf16>
  tenon.output 0 "y", %y : tensor<2x5xbf16>
  return
}

// A step goes on as it is: a map of its scalar code and one of that of its derivative, of which each has what it needs. The forward op reads the first alone. Ops that the
// tensor form has no op for (erf, absf) are nothing special.
// CHECK-LABEL: func.func @step(
// CHECK: tenon.attention
// ONE-LABEL: func.func @step(
// ONE: tenon.attention
// ALL-LABEL: func.func @step(
// ALL: %[[SUM:.*]] = tenon.mul {{.*}} : tensor<2x5x4x7xf32>
// ALL-NEXT: %[[SCORE:.*]] = tenon.map %[[SUM]] : tensor<2x5x4x7xf32> -> tensor<2x5x4x7xf32> {
// ALL-NEXT: ^bb0(%[[X:.*]]: f32):
// ALL-NEXT: %[[E:.*]] = math.erf %[[X]] : f32
// ALL-NEXT: tenon.yield %[[E]] : f32
// ALL: tenon.reduce max %[[SCORE]]
// ALL: tenon.exp
// ALL-NOT: math.erf
// ALL: tenon.output 0
// ALL: tenon.map
// ALL: math.erf
// ALL: %[[SLOPE:.*]] = tenon.map %{{.*}} : tensor<2x5x4x7xf32> -> tensor<2x5x4x7xf32> {
// ALL-NEXT: ^bb0(%[[Z:.*]]: f32):
// ALL-NEXT: %[[A:.*]] = math.absf %[[Z]] : f32
// ALL-NEXT: tenon.yield %[[A]] : f32
// ALL: tenon.exp
// ALL: tenon.mul %{{.*}}, %[[SLOPE]] : tensor<2x5x4x7xf32>
// ALL: tenon.output 1
func.func @step(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %dy: tensor<2x5x4x6xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> ({
  ^bb0(%sum: f32):
    %e = math.erf %sum : f32
    %a = math.absf %sum : f32
    tenon.yield %e, %a : f32, f32
  }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> ({
  ^bb0(%sum: f32):
    %e = math.erf %sum : f32
    %a = math.absf %sum : f32
    tenon.yield %e, %a : f32, f32
  }) : (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>) ->
    (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>)
  tenon.output 1 "dq", %dq : tensor<2x5x4x8xf32>
  return
}

// A place that is computed: its scalar code over all pairs, the index operands repeated for it. One that is an operand as it stands needs none.
// CHECK-LABEL: func.func @computed(
// CHECK: tenon.attention
// ONE-LABEL: func.func @computed(
// ALL-LABEL: func.func @computed(
// ALL: %[[I:.*]] = tenon.broadcast %{{.*}} [1] : tensor<5xi32> -> tensor<2x5x7xi32>
// ALL: %[[J:.*]] = tenon.broadcast %{{.*}} [2] : tensor<7xi32> -> tensor<2x5x7xi32>
// ALL: %[[PLACE:.*]] = tenon.map %[[I]], %[[J]] : tensor<2x5x7xi32>, tensor<2x5x7xi32> -> tensor<2x5x7xi32> {
// ALL-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32):
// ALL-NEXT: arith.constant 2 : i32
// ALL-NEXT: arith.addi %[[A]], %[[B]] : i32
// ALL-NEXT: arith.floordivsi
// ALL-NEXT: arith.minsi
// ALL-NEXT: tenon.yield {{.*}} : i32
// ALL-NOT: tenon.map
// ALL: tenon.gather %{{.*}}[%[[PLACE]]] dim 0 x_dims [-1, 2]
// ALL: tenon.gather %{{.*}}[%[[J]]] dim 0 x_dims [-1, 2]
// ALL: tenon.output
func.func @computed(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %t: tensor<3x4xf32>, %i: tensor<5xi32>, %j: tensor<7xi32>)
    attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %t, %i, %j) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0>, computes_place,
    index_labels = [[1], [2]], scale = 0.5 : f64, rate = 0.0 : f64, site = 0 : i64}> ({
  ^bb0(%a: i32, %b: i32):
    %two = arith.constant 2 : i32
    %sum = arith.addi %a, %b : i32
    %half = arith.floordivsi %sum, %two : i32
    %d = arith.minsi %two, %half : i32
    tenon.yield %d, %b : i32, i32
  }) : (tensor<2x5x4x8xf32>, tensor<2x7x4x8xf32>, tensor<2x7x4x6xf32>, tensor<3x4xf32>, tensor<5xi32>, tensor<7xi32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  tenon.output 0 "y", %y : tensor<2x5x4x6xf32>
  return
}

// Keys that ask for the query's place, in groups: contracted with all rows, read at the distance, summed over the heads of a group.
// CHECK-LABEL: func.func @keys(
// CHECK: tenon.attention
// ONE-LABEL: func.func @keys(
// ALL-LABEL: func.func @keys(
// ALL: tenon.dot {{.*}} -> tensor<2x7x4x11xf32>
// ALL: tenon.gather {{.*}} x_dims [0, 3, 2, -1] {{.*}} -> tensor<2x5x4x7xf32>
// ALL: tenon.scatter_add {{.*}} tensor<2x7x4x11xf32>
// ALL: tenon.reduce sum
// ALL: tenon.output 1
func.func @keys(%q: tensor<2x5x4x8xf32>, %k: tensor<2x7x2x8xf32>, %v: tensor<2x7x2x6xf32>, %w: tensor<11x4x8xf32>, %dy: tensor<2x5x4x6xf32>)
    attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %k, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0>,
    place = [{rest = affine_map<() -> (4)>, query = -1 : i64, key = 1 : i64}], scale = 0.5 : f64, rate = 0.0 : f64, site = 3 : i64}> :
    (tensor<2x5x4x8xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x6xf32>, tensor<2x7x2x8xf32>, tensor<11x4x8xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>)
  %dq, %dk, %dv, %da, %dw = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %k, %w) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0>,
    place = [{rest = affine_map<() -> (4)>, query = -1 : i64, key = 1 : i64}], scale = 0.5 : f64, rate = 0.0 : f64, site = 3 : i64}> :
    (tensor<2x5x4x6xf32>, tensor<2x5x4x6xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>, tensor<2x5x4x8xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x6xf32>, tensor<2x7x2x8xf32>,
     tensor<11x4x8xf32>) -> (tensor<2x5x4x8xf32>, tensor<2x7x2x8xf32>, tensor<2x7x2x6xf32>, tensor<2x7x2x8xf32>, tensor<2x11x4x8xf32>)
  tenon.output 0 "da", %da : tensor<2x7x2x8xf32>
  tenon.output 1 "dw", %dw : tensor<2x11x4x8xf32>
  return
}

// Stored scores of pairs, of 16 bits: repeated over the three rows of the batch that share each of them; the gradient of every pair.
// CHECK-LABEL: func.func @pairs(
// CHECK: tenon.attention_grad
// ONE-LABEL: func.func @pairs(
// ALL-LABEL: func.func @pairs(
// ALL: tenon.convert %arg3 : tensor<2x4x5x7xbf16> -> tensor<2x4x5x7xf32>
// ALL: tenon.broadcast {{.*}} [1, 4, 3, 5] : tensor<2x4x5x7xf32> -> tensor<1x2x3x5x4x7xf32>
// ALL: tenon.reshape {{.*}} [-3, 1, 1, 1] : tensor<1x2x3x5x4x7xf32> -> tensor<6x5x4x7xf32>
// ALL: %[[DB:.*]] = tenon.broadcast {{.*}} [0, 2, 1, 3] : tensor<6x5x4x7xf32> -> tensor<6x4x5x7xf32>
// ALL-NEXT: tenon.output 0 "db", %[[DB]]
func.func @pairs(%q: tensor<6x5x4x8xf32>, %k: tensor<6x7x4x8xf32>, %v: tensor<6x7x4x6xf32>, %b: tensor<2x4x5x7xbf16>, %dy: tensor<6x5x4x6xf32>)
    attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>,
    pair_batch = affine_map<() -> (1, 3)>, scale = 0.5 : f64, rate = 0.0 : f64, site = 3 : i64}> :
    (tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x6xf32>, tensor<2x4x5x7xbf16>) -> (tensor<6x5x4x6xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>)
  %dq, %dk, %dv, %db = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %b) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0>,
    resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1>, pair_batch = affine_map<() -> (1, 3)>, scale = 0.5 : f64, rate = 0.0 : f64, site = 3 : i64}> :
    (tensor<6x5x4x6xf32>, tensor<6x5x4x6xf32>, tensor<6x4x5xf32>, tensor<6x4x5xf32>, tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x6xf32>, tensor<2x4x5x7xbf16>)
    -> (tensor<6x5x4x8xf32>, tensor<6x7x4x8xf32>, tensor<6x7x4x6xf32>, tensor<6x4x5x7xf32>)
  tenon.output 0 "db", %db : tensor<6x4x5x7xf32>
  return
}
