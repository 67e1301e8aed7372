// A step of the scaled score (a soft cap), with tables and shared keys.
// RUN: tenon-kernel-test %s --dims=1,0,2 --dims=2,3,2 --dims=17,40,3 --dims=131,1000,1 --tolerance=2e-5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,40,2 --tolerance=2e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CONTROL
// RUN: tenon-kernel-test %s --dims=17,40,3 --dims=131,1000,1 --storage=bf16 --tolerance=1e-2 | FileCheck %s
// CHECK: ok:
// CONTROL: FAILED:

#q = affine_map<(d0, d1, d2) -> (d2, d0, 2, 40)>
#k = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 40)>
#v = affine_map<(d0, d1, d2) -> (d2, d0 + d1, 1, 24)>
#y = affine_map<(d0, d1, d2) -> (d2, d0, 2, 24)>
#m = affine_map<(d0, d1, d2) -> (d2, 2, d0)>
#t = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 2, 40)>
#s = affine_map<(d0, d1, d2) -> (d0 + d0 + d1, 2)>
#dt = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 2, 40)>
#ds = affine_map<(d0, d1, d2) -> (d2, d0 + d0 + d1, 2)>

func.func @capped(%I: index, %M: index, %B: index, %q: tensor<?x?x2x40xf32, #q>, %k: tensor<?x?x1x40xf32, #k>, %v: tensor<?x?x1x24xf32, #v>, %dy: tensor<?x?x2x24xf32, #y>, %p: tensor<?x?x2x40xf32, #q>, %table: tensor<?x2x40xf32, #t>, %bias: tensor<?x2xf32, #s>) {
  %y, %m, %s = "tenon.attention"(%q, %k, %v, %p, %table, %bias) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}]}> ({
  ^bb0(%x: f32):
    %c = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %scaled = arith.divf %x, %c : f32
    %tanh = math.tanh %scaled : f32
    %capped = arith.mulf %c, %tanh : f32
    %square = arith.mulf %tanh, %tanh : f32
    %slope = arith.subf %one, %square : f32
    "tenon.yield"(%capped, %slope) : (f32, f32) -> ()
  }) :
    (tensor<?x?x2x40xf32, #q>, tensor<?x?x1x40xf32, #k>, tensor<?x?x1x24xf32, #v>, tensor<?x?x2x40xf32, #q>, tensor<?x2x40xf32, #t>, tensor<?x2xf32, #s>) -> (tensor<?x?x2x24xf32, #y>, tensor<?x2x?xf32, #m>, tensor<?x2x?xf32, #m>)
  %dq, %dk, %dv, %dp, %dt, %ds = "tenon.attention_grad"(%dy, %y, %m, %s, %q, %k, %v, %p, %table, %bias) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0>, mask = [{test = "le", rest = affine_map<(d0, d1, d2) -> (-d1)>, query = -1 : i64, key = 1 : i64}], scale = 0.25 : f64, rate = 0.1 : f64, site = 5 : i64, place = [{rest = affine_map<(d0, d1, d2) -> (d0 - 1)>, query = -1 : i64, key = 1 : i64}]}> ({
  ^bb0(%x: f32):
    %c = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %scaled = arith.divf %x, %c : f32
    %tanh = math.tanh %scaled : f32
    %capped = arith.mulf %c, %tanh : f32
    %square = arith.mulf %tanh, %tanh : f32
    %slope = arith.subf %one, %square : f32
    "tenon.yield"(%capped, %slope) : (f32, f32) -> ()
  }) :
    (tensor<?x?x2x24xf32, #y>, tensor<?x?x2x24xf32, #y>, tensor<?x2x?xf32, #m>, tensor<?x2x?xf32, #m>, tensor<?x?x2x40xf32, #q>, tensor<?x?x1x40xf32, #k>, tensor<?x?x1x24xf32, #v>, tensor<?x?x2x40xf32, #q>, tensor<?x2x40xf32, #t>, tensor<?x2xf32, #s>) -> (tensor<?x?x2x40xf32, #q>, tensor<?x?x1x40xf32, #k>, tensor<?x?x1x24xf32, #v>, tensor<?x?x2x40xf32, #q>, tensor<?x?x2x40xf32, #dt>, tensor<?x?x2xf32, #ds>)
  tenon.output 0 "y", %y : tensor<?x?x2x24xf32, #y>
  tenon.output 1 "m", %m : tensor<?x2x?xf32, #m>
  tenon.output 2 "s", %s : tensor<?x2x?xf32, #m>
  tenon.output 3 "dq", %dq : tensor<?x?x2x40xf32, #q>
  tenon.output 4 "dk", %dk : tensor<?x?x1x40xf32, #k>
  tenon.output 5 "dv", %dv : tensor<?x?x1x24xf32, #v>
  tenon.output 6 "dp", %dp : tensor<?x?x2x40xf32, #q>
  tenon.output 7 "dt", %dt : tensor<?x?x2x40xf32, #dt>
  tenon.output 8 "ds", %ds : tensor<?x?x2xf32, #ds>
  return
}
