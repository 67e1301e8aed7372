// Elementwise maps, rows, reductions; every size that leaves another rest of 16 lanes.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=67,3 --dims=131,2 --dims=300,5 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,2 --corrupt=0.001 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: expected
// CONTROL: FAILED

#row = affine_map<(d0, d1) -> (d1, d0)>

func.func @add(%T: index, %B: index, %x: tensor<?x?xf32, #row>, %y: tensor<?x?xf32, #row>) {
  %z = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf32, #row> {
  ^bb0(%i: index):
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %b = tenon.at %y[%i, %j] : tensor<?x?xf32, #row> -> f32
      %c = arith.addf %a, %b : f32
      tenon.put 0 [%i, %j], %c : f32
    }
  }
  tenon.output 0 "z", %z : tensor<?x?xf32, #row>
  return
}

func.func @layer_norm(%T: index, %B: index, %x: tensor<?x?xf32, #row>, %g: tensor<?xf32, affine_map<(d0, d1) -> (d0)>>) {
  %n = tenon.size_value affine_map<(d0, d1) -> (d0)>
  %y, %m = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf32, #row>, tensor<?xf32, affine_map<(d0, d1) -> (d1)>> {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<(d0, d1) -> (d0)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      tenon.yield %a : f32
    }
    %ni = arith.index_cast %n : index to i32
    %nf = arith.sitofp %ni : i32 to f32
    %mean = arith.divf %sum, %nf : f32
    tenon.put 1 [%i], %mean : f32
    %squares = tenon.fold sum affine_map<(d0, d1) -> (d0)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %d = arith.subf %a, %mean : f32
      %s = arith.mulf %d, %d : f32
      tenon.yield %s : f32
    }
    %variance = arith.divf %squares, %nf : f32
    %eps = arith.constant 1.0e-5 : f32
    %v = arith.addf %variance, %eps : f32
    %r = math.rsqrt %v : f32
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %w = tenon.at %g[%j] : tensor<?xf32, affine_map<(d0, d1) -> (d0)>> -> f32
      %d = arith.subf %a, %mean : f32
      %s = arith.mulf %d, %r : f32
      %o = arith.mulf %s, %w : f32
      tenon.put 0 [%i, %j], %o : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #row>
  tenon.output 1 "m", %m : tensor<?xf32, affine_map<(d0, d1) -> (d1)>>
  return
}

func.func @softmax(%T: index, %B: index, %x: tensor<?x?xf32, #row>) {
  %y = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf32, #row> {
  ^bb0(%i: index):
    %max = tenon.fold max affine_map<(d0, d1) -> (d0)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      tenon.yield %a : f32
    }
    %sum = tenon.fold sum affine_map<(d0, d1) -> (d0)> : f32 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %d = arith.subf %a, %max : f32
      %e = math.exp %d : f32
      tenon.yield %e : f32
    }
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %d = arith.subf %a, %max : f32
      %e = math.exp %d : f32
      %p = arith.divf %e, %sum : f32
      tenon.put 0 [%i, %j], %p : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #row>
  return
}

// Sums over the rows: lanes over the columns, one loop inside.
func.func @column_sums(%T: index, %B: index, %x: tensor<?x?xf32, #row>) {
  %y = tenon.nest affine_map<(d0, d1) -> ()> : tensor<?xf32, affine_map<(d0, d1) -> (d0)>> {
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %sum = tenon.fold sum affine_map<(d0, d1) -> (d1)> : f32 {
      ^bb0(%i: index):
        %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
        tenon.yield %a : f32
      }
      tenon.put 0 [%j], %sum : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?xf32, affine_map<(d0, d1) -> (d0)>>
  return
}

// A transpose, and rows without an inner loop: the last row dimension is the one on the lanes.
func.func @transpose(%T: index, %B: index, %x: tensor<?x?xf32, #row>) {
  %y = tenon.nest affine_map<(d0, d1) -> (d0, d1)> : tensor<?x?xf32, affine_map<(d0, d1) -> (d0, d1)>> {
  ^bb0(%j: index, %i: index):
    %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
    tenon.put 0 [%j, %i], %a : f32
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, affine_map<(d0, d1) -> (d0, d1)>>
  return
}

// Gather by a row of indices, by lanes of indices; truth values; merged dimensions.
func.func @gather(%T: index, %B: index, %table: tensor<7x24xf32>, %ids: tensor<?xi32, affine_map<(d0, d1) -> (d0)>>) {
  %y, %odd, %t = tenon.nest affine_map<(d0, d1) -> (d0)> : tensor<?x24xf32, affine_map<(d0, d1) -> (d0, 24)>>, tensor<?x24xi1, affine_map<(d0, d1) -> (d0, 24)>>, tensor<?x3x8xf32, affine_map<(d0, d1) -> (d0, 3, 8)>> {
  ^bb0(%i: index):
    %id = tenon.at %ids[%i] : tensor<?xi32, affine_map<(d0, d1) -> (d0)>> -> i32
    %row = arith.index_cast %id : i32 to index
    tenon.each affine_map<(d0, d1) -> (24)> {
    ^bb0(%j: index):
      %a = tenon.at %table[%row, %j] : tensor<7x24xf32> -> f32
      tenon.put 0 [%i, %j], %a : f32
      %zero = arith.constant 0.0 : f32
      %positive = arith.cmpf ogt, %a, %zero : f32
      tenon.put 1 [%i, %j], %positive : i1
      %c8 = arith.constant 8 : index
      %h = arith.divsi %j, %c8 : index
      %e = arith.remsi %j, %c8 : index
      %c7 = arith.constant 7 : index
      %other = arith.remsi %j, %c7 : index
      %b = tenon.at %table[%other, %j] : tensor<7x24xf32> -> f32
      %s = arith.select %positive, %a, %b : f32
      tenon.put 2 [%i, %h, %e], %s : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x24xf32, affine_map<(d0, d1) -> (d0, 24)>>
  tenon.output 1 "odd", %odd : tensor<?x24xi1, affine_map<(d0, d1) -> (d0, 24)>>
  tenon.output 2 "t", %t : tensor<?x3x8xf32, affine_map<(d0, d1) -> (d0, 3, 8)>>
  return
}

// Dropout: 16 neighbours and elements that begin anywhere.
func.func @dropout(%T: index, %B: index, %x: tensor<?x?xf32, #row>) {
  %y = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf32, #row> {
  ^bb0(%i: index):
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
      %n = tenon.size_value affine_map<(d0, d1) -> (d0)>
      %base = arith.muli %i, %n : index
      %index = arith.addi %base, %j : index
      %keep = tenon.random_keep %index site 7 threshold 20000
      %again = tenon.random_keep %j site 9 threshold 30000
      %zero = arith.constant 0.0 : f32
      %k = arith.select %keep, %a, %zero : f32
      %l = arith.select %again, %k, %zero : f32
      tenon.put 0 [%i, %j], %l : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf32, #row>
  return
}

// Rows of 272: groups of 128 that share random numbers, then single vectors; the row number times 272 is a multiple of 16.
func.func @grouped(%T: index, %B: index, %x: tensor<?x272xf32, affine_map<(d0, d1) -> (d0, 272)>>) {
  %y = tenon.nest affine_map<(d0, d1) -> (d0)> : tensor<?x272xf32, affine_map<(d0, d1) -> (d0, 272)>> {
  ^bb0(%i: index):
    tenon.each affine_map<(d0, d1) -> (272)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x272xf32, affine_map<(d0, d1) -> (d0, 272)>> -> f32
      %n = arith.constant 272 : index
      %base = arith.muli %i, %n : index
      %index = arith.addi %base, %j : index
      %keep = tenon.random_keep %index site 7 threshold 20000
      %second = arith.constant 256 : index
      %base2 = arith.muli %i, %second : index
      %index2 = arith.addi %base2, %j : index
      %keep2 = tenon.random_keep %index2 site 8 threshold 40000
      %zero = arith.constant 0.0 : f32
      %k = arith.select %keep, %a, %zero : f32
      %l = arith.select %keep2, %k, %zero : f32
      tenon.put 0 [%i, %j], %l : f32
    }
  }
  tenon.output 0 "y", %y : tensor<?x272xf32, affine_map<(d0, d1) -> (d0, 272)>>
  return
}

// f64: eight lanes, functions of libm.
func.func @wide(%T: index, %B: index, %x: tensor<?x?xf64, #row>) {
  %y, %s = tenon.nest affine_map<(d0, d1) -> (d1)> : tensor<?x?xf64, #row>, tensor<?xf64, affine_map<(d0, d1) -> (d1)>> {
  ^bb0(%i: index):
    %sum = tenon.fold sum affine_map<(d0, d1) -> (d0)> : f64 {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf64, #row> -> f64
      %e = math.exp %a : f64
      tenon.yield %e : f64
    }
    tenon.put 1 [%i], %sum : f64
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %a = tenon.at %x[%i, %j] : tensor<?x?xf64, #row> -> f64
      %e = math.erf %a : f64
      %t = math.tanh %e : f64
      tenon.put 0 [%i, %j], %t : f64
    }
  }
  tenon.output 0 "y", %y : tensor<?x?xf64, #row>
  tenon.output 1 "s", %s : tensor<?xf64, affine_map<(d0, d1) -> (d1)>>
  return
}

// Columns that are folded: strips of 64 in one loop, and what is left. A fold that another one needs, and one of other sizes.
func.func @columns(%T: index, %B: index, %x: tensor<?x?xf32, #row>, %u: tensor<3x?xf32, affine_map<(d0, d1) -> (3, d0)>>) {
  %s, %v = tenon.nest affine_map<(d0, d1) -> ()> : tensor<?xf32, affine_map<(d0, d1) -> (d0)>>, tensor<?xf32, affine_map<(d0, d1) -> (d0)>> {
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %sum = tenon.fold sum affine_map<(d0, d1) -> (d1)> : f32 {
      ^bb0(%i: index):
        %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
        tenon.yield %a : f32
      }
      tenon.put 0 [%j], %sum : f32
      %squares = tenon.fold sum affine_map<(d0, d1) -> (d1, 3)> : f32 {
      ^bb0(%i: index, %k: index):
        %a = tenon.at %x[%i, %j] : tensor<?x?xf32, #row> -> f32
        %b = tenon.at %u[%k, %j] : tensor<3x?xf32, affine_map<(d0, d1) -> (3, d0)>> -> f32
        %d = arith.subf %a, %sum : f32
        %e = arith.mulf %d, %b : f32
        tenon.yield %e : f32
      }
      tenon.put 1 [%j], %squares : f32
    }
  }
  tenon.output 0 "s", %s : tensor<?xf32, affine_map<(d0, d1) -> (d0)>>
  tenon.output 1 "v", %v : tensor<?xf32, affine_map<(d0, d1) -> (d0)>>
  return
}

// f64: strips of 32.
func.func @wide_columns(%T: index, %B: index, %x: tensor<?x?xf64, #row>) {
  %s = tenon.nest affine_map<(d0, d1) -> ()> : tensor<?xf64, affine_map<(d0, d1) -> (d0)>> {
    tenon.each affine_map<(d0, d1) -> (d0)> {
    ^bb0(%j: index):
      %most = tenon.fold max affine_map<(d0, d1) -> (d1)> : f64 {
      ^bb0(%i: index):
        %a = tenon.at %x[%i, %j] : tensor<?x?xf64, #row> -> f64
        tenon.yield %a : f64
      }
      tenon.put 0 [%j], %most : f64
    }
  }
  tenon.output 0 "s", %s : tensor<?xf64, affine_map<(d0, d1) -> (d0)>>
  return
}
