// The scalar code of every elementwise op: what its kernel computes for one element, in this order and nothing else.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-select-kernels,cse))' | FileCheck %s

// CHECK-LABEL: func.func @neg(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @neg(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.neg %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @exp(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.exp
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @exp(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.exp %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @log(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.log
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @log(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.log %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sqrt(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @sqrt(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.sqrt %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @abs(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.cmpf olt
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @abs(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.abs %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @round(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @round(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.round %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @floor(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.floor
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @floor(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.floor %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @ceil(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.ceil
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @ceil(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.ceil %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sin(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.sin
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @sin(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.sin %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @cos(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.cos
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @cos(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.cos %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @atan(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.atan
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @atan(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.atan %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @erf(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.erf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @erf(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.erf %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @tanh(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: math.tanh
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @tanh(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.tanh %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sigmoid(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.negf
// CHECK-NEXT: math.exp
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.divf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @sigmoid(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.sigmoid %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @relu(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.cmpf olt
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @relu(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.relu %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @gelu(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.erf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @gelu(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gelu %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @gelu_tanh(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.tanh
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @gelu_tanh(%x: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.gelu_tanh %x : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @add(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.addf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @add(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.add %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @sub(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.subf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @sub(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.sub %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @mul(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @mul(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.mul %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @div(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.divf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @div(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.div %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @pow(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: math.powf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @pow(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.pow %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @max(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @max(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.max %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @min(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.minimumf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @min(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.min %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// By 0 and by -1, which would trap, nothing is divided: it is the product. By another number there is no question.
// CHECK-LABEL: func.func @floordiv(
// CHECK: tenon.each
// CHECK: %[[A:.*]] = tenon.at
// CHECK-NEXT: %[[B:.*]] = tenon.at
// CHECK: %[[USUAL:.*]] = arith.cmpi ugt
// CHECK: %[[DIVISOR:.*]] = arith.select %[[USUAL]], %[[B]]
// CHECK: %[[QUOTIENT:.*]] = arith.floordivsi %[[A]], %[[DIVISOR]]
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[A]], %[[B]]
// CHECK: %[[Y:.*]] = arith.select %[[USUAL]], %[[QUOTIENT]], %[[PRODUCT]]
// CHECK-NEXT: tenon.put 0{{.*}}, %[[Y]]
// CHECK-NOT: tenon.nest
// CHECK-LABEL: func.func @floordiv_by_number(
// CHECK-NOT: arith.select
// CHECK: arith.floordivsi
// CHECK-NOT: arith.select
// CHECK: return
func.func @floordiv(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.floordiv %a, %b : tensor<4x8xi32>
  tenon.output 0 "y", %y : tensor<4x8xi32>
  return
}

func.func @floordiv_by_number(%a: tensor<4x8xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %b = tenon.constant 3. : tensor<4x8xi32>
  %y = tenon.floordiv %a, %b : tensor<4x8xi32>
  tenon.output 0 "y", %y : tensor<4x8xi32>
  return
}

// CHECK-LABEL: func.func @mod(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK: arith.floordivsi
// CHECK: arith.select
// CHECK-NEXT: arith.muli
// CHECK-NEXT: arith.subi
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @mod(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.mod %a, %b : tensor<4x8xi32>
  tenon.output 0 "y", %y : tensor<4x8xi32>
  return
}

// CHECK-LABEL: func.func @and(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.andi
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @and(%a: tensor<4x8xi1>, %b: tensor<4x8xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.and %a, %b : tensor<4x8xi1>
  tenon.output 0 "y", %y : tensor<4x8xi1>
  return
}

// CHECK-LABEL: func.func @or(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.ori
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @or(%a: tensor<4x8xi1>, %b: tensor<4x8xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.or %a, %b : tensor<4x8xi1>
  tenon.output 0 "y", %y : tensor<4x8xi1>
  return
}

// CHECK-LABEL: func.func @not(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.xori
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @not(%a: tensor<4x8xi1>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.not %a : tensor<4x8xi1>
  tenon.output 0 "y", %y : tensor<4x8xi1>
  return
}

// CHECK-LABEL: func.func @compare(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.cmpf olt
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @compare(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.compare lt %a, %b : tensor<4x8xf32> -> tensor<4x8xi1>
  tenon.output 0 "y", %y : tensor<4x8xi1>
  return
}

// CHECK-LABEL: func.func @select(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.select
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @select(%c: tensor<4x8xi1>, %a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.select %c, %a, %b : tensor<4x8xi1>, tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @convert(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @convert(%a: tensor<4x8xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.convert %a : tensor<4x8xi32> -> tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// CHECK-LABEL: func.func @activation_grad(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: tenon.at
// CHECK-NEXT: tenon.at
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: math.tanh
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: tenon.put 0
// CHECK-NOT: tenon.nest
func.func @activation_grad(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.activation_grad "gelu_tanh" %a, %b : tensor<4x8xf32>
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}

// The code of a map, whatever its ops are.
// CHECK-LABEL: func.func @map(
// CHECK: tenon.nest
// CHECK: tenon.each
// CHECK: %[[A:.*]] = tenon.at %arg0
// CHECK-NEXT: %[[N:.*]] = tenon.at %arg1
// CHECK-NEXT: %[[E:.*]] = math.erf %[[A]] : f32
// CHECK-NEXT: %[[R:.*]] = arith.sitofp %[[N]] : i32 to f32
// CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[E]], %[[R]] : f32
// CHECK-NEXT: tenon.put 0[%{{.*}}, %{{.*}}], %[[M]] : f32
// CHECK-NOT: tenon.nest
// CHECK-NOT: tenon.map
// CHECK: return
func.func @map(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.map %x, %i : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<4x8xf32> {
  ^bb0(%a: f32, %n: i32):
    %e = math.erf %a : f32
    %r = arith.sitofp %n : i32 to f32
    %m = arith.maximumf %e, %r : f32
    tenon.yield %m : f32
  }
  tenon.output 0 "y", %y : tensor<4x8xf32>
  return
}
