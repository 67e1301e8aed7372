// Faults in the attention kernel of tensor cores are found: calls that synchronise or copy deleted, comparisons of sizes off by one, exchanged fragments. Of the edges those survive that are tested twice: a key that does not exist is zero in shared memory and hidden as a pair, a query that does not exist is stored nowhere; and those that say that a tile is full, which may be compared all the same.
// REQUIRES: gpu-emu
// RUN: not tenon-gpu-kernel-test %s --dims=33,40 --dims=64,64 --dims=56,8 --dims=8,56 --schedules=1 --faults --kernels=attention --tolerance=2e-2 > %t.log 2>&1
// RUN: FileCheck %s --input-file=%t.log
// CHECK: sizes off by one: 9 of 15 found
// CHECK: exchanged fragments: 26 of 26 found
// CHECK: deleted calls: 58 of 58 found

#q = affine_map<(d0, d1) -> (1, d0, 1, 16)>
#k = affine_map<(d0, d1) -> (1, d0 + d1, 1, 16)>
#t = affine_map<(d0, d1) -> (d0 + d1, 1, 16)>
#s = affine_map<(d0, d1) -> (1, 1, d0)>
#m = affine_map<(d0, d1) -> (-d1)>
#d = affine_map<(d0, d1) -> (d1)>

func.func @relative(%I: index, %M: index, %q: tensor<1x?x1x16xbf16, #q>, %k: tensor<1x?x1x16xbf16, #k>, %v: tensor<1x?x1x16xbf16, #k>, %p: tensor<1x?x1x16xbf16, #q>, %r: tensor<?x1x16xbf16, #t>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0>, place = [{rest = #d, query = 1 : i64, key = -1 : i64}], mask = [{test = "le", rest = #m, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.0 : f64, site = 5 : i64}> :
    (tensor<1x?x1x16xbf16, #q>, tensor<1x?x1x16xbf16, #k>, tensor<1x?x1x16xbf16, #k>, tensor<1x?x1x16xbf16, #q>, tensor<?x1x16xbf16, #t>) -> (tensor<1x?x1x16xbf16, #q>, tensor<1x1x?xf32, #s>, tensor<1x1x?xf32, #s>)
  tenon.output 0 "y", %y : tensor<1x?x1x16xbf16, #q>
  tenon.output 1 "m", %m : tensor<1x1x?xf32, #s>
  tenon.output 2 "s", %s : tensor<1x1x?xf32, #s>
  return
}
