// max and min are an instruction, a comparison and a choice that x86 has as one, where an operand is a number, on either side; of two values that may be NaN, NaN in the second is looked for.
// RUN: tenon-opt %s --tenon-schedule-pipeline --tenon-emit-cpu=tier=x86-64-v4 | FileCheck %s --implicit-check-not=arith.maximumf --implicit-check-not=arith.minimumf
#x = affine_map<(d0) -> (d0)>

// CHECK-LABEL: @numbers.nest.body
// CHECK-NOT: uno
// CHECK: arith.cmpf olt, {{.*}} : vector<16xf32>
// CHECK-NEXT: arith.select
// CHECK: arith.cmpf olt, {{.*}} : vector<16xf32>
// CHECK-NEXT: arith.select
// CHECK: arith.cmpf olt, {{.*}} : vector<16xf32>
// CHECK-NEXT: arith.select
// CHECK-NOT: uno
// CHECK-LABEL: @values.nest.body
func.func @numbers(%T: index, %x: tensor<?xf32, #x>, %n: tensor<?xi32, #x>) attributes {tenon.dims = ["T"], tenon.kind = "out", tenon.states = []} {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %w = tenon.at %n[%i] : tensor<?xi32, #x> -> i32
    %one = arith.constant 1.0 : f32
    %r = arith.sitofp %w : i32 to f32
    %b = arith.maximumf %a, %one : f32
    %c = arith.minimumf %one, %b : f32
    %d = arith.maximumf %c, %r : f32
    tenon.put 0 [%i], %d : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}

// A NaN of the text is no number.
// CHECK: %[[LESS:.*]] = arith.cmpf olt, %[[A:.*]], %[[B:.*]] : vector<16xf32>
// CHECK-NEXT: %[[LARGER:.*]] = arith.select %[[LESS]], %[[B]], %[[A]]
// CHECK-NEXT: %[[NAN:.*]] = arith.cmpf uno, %[[B]], %[[B]] : vector<16xf32>
// CHECK-NEXT: arith.select %[[NAN]], %[[B]], %[[LARGER]]
// CHECK: arith.cmpf uno
func.func @values(%T: index, %x: tensor<?xf32, #x>, %z: tensor<?xf32, #x>) attributes {tenon.dims = ["T"], tenon.kind = "out", tenon.states = []} {
  %y = tenon.nest affine_map<(d0) -> (d0)> : tensor<?xf32, #x> {
  ^bb0(%i: index):
    %a = tenon.at %x[%i] : tensor<?xf32, #x> -> f32
    %b = tenon.at %z[%i] : tensor<?xf32, #x> -> f32
    %nan = arith.constant 0x7FC00000 : f32
    %c = arith.maximumf %a, %b : f32
    %d = arith.minimumf %c, %nan : f32
    tenon.put 0 [%i], %d : f32
  }
  tenon.output 0 "y", %y : tensor<?xf32, #x>
  return
}
