// Faults in the gradient of tables at computed places are found: calls that synchronise or exchange deleted, comparisons of sizes off by one. Rows are many and pairs few, so that of some tiles one thread alone reads a row of the block. Of the edges those survive that are tested twice, as a key that does not exist is zero in shared memory and hidden as a pair.
// REQUIRES: gpu-emu
// RUN: not tenon-gpu-kernel-test %s --dims=17,2 --schedules=1 --faults --kernels=attention_computed_tables --tolerance=2e-5 > %t.log 2>&1
// RUN: FileCheck %s --input-file=%t.log
// CHECK: sizes off by one: {{[1-9][0-9]*}} of
// CHECK: deleted calls: [[CALLS:[0-9]+]] of [[CALLS]] found

#q = affine_map<(d0, d1) -> (1, d0, 1, 8)>
#k = affine_map<(d0, d1) -> (1, d0 + d1, 1, 8)>
#v = affine_map<(d0, d1) -> (1, d0 + d1, 1, 16)>
#y = affine_map<(d0, d1) -> (1, d0, 1, 16)>
#s = affine_map<(d0, d1) -> (1, 1, d0)>
#m = affine_map<(d0, d1) -> (-d1)>
#f = affine_map<(d0, d1) -> (d0, d0 + d1)>

func.func @scattered(%I: index, %M: index, %q: tensor<1x?x1x8xf32, #q>, %k: tensor<1x?x1x8xf32, #k>, %v: tensor<1x?x1x16xf32, #v>, %dy: tensor<1x?x1x16xf32, #y>, %p: tensor<1x?x1x8xf32, #q>, %r: tensor<1000x1x8xf32>, %t: tensor<1000x1xf32>, %f: tensor<?x?xi32, #f> {test.bound = 1000 : i64}, %g: tensor<?x?xi32, #f> {test.bound = 1000 : i64}) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %r, %t, %f, %g) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 2, 0>, computes_place, mask = [{test = "le", rest = #m, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1, 2>, array<i64: 1, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%a: i32, %b: i32):
      tenon.yield %a, %b : i32, i32
    }) :
    (tensor<1x?x1x8xf32, #q>, tensor<1x?x1x8xf32, #k>, tensor<1x?x1x16xf32, #v>, tensor<1x?x1x8xf32, #q>, tensor<1000x1x8xf32>, tensor<1000x1xf32>, tensor<?x?xi32, #f>, tensor<?x?xi32, #f>) -> (tensor<1x?x1x16xf32, #y>, tensor<1x1x?xf32, #s>, tensor<1x1x?xf32, #s>)
  %dq, %dk, %dv, %dp, %dr, %dt = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %r, %t, %f, %g) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 2, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0>, computes_place, mask = [{test = "le", rest = #m, query = -1 : i64, key = 1 : i64}], index_labels = [array<i64: 1, 2>, array<i64: 1, 2>], scale = 0.125 : f64, rate = 0.0 : f64, site = 5 : i64}> ({
    ^bb0(%a: i32, %b: i32):
      tenon.yield %a, %b : i32, i32
    }) :
    (tensor<1x?x1x16xf32, #y>, tensor<1x?x1x16xf32, #y>, tensor<1x1x?xf32, #s>, tensor<1x1x?xf32, #s>, tensor<1x?x1x8xf32, #q>, tensor<1x?x1x8xf32, #k>, tensor<1x?x1x16xf32, #v>, tensor<1x?x1x8xf32, #q>, tensor<1000x1x8xf32>, tensor<1000x1xf32>, tensor<?x?xi32, #f>, tensor<?x?xi32, #f>) -> (tensor<1x?x1x8xf32, #q>, tensor<1x?x1x8xf32, #k>, tensor<1x?x1x16xf32, #v>, tensor<1x?x1x8xf32, #q>, tensor<1x1000x1x8xf32>, tensor<1x1000x1xf32>)
  tenon.output 0 "y", %y : tensor<1x?x1x16xf32, #y>
  tenon.output 1 "dp", %dp : tensor<1x?x1x8xf32, #q>
  tenon.output 2 "dr", %dr : tensor<1x1000x1x8xf32>
  tenon.output 3 "dt", %dt : tensor<1x1000x1xf32>
  return
}
