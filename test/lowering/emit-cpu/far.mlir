// Places far from the beginning of an arena: a constant index of LLVM's dialect holds the lowest 29 bits of a number, and cuts the others off.
// RUN: tenon-opt %s --tenon-emit-cpu=tier=x86-64-v3 | FileCheck %s
module {
  tenon.parameter @near {offset = 268435392 : i64, stride = 64 : i64} : tensor<4xf32>
  tenon.parameter @far {offset = 268435456 : i64, stride = 64 : i64} : tensor<4xf32>
  tenon.parameter @farther {offset = 5368709120 : i64, stride = 64 : i64} : tensor<4xf32>

  // CHECK-DAG: %[[FAR:.+]] = arith.constant 268435456 : i64
  // CHECK-DAG: %[[FARTHER:.+]] = arith.constant 5368709120 : i64
  // CHECK-DAG: llvm.getelementptr inbounds %{{.*}}[268435392] : (!llvm.ptr) -> !llvm.ptr, i8
  // CHECK-DAG: llvm.getelementptr inbounds %{{.*}}[%[[FAR]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  // CHECK-DAG: llvm.getelementptr inbounds %{{.*}}[%[[FARTHER]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  func.func @f() attributes {tenon.kind = "out", tenon.dims = [], tenon.states = [], tenon.slots = [], tenon.outputs = [tensor<4xf32>], tenon.scratch = 0 : i64} {
    %near = tenon.place <parameters 268435392> : tensor<4xf32>
    %far = tenon.place <parameters 268435456> : tensor<4xf32>
    %farther = tenon.place <parameters 5368709120> : tensor<4xf32>
    %y = tenon.nest affine_map<() -> (4)> : tensor<4xf32> attributes {tenon.chosen = {"x86-64-v3" = {form = "rows", part = 64 : i64, rows = 1 : i64}}, tenon.launches = ["nest"], tenon.places = [#tenon.place<output 0>]} {
    ^bb0(%i: index):
      %a = tenon.at %near[%i] : tensor<4xf32> -> f32
      %b = tenon.at %far[%i] : tensor<4xf32> -> f32
      %c = tenon.at %farther[%i] : tensor<4xf32> -> f32
      %ab = arith.addf %a, %b : f32
      %abc = arith.addf %ab, %c : f32
      tenon.put 0 [%i], %abc : f32
    }
    return
  }
}
