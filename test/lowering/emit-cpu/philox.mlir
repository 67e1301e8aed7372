// The ten rounds of Philox are one in a loop, of two products, in each form of the code: straight, models with dropout took quick
// code twice the time. What is drawn is held against a reference in lowering/cpu/nest.mlir and gemm-dropout.mlir.
// DEFINE: %{code} = tenon-opt --tenon-schedule-pipeline --tenon-emit-cpu=tier=x86-64-v4
// RUN: %{code} %s | grep -c 'arith.muli .*vector<16xi64>' | FileCheck %s
// CHECK: {{^}}2{{$}}
// Two draws have twice as many.
// RUN: sed 's/threshold 2000[0]/&\n%%other = tenon.random_keep %%j site 9 threshold 7\n%%both = arith.andi %%keep, %%other : i1/' %s > %t
// RUN: sed 's/select %%kee[p]/select %%both/' %t | %{code} | grep -c 'arith.muli .*vector<16xi64>' | FileCheck %s --check-prefix=TWO
// TWO: {{^}}4{{$}}
func.func @dropout(%x: tensor<64x48xf32>) attributes {tenon.kind = "out", tenon.dims = [], tenon.states = []} {
  %y = tenon.nest affine_map<() -> (64)> : tensor<64x48xf32> {
  ^bb0(%i: index):
    tenon.each affine_map<() -> (48)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<64x48xf32> -> f32
      %keep = tenon.random_keep %j site 7 threshold 20000
      %zero = arith.constant 0.0 : f32
      %k = arith.select %keep, %a, %zero : f32
      tenon.put 0 [%i, %j], %k : f32
    }
  }
  tenon.output 0 "y", %y : tensor<64x48xf32>
  return
}
