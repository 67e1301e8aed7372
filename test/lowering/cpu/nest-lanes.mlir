// What lanes read: quotients and rests of one number, windows whose clamps a later choice makes superfluous, rows that end.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=67,3 --dims=131,2 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,2 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: expected
// CONTROL: FAILED

#row = affine_map<(d0, d1) -> (d1, d0)>
#image = affine_map<(d0, d1) -> (d1, 3, 4, 5)>
#merged = affine_map<(d0, d1) -> (d1, 60)>
#wide = affine_map<(d0, d1) -> (d1, 2, 4, 16)>
#joined = affine_map<(d0, d1) -> (d1, 128)>
#long = affine_map<(d0, d1) -> (d1, 3 * d0)>
#group = affine_map<(d0, d1) -> (d1, 3, d0)>
#c = affine_map<(d0, d1) -> (d1)>

// Three dimensions as one, times a number per channel; and the sum over all of them.
func.func @merged(%T: index, %B: index, %x: tensor<?x3x4x5xf32, #image>, %w: tensor<3xf32>) {
  %y, %s = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x60xf32, #merged>, tensor<?xf32, #c> {
  ^bb0(%b: index):
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %sum = tenon.fold sum affine_map<(d0, d1) -> (60)> : f32 {
    ^bb0(%i: index):
      %column = arith.remsi %i, %c5 : index
      %rest = arith.divsi %i, %c5 : index
      %line = arith.remsi %rest, %c4 : index
      %channel = arith.divsi %rest, %c4 : index
      %e = tenon.at %x[%b, %channel, %line, %column] : tensor<?x3x4x5xf32, #image> -> f32
      tenon.yield %e : f32
    }
    tenon.put 1 [%b], %sum : f32
    tenon.each affine_map<(d0, d1) -> (60)> {
    ^bb0(%i: index):
      %column = arith.remsi %i, %c5 : index
      %rest = arith.divsi %i, %c5 : index
      %line = arith.remsi %rest, %c4 : index
      %channel = arith.divsi %rest, %c4 : index
      %e = tenon.at %x[%b, %channel, %line, %column] : tensor<?x3x4x5xf32, #image> -> f32
      %g = tenon.at %w[%channel] : tensor<3xf32> -> f32
      %z = arith.mulf %e, %g : f32
      tenon.put 0 [%b, %i], %z : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x60xf32, #merged>
  tenon.output 1 "s", %s : tensor<?xf32, #c>
  return
}

// A quotient by 4 and then by 16 is one by 64, which all of 16 lanes share. The lines in the other order are no run.
func.func @shared(%T: index, %B: index, %x: tensor<?x2x4x16xf32, #wide>, %w: tensor<2xf32>) {
  %y = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x128xf32, #joined> {
  ^bb0(%b: index):
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    tenon.each affine_map<(d0, d1) -> (128)> {
    ^bb0(%i: index):
      %column = arith.remsi %i, %c16 : index
      %rest = arith.divsi %i, %c16 : index
      %line = arith.remsi %rest, %c4 : index
      %channel = arith.divsi %rest, %c4 : index
      %back = arith.subi %c3, %line : index
      %e = tenon.at %x[%b, %channel, %line, %column] : tensor<?x2x4x16xf32, #wide> -> f32
      %f = tenon.at %x[%b, %channel, %back, %column] : tensor<?x2x4x16xf32, #wide> -> f32
      %g = tenon.at %w[%channel] : tensor<2xf32> -> f32
      %p = arith.mulf %e, %g : f32
      %z = arith.addf %p, %f : f32
      tenon.put 0 [%b, %i], %z : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x128xf32, #joined>
  return
}

// The gradient of a window's tensor: the choice comes behind the product, with another reader of the filter; and the same where
// three rows lie in one.
func.func @guarded(%T: index, %B: index, %x: tensor<?x?xf32, #row>, %l: tensor<?x?xf32, #long>, %w: tensor<3xf32>) {
  %y = tenon.nest affine_map<(d0, d1) -> (d1, 3)> : tensor<?x3x?xf32, #group> {
  ^bb0(%b: index, %g: index):
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = tenon.size_value affine_map<(d0, d1) -> (d0)>
    %last = tenon.size_value affine_map<(d0, d1) -> (d0 - 1)>
    %start = arith.muli %g, %n : index
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%t: index):
      %sum = tenon.fold sum affine_map<(d0, d1) -> (3)> : f32 {
      ^bb0(%k: index):
        %moved = arith.subi %t, %k : index
        %place = arith.addi %moved, %c1 : index
        %below = arith.cmpi slt, %place, %n : index
        %high = arith.minsi %place, %last : index
        %above = arith.cmpi sle, %c0, %place : index
        %clamped = arith.maxsi %c0, %high : index
        %far = arith.addi %start, %clamped : index
        %e = tenon.at %x[%b, %clamped] : tensor<?x?xf32, #row> -> f32
        %f = tenon.at %l[%b, %far] : tensor<?x?xf32, #long> -> f32
        %h = tenon.at %w[%k] : tensor<3xf32> -> f32
        %p = arith.mulf %e, %h : f32
        %q = arith.mulf %f, %h : f32
        %inside = arith.andi %below, %above : i1
        %own = arith.select %inside, %p, %zero : f32
        %other = arith.select %inside, %q, %zero : f32
        %both = arith.addf %own, %other : f32
        tenon.yield %both : f32
      }
      tenon.put 0 [%b, %g, %t], %sum : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x3x?xf32, #group>
  return
}

// What a row does not put is not read.
func.func @unread(%T: index, %B: index, %x: tensor<?x?xf32, #row>, %c: tensor<?xi1, #c>) {
  %h, %s = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf32, #row>, tensor<?xf32, #c> {
  ^bb0(%i: index):
    %holds = tenon.at %c[%i] : tensor<?xi1, #c> -> i1
    tenon.row_if %holds
    %sum = tenon.fold sum affine_map<(d0, d1) -> (d0)> : f32 {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      tenon.yield %e : f32
    }
    tenon.put 1 [%i], %sum : f32
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %z = arith.mulf %e, %sum : f32
      tenon.put 0 [%i, %j], %z : f32
    }
  }
  %y = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf32, #row> {
  ^bb0(%i: index):
    %zero = arith.constant 0.0 : f32
    %holds = tenon.at %c[%i] : tensor<?xi1, #c> -> i1
    %sum = tenon.at %s[%i] : tensor<?xf32, #c> -> f32
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %e = tenon.at %h[%i, %j] : tensor<?x?xf32, #row> -> f32
      %d = arith.subf %e, %sum : f32
      %z = arith.select %holds, %d, %zero : f32
      tenon.put 0 [%i, %j], %z : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #row>
  return
}

// Rows that a choice adds 0 to.
func.func @kept(%T: index, %B: index, %x: tensor<?x?xf32, #row>, %v: tensor<?x?xf32, #row>, %c: tensor<?xi1, #c>) {
  %y = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf32, #row> {
  ^bb0(%i: index):
    %zero = arith.constant 0.0 : f32
    %holds = tenon.at %c[%i] : tensor<?xi1, #c> -> i1
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %e = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %f = tenon.at %v[%i, %j] : tensor<?x?xf32, #row> -> f32
      %z = arith.select %holds, %f, %zero : f32
      %s = arith.addf %e, %z : f32
      tenon.put 0 [%i, %j], %s : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #row>
  return
}
