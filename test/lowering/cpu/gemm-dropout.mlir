// Dropout in the epilogue of a contraction, bit for bit the elements that the description of tenon.random_keep keeps: rows that
// begin anywhere among the 128 elements of one draw, several tiles of columns, two sites, sites whose elements are not neighbours.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=17,2 --dims=131,3 --dims=400,1 --tolerance=4e-4 | FileCheck %s
// RUN: not tenon-kernel-test %s --tier=portable --dims=17,2 --tolerance=4e-4 --corrupt=1 | FileCheck %s --check-prefix=CONTROL
// CHECK: ok:
// CONTROL: FAILED:

#x = affine_map<(d0, d1) -> (d1, d0, 24)>
#y = affine_map<(d0, d1) -> (d1, d0, 300)>

// y = keep ? sum * 2 : 0 with rows of 300 elements, and a second site at 10 elements further on.
func.func @rows(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<300x24xf32>) {
  %y, %keeps, %others = tenon.gemm %x[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, #x>, tensor<300x24xf32>
      -> tensor<?x?x300xf32, #y>, tensor<?x?x300xi1, #y>, tensor<?x?x300xi1, #y> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    %width = arith.constant 300 : index
    %bt = arith.muli %b, %T : index
    %row = arith.addi %bt, %t : index
    %start = arith.muli %row, %width : index
    %e = arith.addi %start, %f : index
    %keep = tenon.random_keep %e site 5 threshold 6554
    %ten = arith.constant 10 : index
    %further = arith.addi %e, %ten : index
    %other = tenon.random_keep %further site 77 threshold 40000
    %two = arith.constant 2.0 : f32
    %zero = arith.constant 0.0 : f32
    %grown = arith.mulf %sum, %two : f32
    %dropped = arith.select %keep, %grown, %zero : f32
    tenon.put 0 [%b, %t, %f], %dropped : f32
    tenon.put 1 [%b, %t, %f], %keep : i1
    tenon.put 2 [%b, %t, %f], %other : i1
  }
  tenon.output 0 "y", %y : tensor<?x?x300xf32, #y>
  tenon.output 1 "keeps", %keeps : tensor<?x?x300xi1, #y>
  tenon.output 2 "others", %others : tensor<?x?x300xi1, #y>
  return
}

// Whole draws: rows of 256 elements, a depth that is no constant of the site.
#wide = affine_map<(d0, d1) -> (d1, d0, 256)>
func.func @whole(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<256x24xf32>) {
  %y = tenon.gemm %x[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf32, #x>, tensor<256x24xf32> -> tensor<?x?x256xf32, #wide> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    %width = tenon.size_value affine_map<(d0, d1) -> (256)>
    %bt = arith.muli %b, %T : index
    %row = arith.addi %bt, %t : index
    %start = arith.muli %row, %width : index
    %e = arith.addi %start, %f : index
    %keep = tenon.random_keep %e depth %T site 5 threshold 6554
    %zero = arith.constant 0.0 : f32
    %dropped = arith.select %keep, %sum, %zero : f32
    tenon.put 0 [%b, %t, %f], %dropped : f32
  }
  tenon.output 0 "y", %y : tensor<?x?x256xf32, #wide>
  return
}

// Columns split into heads, and a site that counts them the other way round: drawn vector by vector.
#split = affine_map<(d0, d1) -> (d1, d0, 3, 40)>
func.func @heads(%T: index, %B: index, %x: tensor<?x?x24xf32, #x>, %w: tensor<3x40x24xf32>) {
  %y, %turned = tenon.gemm %x[0, 1, 4], %w[2, 3, 4] rank 4 : tensor<?x?x24xf32, #x>, tensor<3x40x24xf32>
      -> tensor<?x?x3x40xf32, #split>, tensor<?x?x3x40xi1, #split> {
  ^bb0(%b: index, %t: index, %h: index, %f: index, %sum: f32):
    %heads = arith.constant 3 : index
    %width = arith.constant 40 : index
    %all = arith.constant 120 : index
    %bt = arith.muli %b, %T : index
    %row = arith.addi %bt, %t : index
    %start = arith.muli %row, %all : index
    %head = arith.muli %h, %width : index
    %inside = arith.addi %head, %f : index
    %e = arith.addi %start, %inside : index
    %keep = tenon.random_keep %e site 6 threshold 30000
    %across = arith.muli %f, %heads : index
    %place = arith.addi %across, %h : index
    %turn = arith.addi %start, %place : index
    %again = tenon.random_keep %turn site 8 threshold 20000
    %zero = arith.constant 0.0 : f32
    %dropped = arith.select %keep, %sum, %zero : f32
    tenon.put 0 [%b, %t, %h, %f], %dropped : f32
    tenon.put 1 [%b, %t, %h, %f], %again : i1
  }
  tenon.output 0 "y", %y : tensor<?x?x3x40xf32, #split>
  tenon.output 1 "turned", %turned : tensor<?x?x3x40xi1, #split>
  return
}

// One contraction per batch entry, long sums: several blocks of depth.
#long = affine_map<(d0, d1) -> (d1, d0, 900)>
#each = affine_map<(d0, d1) -> (d1, 900, 41)>
#result = affine_map<(d0, d1) -> (d1, d0, 41)>
func.func @batched(%T: index, %B: index, %x: tensor<?x?x900xf32, #long>, %w: tensor<?x900x41xf32, #each>) {
  %y, %keeps = tenon.gemm %x[0, 1, 3], %w[0, 3, 2] rank 3 : tensor<?x?x900xf32, #long>, tensor<?x900x41xf32, #each>
      -> tensor<?x?x41xf32, #result>, tensor<?x?x41xi1, #result> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f32):
    %width = arith.constant 41 : index
    %bt = arith.muli %b, %T : index
    %row = arith.addi %bt, %t : index
    %start = arith.muli %row, %width : index
    %e = arith.addi %start, %f : index
    %keep = tenon.random_keep %e site 9 threshold 50000
    tenon.put 0 [%b, %t, %f], %sum : f32
    tenon.put 1 [%b, %t, %f], %keep : i1
  }
  tenon.output 0 "y", %y : tensor<?x?x41xf32, #result>
  tenon.output 1 "keeps", %keeps : tensor<?x?x41xi1, #result>
  return
}

// f64: half as many columns in a panel.
#x64 = affine_map<(d0, d1) -> (d1, d0, 24)>
#y64 = affine_map<(d0, d1) -> (d1, d0, 100)>
func.func @double(%T: index, %B: index, %x: tensor<?x?x24xf64, #x64>, %w: tensor<100x24xf64>) {
  %y = tenon.gemm %x[0, 1, 3], %w[2, 3] rank 3 : tensor<?x?x24xf64, #x64>, tensor<100x24xf64> -> tensor<?x?x100xf64, #y64> {
  ^bb0(%b: index, %t: index, %f: index, %sum: f64):
    %width = arith.constant 100 : index
    %bt = arith.muli %b, %T : index
    %row = arith.addi %bt, %t : index
    %start = arith.muli %row, %width : index
    %e = arith.addi %start, %f : index
    %keep = tenon.random_keep %e site 5 threshold 20000
    %zero = arith.constant 0.0 : f64
    %dropped = arith.select %keep, %sum, %zero : f64
    tenon.put 0 [%b, %t, %f], %dropped : f64
  }
  tenon.output 0 "y", %y : tensor<?x?x100xf64, #y64>
  return
}
