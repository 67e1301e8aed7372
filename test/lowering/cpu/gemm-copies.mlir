// Copies in rows of what a contraction packs: windows in steps, dilated, with more padding than there is, of channels apart, in f64, bf16 and f16, along the depth and across it, and what is no matrix in memory.
// RUN: tenon-kernel-test %s --dims=1,1 --dims=2,3 --dims=7,2 --dims=17,2 --dims=40,3 --dims=67,1 --tolerance=5e-5 | FileCheck %s
// CHECK: ok:
// RUN: not tenon-kernel-test %s --tier=portable --dims=2,3 --tolerance=5e-5 --corrupt=1e-3 | FileCheck %s --check-prefix=CORRUPT
// CORRUPT: steps_f64 dims 2,3 tier portable: output 0[0] is
// CORRUPT: FAILED

// Every kind of copy is there.
// RUN: tenon-kernel-test %s --dims=2,3 --tier=avx2 --emit=llvm | FileCheck %s --check-prefix=CODE
// CODE-DAG: call void @tn_gemm_copy_rows_avx2_f64_2(
// CODE-DAG: call void @tn_gemm_copy_rows_avx2_f64_2_over(
// CODE-DAG: call void @tn_gemm_copy_rows_avx2_f32_1(
// CODE-DAG: call void @tn_gemm_copy_rows_avx2_f32_1_over(
// CODE-DAG: call void @tn_gemm_copy_rows_avx2_short_1(
// CODE-DAG: call void @tn_gemm_copy_rows_avx2_short_2_over(
// CODE-DAG: define internal void @scattered.gemm_order(

// A block is copied in at most as many calls as it has lines, however many places lie behind the outermost one.
// RUN: tenon-kernel-test %s --dims=2,3 --tier=avx2 --emit=llvm | FileCheck %s --check-prefix=FEW
// FEW-LABEL: define internal void @pairs.gemm(
// FEW: call i64 @llvm.smin.i64(i64 %{{[0-9]+}}, i64 %{{[0-9]+}})
// FEW: [[CALLS:%[0-9]+]] = call i64 @llvm.smin.i64(i64 [[PLACES:%[0-9]+]], i64 %{{[0-9]+}})
// FEW: urem i64 %{{[0-9]+}}, [[PLACES]]
// FEW: call void @tn_gemm_copy_rows_avx2_f32_1(
// FEW: icmp slt i64 %{{[0-9]+}}, [[CALLS]]

#f = affine_map<(d0, d1) -> (d0)>
#l = affine_map<(d0, d1) -> (d0 - 1)>
#x4 = affine_map<(d0, d1) -> (d1, 5, 9, d0)>
#s4 = affine_map<(d0, d1) -> (d1, 5, 5, 3, (d0 + 1) floordiv 2, 3)>
#y4 = affine_map<(d0, d1) -> (d1, 7, 5, (d0 + 1) floordiv 2)>
#x3 = affine_map<(d0, d1) -> (d1, 20, d0)>
#w3 = affine_map<(d0, d1) -> (d1, 20, d0, 5)>
#y3 = affine_map<(d0, d1) -> (d1, 9, d0)>
#w1 = affine_map<(d0, d1) -> (d1, 20, d0, 3)>

// y[b,o,j,i] = sum_ckl x[b,c,2j+k-1,2i+l-1] w[o,c,k,l]
func.func @steps_f64(%T: index, %B: index, %x: tensor<?x5x9x?xf64, #x4>, %w: tensor<7x5x3x3xf64>) {
  %y = tenon.gemm %w[1, 4, 5, 6], element[0, 4, 2, 5, 3, 6] rank 4 : tensor<7x5x3x3xf64>, tensor<?x5x5x3x?x3xf64, #s4> -> tensor<?x7x5x?xf64, #y4> {
  ^bb0(%b: index, %o: index, %j: index, %i: index, %sum: f64):
    tenon.put 0 [%b, %o, %j, %i], %sum : f64
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %vs = arith.constant 2 : index
    %vd = arith.constant 1 : index
    %vb = arith.constant -1 : index
    %vi = arith.muli %j, %vs : index
    %vl = arith.muli %k, %vd : index
    %vil = arith.addi %vi, %vl : index
    %vn = arith.addi %vil, %vb : index
    %vsize = arith.constant 9 : index
    %vlast = arith.constant 8 : index
    %vbelow = arith.cmpi slt, %vn, %vsize : index
    %vabove = arith.cmpi sle, %zero, %vn : index
    %vm = arith.minsi %vn, %vlast : index
    %vc = arith.maxsi %zero, %vm : index
    %vin = arith.andi %vbelow, %vabove : i1
    %hs = arith.constant 2 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %in = arith.andi %vin, %hin : i1
    %fill = arith.constant 0.25 : f64
    %e = tenon.at %x[%b, %c, %vc, %hc] : tensor<?x5x9x?xf64, #x4> -> f64
    %s = arith.select %in, %e, %fill : f64
    tenon.yield %s : f64
  }
  tenon.output 0 "y", %y : tensor<?x7x5x?xf64, #y4>
  return
}

// Its weight's gradient: along the depth, whose order is that of the windows
func.func @steps_f64_gradient(%T: index, %B: index, %x: tensor<?x5x9x?xf64, #x4>, %dy: tensor<?x7x5x?xf64, #y4>) {
  %dw = tenon.gemm %dy[4, 0, 5, 6], element[4, 1, 5, 2, 6, 3] rank 4 : tensor<?x7x5x?xf64, #y4>, tensor<?x5x5x3x?x3xf64, #s4> -> tensor<7x5x3x3xf64> {
  ^bb0(%o: index, %c: index, %k: index, %l: index, %sum: f64):
    tenon.put 0 [%o, %c, %k, %l], %sum : f64
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %vs = arith.constant 2 : index
    %vd = arith.constant 1 : index
    %vb = arith.constant -1 : index
    %vi = arith.muli %j, %vs : index
    %vl = arith.muli %k, %vd : index
    %vil = arith.addi %vi, %vl : index
    %vn = arith.addi %vil, %vb : index
    %vsize = arith.constant 9 : index
    %vlast = arith.constant 8 : index
    %vbelow = arith.cmpi slt, %vn, %vsize : index
    %vabove = arith.cmpi sle, %zero, %vn : index
    %vm = arith.minsi %vn, %vlast : index
    %vc = arith.maxsi %zero, %vm : index
    %vin = arith.andi %vbelow, %vabove : i1
    %hs = arith.constant 2 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %in = arith.andi %vin, %hin : i1
    %fill = arith.constant 0.25 : f64
    %e = tenon.at %x[%b, %c, %vc, %hc] : tensor<?x5x9x?xf64, #x4> -> f64
    %s = arith.select %in, %e, %fill : f64
    tenon.yield %s : f64
  }
  tenon.output 0 "dw", %dw : tensor<7x5x3x3xf64>
  return
}

// y[b,o,j,i] = sum_ckl x[b,c,2j+k-1,2i+l-1] w[o,c,k,l]
func.func @steps(%T: index, %B: index, %x: tensor<?x5x9x?xf32, #x4>, %w: tensor<7x5x3x3xf32>) {
  %y = tenon.gemm %w[1, 4, 5, 6], element[0, 4, 2, 5, 3, 6] rank 4 : tensor<7x5x3x3xf32>, tensor<?x5x5x3x?x3xf32, #s4> -> tensor<?x7x5x?xf32, #y4> {
  ^bb0(%b: index, %o: index, %j: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %j, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %vs = arith.constant 2 : index
    %vd = arith.constant 1 : index
    %vb = arith.constant -1 : index
    %vi = arith.muli %j, %vs : index
    %vl = arith.muli %k, %vd : index
    %vil = arith.addi %vi, %vl : index
    %vn = arith.addi %vil, %vb : index
    %vsize = arith.constant 9 : index
    %vlast = arith.constant 8 : index
    %vbelow = arith.cmpi slt, %vn, %vsize : index
    %vabove = arith.cmpi sle, %zero, %vn : index
    %vm = arith.minsi %vn, %vlast : index
    %vc = arith.maxsi %zero, %vm : index
    %vin = arith.andi %vbelow, %vabove : i1
    %hs = arith.constant 2 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %in = arith.andi %vin, %hin : i1
    %fill = arith.constant 0.25 : f32
    %e = tenon.at %x[%b, %c, %vc, %hc] : tensor<?x5x9x?xf32, #x4> -> f32
    %s = arith.select %in, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x7x5x?xf32, #y4>
  return
}

// Its weight's gradient: along the depth, whose order is that of the windows
func.func @steps_gradient(%T: index, %B: index, %x: tensor<?x5x9x?xf32, #x4>, %dy: tensor<?x7x5x?xf32, #y4>) {
  %dw = tenon.gemm %dy[4, 0, 5, 6], element[4, 1, 5, 2, 6, 3] rank 4 : tensor<?x7x5x?xf32, #y4>, tensor<?x5x5x3x?x3xf32, #s4> -> tensor<7x5x3x3xf32> {
  ^bb0(%o: index, %c: index, %k: index, %l: index, %sum: f32):
    tenon.put 0 [%o, %c, %k, %l], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %vs = arith.constant 2 : index
    %vd = arith.constant 1 : index
    %vb = arith.constant -1 : index
    %vi = arith.muli %j, %vs : index
    %vl = arith.muli %k, %vd : index
    %vil = arith.addi %vi, %vl : index
    %vn = arith.addi %vil, %vb : index
    %vsize = arith.constant 9 : index
    %vlast = arith.constant 8 : index
    %vbelow = arith.cmpi slt, %vn, %vsize : index
    %vabove = arith.cmpi sle, %zero, %vn : index
    %vm = arith.minsi %vn, %vlast : index
    %vc = arith.maxsi %zero, %vm : index
    %vin = arith.andi %vbelow, %vabove : i1
    %hs = arith.constant 2 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %in = arith.andi %vin, %hin : i1
    %fill = arith.constant 0.25 : f32
    %e = tenon.at %x[%b, %c, %vc, %hc] : tensor<?x5x9x?xf32, #x4> -> f32
    %s = arith.select %in, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "dw", %dw : tensor<7x5x3x3xf32>
  return
}

// y[b,o,j,i] = sum_ckl x[b,c,2j+k-1,2i+l-1] w[o,c,k,l]
func.func @steps_bf16(%T: index, %B: index, %x: tensor<?x5x9x?xbf16, #x4>, %w: tensor<7x5x3x3xbf16>) {
  %y = tenon.gemm %w[1, 4, 5, 6], element[0, 4, 2, 5, 3, 6] rank 4 : tensor<7x5x3x3xbf16>, tensor<?x5x5x3x?x3xbf16, #s4> -> tensor<?x7x5x?xf32, #y4> {
  ^bb0(%b: index, %o: index, %j: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %j, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %vs = arith.constant 2 : index
    %vd = arith.constant 1 : index
    %vb = arith.constant -1 : index
    %vi = arith.muli %j, %vs : index
    %vl = arith.muli %k, %vd : index
    %vil = arith.addi %vi, %vl : index
    %vn = arith.addi %vil, %vb : index
    %vsize = arith.constant 9 : index
    %vlast = arith.constant 8 : index
    %vbelow = arith.cmpi slt, %vn, %vsize : index
    %vabove = arith.cmpi sle, %zero, %vn : index
    %vm = arith.minsi %vn, %vlast : index
    %vc = arith.maxsi %zero, %vm : index
    %vin = arith.andi %vbelow, %vabove : i1
    %hs = arith.constant 2 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %in = arith.andi %vin, %hin : i1
    %fill = arith.constant 0.25 : bf16
    %e = tenon.at %x[%b, %c, %vc, %hc] : tensor<?x5x9x?xbf16, #x4> -> bf16
    %s = arith.select %in, %e, %fill : bf16
    tenon.yield %s : bf16
  }
  tenon.output 0 "y", %y : tensor<?x7x5x?xf32, #y4>
  return
}

// Its weight's gradient: along the depth, whose order is that of the windows
func.func @steps_bf16_gradient(%T: index, %B: index, %x: tensor<?x5x9x?xbf16, #x4>, %dy: tensor<?x7x5x?xbf16, #y4>) {
  %dw = tenon.gemm %dy[4, 0, 5, 6], element[4, 1, 5, 2, 6, 3] rank 4 : tensor<?x7x5x?xbf16, #y4>, tensor<?x5x5x3x?x3xbf16, #s4> -> tensor<7x5x3x3xf32> {
  ^bb0(%o: index, %c: index, %k: index, %l: index, %sum: f32):
    tenon.put 0 [%o, %c, %k, %l], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %k: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %vs = arith.constant 2 : index
    %vd = arith.constant 1 : index
    %vb = arith.constant -1 : index
    %vi = arith.muli %j, %vs : index
    %vl = arith.muli %k, %vd : index
    %vil = arith.addi %vi, %vl : index
    %vn = arith.addi %vil, %vb : index
    %vsize = arith.constant 9 : index
    %vlast = arith.constant 8 : index
    %vbelow = arith.cmpi slt, %vn, %vsize : index
    %vabove = arith.cmpi sle, %zero, %vn : index
    %vm = arith.minsi %vn, %vlast : index
    %vc = arith.maxsi %zero, %vm : index
    %vin = arith.andi %vbelow, %vabove : i1
    %hs = arith.constant 2 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %in = arith.andi %vin, %hin : i1
    %fill = arith.constant 0.25 : bf16
    %e = tenon.at %x[%b, %c, %vc, %hc] : tensor<?x5x9x?xbf16, #x4> -> bf16
    %s = arith.select %in, %e, %fill : bf16
    tenon.yield %s : bf16
  }
  tenon.output 0 "dw", %dw : tensor<7x5x3x3xf32>
  return
}

// y[b,o,i] = sum_cl x[b,c,i+4l-9] w[o,c,l]: more padding than there are places
func.func @wide(%T: index, %B: index, %x: tensor<?x20x?xf32, #x3>, %w: tensor<9x20x5xf32>) {
  %y = tenon.gemm %w[1, 3, 4], element[0, 3, 2, 4] rank 3 : tensor<9x20x5xf32>, tensor<?x20x?x5xf32, #w3> -> tensor<?x9x?xf32, #y3> {
  ^bb0(%b: index, %o: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 1 : index
    %hd = arith.constant 4 : index
    %hb = arith.constant -9 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.5 : f32
    %e = tenon.at %x[%b, %c, %hc] : tensor<?x20x?xf32, #x3> -> f32
    %s = arith.select %hin, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x9x?xf32, #y3>
  return
}

func.func @wide_gradient(%T: index, %B: index, %x: tensor<?x20x?xf32, #x3>, %dy: tensor<?x9x?xf32, #y3>) {
  %dw = tenon.gemm %dy[3, 0, 4], element[3, 1, 4, 2] rank 3 : tensor<?x9x?xf32, #y3>, tensor<?x20x?x5xf32, #w3> -> tensor<9x20x5xf32> {
  ^bb0(%o: index, %c: index, %l: index, %sum: f32):
    tenon.put 0 [%o, %c, %l], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 1 : index
    %hd = arith.constant 4 : index
    %hb = arith.constant -9 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.5 : f32
    %e = tenon.at %x[%b, %c, %hc] : tensor<?x20x?xf32, #x3> -> f32
    %s = arith.select %hin, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "dw", %dw : tensor<9x20x5xf32>
  return
}

// y[b,o,i] = sum_cl x[b,c,i-3l+7] w[o,c,l]: more padding than there are places
func.func @back(%T: index, %B: index, %x: tensor<?x20x?xf32, #x3>, %w: tensor<9x20x5xf32>) {
  %y = tenon.gemm %w[1, 3, 4], element[0, 3, 2, 4] rank 3 : tensor<9x20x5xf32>, tensor<?x20x?x5xf32, #w3> -> tensor<?x9x?xf32, #y3> {
  ^bb0(%b: index, %o: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 1 : index
    %hd = arith.constant -3 : index
    %hb = arith.constant 7 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.0 : f32
    %e = tenon.at %x[%b, %c, %hc] : tensor<?x20x?xf32, #x3> -> f32
    %s = arith.select %hin, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x9x?xf32, #y3>
  return
}

func.func @back_gradient(%T: index, %B: index, %x: tensor<?x20x?xf32, #x3>, %dy: tensor<?x9x?xf32, #y3>) {
  %dw = tenon.gemm %dy[3, 0, 4], element[3, 1, 4, 2] rank 3 : tensor<?x9x?xf32, #y3>, tensor<?x20x?x5xf32, #w3> -> tensor<9x20x5xf32> {
  ^bb0(%o: index, %c: index, %l: index, %sum: f32):
    tenon.put 0 [%o, %c, %l], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 1 : index
    %hd = arith.constant -3 : index
    %hb = arith.constant 7 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.0 : f32
    %e = tenon.at %x[%b, %c, %hc] : tensor<?x20x?xf32, #x3> -> f32
    %s = arith.select %hin, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "dw", %dw : tensor<9x20x5xf32>
  return
}

// y[b,o,i] = sum_cl x[b,c,i+4l-9] w[o,c,l]: more padding than there are places
func.func @wide_f16(%T: index, %B: index, %x: tensor<?x20x?xf16, #x3>, %w: tensor<9x20x5xf16>) {
  %y = tenon.gemm %w[1, 3, 4], element[0, 3, 2, 4] rank 3 : tensor<9x20x5xf16>, tensor<?x20x?x5xf16, #w3> -> tensor<?x9x?xf32, #y3> {
  ^bb0(%b: index, %o: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 1 : index
    %hd = arith.constant 4 : index
    %hb = arith.constant -9 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.5 : f16
    %e = tenon.at %x[%b, %c, %hc] : tensor<?x20x?xf16, #x3> -> f16
    %s = arith.select %hin, %e, %fill : f16
    tenon.yield %s : f16
  }
  tenon.output 0 "y", %y : tensor<?x9x?xf32, #y3>
  return
}

func.func @wide_f16_gradient(%T: index, %B: index, %x: tensor<?x20x?xf16, #x3>, %dy: tensor<?x9x?xf16, #y3>) {
  %dw = tenon.gemm %dy[3, 0, 4], element[3, 1, 4, 2] rank 3 : tensor<?x9x?xf16, #y3>, tensor<?x20x?x5xf16, #w3> -> tensor<9x20x5xf32> {
  ^bb0(%o: index, %c: index, %l: index, %sum: f32):
    tenon.put 0 [%o, %c, %l], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 1 : index
    %hd = arith.constant 4 : index
    %hb = arith.constant -9 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.5 : f16
    %e = tenon.at %x[%b, %c, %hc] : tensor<?x20x?xf16, #x3> -> f16
    %s = arith.select %hin, %e, %fill : f16
    tenon.yield %s : f16
  }
  tenon.output 0 "dw", %dw : tensor<9x20x5xf32>
  return
}

// Channels apart: y[b,c,o,i] = sum_l x[b,c,i+l-1] w[c,o,l]
#g3 = affine_map<(d0, d1) -> (d1, 20, 2, d0)>
func.func @apart(%T: index, %B: index, %x: tensor<?x20x?xf32, #x3>, %w: tensor<20x2x3xf32>) {
  %y = tenon.gemm %w[1, 2, 4], element[0, 1, 3, 4] rank 4 : tensor<20x2x3xf32>, tensor<?x20x?x3xf32, #w1> -> tensor<?x20x2x?xf32, #g3> {
  ^bb0(%b: index, %c: index, %o: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %c, %o, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %i: index, %l: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 1 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.0 : f32
    %e = tenon.at %x[%b, %c, %hc] : tensor<?x20x?xf32, #x3> -> f32
    %s = arith.select %hin, %e, %fill : f32
    tenon.yield %s : f32
  }
  tenon.output 0 "y", %y : tensor<?x20x2x?xf32, #g3>
  return
}

// In memory, in steps, with few places side by side: y[b,o,j,i] = sum_c x[b,c,2j,2i] w[o,c]
#e4 = affine_map<(d0, d1) -> (d1, 20, 9, 13)>
#d4 = affine_map<(d0, d1) -> (d1, 20, 5, 7)>
#o4 = affine_map<(d0, d1) -> (d1, 30, 5, 7)>
func.func @points(%T: index, %B: index, %x: tensor<?x20x9x13xf32, #e4>, %w: tensor<30x20xf32>) {
  %y = tenon.gemm %w[1, 4], element[0, 4, 2, 3] rank 4 : tensor<30x20xf32>, tensor<?x20x5x7xf32, #d4> -> tensor<?x30x5x7xf32, #o4> {
  ^bb0(%b: index, %o: index, %j: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %j, %i], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %i: index):
    %two = arith.constant 2 : index
    %j2 = arith.muli %j, %two : index
    %i2 = arith.muli %i, %two : index
    %e = tenon.at %x[%b, %c, %j2, %i2] : tensor<?x20x9x13xf32, #e4> -> f32
    tenon.yield %e : f32
  }
  tenon.output 0 "y", %y : tensor<?x30x5x7xf32, #o4>
  return
}
func.func @points_gradient(%T: index, %B: index, %x: tensor<?x20x9x13xf32, #e4>, %dy: tensor<?x30x5x7xf32, #o4>) {
  %dw = tenon.gemm %dy[2, 0, 3, 4], element[2, 1, 3, 4] rank 2 : tensor<?x30x5x7xf32, #o4>, tensor<?x20x5x7xf32, #d4> -> tensor<30x20xf32> {
  ^bb0(%o: index, %c: index, %sum: f32):
    tenon.put 0 [%o, %c], %sum : f32
  } b {
  ^bb0(%b: index, %c: index, %j: index, %i: index):
    %two = arith.constant 2 : index
    %j2 = arith.muli %j, %two : index
    %i2 = arith.muli %i, %two : index
    %e = tenon.at %x[%b, %c, %j2, %i2] : tensor<?x20x9x13xf32, #e4> -> f32
    tenon.yield %e : f32
  }
  tenon.output 0 "dw", %dw : tensor<30x20xf32>
  return
}

// Few places of each row of the batch, whole: y[b,o,i] = sum_c x[b,c,i] w[o,c]
#m3 = affine_map<(d0, d1) -> (d1, 20, 21)>
#n3 = affine_map<(d0, d1) -> (d1, 30, 21)>
func.func @few(%T: index, %B: index, %x: tensor<?x20x21xf32, #m3>, %w: tensor<30x20xf32>) {
  %y = tenon.gemm %w[1, 3], %x[0, 3, 2] rank 3 : tensor<30x20xf32>, tensor<?x20x21xf32, #m3> -> tensor<?x30x21xf32, #n3> {
  ^bb0(%b: index, %o: index, %i: index, %sum: f32):
    tenon.put 0 [%b, %o, %i], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<?x30x21xf32, #n3>
  return
}

// Channels last, as A: y[b,i,o] = sum_lc x[b,2i+l-1,c] w[l,c,o]
#a3 = affine_map<(d0, d1) -> (d1, d0, 24)>
#b4 = affine_map<(d0, d1) -> (d1, (d0 + 1) floordiv 2, 3, 24)>
#c3 = affine_map<(d0, d1) -> (d1, (d0 + 1) floordiv 2, 40)>
func.func @last(%T: index, %B: index, %x: tensor<?x?x24xf64, #a3>, %w: tensor<3x24x40xf64>) {
  %y = tenon.gemm element[0, 1, 3, 4], %w[3, 4, 2] rank 3 : tensor<?x?x3x24xf64, #b4>, tensor<3x24x40xf64> -> tensor<?x?x40xf64, #c3> {
  ^bb0(%b: index, %i: index, %f: index, %sum: f64):
    tenon.put 0 [%b, %i, %f], %sum : f64
  } a {
  ^bb0(%b: index, %i: index, %l: index, %c: index):
    %zero = arith.constant 0 : index
    %hs = arith.constant 2 : index
    %hd = arith.constant 1 : index
    %hb = arith.constant -1 : index
    %hi = arith.muli %i, %hs : index
    %hl = arith.muli %l, %hd : index
    %hil = arith.addi %hi, %hl : index
    %hn = arith.addi %hil, %hb : index
    %hsize = tenon.size_value #f
    %hlast = tenon.size_value #l
    %hbelow = arith.cmpi slt, %hn, %hsize : index
    %habove = arith.cmpi sle, %zero, %hn : index
    %hm = arith.minsi %hn, %hlast : index
    %hc = arith.maxsi %zero, %hm : index
    %hin = arith.andi %hbelow, %habove : i1
    %fill = arith.constant 0.5 : f64
    %e = tenon.at %x[%b, %hc, %c] : tensor<?x?x24xf64, #a3> -> f64
    %s = arith.select %hin, %e, %fill : f64
    tenon.yield %s : f64
  }
  tenon.output 0 "y", %y : tensor<?x?x40xf64, #c3>
  return
}

// As rows of A, of which only a few are evenly apart: y[b,j,i,o] = sum_c x[b,c,2j,2i] w[c,o]
#r4 = affine_map<(d0, d1) -> (d1, 5, 7, 30)>
func.func @rows(%T: index, %B: index, %x: tensor<?x20x9x13xf32, #e4>, %w: tensor<20x30xf32>) {
  %y = tenon.gemm element[0, 4, 1, 2], %w[4, 3] rank 4 : tensor<?x20x5x7xf32, #d4>, tensor<20x30xf32> -> tensor<?x5x7x30xf32, #r4> {
  ^bb0(%b: index, %j: index, %i: index, %o: index, %sum: f32):
    tenon.put 0 [%b, %j, %i, %o], %sum : f32
  } a {
  ^bb0(%b: index, %c: index, %j: index, %i: index):
    %two = arith.constant 2 : index
    %j2 = arith.muli %j, %two : index
    %i2 = arith.muli %i, %two : index
    %e = tenon.at %x[%b, %c, %j2, %i2] : tensor<?x20x9x13xf32, #e4> -> f32
    tenon.yield %e : f32
  }
  tenon.output 0 "y", %y : tensor<?x5x7x30xf32, #r4>
  return
}
func.func @fixed_rows(%T: index, %B: index, %x: tensor<3x20x9x13xbf16>, %w: tensor<20x30xbf16>) {
  %y = tenon.gemm element[0, 4, 1, 2], %w[4, 3] rank 4 : tensor<3x20x5x7xbf16>, tensor<20x30xbf16> -> tensor<3x5x7x30xf32> {
  ^bb0(%b: index, %j: index, %i: index, %o: index, %sum: f32):
    tenon.put 0 [%b, %j, %i, %o], %sum : f32
  } a {
  ^bb0(%b: index, %c: index, %j: index, %i: index):
    %two = arith.constant 2 : index
    %j2 = arith.muli %j, %two : index
    %i2 = arith.muli %i, %two : index
    %e = tenon.at %x[%b, %c, %j2, %i2] : tensor<3x20x9x13xbf16> -> bf16
    tenon.yield %e : bf16
  }
  tenon.output 0 "y", %y : tensor<3x5x7x30xf32>
  return
}

// A weight whose elements of neither steps nor columns lie side by side, for several blocks of rows: z[i,c] = sum_ko u[i,k,o] w[o,c,k]
func.func @scattered(%T: index, %B: index, %u: tensor<400x3x37xf32>, %w: tensor<37x45x3xf32>) {
  %z = tenon.gemm %u[0, 2, 3], %w[3, 1, 2] rank 2 : tensor<400x3x37xf32>, tensor<37x45x3xf32> -> tensor<400x45xf32> {
  ^bb0(%i: index, %c: index, %sum: f32):
    tenon.put 0 [%i, %c], %sum : f32
  }
  tenon.output 0 "z", %z : tensor<400x45xf32>
  return
}

// Numbers of pairs against vectors of pairs, as their gradient reads both: the lines of a block are few of all pairs
#p = affine_map<(d0, d1) -> (d0, d0, d1)>
#pc = affine_map<(d0, d1) -> (d1, d0, d0, 3)>
func.func @pairs(%T: index, %B: index, %x: tensor<?x?x?xf32, #p>, %w: tensor<?x?x?x3xf32, #pc>) {
  %y = tenon.gemm %x[1, 2, 3], %w[3, 1, 2, 0] rank 1 : tensor<?x?x?xf32, #p>, tensor<?x?x?x3xf32, #pc> -> tensor<3xf32> {
  ^bb0(%c: index, %sum: f32):
    tenon.put 0 [%c], %sum : f32
  }
  tenon.output 0 "y", %y : tensor<3xf32>
  return
}
