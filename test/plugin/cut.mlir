// A kernel whose tiles are not the points of its op's parallel domain is refused, where memory is planned or, what its code alone says, where that is made.
// DEFINE: %{opt} = tenon-opt --load-dialect-plugin=%build/lib/tenon-demo.so
// DEFINE: %{schedule} = --pass-pipeline='builtin.module(func.func(tenon-schedule))'
// RUN: %{opt} %s %{schedule} | %{opt} --tenon-emit-cpu | FileCheck %s
// RUN: sed 's/demo.mirror %%x/& {demo.short}/' %s | not %{opt} %{schedule} 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: sed 's/demo.mirror %%x/& {demo.none}/' %s | not %{opt} %{schedule} 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/demo.mirror %%t/& {demo.short}/' %s | not %{opt} %{schedule} 2>&1 | FileCheck %s --check-prefix=DIMS
// RUN: sed 's/demo.mirror %%x/& {demo.tall}/' %s | %{opt} %{schedule} | not %{opt} --tenon-emit-cpu 2>&1 | FileCheck %s --check-prefix=TALL
// CHECK: llvm.func @tn_run_infer_
// SHORT: error: 'demo.mirror' op expects tiles of all points of its parallel domain, 40, got those of 35
// NONE: error: 'demo.mirror' op expects tiles of all points of its parallel domain, 40, got those of 1
// DIMS: error: 'demo.mirror' op expects tiles of all points of its parallel domain, 8*d0, got those of 7*d0
// TALL: error: 'demo.mirror' op expects a tile for each of 5 blocks of its parallel domain, got 6

#t = affine_map<(d0) -> (d0, 8)>
func.func @infer(%T: index, %x: tensor<5x8xf32>, %t: tensor<?x8xf32, #t>) attributes {tenon.kind = "out", tenon.dims = ["T"], tenon.states = []} {
  %y = demo.mirror %x : tensor<5x8xf32>
  %z = demo.mirror %t : tensor<?x8xf32, #t>
  tenon.output 0 "y", %y : tensor<5x8xf32>
  tenon.output 1 "z", %z : tensor<?x8xf32, #t>
  return
}
