// Faults in generated attention kernels are found: calls that synchronise deleted, comparisons of sizes off by one. Of the edges those survive that are tested twice, as a key that does not exist is zero in shared memory and hidden as a pair.
// REQUIRES: gpu-emu
// RUN: not tenon-gpu-kernel-test %s --dims=33,2 --dims=32,32 --dims=16,48 --dims=8,16 --schedules=1 --faults --kernels=attention --tolerance=2e-5 > %t.log 2>&1
// RUN: FileCheck %s --input-file=%t.log
// CHECK: sizes off by one: 19 of 39 found
// CHECK: deleted calls: 34 of 34 found

#q = affine_map<(d0, d1) -> (1, d0, 1, 8)>
#k = affine_map<(d0, d1) -> (1, d0 + d1, 1, 8)>
#v = affine_map<(d0, d1) -> (1, d0 + d1, 1, 16)>
#y = affine_map<(d0, d1) -> (1, d0, 1, 16)>
#s = affine_map<(d0, d1) -> (1, 1, d0)>
#m = affine_map<(d0, d1) -> (-d1)>

func.func @causal(%I: index, %M: index, %q: tensor<1x?x1x8xf32, #q>, %k: tensor<1x?x1x8xf32, #k>, %v: tensor<1x?x1x16xf32, #v>, %dy: tensor<1x?x1x16xf32, #y>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m, query = -1 : i64, key = 1 : i64}], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<1x?x1x8xf32, #q>, tensor<1x?x1x8xf32, #k>, tensor<1x?x1x16xf32, #v>) -> (tensor<1x?x1x16xf32, #y>, tensor<1x1x?xf32, #s>, tensor<1x1x?xf32, #s>)
  %dq, %dk, %dv = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = #m, query = -1 : i64, key = 1 : i64}], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<1x?x1x16xf32, #y>, tensor<1x?x1x16xf32, #y>, tensor<1x1x?xf32, #s>, tensor<1x1x?xf32, #s>, tensor<1x?x1x8xf32, #q>, tensor<1x?x1x8xf32, #k>, tensor<1x?x1x16xf32, #v>) -> (tensor<1x?x1x8xf32, #q>, tensor<1x?x1x8xf32, #k>, tensor<1x?x1x16xf32, #v>)
  tenon.output 0 "y", %y : tensor<1x?x1x16xf32, #y>
  tenon.output 1 "m", %m : tensor<1x1x?xf32, #s>
  tenon.output 2 "s", %s : tensor<1x1x?xf32, #s>
  tenon.output 3 "dq", %dq : tensor<1x?x1x8xf32, #q>
  tenon.output 4 "dk", %dk : tensor<1x?x1x8xf32, #k>
  tenon.output 5 "dv", %dv : tensor<1x?x1x16xf32, #v>
  return
}
