// A recurrence over a run-time number of places with its gradient: loops that count to a form over the dims, places that move with them, what is kept of every place.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify,tenon-differentiate,tenon-simplify{after-differentiation=true}))' | tenon-opt --tenon-kernel-pipeline -o %t
// RUN: FileCheck %s --check-prefix=KERNEL --input-file %t
// RUN: tenon-kernel-test %t --dims=1,1 --dims=3,1 --dims=2,7 --dims=5,19 --tolerance=4e-6 | FileCheck %s
// RUN: not tenon-kernel-test %t --tier=portable --dims=2,7 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED
// The recurrent weight's gradient is one contraction behind the loop, that of the other weight, too.
// KERNEL: tenon.stack #[[T:[a-z0-9]+]](
// KERNEL: tenon.stack #[[T]] reverse(%{{[a-z0-9]+}}) :
// KERNEL: tenon.gemm {{.*}} rank 2
// KERNEL: tenon.gemm {{.*}} rank 2
// KERNEL: tenon.write_gradient

// RUN: tenon-opt %t --tenon-schedule-pipeline | FileCheck %s --check-prefix=SCHEDULE
// The carries of all places lie one behind the other, d1 + 1 of them: what the loop collects of them is there, and nothing is copied. The last one lies d1 steps behind the first.
// SCHEDULE: tenon.slots = [#tenon.slot<(d0, d1) -> (d0 * 544, d1 + 1) saved true>
// SCHEDULE: tenon.loop [[T:#[a-z0-9]+]] {
// SCHEDULE: tenon.place <workspace 0, [<0, (d0, d1) -> (d0 * 544), 0>]>
// SCHEDULE-NOT: tenon.copy
// SCHEDULE: #tenon.place<workspace 0, [<0, (d0, d1) -> (d0 * 544), 1>]>]
// SCHEDULE-NOT: tenon.copy
// SCHEDULE: tenon.place <workspace 0, [<-1, (d0, d1) -> (d0 * 544), 1>, <-1, (d0, d1) -> (d0 * 544, d1 - 1), 1>]>
// SCHEDULE: tenon.place <workspace 0, [<-1, (d0, d1) -> (d0 * 544), 1>]> : tensor<?x?x136xf32
// SCHEDULE: tenon.loop [[T]] reverse {
// SCHEDULE: tenon.place <workspace 0, [<0, (d0, d1) -> (d0 * 544), 1>]> : tensor<?x136xf32

#x = affine_map<(d0, d1) -> (d1, d0, 24)>
#h = affine_map<(d0, d1) -> (d0, 136)>
#g = affine_map<(d0, d1) -> (d1, d0, 136)>
#o = affine_map<(d0, d1) -> (d0, 24)>
tenon.parameter @wx {offset = 0 : i64} : tensor<136x24xf32>
tenon.parameter @wh {offset = 13056 : i64} : tensor<136x136xf32>

func.func @train(%B: index, %T: index, %x: tensor<?x?x24xf32, #x>, %y: tensor<?x136xf32, #h>) attributes {tenon.kind = "train", tenon.dims = ["B", "T"], tenon.states = []} {
  %wx = tenon.read_parameter @wx : tensor<136x24xf32>
  %wh = tenon.read_parameter @wh : tensor<136x136xf32>
  %zero = tenon.constant 0.0 : tensor<?x136xf32, #h>
  %last, %all = tenon.stack affine_map<(d0, d1) -> (d1)> (%zero) : (tensor<?x136xf32, #h>) -> (tensor<?x136xf32, #h>, tensor<?x?x136xf32, #g>) {
  ^bb0(%at: index, %h: tensor<?x136xf32, #h>):
    %one = tenon.at_depth %x[%at] : tensor<?x?x24xf32, #x> -> tensor<?x24xf32, #o>
    %p = tenon.dot %one[0, 2], %wx[1, 2] : tensor<?x24xf32, #o>, tensor<136x24xf32> -> tensor<?x136xf32, #h>
    %q = tenon.dot %h[0, 2], %wh[1, 2] : tensor<?x136xf32, #h>, tensor<136x136xf32> -> tensor<?x136xf32, #h>
    %s = tenon.add %p, %q : tensor<?x136xf32, #h>
    %c = tenon.constant 0.03 : tensor<?x136xf32, #h>
    %r = tenon.mul %s, %c : tensor<?x136xf32, #h>
    %n = tenon.tanh %r : tensor<?x136xf32, #h>
    tenon.yield %n, %n : tensor<?x136xf32, #h>, tensor<?x136xf32, #h>
  }
  %d = tenon.mul %last, %y : tensor<?x136xf32, #h>
  %a = tenon.reduce sum %d [0, 1] : tensor<?x136xf32, #h> -> tensor<f32>
  %b = tenon.reduce sum %all [0, 1, 2] : tensor<?x?x136xf32, #g> -> tensor<f32>
  %l = tenon.add %a, %b : tensor<f32>
  tenon.output 0 "loss", %l : tensor<f32>
  return
}
