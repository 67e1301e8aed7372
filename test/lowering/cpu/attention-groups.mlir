// Heads in groups that share keys, with tables, several strips and several chunks of keys.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=2,3,2 --dims=17,40,3 --dims=131,1000,1 --dims=67,0,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=2,3,2 --dims=67,0,1 --dims=131,1000,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#q = affine_map<(d0, d1, d2) -> (d2, d0, 6, 24)>
#k = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 24)>
#v = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 2, 40)>
#y = affine_map<(d0, d1, d2) -> (d2, d0, 6, 40)>
#m = affine_map<(d0, d1, d2) -> (d2, 6, d0)>
#t = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 6, 24)>
#s = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 6)>
#dt = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 6, 24)>
#ds = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 6)>

func.func @groups(%I: index, %M: index, %B: index, %q: tensor<?x?x6x24xf32, #q>, %k: tensor<?x?x2x24xf32, #k>, %v: tensor<?x?x2x40xf32, #v>, %dy: tensor<?x?x6x40xf32, #y>, %p: tensor<?x?x6x24xf32, #q>, %table: tensor<?x6x24xf32, #t>, %bias: tensor<?x6xf32, #s>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %table, %bias) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}]}> :
    (tensor<?x?x6x24xf32, #q>, tensor<?x?x2x24xf32, #k>, tensor<?x?x2x40xf32, #v>, tensor<?x?x6x24xf32, #q>, tensor<?x6x24xf32, #t>, tensor<?x6xf32, #s>) -> (tensor<?x?x6x40xf32, #y>, tensor<?x6x?xf32, #m>, tensor<?x6x?xf32, #m>)
  %dq, %dk, %dv, %dp, %dt, %ds = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %table, %bias) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}]}> :
    (tensor<?x?x6x40xf32, #y>, tensor<?x?x6x40xf32, #y>, tensor<?x6x?xf32, #m>, tensor<?x6x?xf32, #m>, tensor<?x?x6x24xf32, #q>, tensor<?x?x2x24xf32, #k>, tensor<?x?x2x40xf32, #v>, tensor<?x?x6x24xf32, #q>, tensor<?x6x24xf32, #t>, tensor<?x6xf32, #s>) -> (tensor<?x?x6x24xf32, #q>, tensor<?x?x2x24xf32, #k>, tensor<?x?x2x40xf32, #v>, tensor<?x?x6x24xf32, #q>, tensor<?x?x6x24xf32, #dt>, tensor<?x?x6xf32, #ds>)
  tenon.output 0 "y", %y : tensor<?x?x6x40xf32, #y>
  tenon.output 1 "m", %m : tensor<?x6x?xf32, #m>
  tenon.output 2 "s", %s : tensor<?x6x?xf32, #m>
  tenon.output 3 "dq", %dq : tensor<?x?x6x24xf32, #q>
  tenon.output 4 "dk", %dk : tensor<?x?x2x24xf32, #k>
  tenon.output 5 "dv", %dv : tensor<?x?x2x40xf32, #v>
  tenon.output 6 "dp", %dp : tensor<?x?x6x24xf32, #q>
  tenon.output 7 "dt", %dt : tensor<?x?x6x24xf32, #dt>
  tenon.output 8 "ds", %ds : tensor<?x?x6xf32, #ds>
  return
}
