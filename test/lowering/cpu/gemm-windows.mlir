// Contractions of windows: along the depth and across it, in steps, dilated, transposed, within memory alone, with columns of several rows of the batch, and operands in memory whose depth is no strided dimension.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=67,3 --dims=131,1 --tolerance=5e-5 | FileCheck %s
// CHECK: ok:
// RUN: not tenon-kernel-test %s --tier=portable --dims=2,3 --tolerance=5e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CORRUPT
// CORRUPT: convolution dims 2,3 tier portable: output 0[0] is
// CORRUPT: FAILED

#x = affine_map<(d0, d1) -> (d1, 5, 6, d0)>
#v = affine_map<(d0, d1) -> (d1, 5, 6, 3, d0, 3)>
#y = affine_map<(d0, d1) -> (d1, 7, 6, d0)>
#f = affine_map<(d0, d1) -> (d0)>
#l = affine_map<(d0, d1) -> (d0 - 1)>

// y[b,o,y,x] = sum_ckl x[b,c,y+k-1,x+l-1] w[o,c,k,l]: as B, across the depth
func.func @convolution(%T: index, %B: index, %x: tensor<?x5x6x?xf32, #x>, %w: tensor<7x5x3x3xf32>) {
  %y = tenon.gemm %w[1, 4, 5, 6], element[0, 4, 2, 5, 3, 6] rank 4 : tensor<7x5x3x3xf32>, tensor<?x5x6x3x?x3xf32, #v> -> tensor<?x7x6x?xf32, #y> {
  ^bb0(%b: index, %o: index, %j: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %j, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %back = arith.constant -1 : index
    %six = arith.constant 6 : index
    %five = arith.constant 5 : index
    %jk = arith.addi %j, %k : index
    %jn = arith.addi %jk, %back : index
    %jb = arith.cmpi slt, %jn, %six : index
    %jm = arith.minsi %jn, %five : index
    %ja = arith.cmpi sle, %zero, %jn : index
    %jc = arith.maxsi %zero, %jm : index
    %il = arith.addi %i, %l : index
    %n = arith.addi %il, %back : index
    %size = tenon.size_value #f
    %last = tenon.size_value #l
    %ib = arith.cmpi slt, %n, %size : index
    %im = arith.minsi %n, %last : index
    %ia = arith.cmpi sle, %zero, %n : index
    %ic = arith.maxsi %zero, %im : index
    %in0 = arith.andi %jb, %ja : i1
    %in1 = arith.andi %in0, %ib : i1
    %in = arith.andi %in1, %ia : i1
    %fill = arith.constant 0.25 : f32
    %e = tenon.at %x[%b, %c, %jc, %ic] : tensor<?x5x6x?xf32, #x> -> f32
    %s = arith.select %in, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x7x6x?xf32, #y>
  return
}

// dw[o,c,k,l] = sum_byx x[b,c,y+k-1,x+l-1] dy[b,o,y,x]: along the depth; dy is brought in order first
func.func @weight_gradient(%T: index, %B: index, %x: tensor<?x5x6x?xf32, #x>, %dy: tensor<?x7x6x?xf32, #y>) {
  %dw = tenon.gemm %dy[4, 0, 5, 6], element[4, 1, 5, 2, 6, 3] rank 4 : tensor<?x7x6x?xf32, #y>, tensor<?x5x6x3x?x3xf32, #v> -> tensor<7x5x3x3xf32> {
  ^bb0(%o: index, %c: index, %k: index, %l: index, %sum: f32):
    tenon.put 0 [%o, %c, %k, %l], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %back = arith.constant -1 : index
    %six = arith.constant 6 : index
    %five = arith.constant 5 : index
    %jk = arith.addi %j, %k : index
    %jn = arith.addi %jk, %back : index
    %jb = arith.cmpi slt, %jn, %six : index
    %jm = arith.minsi %jn, %five : index
    %ja = arith.cmpi sle, %zero, %jn : index
    %jc = arith.maxsi %zero, %jm : index
    %il = arith.addi %i, %l : index
    %n = arith.addi %il, %back : index
    %size = tenon.size_value #f
    %last = tenon.size_value #l
    %ib = arith.cmpi slt, %n, %size : index
    %im = arith.minsi %n, %last : index
    %ia = arith.cmpi sle, %zero, %n : index
    %ic = arith.maxsi %zero, %im : index
    %in0 = arith.andi %jb, %ja : i1
    %in1 = arith.andi %in0, %ib : i1
    %in = arith.andi %in1, %ia : i1
    %fill = arith.constant 0.25 : f32
    %e = tenon.at %x[%b, %c, %jc, %ic] : tensor<?x5x6x?xf32, #x> -> f32
    %s = arith.select %in, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "dw", %dw : tensor<7x5x3x3xf32>
  return
}

// dx[b,c,i] = sum_ol dy[b,o,(i+1-l)/2] w[o,c,l] where that is whole: w is brought in order first
#d = affine_map<(d0, d1) -> (d1, 7, d0)>
#u = affine_map<(d0, d1) -> (d1, 7, 2 * d0, 3)>
#t = affine_map<(d0, d1) -> (d1, 5, 2 * d0)>
func.func @transposed(%T: index, %B: index, %dy: tensor<?x7x?xf32, #d>, %w: tensor<7x5x3xf32>) {
  %dx = tenon.gemm %w[3, 1, 4], element[0, 3, 2, 4] rank 3 : tensor<7x5x3xf32>, tensor<?x7x?x3xf32, #u> -> tensor<?x5x?xf32, #t> {
  ^bb0(%b: index, %c: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %c, %i], %sum : f32
  } b {
  ^bb0(%b: index, %o: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %back = arith.constant -1 : index
    %lb = arith.muli %l, %back : index
    %il = arith.addi %i, %lb : index
    %n = arith.addi %il, %one : index
    %q = arith.floordivsi %n, %two : index
    %qt = arith.muli %q, %two : index
    %whole = arith.cmpi eq, %qt, %n : index
    %size = tenon.size_value #f
    %last = tenon.size_value #l
    %below = arith.cmpi slt, %q, %size : index
    %qm = arith.minsi %q, %last : index
    %above = arith.cmpi sle, %zero, %q : index
    %qc = arith.maxsi %zero, %qm : index
    %i0 = arith.andi %whole, %below : i1
    %in = arith.andi %i0, %above : i1
    %e = tenon.at %dy[%b, %o, %qc] : tensor<?x7x?xf32, #d> -> f32
    %fill = arith.constant 0.0 : f32
    %s = arith.select %in, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "dx", %dx : tensor<?x5x?xf32, #t>
  return
}

// y[b,o,i] = sum_cl x[b,c,2i+3l] w[o,c,l]: windows that stay inside are strides; few columns, of all rows of the batch
#p = affine_map<(d0, d1) -> (d0, 5, 20)>
#q = affine_map<(d0, d1) -> (d0, 5, 7, 3)>
#r = affine_map<(d0, d1) -> (d0, 9, 7)>
func.func @inside(%T: index, %B: index, %x: tensor<?x5x20xf32, #p>, %w: tensor<9x5x3xf32>) {
  %y = tenon.gemm %w[1, 3, 4], element[0, 3, 2, 4] rank 3 : tensor<9x5x3xf32>, tensor<?x5x7x3xf32, #q> -> tensor<?x9x7xf32, #r> {
  ^bb0(%b: index, %o: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %two = arith.constant 2 : index
    %three = arith.constant 3 : index
    %i2 = arith.muli %i, %two : index
    %l3 = arith.muli %l, %three : index
    %n = arith.addi %i2, %l3 : index
    %e = tenon.at %x[%b, %c, %n] : tensor<?x5x20xf32, #p> -> f32
    tenon.yield %e : f32
  }
  tenon.output 0 "y", %y : tensor<?x9x7xf32, #r>
  return
}

// Channels last, as A: y[b,i,o] = sum_lc x[b,i+l-2,c] w[l,c,o], dilated by hand: places behind the first are 2 apart
#a = affine_map<(d0, d1) -> (d1, d0, 24)>
#n = affine_map<(d0, d1) -> (d1, d0, 3, 24)>
#o = affine_map<(d0, d1) -> (d1, d0, 40)>
func.func @causal(%T: index, %B: index, %x: tensor<?x?x24xf32, #a>, %w: tensor<3x24x40xf32>) {
  %y = tenon.gemm element[0, 1, 3, 4], %w[3, 4, 2] rank 3 : tensor<?x?x3x24xf32, #n>, tensor<3x24x40xf32> -> tensor<?x?x40xf32, #o> {
  ^bb0(%b: index, %i: index, %f: index, %sum: f32):
    tenon.put 0 [%b, %i, %f], %sum : f32
  } a {
  ^bb0(%b: index, %i: index, %l: index, %c: index):
    %zero = arith.constant 0 : index
    %two = arith.constant 2 : index
    %four = arith.constant -4 : index
    %l2 = arith.muli %l, %two : index
    %il = arith.addi %i, %l2 : index
    %n = arith.addi %il, %four : index
    %in = arith.cmpi sle, %zero, %n : index
    %nc = arith.maxsi %zero, %n : index
    %e = tenon.at %x[%b, %nc, %c] : tensor<?x?x24xf32, #a> -> f32
    %fill = arith.constant 0.5 : f32
    %s = arith.select %in, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf32, #o>
  return
}

// Both in memory, neither a matrix: dw[o,c] = sum_bi dy[b,o,i] x[b,c,i]
#g = affine_map<(d0, d1) -> (d1, 9, d0)>
#h = affine_map<(d0, d1) -> (d1, 20, d0)>
func.func @apart(%T: index, %B: index, %dy: tensor<?x9x?xf32, #g>, %x: tensor<?x20x?xf32, #h>) {
  %dw = tenon.gemm %dy[2, 0, 3], %x[2, 1, 3] rank 2 : tensor<?x9x?xf32, #g>, tensor<?x20x?xf32, #h> -> tensor<9x20xf32> {
  ^bb0(%o: index, %c: index, %sum: f32):
    tenon.put 0 [%o, %c], %sum : f32
  }
  tenon.output 0 "dw", %dw : tensor<9x20xf32>
  return
}
